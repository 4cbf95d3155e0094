/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that are measured, with their targets. */
#include "peers.h"

#define MIB ((size_t)1 << 20)

static const target reduce_read = {"reduce, 64 and 512 MiB, of the best read", SPEED_OF_LIMIT, 0.90};
static const target reduce_cache = {"sum, 1 MiB in cache, of the best read there", SPEED_OF_LIMIT, 0.85};
static const target sum_numpy = {"sum, times numpy's speed", SPEED_OF_PEER, 2};
static const target min_numpy = {"min, times numpy's speed", SPEED_OF_PEER, 1};
static const target window_split = {"window, any w, of reading once and writing twice", SPEED_OF_LIMIT, 0.80};
static const target window_flat = {"window, slowest w, times the fastest's time", TIMES_FASTEST, 1.10};
static const target window_opencv = {"window, times OpenCV's speed", SPEED_OF_PEER, 3};
static const target wide_copy = {"transpose 4, 8, 16 bytes, pitch no power of two, of memcpy", SPEED_OF_LIMIT, 0.85};
static const target power_copy = {"transpose 4 bytes, pitch a power of two, of memcpy", SPEED_OF_LIMIT, 0.70};
static const target narrow_copy = {"transpose 1, 2 bytes, of memcpy", SPEED_OF_LIMIT, 0.60};
static const target transpose_peers = {"transpose, times OpenCV's and OpenBLAS's speed", SPEED_OF_PEER, 4};
static const target call_time = {"call with n = 1, ns", NANOSECONDS, 100};

static void add_remote(race *r, const job *j, const char *who, const char *word, double tolerated) {
    entry *e = race_add(r, ROLE_PEER, who, j);
    e->word = word;
    e->tolerated = tolerated;
}

static void race_reduce(session *s, const team *t, const char *title, size_t bytes, bool in_cache) {
    const size_t last = in_cache ? GP_REDUCE_SUM : GP_REDUCE_XOR;
    race *r = race_begin(s, t, title, in_cache ? 200 : 1);
    for (size_t op = GP_REDUCE_SUM; op <= last; op++) {
        const job j = {.operation = GP_OPERATION_REDUCE, .op = op, .n = bytes / sizeof(int32_t)};
        const bool sum = op == GP_REDUCE_SUM, min = op == GP_REDUCE_MIN;
        /* numpy has one thread: with more of ours it is shown, not judged. */
        const bool equal = t->threads == 1;
        const target *targets[] = {in_cache ? &reduce_cache : &reduce_read,
                                   sum && equal   ? &sum_numpy
                                   : min && equal ? &min_numpy
                                                  : NULL,
                                   NULL};
        if (sum)
            race_add_limits(r, &j, LIMIT_READ, ROLE_LIMIT);
        race_add_ours(r, &j, targets);
        if (s->numpy && sum)
            add_remote(r, &j, "numpy sum (1 thread)", "sum", 0);
        if (s->numpy && min)
            add_remote(r, &j, "numpy min (1 thread)", "min", 0);
    }
    race_run(r);
}

void bench_reduce(session *s) {
    memory_prepare(&s->memory, DATA_32_BIT, MIB, 0, 0, 0);
    if (s->teams[0].threads == 1)
        race_reduce(s, &s->teams[0], "reduce 1 MiB in cache", MIB, true);
    for (size_t mib = 64; mib <= (s->opt.quick ? 64 : 512); mib *= 8) {
        char title[32];
        snprintf(title, sizeof title, "reduce %zu MiB", mib);
        memory_prepare(&s->memory, DATA_32_BIT, mib * MIB, 0, 0, s->opt.rotated);
        for (size_t i = 0; i < s->n_teams; i++)
            race_reduce(s, &s->teams[i], title, mib * MIB, false);
    }
}

/*
 * OpenCV has both sums for floats only. Its box filter takes ints too and adds in 32 bits, which full-range data
 * passes; floats hold such data rounded, to 2^-24 of its largest, and then so do the sums.
 */
