/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of contiguous runs with the vectors of the simd_*.h that the including file names before. */
#include "../cpu/rounding.h"
#include "cpu.h"

#if defined(LANES)
#include "../cpu/ahead.h"

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
