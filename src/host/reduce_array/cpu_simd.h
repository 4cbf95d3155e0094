/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of contiguous runs with the vectors of the simd_*.h that the including file names before. */
#include "../cpu/rounding.h"
#include "cpu.h"

#if defined(LANES)

/* Each needs the one before. */
#include "cpu_types_simd.h"

#include "cpu_floats_simd.h"

#include "cpu_columns_simd.h"

#define BLOCK_BYTES 4096

/* Lines of the block after the next ones: a core prefetches by itself only within a page. */
static inline void prefetch_block(const unsigned char *at) {
    for (size_t line = 0; line < BLOCK_BYTES; line += 64)
        __builtin_prefetch(at + line);
}

typedef void (*take_block)(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                           int64_t place, uint64_t n);

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

static void run(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                int64_t place, uint64_t n) {
    const size_t bytes = gp_type_bytes(pass->type), most = BLOCK_BYTES / bytes;
    const bool contiguous =
        pass->reduced > 0 && gp_pass_is_contiguous(pass, &pass->axis[pass->kept + pass->reduced - 1]);
    const bool plain = contiguous && !pass->skip_nan && !pass->where;
    const take_block take = plain ? block_of(pass) : NULL;
    if (plain && floats_can(pass)) {
        run_floats(a, pass, in, with, n);
        return;
    }
    if (take == NULL) {
        gp_pass_run_any(a, pass, in, with, place, n);
        return;
    }
    const int64_t step = pass->axis[pass->kept + pass->reduced - 1].place;
    for (uint64_t done = 0; done < n; done += most) {
        const uint64_t count = gp_least(n - done, most);
        if (n - done > AHEAD / bytes)
            prefetch_block(in + done * bytes + AHEAD);
        take(a, pass, in + done * bytes, NULL, place + step * (int64_t)done, count);
    }
}

gp_status NAMED(gp_launch_reduce_array)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_reduce_in_runs(context, plan, problem, run, columns);
}

#endif
