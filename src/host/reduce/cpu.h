/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor rows of the reduction share, and staging: joining, the walk over parts and chunks. */
#ifndef GP_CPU_REDUCE_H
#define GP_CPU_REDUCE_H

#include "../cpu/rows.h"
#include "../primitive.h"

/*
 * Elements a chunk function is given at most: 1 MiB. Few enough for the sum's 32-bit accumulators (reduce_avx512.c)
 * and many enough that entering the function costs nothing.
 */
#define GP_REDUCE_CHUNK ((size_t)1 << 18)

#define GP_REDUCE_OPS 6

/* Joins two partial results. */
gp_total gp_reduce_combine(gp_reduce_op op, gp_total a, gp_total b);

/* in[0] op ... op in[n-1] for 1 <= n <= GP_REDUCE_CHUNK, extended to 64 bits with its sign.
 * streamed: what the thread has to do is larger than its core's cache: what comes next is worth prefetching. */
typedef int64_t (*gp_reduce_chunk)(const int32_t *in, size_t n, bool streamed);

#if defined(__x86_64__)
#define GP_PAGE ((size_t)4096 / sizeof(int32_t)) /* elements */
#define GP_PAGE_QUARTER (GP_PAGE / 4)

/*
 * Where a page's first quarter ends. The compiler may not know how far that is: it would unroll the loop over the
 * lines and move prefetches and loads together (512 MiB: or took 42.3 ms so, 34.0 now).
 */
static inline const int32_t *gp_quarter_end(const int32_t *page) {
    const int32_t *end = page + GP_PAGE_QUARTER;
    __asm__("" : "+r"(end));
    return end;
}

/* Prefetches the line at `at`, in a page's first quarter, and the same one of the others, here and nowhere else. */
static inline void gp_prefetch_line(const int32_t *at) {
    for (size_t k = 0; k < 4; ++k)
        __asm__ volatile("prefetcht0 %0" : : "m"(at[k * GP_PAGE_QUARTER]));
}
#endif

/* Runs the problem with the chunk functions of a row, indexed by gp_reduce_op. */
gp_status gp_reduce_in_chunks(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                              const gp_reduce_chunk chunk[GP_REDUCE_OPS]);

#endif
