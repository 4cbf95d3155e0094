/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction with the vectors of the simd_*.h that the including file names before. */
#include "cpu.h"

#if defined(LANES)
#include "../cpu/ahead.h"

/* The operations without carry. `op` is a constant wherever it is tested. */
INLINE vec combine(gp_reduce_op op, vec a, vec b) {
    const lanes_32 x = (lanes_32)a, y = (lanes_32)b;
    return (vec)GP_REDUCE_JOIN(op, x, y, (lanes_32)min_32(a, b), (lanes_32)max_32(a, b));
}

typedef struct {
    vec combined;
    sums sum; /* of GP_REDUCE_SUM, which uses nothing else */
} total;

INLINE void take(gp_reduce_op op, total *t, vec x) {
    if (op == GP_REDUCE_SUM)
        add_to(&t->sum, x);
    else
        t->combined = combine(op, t->combined, x);
}

/* Side by side, so that no operation waits for the one before. */
#define SIDES 4

INLINE int64_t over_lanes(gp_reduce_op op, vec x) {
    if (op == GP_REDUCE_SUM)
        return add_lanes(x);
    for (size_t distance = LANES / 2; distance > 0; distance /= 2)
        x = combine(op, x, swap_lanes(x, distance));
    return first_lane(x);
}

/* A chunk of 2^18 elements is up to 2^15 a lane, which one of `sums` takes, where there are 8 lanes or more. */
INLINE wide widen_totals(const total t[SIDES]) {
    if (LANES >= 8)
        return widen_sums(join(join(t[0].sum, t[1].sum), join(t[2].sum, t[3].sum)));
    return add_64(add_64(widen_sums(t[0].sum), widen_sums(t[1].sum)),
                  add_64(widen_sums(t[2].sum), widen_sums(t[3].sum)));
}

INLINE int64_t result_of(gp_reduce_op op, const total t[SIDES]) {
    if (op == GP_REDUCE_SUM)
        return (int64_t)add_lanes_64(widen_totals(t));
    const vec first = combine(op, t[0].combined, t[1].combined), last = combine(op, t[2].combined, t[3].combined);
    return over_lanes(op, combine(op, first, last));
}

/* Cores that follow a stream by themselves read 40 MB in 1.2 ms so, and in 1.5 with lines prefetched (EPYC). */
INLINE int64_t reduce_as(gp_reduce_op op, const int32_t *in, size_t n, bool streamed) {
    const total none = {.combined = all(GP_REDUCE_IDENTITY(op))};
    if (n < LANES)
        return over_lanes(op, load_first(in, n, none.combined));
    total t[SIDES] = {none, none, none, none};
    for (; n >= SIDES * LANES; in += SIDES * LANES, n -= SIDES * LANES) {
        if (streamed && !FOLLOWS_STREAMS)
            prefetch_lines(in, SIDES * sizeof(vec));
        for (size_t k = 0; k < SIDES; ++k)
            take(op, &t[k], load(in + k * LANES));
    }
    for (; n >= LANES; in += LANES, n -= LANES)
        take(op, &t[0], load(in));
    take(op, &t[1], load_first(in, n, none.combined));
    return result_of(op, t);
}

SIMD static int64_t reduce(gp_reduce_op op, const int32_t *in, size_t n, bool streamed) {
    return GP_WITH_OPERATION(reduce_as, op, in, n, streamed);
}

gp_status NAMED(gp_launch_reduce)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_reduce_in_chunks(context, plan, problem, reduce);
}

#endif
