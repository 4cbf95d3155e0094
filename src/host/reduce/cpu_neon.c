/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction with NEON: one instruction a vector, sums included, since pairs of neighbours are added straight into 64
 * bits. Eight totals side by side, so that no addition waits for the one before it. Compared with the oracle in an
 * emulator; not timed on a processor.
 */
#include "cpu.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

#define LANES 4
#define TOTALS 8
#define STEP (TOTALS * LANES) /* elements read side by side: two lines of 64 bytes */

/* One element, and `none` in the other lanes. */
INLINE int32x4_t load_one(const int32_t *in, int32_t none) {
    return vld1q_lane_s32(in, vdupq_n_s32(none), 0);
}

static int64_t sum_chunk(const int32_t *in, size_t n, bool streamed) {
    (void)streamed;
    int64x2_t total[TOTALS];
    for (size_t k = 0; k < TOTALS; ++k)
        total[k] = vdupq_n_s64(0);
    for (; n >= STEP; in += STEP, n -= STEP)
        for (size_t k = 0; k < TOTALS; ++k)
            total[k] = vpadalq_s32(total[k], vld1q_s32(in + k * LANES));
    for (; n >= LANES; in += LANES, n -= LANES)
        total[0] = vpadalq_s32(total[0], vld1q_s32(in));
    for (; n > 0; ++in, --n)
        total[0] = vpadalq_s32(total[0], load_one(in, 0));
    for (size_t k = 1; k < TOTALS; ++k)
        total[0] = vaddq_s64(total[0], total[k]);
    return vaddvq_s64(total[0]);
}

/* The operations without carry. `op` is a constant wherever this is inlined. */
INLINE int32x4_t combine(gp_reduce_op op, int32x4_t a, int32x4_t b) {
    switch (op) {
    case GP_REDUCE_MIN:
        return vminq_s32(a, b);
    case GP_REDUCE_MAX:
        return vmaxq_s32(a, b);
    case GP_REDUCE_AND:
        return vandq_s32(a, b);
    case GP_REDUCE_OR:
        return vorrq_s32(a, b);
    default:
        return veorq_s32(a, b);
    }
}

INLINE int64_t combine_chunk(gp_reduce_op op, int32_t none, const int32_t *in, size_t n) {
    int32x4_t total[TOTALS];
    for (size_t k = 0; k < TOTALS; ++k)
        total[k] = vdupq_n_s32(none);
    for (; n >= STEP; in += STEP, n -= STEP)
        for (size_t k = 0; k < TOTALS; ++k)
            total[k] = combine(op, total[k], vld1q_s32(in + k * LANES));
    for (; n >= LANES; in += LANES, n -= LANES)
        total[0] = combine(op, total[0], vld1q_s32(in));
    for (; n > 0; ++in, --n)
        total[0] = combine(op, total[0], load_one(in, none));
    for (size_t k = 1; k < TOTALS; ++k)
        total[0] = combine(op, total[0], total[k]);
    total[0] = combine(op, total[0], vextq_s32(total[0], total[0], 2));
    return vgetq_lane_s32(combine(op, total[0], vextq_s32(total[0], total[0], 1)), 0);
}

static int64_t min_chunk(const int32_t *in, size_t n, bool streamed) {
    (void)streamed;
    return combine_chunk(GP_REDUCE_MIN, INT32_MAX, in, n);
}

static int64_t max_chunk(const int32_t *in, size_t n, bool streamed) {
    (void)streamed;
    return combine_chunk(GP_REDUCE_MAX, INT32_MIN, in, n);
}

static int64_t and_chunk(const int32_t *in, size_t n, bool streamed) {
    (void)streamed;
    return combine_chunk(GP_REDUCE_AND, -1, in, n);
}

static int64_t or_chunk(const int32_t *in, size_t n, bool streamed) {
    (void)streamed;
    return combine_chunk(GP_REDUCE_OR, 0, in, n);
}

static int64_t xor_chunk(const int32_t *in, size_t n, bool streamed) {
    (void)streamed;
    return combine_chunk(GP_REDUCE_XOR, 0, in, n);
}

gp_status gp_launch_reduce_neon(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_reduce_chunk chunk[GP_REDUCE_OPS] = {
        [GP_REDUCE_SUM] = sum_chunk, [GP_REDUCE_MIN] = min_chunk, [GP_REDUCE_MAX] = max_chunk,
        [GP_REDUCE_AND] = and_chunk, [GP_REDUCE_OR] = or_chunk,   [GP_REDUCE_XOR] = xor_chunk,
    };
    return gp_reduce_in_chunks(context, plan, problem, chunk);
}

#endif
