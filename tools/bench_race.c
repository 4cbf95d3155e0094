/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing. Contenders run in turns, so that clocks and neighbours treat them alike; the figure is the median over the
 * rounds. A row of calls is timed as a whole, after one of the same contender that is not. A cold line times one call
 * a round, right after the caches were filled with other data; of a kernel that works on a scratch copy, only the
 * kernel.
 */
#include "bench.h"
#include <stdlib.h>
#include <time.h>

#define CALLS_MAX 2000u
#define TRIALS 3 /* of each way of a floor, the fastest counts */
#define WARM_UP_US 20e3

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void begin(const contender *c) {
    if (c->bench->gpu && !c->on_host)
        must(gp_timer_begin(c->bench->timer));
    else
        c->bench->clock = now_us();
}

static void end(const contender *c) {
    if (c->bench->gpu && !c->on_host)
        must(gp_timer_end(c->bench->timer));
    else
        c->bench->clock = now_us() - c->bench->clock;
}

static double elapsed_us(const contender *c) {
    double us = c->bench->clock;
    if (c->bench->gpu && !c->on_host)
        must(gp_timer_us(c->bench->timer, &us));
    return us;
}

static double time_row(contender *c, unsigned calls) {
    static size_t set;
    must(c->call(c, set++));
    begin(c);
    for (unsigned i = 0; i < calls; i++)
        must(c->call(c, set++));
    end(c);
    return elapsed_us(c) / calls;
}

static void at_bracket(void *user, bool after) {
    contender *c = user;
    if (after) {
        end(c);
        return;
    }
    bench_flush(c->bench, c->on_host);
    begin(c);
}

static double time_cold(contender *c) {
    if (c->brackets) {
        c->context->bracket = at_bracket;
        c->context->bracket_user = c;
        must(c->call(c, 0));
        c->context->bracket = NULL;
    } else {
        at_bracket(c, false);
        must(c->call(c, 0));
        at_bracket(c, true);
    }
    return elapsed_us(c);
}

static double time_once(contender *c, unsigned calls) {
    return c->bench->line.cold ? time_cold(c) : time_row(c, calls);
}

/* A row takes about as long as asked for. */
static unsigned calls_for(const bench *b, double us) {
    const double wanted = (b->gpu ? 2e3 : 10e3) / (b->opt.quick ? 4 : 1);
    const double calls = us > 0 ? wanted / us : CALLS_MAX;
    return calls < 3 ? 3 : calls > CALLS_MAX ? CALLS_MAX : (unsigned)calls;
}

/* Warms up, finds how many calls make a row, and a floor's fastest way. */
static unsigned prepare(contender *c) {
    double us = time_once(c, 3);
    for (double spent = us; spent < WARM_UP_US && !c->bench->opt.quick; spent += us > 1 ? us : 1)
        us = time_once(c, 3);
    unsigned best = 0;
    double least = 0;
    for (unsigned way = 0; way < c->ways; way++) {
        c->way = way;
        for (int trial = 0; trial < TRIALS; trial++) {
            us = time_once(c, calls_for(c->bench, us));
            if (least <= 0 || us < least) {
                least = us;
                best = way;
            }
        }
    }
    c->way = best;
    return calls_for(c->bench, c->ways > 1 ? least : us);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_median(contender *c, double *us, size_t rounds) {
    qsort(us, rounds, sizeof *us, ascending);
    c->us = (us[(rounds - 1) / 2] + us[rounds / 2]) / 2;
    c->low = us[rounds / 4];
    c->high = us[rounds - 1 - rounds / 4];
}

void bench_race(bench *b) {
    static double us[CONTENDERS_MAX][ROUNDS_MAX];
    unsigned calls[CONTENDERS_MAX];
    char name[96];
    const size_t steps = b->count * (b->opt.rounds + 1);
    size_t done = 0;
    bench_line_name(&b->line, name, sizeof name);
    for (size_t i = 0; i < b->count; i++) {
        progress(name, done++, steps);
        calls[i] = prepare(&b->contenders[i]);
    }
    for (size_t round = 0; round < b->opt.rounds; round++)
        for (size_t turn = 0; turn < b->count; turn++) {
            const size_t i = (round + turn) % b->count;
            progress(name, done++, steps);
            us[i][round] = time_once(&b->contenders[i], calls[i]);
        }
    for (size_t i = 0; i < b->count; i++)
        take_median(&b->contenders[i], us[i], b->opt.rounds);
    progress_clear();
}
