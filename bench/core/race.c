/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing. Contenders run in turns, in another order each round, so that clocks and neighbours treat them alike; the
 * figure is the median over the rounds. A row of calls is timed as a whole, after one of the same contender that is
 * not: what it finds in caches and write queues is then its own doing.
 */
#include "bench.h"

#include <stdlib.h>
#include <time.h>

#define CALLS_MIN 3u /* of a row on a GPU */
#define CALLS_MAX 2000u
#define GRAPH_CALLS_MAX 200u
#define HOST_CALLS_MAX 50000u
#define RETURN_CALLS 32u    /* of which the launch queue holds 1024 */
#define TRIALS 3            /* of each way, the fastest counts */
#define WAY_SHARE 3         /* a trial takes this part of a row */
#define APART_US 3e3        /* between calls that other work or sleep parts */
#define WORK_BYTES 6000000u /* that other work reads and writes: more than a core's own caches hold */

double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

bool is_on_host(const contender *c) {
    const line *l = &c->session->line;
    return c->on_host || !l->at->gpu || l->memory != MEMORY_DEVICE || l->measure > MEASURE_COLD;
}

static void call(const contender *c) {
    session *s = c->session;
    const size_t set = s->next_set;
    s->next_set = set + 1 < s->buffers.n_sets ? set + 1 : 0;
    if (c->call(c, set) != GP_OK)
        fail("%s: %s", c->who, gp_last_error());
}

static double row_on_device(const contender *c, unsigned calls) {
    const gpu_device *gpu = c->session->gpu;
    call(c);
    gpu->begin();
    for (unsigned i = 0; i < calls; i++)
        call(c);
    gpu->end();
    return gpu->us() / calls;
}

/* A replay before the clock starts covers the launch of the one that counts. */
static double replay(const contender *c, void *captured, unsigned calls) {
    const gpu_device *gpu = c->session->gpu;
    gpu->replay(captured);
    gpu->begin();
    gpu->replay(captured);
    gpu->end();
    return gpu->us() / calls;
}

static void *capture(const contender *c, unsigned calls) {
    const gpu_device *gpu = c->session->gpu;
    gpu->capture();
    for (unsigned i = 0; i < calls; i++)
        call(c);
    return gpu->captured();
}

static double row_on_host(const contender *c, unsigned calls) {
    const gpu_device *gpu = c->session->line.measure == MEASURE_RETURN ? c->session->gpu : NULL;
    if (gpu != NULL)
        gpu->wait();
    if (calls > 1)
        call(c);
    const double begin = now_us();
    for (unsigned i = 0; i < calls; i++)
        call(c);
    const double us = (now_us() - begin) / calls;
    if (gpu != NULL)
        gpu->wait();
    return us;
}

/* What a program does between its calls, on this thread. */
static void be_elsewhere(const session *s) {
    static unsigned char memory[WORK_BYTES];
    const struct timespec pause = {.tv_nsec = (long)(APART_US * 1e3)};
    if (s->line.measure == MEASURE_SLEEP)
        nanosleep(&pause, NULL);
    else
        for (const double begin = now_us(); now_us() - begin < APART_US;)
            for (size_t i = 0; i < sizeof memory; i += 64)
                memory[i]++;
}

static double apart(const contender *c, unsigned calls) {
    double us = 0;
    for (unsigned i = 0; i < calls; i++) {
        be_elsewhere(c->session);
        us -= now_us();
        call(c);
        us += now_us();
    }
    return us / calls;
}

/* Of a study row that works on a scratch copy, the time of its kernel alone; see gp_context_bracket(). */
static double bracketed_us;

static void at_bracket(void *user, bool after) {
    const contender *c = user;
    const gpu_device *gpu = is_on_host(c) ? NULL : c->session->gpu;
    if (!after)
        memory_flush(c->session, c->on_host);
    if (gpu == NULL)
        bracketed_us = now_us() - (after ? bracketed_us : 0);
    else if (after)
        gpu->end();
    else
        gpu->begin();
}

static double cold(contender *c) {
    const bool bracketed = (c->flags & GP_KERNEL_MODULO_32) != 0; /* those that sum are those that work on a copy */
    if (bracketed)
        context_bracket(c->context, at_bracket, c);
    else
        at_bracket(c, false);
    call(c);
    if (bracketed)
        context_bracket(c->context, NULL, NULL);
    else
        at_bracket(c, true);
    return is_on_host(c) ? bracketed_us : c->session->gpu->us();
}

