/* SPDX-License-Identifier: Apache-2.0 */
/* Results of sums of ints: all of them from their total, by whole numbers where few instructions do not do. */
#pragma once

#include "lane_floats.cuh"

/* 64 bits at a time, the least first; with `has_sign` the last has one. */
template <int N> __device__ __forceinline__ void limbs_of(const uint64_t (&word)[N], bool has_sign, int64_t *limb) {
#pragma unroll
    for (int i = 0; i < N; i++) {
        limb[2 * i] = (int64_t)(uint32_t)word[i];
        limb[2 * i + 1] = has_sign && i == N - 1 ? (int64_t)word[i] >> 32 : (int64_t)(word[i] >> 32);
    }
}

/* A float from the sum of n elements or of their magnitudes, and from that of their squares. */
static __device__ __noinline__ uint64_t whole_exactly(unsigned op, unsigned type, const uint64_t (&sum)[2],
                                                      bool has_sign, const uint64_t (&square)[3], uint64_t n) {
    int64_t s[4], q[6], scratch[6 + GP_EXACT_SCRATCH_MORE];
    limbs_of(sum, has_sign, s);
    limbs_of(square, false, q);
    return exact_float<true>(op, type, {s, q, scratch, {0, 4}, {0, 6}, 0, 0, n});
}

/* x / by, of which `near` is off by less than 2^-50; exactly where that is it, as it may be halfway between floats.
 */
__device__ __forceinline__ bounds around(double x, double by, double near) {
    return __fma_rn(-near, by, x) == 0 ? bounds{near, near} : bounds{near * (1 - 0x1p-50), near * (1 + 0x1p-50)};
}

/* A norm, variance or deviation, by a double that is off by less than 2^-50 of it; false: that leaves it open. */
__device__ inline bool spread_near(unsigned op, unsigned type, const integers_total &t, uint64_t n, uint64_t *raw) {
    typedef unsigned __int128 whole;
    const bool norm = op == GP_REDUCE_NORM, sample = op == GP_REDUCE_VARIANCE_SAMPLE || op == GP_REDUCE_STDDEV_SAMPLE;
    const uint64_t below = (uint64_t)((int64_t)t.sum[0] >> 63);
    if (type == GP_F64 || n <= sample || t.square[2] != 0 ||
        (!norm && (n >> 32 != 0 || t.square[1] >> 32 != 0 || t.sum[1] != below)))
        return false;
    const uint64_t magnitude = (t.sum[0] ^ below) - below;
    const whole q = (whole)t.square[1] << 64 | t.square[0];
    const whole x = norm ? q : q * n - (whole)magnitude * magnitude;
    const double by = norm ? 1 : (double)n * (double)(n - sample),
                 over = __fma_rn((double)(uint64_t)(x >> 64), 0x1p64, (double)(uint64_t)x);
    bounds b = {over / by * (1 - 0x1p-50), over / by * (1 + 0x1p-50)};
    if (x >> 53 == 0 && by < 0x1p53)
        b = around(over, by, over / by);
    return settle(rooted(op, b), type, raw);
}

/* False: a whole number that its type does not hold. */
__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const integers_total &t,
                                uint64_t *raw) {
    const uint64_t n = pass.length - (pass.where ? t.count >> 32 : 0),
                   count = pass.where ? (uint32_t)t.count : t.count;
    const bool counts = op == GP_REDUCE_COUNT || op == GP_REDUCE_COUNT_DIFF,
               squares = op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_SUM_SQUARE_DIFF,
               abs = op == GP_REDUCE_SUM_ABS || op == GP_REDUCE_SUM_ABS_DIFF,
               spread = op == GP_REDUCE_NORM || (op >= GP_REDUCE_VARIANCE && op <= GP_REDUCE_STDDEV_SAMPLE),
               mean = op == GP_REDUCE_MEAN;
    const bool has_sign = is_signed(pass.type) && !counts && !squares && !abs;
    const uint64_t sum[2] = {counts ? count : abs ? t.abs[0] : t.sum[0], counts ? 0 : abs ? t.abs[1] : t.sum[1]};
    const uint64_t low = squares ? t.square[0] : sum[0], high = squares ? t.square[1] | t.square[2] : sum[1];
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
    else if (!spread || !spread_near(op, type, t, n, raw))
        *raw = whole_exactly(op, type, sum, has_sign, t.square, n);
    return true;
}
