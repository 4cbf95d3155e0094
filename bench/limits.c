/* SPDX-License-Identifier: Apache-2.0 */
/* What a device loses that has less: the choice under limits of shared memory and registers, on the real device. */
#include "bench.h"

static const struct {
    size_t smem;
    unsigned regs;
} limits[] = {{48 << 10, 0}, {16 << 10, 0}, {0, 16384}, {16 << 10, 16384}, {4 << 10, 8192}};

static void open_limits(session *s) {
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        limited *l = &s->limits[s->n_limits++];
        *l = (limited){limits[i].smem, limits[i].regs, session_context(s, GP_BACKEND_CUDA)};
        GP(gp_context_limit(l->context, l->smem, l->regs));
    }
}

static void close_limits(session *s) {
    while (s->n_limits > 0)
        gp_context_destroy(s->limits[--s->n_limits].context);
}

void bench_limits(session *s) {
    static const size_t ints[] = {1 << 16, 1 << 24, 1 << 28};
    static const size_t matrices[][3] = {{8192, 8192, 4}, {10007, 9973, 4}, {8192, 8192, 1}, {4097, 4095, 1},
                                         {8192, 8192, 8}, {4096, 4096, 16}, {1000000, 3, 4}};
    static const size_t images[][3] = {{8192, 8192, 15},   {8192, 8192, 101}, {8192, 8192, 301},
                                       {8192, 8192, 1001}, {1000000, 64, 31}, {64, 1000000, 31}};
    open_limits(s);
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        reduce_line(s, (line){.operation = GP_OPERATION_REDUCE, .op = GP_REDUCE_SUM, .n = ints[i]}, false);
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        transpose_line(s, transpose_of(matrices[i][2], matrices[i][0], matrices[i][1]), false);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        window_line(s, window_of(images[i][0], images[i][1], images[i][2], GP_BORDER_ZERO, DATA_8_BIT), false);
    close_limits(s);
}
