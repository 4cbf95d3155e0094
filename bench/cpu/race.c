/* SPDX-License-Identifier: Apache-2.0 */
/* Checks all entries, then times those that pass in turns, in another order each round, and takes medians. */
#include "check.h"
#include "peers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static race the_race;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

race *race_begin(session *s, const team *t, const char *title, unsigned reps) {
    race *r = &the_race;
    r->s = s;
    r->team = t;
    r->title = title;
    r->serial++;
    r->reps = reps;
    r->count = 0;
    if (s->opt.python)
        peers_prepare(s, t->threads);
    return r;
}

entry *race_add(race *r, role as, const char *who, const job *j) {
    if (r->count == ENTRIES_MAX)
        die(r->title, "too many entries");
    entry *e = &r->list[r->count++];
    memset(e, 0, sizeof *e);
    snprintf(e->who, sizeof e->who, "%s", who);
    e->role = as;
    e->job = *j;
    return e;
}

static bool call_limit(race *r, const entry *e, size_t set) {
    const memory *m = &r->s->memory;
    crew_run(r->team->crew, e->limit, memory_in(m, set), m->n_outs > 0 ? memory_out(m, set, 0) : NULL,
             m->n_outs > 1 ? memory_out(m, set, 1) : NULL, m->in_bytes);
    return true;
}

void race_add_limits(race *r, const job *j, limit_kind kind, role as) {
    gp_device_info info = {.struct_size = sizeof info};
    GP(gp_context_device(r->team->context, &info));
    const unsigned best = info.cpu_isa & GP_ISA_AVX512 ? GP_ISA_AVX512 : info.cpu_isa & GP_ISA_AVX2;
    for (size_t i = 0; i < n_limits; i++)
        if (limits[i].kind == kind && (limits[i].isa == best || limits[i].isa == LIMIT_ANY_ISA)) {
            entry *e = race_add(r, as, limits[i].name, j);
            e->limit = &limits[i];
            e->call = call_limit;
        }
}

static bool call_ours(race *r, const entry *e, size_t set) {
    int64_t result = 0;
    const gp_status status = job_call(r->team->context, &e->job, &r->s->memory, set, &result);
    r->result = result;
    return status == GP_OK;
}

void race_add_ours(race *r, const job *j, const target *const *targets) {
    entry *e = race_add(r, ROLE_OURS, "gpuprim", j);
    e->call = call_ours;
    for (size_t i = 0; targets && targets[i] && i < TARGETS_MAX; i++)
        e->targets[i] = targets[i];
    for (size_t i = 0; i < r->s->opt.n_pins; i++) {
        const char *pin = r->s->opt.pins[i];
        if (kernel_operation(pin) != (gp_operation)j->operation)
            continue;
        e = race_add(r, ROLE_OURS, pin, j);
        e->call = call_ours;
        e->pin = pin;
    }
}

/* Before its calls: the context that all of ours share is told which kernel. */
static void choose_kernel(const race *r, const entry *e) {
    if (e->role != ROLE_OURS)
        return;
    GP(gp_context_pin_kernel(r->team->context, NULL, 0));
    if (e->pin)
        GP(gp_context_pin_kernel(r->team->context, e->pin, 0));
}

static void check_all(race *r) {
    for (size_t i = 0; i < r->count; i++) {
        entry *e = &r->list[i];
        if (e->role == ROLE_LIMIT || e->role == ROLE_SHOWN)
            continue;
        choose_kernel(r, e);
        const size_t wrong = check_entry(r, e);
        e->out = wrong > 0;
        if (e->role == ROLE_OURS && wrong != SIZE_MAX) {
            gp_plan_info plan = {.struct_size = sizeof plan};
            GP(gp_context_plan(r->team->context, &plan));
            snprintf(e->kernel, sizeof e->kernel, "%s", plan.kernel);
            r->s->wrong += wrong > 0;
        }
        char label[64];
        job_label(&e->job, label, sizeof label);
        if (wrong == SIZE_MAX)
            printf("# %s, %s, %s: left out: %s\n", r->title, label, e->who, e->word ? "see above" : gp_last_error());
        else if (wrong > 0)
            printf("# %s, %s, %s: WRONG RESULT (%zu), not timed\n", r->title, label, e->who, wrong);
    }
}

/* Seconds a call. Where a sample has many calls, one more goes first, so that what came before is forgotten. */
static double time_entry(race *r, const entry *e, size_t *next) {
    choose_kernel(r, e);
    if (e->word)
        return peer_time(e, r->reps);
    const size_t n_sets = r->s->memory.n_sets;
    if (r->reps > 1)
        e->call(r, e, *next % n_sets);
    size_t set = *next % n_sets;
    *next += r->reps;
    const double begin = seconds();
    for (unsigned i = 0; i < r->reps; i++) {
        e->call(r, e, set);
        set = set + 1 == n_sets ? 0 : set + 1;
    }
    return (seconds() - begin) / r->reps;
}

static void shuffle(size_t *order, size_t count, uint64_t *state) {
    for (size_t i = count; i > 1; i--) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* D. Knuth's MMIX */
        const size_t k = (size_t)((*state >> 33) % i), kept = order[i - 1];
        order[i - 1] = order[k];
        order[k] = kept;
    }
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarize(const race *r, entry *e) {
    const unsigned n = r->s->opt.rounds;
    qsort(e->sample, n, sizeof *e->sample, by_size);
    e->us = e->sample[n / 2] * 1e6;
    e->low = e->sample[n / 4] * 1e6;
    e->high = e->sample[n - 1 - n / 4] * 1e6;
    double bytes = job_bytes(&e->job);
    if (e->limit)
        bytes *= (double)crew_bytes(r->team->threads, r->s->memory.in_bytes) / (double)r->s->memory.in_bytes;
    e->gbps = bytes / e->us * 1e-3;
}

void race_run(race *r) {
    size_t order[ENTRIES_MAX], kept = 0, next = 0;
    uint64_t state = DATA_SEED;
    check_all(r);
    for (size_t i = 0; i < r->count; i++)
        if (!r->list[i].out)
            order[kept++] = i;
    for (unsigned round = 0; round < r->s->opt.rounds; round++) {
        shuffle(order, kept, &state);
        for (size_t i = 0; i < kept; i++)
            r->list[order[i]].sample[round] = time_entry(r, &r->list[order[i]], &next);
    }
    for (size_t i = 0; i < r->count; i++)
        if (!r->list[i].out)
            summarize(r, &r->list[i]);
    report_race(r);
}