static double time_of(contender *c, unsigned calls) {
    const session *s = c->session;
    line_pin(c);
    if (c->time != NULL)
        return c->time(c, calls);
    if (s->line.measure == MEASURE_COLD)
        return cold(c);
    if (s->line.measure == MEASURE_WORK || s->line.measure == MEASURE_SLEEP)
        return apart(c, calls);
    if (is_on_host(c))
        return row_on_host(c, calls);
    if (!s->opt.graph)
        return row_on_device(c, calls);
    void *captured = capture(c, calls);
    const double us = replay(c, captured, calls);
    s->gpu->forget(captured);
    return us;
}

/* A row takes about as long as asked for. */
static unsigned calls_for(const contender *c, double us, double share) {
    const session *s = c->session;
    const bool host = is_on_host(c);
    const unsigned most = host ? HOST_CALLS_MAX : s->opt.graph ? GRAPH_CALLS_MAX : CALLS_MAX;
    const unsigned least = host ? 1 : CALLS_MIN;
    const double calls = us > 0 ? s->opt.batch_ms[!host] * 1e3 * share / us : least;
    if (s->line.measure == MEASURE_RETURN || s->line.measure == MEASURE_RESULT)
        return RETURN_CALLS;
    if (s->line.measure != MEASURE_ROW)
        return 1;
    return calls < least ? least : calls > most ? most : (unsigned)calls;
}

/* Warms up, chooses the fastest way, and returns how many calls make a row. */
static unsigned prepare(contender *c) {
    double us = time_of(c, calls_for(c, 0, 0)), least = 0;
    us = time_of(c, calls_for(c, us, 1.0 / WAY_SHARE));
    unsigned best = 0;
    for (unsigned way = 0; way < c->ways && c->ways > 1; way++) {
        c->way = way;
        for (int trial = 0; trial < TRIALS; trial++) {
            us = time_of(c, calls_for(c, us, 1.0 / WAY_SHARE));
            if (least <= 0 || us < least) {
                least = us;
                best = way;
            }
        }
    }
    c->way = best;
    return calls_for(c, c->ways > 1 ? least : us, 1);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void take_median(contender *c, double *us, size_t rounds) {
    qsort(us, rounds, sizeof *us, ascending);
    c->us = (us[(rounds - 1) / 2] + us[rounds / 2]) / 2;
    c->low = us[rounds / 4];
    c->high = us[rounds - 1 - rounds / 4];
}

static void shuffle(size_t *order, size_t count, uint64_t *state) {
    for (size_t i = count; i > 1; i--) {
        const size_t k = (size_t)(cases_random(state) % i), kept = order[i - 1];
        order[i - 1] = order[k];
        order[k] = kept;
    }
}

void race_run(session *s) {
    static double us[CONTENDERS_MAX][ROUNDS_MAX];
    unsigned calls[CONTENDERS_MAX];
    void *captured[CONTENDERS_MAX] = {NULL};
    size_t order[CONTENDERS_MAX], done = 0;
    uint64_t state = 1;
    const bool brief = s->line.measure == MEASURE_RETURN || s->line.measure == MEASURE_RESULT;
    const size_t rounds = brief ? ROUNDS_MAX : s->opt.rounds, steps = s->count * (rounds + 1);
    const result name = result_of(&s->list[0]);
    for (size_t i = 0; i < s->count; i++) {
        contender *c = &s->list[i];
        progress(name.label, done++, steps);
        calls[i] = prepare(c);
        order[i] = i;
        if (s->opt.graph && !is_on_host(c) && s->line.measure == MEASURE_ROW)
            captured[i] = capture(c, calls[i]);
    }
    for (size_t round = 0; round < rounds; round++) {
        shuffle(order, s->count, &state);
        for (size_t turn = 0; turn < s->count; turn++) {
            contender *c = &s->list[order[turn]];
            void *graph = captured[order[turn]];
            progress(name.label, done++, steps);
            us[order[turn]][round] =
                graph != NULL ? replay(c, graph, calls[order[turn]]) : time_of(c, calls[order[turn]]);
        }
    }
    for (size_t i = 0; i < s->count; i++) {
        take_median(&s->list[i], us[i], rounds);
        if (captured[i] != NULL)
            s->gpu->forget(captured[i]);
    }
    progress_clear();
}
