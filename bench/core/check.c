/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a result right? Every one is compared, byte for byte, with that of the row that the library's tests prove
 * against an oracle. What lies between an output's rows is compared too: it holds what was there before. In place,
 * the input as it was is kept in the output's memory, which is free then.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xff /* every byte of an output before the call that is checked */

static void *expected(const session *s, unsigned which) {
    return s->buffers.expected + which * s->buffers.out_stride + s->arrays.out_offset;
}

/* The reference's own row is on the host, the arrays are not. */
static void expect_from_host(session *s) {
    void *out[OUTS_MAX] = {NULL};
    for (unsigned k = 0; k < s->arrays.outs; k++) {
        out[k] = host_alloc(s->arrays.out_bytes, 1);
        memset(out[k], POISON, s->arrays.out_bytes);
    }
    must(s->line.of->call(s->references[0], &s->line, buffers_mirror(s), out));
    for (unsigned k = 0; k < s->arrays.outs; k++) {
        memory_copy(s, expected(s, k), out[k], s->arrays.out_bytes);
        free(out[k]);
    }
}

void check_expect(session *s) {
    const bool there = s->buffers.memory == MEMORY_DEVICE;
    void *out[OUTS_MAX];
    for (unsigned k = 0; k < s->arrays.outs; k++) {
        out[k] = expected(s, k);
        memory_set(s, out[k], POISON, s->arrays.out_bytes);
    }
    if (s->arrays.in_place) {
        memory_copy(s, out[0], buffers_in(s, 0), s->arrays.in_bytes);
        memory_copy(s, buffers_out(s, 0, 0), buffers_in(s, 0), s->arrays.in_bytes);
    }
    if (there && s->line.of->reference[1] == NULL) {
        expect_from_host(s);
        return;
    }
    const gp_status status =
        s->line.of->call(s->references[there], &s->line, s->arrays.in_place ? out[0] : buffers_in(s, 0), out);
    if (there && status == GP_ERR_NO_KERNEL) {
        expect_from_host(s);
        return;
    }
    must(status);
    must(gp_context_synchronize(s->references[there]));
}

static size_t differ(session *s, const void *got, const void *want, size_t bytes) {
    size_t wrong = 0;
    if (s->buffers.memory == MEMORY_DEVICE)
        return s->gpu->differ(got, want, bytes);
    if (memcmp(got, want, bytes) == 0)
        return 0;
    for (size_t i = 0; i < bytes; i++)
        wrong += ((const char *)got)[i] != ((const char *)want)[i];
    return wrong;
}

static size_t far_floats(session *s, const void *got, const void *want, size_t n, double bound) {
    float *values = host_alloc(2 * n, sizeof *values);
    size_t wrong = 0;
    memory_copy(s, values, got, n * sizeof *values);
    memory_copy(s, values + n, want, n * sizeof *values);
    for (size_t i = 0; i < n; i++) /* what both left untouched is no number */
        wrong += !(fabs((double)values[i] - (double)values[n + i]) <= bound) &&
                 memcmp(&values[i], &values[n + i], sizeof *values) != 0;
    free(values);
    return wrong;
}

/* Bytes or floats of output `which` that are wrong. A sum modulo 2^32 stands in the low half. */
static size_t wrong_of(const contender *c, unsigned which) {
    session *s = c->session;
    const footprint *p = &s->arrays;
    const void *got = p->in_place ? buffers_in(s, 0) : buffers_out(s, 0, which), *want = expected(s, which);
    const size_t bytes = c->flags & GP_KERNEL_MODULO_32 ? sizeof(int32_t) : p->out_bytes;
    if (s->line.measure == MEASURE_RESULT) {
        int64_t value = 0;
        memory_copy(s, &value, want, sizeof value);
        return value != s->buffers.result;
    }
    if (c->tolerated > 0)
        return far_floats(s, got, want, bytes / sizeof(float), c->tolerated * p->largest[which]);
    return differ(s, got, want, bytes);
}

static void spoil(session *s) {
    if (s->arrays.in_place)
        memory_copy(s, buffers_in(s, 0), buffers_out(s, 0, 0), s->arrays.in_bytes);
    for (unsigned k = 0; k < s->arrays.outs && !s->arrays.in_place && s->line.measure != MEASURE_RESULT; k++)
        memory_set(s, buffers_out(s, 0, k), POISON, s->arrays.out_bytes);
    s->buffers.result = INT64_MIN;
}

bool check_contender(contender *c) {
    session *s = c->session;
    size_t wrong = 0;
    spoil(s);
    const gp_status status = c->call(c, 0);
    if (status == GP_ERR_NO_KERNEL)
        return false;
    must(status);
    if (c->context != NULL)
        must(gp_context_synchronize(c->context));
    if (s->gpu != NULL)
        s->gpu->wait();
    for (unsigned k = 0; k < s->arrays.outs; k++)
        wrong += wrong_of(c, k);
    if (wrong > 0) {
        warn("%s, %s: WRONG RESULT (%zu), not timed", result_of(c).label, c->who, wrong);
        s->wrong++;
    }
    return wrong == 0;
}
