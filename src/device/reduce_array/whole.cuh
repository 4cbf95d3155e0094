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
    const gp_exact_form linear = {0, 4}, squares = {0, 6};
    const bool root = op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE;
    limbs_of(sum, has_sign, s);
    limbs_of(square, false, q);
    if (op >= GP_REDUCE_VARIANCE && op <= GP_REDUCE_STDDEV_SAMPLE)
        return gp_exact_variance(s, linear, q, squares, 0, n, op >= GP_REDUCE_VARIANCE_SAMPLE, root, (gp_type)type,
                                 scratch);
    if (op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_SUM_SQUARE_DIFF || op == GP_REDUCE_NORM)
        return gp_exact_ratio(q, squares, 0, 1, op == GP_REDUCE_NORM, (gp_type)type);
    return gp_exact_ratio(s, linear, 0, op == GP_REDUCE_MEAN ? n : 1, false, (gp_type)type);
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
    if (norm || op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE)
        b = {__dsqrt_rd(b.down), __dsqrt_ru(b.up)};
    return settle(b, type, raw);
}

__device__ inline bool overflows(const gp_pass &, const integers_total &) {
    return true;
}

/* Any result. False: a whole number that its type does not hold. */
static __device__ __noinline__ bool whole_value(const gp_pass &pass, unsigned op, unsigned type,
                                                const integers_total &t, uint64_t *raw) {
    const uint64_t n = pass.length - (pass.where ? t.count >> 32 : 0),
                   count = pass.where ? (uint32_t)t.count : t.count;
    const bool counts = op == GP_REDUCE_COUNT || op == GP_REDUCE_COUNT_DIFF,
               squares = op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_SUM_SQUARE_DIFF,
               abs = op == GP_REDUCE_SUM_ABS || op == GP_REDUCE_SUM_ABS_DIFF;
    const bool has_sign = is_signed(pass.type) && !counts && !squares && !abs;
    const uint64_t sum[2] = {counts ? count : abs ? t.abs[0] : t.sum[0], counts ? 0 : abs ? t.abs[1] : t.sum[1]};
    *raw = squares ? t.square[0] : sum[0];
    if (!is_float(type)) {
        const uint64_t high = squares ? t.square[1] | t.square[2] : sum[1];
        return high == (has_sign && (int64_t)high < 0 ? ~(uint64_t)0 : 0) &&
               (type == GP_S64 ? (int64_t)(*raw ^ high) >= 0 : high == 0);
    }
    if ((op != GP_REDUCE_NORM && (op < GP_REDUCE_VARIANCE || op > GP_REDUCE_STDDEV_SAMPLE)) ||
        !spread_near(op, type, t, n, raw))
        *raw = whole_exactly(op, type, sum, has_sign, t.square, n);
    return true;
}

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const integers_total &t,
                                uint64_t *raw) {
    const bool sums = op == GP_REDUCE_SUM || op == GP_REDUCE_MEAN, has_sign = is_signed(pass.type) && sums;
    const uint64_t low = op == GP_REDUCE_COUNT         ? t.count
                         : op == GP_REDUCE_SUM_SQUARES ? t.square[0]
                         : op == GP_REDUCE_SUM_ABS     ? t.abs[0]
                                                       : t.sum[0];
    const uint64_t high = op == GP_REDUCE_COUNT         ? 0
                          : op == GP_REDUCE_SUM_SQUARES ? t.square[1] | t.square[2]
                          : op == GP_REDUCE_SUM_ABS     ? t.abs[1]
                                                        : t.sum[1];
    const bool is_short = high == (has_sign ? (uint64_t)((int64_t)low >> 63) : 0) && (has_sign || (int64_t)low >= 0);
    const bool mean = op == GP_REDUCE_MEAN, exact = llabs((int64_t)low) < (int64_t)1 << 53;
    const bool few = sums || op == GP_REDUCE_COUNT || op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_SUM_ABS;
    const double real = (double)(int64_t)low;
    if (!few || !is_short || pass.where || type == GP_F16 || type == GP_BF16 ||
        (type == GP_U64 && (int64_t)low < 0) || (mean && (!exact || pass.length >= (uint64_t)1 << 53)))
        return whole_value(pass, op, type, t, raw);
    *raw = low;
    if (mean)
        *raw = quotient(real, pass.length, type);
    else if (type == GP_F64)
        *raw = (uint64_t)__double_as_longlong(real);
    else if (type == GP_F32)
        *raw = __float_as_uint(__ll2float_rn((int64_t)low));
    return true;
}
