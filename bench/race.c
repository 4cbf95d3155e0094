/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing. Contenders run in turns, a batch each a round, so that clocks and neighbours treat them alike; the figure
 * is the median over the rounds. Before each batch one call of the same contender runs untimed: what it finds in
 * caches and write queues is then its own doing.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLS_MIN 3u
#define CALLS_MAX 2000u
#define GRAPH_CALLS_MAX 200u
#define HOST_CALLS 32u  /* of which the launch queue holds 1024 */
#define TRIALS 3        /* of each variant, the fastest counts */
#define VARIANT_SHARE 3 /* a trial takes this part of a batch */

double host_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void take_median(contender *c, double *us, size_t rounds) {
    qsort(us, rounds, sizeof *us, ascending);
    c->us = rounds % 2 ? us[rounds / 2] : (us[rounds / 2 - 1] + us[rounds / 2]) / 2;
    c->low = us[rounds / 4];
    c->high = us[rounds - 1 - rounds / 4];
}

static void call(contender *c) {
    session *s = c->session;
    const gp_status status = c->call(c, s->next_set++ % s->buffers.n_sets);
    if (status != GP_OK)
        die(c->who, gp_last_error());
}

static double elapsed_us(session *s, unsigned calls) {
    float ms = 0;
    CUDA(cudaEventSynchronize(s->end));
    CUDA(cudaEventElapsedTime(&ms, s->begin, s->end));
    return (double)ms * 1e3 / calls;
}

static double time_calls(contender *c, unsigned calls) {
    session *s = c->session;
    call(c);
    CUDA(cudaEventRecord(s->begin, s->stream));
    for (unsigned i = 0; i < calls; i++)
        call(c);
    CUDA(cudaEventRecord(s->end, s->stream));
    return elapsed_us(s, calls);
}

/* A replay before the clock starts covers the launch of the one that counts. */
static double time_replay(contender *c, cudaGraphExec_t replay, unsigned calls) {
    session *s = c->session;
    CUDA(cudaGraphLaunch(replay, s->stream));
    CUDA(cudaEventRecord(s->begin, s->stream));
    CUDA(cudaGraphLaunch(replay, s->stream));
    CUDA(cudaEventRecord(s->end, s->stream));
    return elapsed_us(s, calls);
}

static cudaGraphExec_t capture(contender *c, unsigned calls) {
    session *s = c->session;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal));
    for (unsigned i = 0; i < calls; i++)
        call(c);
    CUDA(cudaStreamEndCapture(s->stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaGraphLaunch(replay, s->stream));
    CUDA(cudaStreamSynchronize(s->stream));
    return replay;
}

static unsigned calls_for(double us, double batch_us, unsigned most) {
    const double calls = batch_us / us;
    return calls < CALLS_MIN ? CALLS_MIN : calls > most ? most : (unsigned)calls;
}

static void choose_variant(contender *c, unsigned calls) {
    double best = 0;
    unsigned fastest = 0;
    for (unsigned variant = 0; variant < c->variants; variant++) {
        c->variant = variant;
        for (int trial = 0; trial < TRIALS; trial++) {
            const double us = time_calls(c, calls);
            if (best <= 0 || us < best) {
                best = us;
                fastest = variant;
            }
        }
    }
    c->variant = fastest;
}

/* Warms up, and returns how many calls make a batch. */
static unsigned prepare(contender *c) {
    const options *opt = &c->session->opt;
    const double batch_us = opt->batch_ms * 1e3;
    const unsigned most = opt->graph ? GRAPH_CALLS_MAX : CALLS_MAX;
    double us = time_calls(c, CALLS_MIN);
    us = time_calls(c, calls_for(us, batch_us / VARIANT_SHARE, most));
    if (c->variants > 1) {
        choose_variant(c, calls_for(us, batch_us / VARIANT_SHARE, most));
        us = time_calls(c, calls_for(us, batch_us / VARIANT_SHARE, most));
    }
    return calls_for(us, batch_us, most);
}

void race(session *s, contender *list, size_t count) {
    static double us[CONTENDERS_MAX][ROUNDS_MAX];
    unsigned calls[CONTENDERS_MAX];
    cudaGraphExec_t replays[CONTENDERS_MAX];
    for (size_t i = 0; i < count; i++) {
        calls[i] = prepare(&list[i]);
        if (s->opt.graph)
            replays[i] = capture(&list[i], calls[i]);
    }
    for (unsigned round = 0; round < s->opt.rounds; round++)
        for (size_t turn = 0; turn < count; turn++) {
            const size_t i = (round + turn) % count;
            us[i][round] =
                s->opt.graph ? time_replay(&list[i], replays[i], calls[i]) : time_calls(&list[i], calls[i]);
        }
    for (size_t i = 0; i < count; i++) {
        take_median(&list[i], us[i], s->opt.rounds);
        if (s->opt.graph)
            CUDA(cudaGraphExecDestroy(replays[i]));
    }
}

static double time_on_host(contender *c) {
    session *s = c->session;
    CUDA(cudaStreamSynchronize(s->stream));
    call(c);
    const double begin = host_us();
    for (unsigned i = 0; i < HOST_CALLS; i++)
        call(c);
    const double us = (host_us() - begin) / HOST_CALLS;
    CUDA(cudaStreamSynchronize(s->stream));
    return us;
}

/* Host times are short and noisy: several batches make one round's figure, the median of all rounds is kept. */
void race_host(session *s, contender *list, size_t count) {
    static double us[CONTENDERS_MAX][ROUNDS_MAX];
    const unsigned rounds = ROUNDS_MAX;
    for (unsigned round = 0; round < rounds; round++)
        for (size_t turn = 0; turn < count; turn++) {
            const size_t i = (round + turn) % count;
            us[i][round] = time_on_host(&list[i]);
        }
    for (size_t i = 0; i < count; i++)
        take_median(&list[i], us[i], rounds);
    CUDA(cudaStreamSynchronize(s->stream));
}
