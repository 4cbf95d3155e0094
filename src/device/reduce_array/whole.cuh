/* SPDX-License-Identifier: Apache-2.0 */
/* Results of sums of ints: all of them from their total, by whole numbers where few instructions do not do. */
#pragma once

#include "lane_floats.cuh"

/* A float from the sum of n elements or of their magnitudes, and from that of their squares. */
template <bool SQUARES>
static __device__ __noinline__ uint64_t whole_exactly(unsigned op, unsigned type, uint128 sum, bool has_sign,
                                                      uint128 square, uint64_t above, uint64_t n) {
    int64_t s[4], q[6] = {0, 0, 0, 0, (uint32_t)above, (int64_t)(above >> 32)}, scratch[6 + GP_EXACT_SCRATCH_MORE];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        s[i] = has_sign && i == 3 ? (int32_t)(sum >> 96) : (int64_t)(uint32_t)(sum >> 32 * i);
        q[i] = (uint32_t)(square >> 32 * i);
    }
    return exact_float<SQUARES>(op, type, {s, q, scratch, {0, 4}, {0, 6}, 0, 0, n});
}

/* x / by, of which `near` is off by less than 2^-50; exactly where that is it, as it may be halfway between floats.
 */
__device__ __forceinline__ bounds around(double x, double by, double near) {
    return __fma_rn(-near, by, x) == 0 ? bounds{near, near} : bounds{near * (1 - 0x1p-50), near * (1 + 0x1p-50)};
}

/* A norm, variance or deviation, by a double that is off by less than 2^-50 of it; false: that leaves it open. */
__device__ inline bool spread_near(unsigned op, unsigned type, const integers_total &t, uint64_t n, uint64_t *raw) {
    const bool norm = op == GP_REDUCE_NORM, sample = op == GP_REDUCE_VARIANCE_SAMPLE || op == GP_REDUCE_STDDEV_SAMPLE;
    const uint64_t low = (uint64_t)t.sum, below = (uint64_t)((int64_t)low >> 63), magnitude = (low ^ below) - below;
    if (type == GP_F64 || n <= sample || t.above != 0 ||
        (!norm && (n >> 32 != 0 || t.square >> 96 != 0 || (uint64_t)(t.sum >> 64) != below)))
        return false;
    const uint128 x = norm ? t.square : t.square * n - (uint128)magnitude * magnitude;
    const double by = norm ? 1 : (double)n * (double)(n - sample),
                 over = __fma_rn((double)(uint64_t)(x >> 64), 0x1p64, (double)(uint64_t)x);
    bounds b = {over / by * (1 - 0x1p-50), over / by * (1 + 0x1p-50)};
    if (x >> 53 == 0 && by < 0x1p53)
        b = around(over, by, over / by);
    return settle(rooted(op, b), type, raw);
}

/* False: a whole number that its type does not hold. SQUARES: there may be results of squares. */
template <bool SQUARES>
__device__ __forceinline__ bool whole_value(const gp_pass &pass, unsigned op, unsigned type, const integers_total &t,
                                            uint64_t *raw) {
    const uint64_t n = pass.length - (pass.where ? t.count >> 32 : 0),
                   count = pass.where ? (uint32_t)t.count : t.count;
    const bool counts = op == GP_REDUCE_COUNT || op == GP_REDUCE_COUNT_DIFF,
               squares = op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_SUM_SQUARE_DIFF,
               abs = op == GP_REDUCE_SUM_ABS || op == GP_REDUCE_SUM_ABS_DIFF,
               spread = op == GP_REDUCE_NORM || (op >= GP_REDUCE_VARIANCE && op <= GP_REDUCE_STDDEV_SAMPLE),
               mean = op == GP_REDUCE_MEAN;
    const bool has_sign = is_signed(pass.type) && !counts && !squares && !abs;
    const uint128 sum = squares ? t.square : counts ? count : abs ? t.abs : t.sum;
    const uint64_t low = (uint64_t)sum, high = (uint64_t)(sum >> 64) | (squares ? t.above : 0);
    const bool is_short = high == (has_sign ? (uint64_t)((int64_t)low >> 63) : 0) && (has_sign || (int64_t)low >= 0),
               is_exact = llabs((int64_t)low) < (int64_t)1 << 53 && n > 0 && n < (uint64_t)1 << 53;
    const double real = (double)(int64_t)low;
    *raw = low;
    if (!is_float(type))
        return type == GP_S64 ? is_short : high == 0;
    if (is_short && !spread && type >= GP_F32 && (!mean || is_exact))
        *raw = mean             ? quotient(real, n, type)
               : type == GP_F64 ? (uint64_t)__double_as_longlong(real)
                                : __float_as_uint(__ll2float_rn((int64_t)low));
    else if (!SQUARES || !spread || !spread_near(op, type, t, n, raw))
        *raw = whole_exactly<SQUARES>(op, type, sum, has_sign, t.square, t.above, n);
    return true;
}

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const integers_total &t,
                                uint64_t *raw) {
    return whole_value<true>(pass, op, type, t, raw);
}
