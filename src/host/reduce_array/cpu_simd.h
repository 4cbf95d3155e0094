/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of contiguous runs with the vectors of the simd_*.h that the including file names before. */
#include "../cpu/rounding.h"
#include "cpu.h"

#if defined(LANES)

#define PIECE_BYTES ((size_t)2048)
#define PAGE_BYTES ((size_t)4096)
#define PAGES_BYTES (8 * PAGE_BYTES)

/* Inputs up to this lie in a core's second-level cache, where prefetching is in the way. */
#define IN_CACHE_BYTES ((size_t)2 << 20)

/*
 * For a line of eight pages one of the eight pages after them: a core prefetches by itself only within a page, and in
 * eight pages more than in one. 64 MiB of ints are read at 9 GB/s without this and at 15 with it (one thread, Xeon
 * with AVX-512, model 167). Loops that have other work prefetch line by line, as a core waits with few lines on their
 * way. AMD's cores follow a stream through all pages by themselves, and gain by the line of one page on: the same
 * ints are read at 15 GB/s by eight pages and at 24 so (EPYC with AVX-512, model 17).
 */
#if defined(__x86_64__)
#define FOLLOWS_STREAMS __builtin_cpu_is("amd")
#else
#define FOLLOWS_STREAMS false
#endif

INLINE void prefetch_for_line(const void *at) {
    if (FOLLOWS_STREAMS) {
        __builtin_prefetch((const unsigned char *)at + PAGE_BYTES);
        return;
    }
    const uintptr_t line = (uintptr_t)at / 64;
    const unsigned char *next = (const unsigned char *)at - (uintptr_t)at % PAGES_BYTES + PAGES_BYTES;
    __builtin_prefetch(next + line % 8 * PAGE_BYTES + line / 8 % 64 * 64);
}

/* Whether there are eight pages after those of an address. */
static inline bool has_next(const void *at, const unsigned char *end) {
    return (uintptr_t)at / PAGES_BYTES + 1 < (uintptr_t)end / PAGES_BYTES;
}

/* For bytes within eight pages. */
INLINE void prefetch_lines(const void *at, size_t bytes) {
    for (size_t line = 0; line < bytes; line += 64)
        prefetch_for_line((const unsigned char *)at + line);
}

INLINE void prefetch_for(const void *at, size_t bytes, const unsigned char *end) {
    if (has_next(at, end))
        prefetch_lines(at, bytes);
}

/* How many of n elements lie before a multiple of `most` bytes. */
static inline size_t piece_of(const void *at, uint64_t n, size_t bytes, size_t most) {
    return gp_least(n, gp_at_least_one((most - (uintptr_t)at % most) / bytes));
}

/* Where the memory that a pass reads ends; NULL: it need not be prefetched. */
static inline const unsigned char *end_of_input(const gp_pass *pass, const unsigned char *in, size_t bytes) {
    if (bytes <= PAGE_BYTES)
        return in + bytes;
    const gp_pass_span span = gp_pass_input_span(pass, false);
    return span.bytes > IN_CACHE_BYTES ? span.begin + span.bytes : NULL;
}

/* Each needs the one before. */
#include "cpu_types_simd.h"

#include "cpu_levels_simd.h"

#include "cpu_bounds_simd.h"

#include "cpu_floats_simd.h"

#include "cpu_rows_simd.h"

#include "cpu_extremes_simd.h"

#include "cpu_columns_simd.h"

#include "cpu_plain_columns_simd.h"

#include "cpu_finish_simd.h"

typedef void (*take_block)(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, int64_t place, uint64_t n,
                           const unsigned char *end, block_extremes *seen);

/* Comparing, counting bits, and all of ints. NULL: the reference does it. */
static take_block block_of(const gp_pass *pass) {
    static const take_block of_ints[] = {NULL,           take_block_u8,  take_block_s8,
                                         take_block_u16, take_block_s16, take_block_u32,
                                         take_block_s32, take_block_u64, take_block_s64};
    static const take_block of_floats[] = {take_extremes_f16, take_extremes_bf16, take_extremes_f32,
                                           take_extremes_f64};
    if (pass->kind > GP_PASS_MOMENTS)
        return NULL;
    if (pass->type < GP_F16)
        return (pass->wants & GP_WANT_SQUARES) && pass->type >= GP_U64 ? NULL : of_ints[pass->type];
    return pass->kind == GP_PASS_EXTREMES ? of_floats[pass->type - GP_F16] : NULL;
}

SIMD static void run(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                     int64_t place, uint64_t n) {
    const gp_pass_axis none = {0}, *axis = pass->reduced > 0 ? &pass->axis[pass->kept + pass->reduced - 1] : &none;
    const bool plain = gp_pass_is_contiguous(pass, axis) && !pass->skip_nan && !pass->where;
    const take_block take = plain ? block_of(pass) : NULL;
    const bool long_pieces = pass->kind == GP_PASS_EXTREMES || pass->wants == GP_WANT_SUM;
    const size_t bytes = gp_type_bytes(pass->type), most = long_pieces ? PAGES_BYTES : PIECE_BYTES;
    const unsigned char *end = end_of_input(pass, in, n * bytes);
    block_extremes seen = {.any = false};
    if (plain && floats_can(pass)) {
        if (pass->type == GP_F64 && n >= BINS_MIN)
            run_many_doubles(a, pass, in, with, n, end);
        else if ((pass->wants & (pass->wants - 1u)) == 0)
            run_sum(a, pass, in, with, n, end);
        else
            run_sums(a, pass, in, with, n, end);
    } else if (take == NULL) {
        gp_pass_run_any(a, pass, in, with, place, n);
    } else {
        for (uint64_t done = 0, count; done < n; done += count) {
            const unsigned char *at = in + done * bytes;
            count = piece_of(at, n - done, bytes, most);
            if (!long_pieces)
                prefetch_for(at, count * bytes, end);
            take(a, pass, at, place + axis->place * (int64_t)done, count, end, &seen);
        }
    }
}

gp_status NAMED(gp_launch_reduce_array)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_reduce_in_runs(context, plan, problem, (gp_pass_loops){run, columns, finish, bounds_of});
}

#endif
