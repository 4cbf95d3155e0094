/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of contiguous runs with the vectors of the simd_*.h that the including file names before. */
#include "../cpu/rounding.h"
#include "cpu.h"

#if defined(LANES)

#define PIECE_BYTES ((size_t)2048)
#define PAGE_BYTES ((size_t)4096)

/*
 * For a line of eight pages one of the eight pages after them: a core prefetches by itself only within a page, and in
 * eight pages more than in one. 64 MiB of ints are read at 9 GB/s without this and at 15 with it (one thread, Xeon
 * with AVX-512, model 167).
 */
INLINE void prefetch_for_line(const void *at) {
    const uintptr_t line = (uintptr_t)at / 64;
    const unsigned char *next = (const unsigned char *)at - (uintptr_t)at % (8 * PAGE_BYTES) + 8 * PAGE_BYTES;
    __builtin_prefetch(next + line % 8 * PAGE_BYTES + line / 8 % 64 * 64);
}

/* Whether there are eight pages after those of an address. */
static inline bool has_next(const void *at, const unsigned char *end) {
    return (uintptr_t)at / (8 * PAGE_BYTES) + 1 < (uintptr_t)end / (8 * PAGE_BYTES);
}

INLINE void prefetch_for(const unsigned char *at, size_t bytes, const unsigned char *end) {
    for (size_t line = 0; line < bytes && has_next(at, end); line += 64)
        prefetch_for_line(at + line);
}

/* Each needs the one before. */
#include "cpu_types_simd.h"

#include "cpu_levels_simd.h"

#include "cpu_floats_simd.h"

#include "cpu_rows_simd.h"

#include "cpu_extremes_simd.h"

#include "cpu_columns_simd.h"

#include "cpu_plain_columns_simd.h"

#include "cpu_finish_simd.h"

typedef void (*take_block)(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, int64_t place, uint64_t n,
                           block_extremes *seen);

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
    const size_t bytes = gp_type_bytes(pass->type), most = PIECE_BYTES / bytes;
    const gp_pass_span span =
        pass->kept > 0 && n * bytes > PAGE_BYTES ? gp_pass_input_span(pass, false) : (gp_pass_span){in, n * bytes};
    const unsigned char *end = span.begin + span.bytes;
    block_extremes seen = {.any = false};
    if (plain && floats_can(pass)) {
        if (pass->type == GP_F64 && n >= BINS_MIN)
            run_many_doubles(a, pass, in, with, n, end);
        else
            run_floats(a, pass, in, with, n, end, NULL);
    } else if (take == NULL) {
        gp_pass_run_any(a, pass, in, with, place, n);
    } else {
        for (uint64_t done = 0; done < n; done += most) {
            const uint64_t count = gp_least(n - done, most);
            prefetch_for(in + done * bytes, count * bytes, end);
            take(a, pass, in + done * bytes, place + axis->place * (int64_t)done, count, &seen);
        }
    }
}

gp_status NAMED(gp_launch_reduce_array)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_reduce_in_runs(context, plan, problem, (gp_pass_loops){run, columns, finish});
}

#endif