static void race_window(session *s, const team *t, const char *title, data_kind kind) {
    static const size_t windows[] = {3, 15, 31, 101, 301, 1001};
    static const target *const targets[] = {&window_split, &window_opencv, NULL};
    race *r = race_begin(s, t, title, 1);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i += s->opt.quick ? 4 : 1) {
        const job j = {
            .operation = GP_OPERATION_WINDOW, .rows = 4096, .cols = 4096, .elem_bytes = 4, .window = windows[i]};
        if (i == 0)
            race_add_limits(r, &j, LIMIT_SPLIT, ROLE_LIMIT);
        race_add_ours(r, &j, targets);
        if (s->opencv && kind != DATA_32_BIT)
            add_remote(r, &j, "OpenCV box of int + sqrBox", "box_int", 0);
        if (s->opencv)
            add_remote(r, &j, "OpenCV box of float + sqrBox", "box_float", kind == DATA_32_BIT ? 0x1p-23 : 0);
    }
    race_run(r);
    report_spread(r, &window_flat);
}

void bench_window(session *s) {
    static const struct {
        const char *title;
        data_kind kind;
    } images[] = {{"window 4096^2, 8 bits", DATA_8_BIT},
                  {"window 4096^2, 16 bits", DATA_16_BIT},
                  {"window 4096^2, all of int32", DATA_32_BIT}};
    const size_t bytes = (size_t)4096 * 4096 * 4;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        memory_prepare(&s->memory, images[i].kind, bytes, bytes, 2, s->opt.rotated);
        for (size_t k = 0; k < s->n_teams; k++)
            race_window(s, &s->teams[k], images[i].title, images[i].kind);
    }
}

static void race_transpose(session *s, const team *t, const job *j, bool power_of_two) {
    const bool narrow = j->elem_bytes < 4;
    const target *of_copy = narrow                               ? &narrow_copy
                            : !power_of_two                      ? &wide_copy
                            : power_of_two && j->elem_bytes == 4 ? &power_copy
                                                                 : NULL;
    const target *const targets[] = {&transpose_peers, of_copy, NULL};
    char title[48];
    snprintf(title, sizeof title, "transpose %zu byte%s", j->elem_bytes, j->elem_bytes > 1 ? "s" : "");
    race *r = race_begin(s, t, title, 1);
    race_add_limits(r, j, LIMIT_MEMCPY, ROLE_LIMIT);
    race_add_limits(r, j, LIMIT_COPY, ROLE_SHOWN);
    race_add_ours(r, j, targets);
    if (s->opencv)
        add_remote(r, j, "OpenCV transpose", "transpose", 0);
    if (s->openblas && j->elem_bytes == sizeof(float))
        race_add(r, ROLE_PEER, "OpenBLAS somatcopy", j)->call = peer_somatcopy;
    race_run(r);
}

void bench_transpose(session *s) {
    static const struct {
        size_t elem_bytes, rows, cols;
        bool power_of_two, quick;
    } shapes[] = {
        {4, 4112, 4080, false, true},  {4, 4001, 3999, false, false}, {4, 4096, 4096, true, true},
        {4, 8192, 16384, true, false}, {8, 4112, 4080, false, true},  {8, 4096, 4096, true, false},
        {16, 2064, 4080, false, true}, {16, 2048, 4096, true, false}, {2, 4160, 4160, false, true},
        {2, 8192, 8192, true, false},  {1, 8256, 8256, false, true},  {1, 8192, 8192, true, false},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const job j = {.operation = GP_OPERATION_TRANSPOSE,
                       .rows = shapes[i].rows,
                       .cols = shapes[i].cols,
                       .elem_bytes = shapes[i].elem_bytes};
        const size_t bytes = j.rows * j.cols * j.elem_bytes;
        if (s->opt.quick && !shapes[i].quick)
            continue;
        memory_prepare(&s->memory, DATA_FLOAT, bytes, bytes, 1, s->opt.rotated);
        for (size_t k = 0; k < s->n_teams; k++)
            race_transpose(s, &s->teams[k], &j, shapes[i].power_of_two);
    }
}

/* The smallest problems: what a call costs. A free thread is not asked for so little. */
void bench_calls(session *s) {
    static const target *const targets[] = {&call_time, NULL};
    static const job jobs[] = {{.operation = GP_OPERATION_REDUCE, .n = 1},
                               {.operation = GP_OPERATION_WINDOW, .rows = 1, .cols = 1, .elem_bytes = 4, .window = 1},
                               {.operation = GP_OPERATION_TRANSPOSE, .rows = 1, .cols = 1, .elem_bytes = 4}};
    memory_prepare(&s->memory, DATA_16_BIT, 64, 64, 2, 0);
    for (size_t k = 0; k < s->n_teams; k++)
        for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
            static const char *const titles[] = {"call, reduce", "call, window", "call, transpose"};
            race *r = race_begin(s, &s->teams[k], titles[i], 20000);
            race_add_ours(r, &jobs[i], targets);
            race_run(r);
        }
}
