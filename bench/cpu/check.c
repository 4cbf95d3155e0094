/* SPDX-License-Identifier: Apache-2.0 */
/* Compares results with those of the reference rows, which the library's tests prove against a plain oracle. */
#include "check.h"
#include "peers.h"

#include <math.h>
#include <string.h>

/* The reference's result, kept while the job and its input stay the same. */
static struct {
    job job;
    unsigned serial; /* of the race */
    int64_t result;
} known;

static void expect(race *r, const job *j) {
    memory *m = &r->s->memory;
    if (known.serial == r->serial && memcmp(&known.job, j, sizeof *j) == 0)
        return;
    memory_spoil(m);
    GP(job_call(r->s->reference, j, m, 0, &known.result));
    for (unsigned which = 0; which < m->n_outs; which++)
        memcpy(memory_expected(m, which), memory_out(m, 0, which), m->out_bytes);
    known.job = *j;
    known.serial = r->serial;
}

static size_t different_bytes(const char *got, const char *want, size_t bytes) {
    size_t wrong = 0;
    if (memcmp(got, want, bytes) == 0)
        return 0;
    for (size_t i = 0; i < bytes; i++)
        wrong += got[i] != want[i];
    return wrong;
}

static size_t far_floats(const float *got, const float *want, size_t n, double tolerance) {
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += !(fabs((double)got[i] - (double)want[i]) <= tolerance);
    return wrong;
}

static bool run_once(race *r, const entry *e) {
    if (e->word)
        return peer_check(e);
    return e->call(r, e, 0);
}

size_t check_entry(race *r, const entry *e) {
    const memory *m = &r->s->memory;
    size_t wrong = 0;
    expect(r, &e->job);
    memory_spoil(m);
    r->result = INT64_MIN;
    if (!run_once(r, e))
        return SIZE_MAX;
    if (e->job.operation == GP_OPERATION_REDUCE) {
        if (e->word)
            memcpy(&r->result, memory_shared_out(m, 0), sizeof r->result);
        return r->result != known.result;
    }
    for (unsigned which = 0; which < m->n_outs; which++) {
        const void *got = e->word ? memory_shared_out(m, which) : memory_out(m, 0, which);
        const double largest = (double)e->job.window * (which == 0 ? 0x1p31 : 0x1p62);
        wrong += e->tolerated > 0 ? far_floats(got, memory_expected(m, which), m->out_bytes / sizeof(float),
                                               e->tolerated * largest)
                                  : different_bytes(got, memory_expected(m, which), m->out_bytes);
    }
    return wrong;
}
