/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the sums of a window to its results, each rounded once. A result goes by way of a double that is off by a few
 * of its last bits; where these decide how it is rounded, it is computed again from exact integers.
 */
#pragma once

#include "../../host/exact.c"
#include "../../host/window_array/box.h"
#include "strip.cuh"

/* How a result is made of windows that are whole. */
enum strip_way { WAY_SUM, WAY_SQUARES, WAY_SMALL_MEAN, WAY_MEAN, WAY_VARIANCE, WAY_STDDEV, WAY_OWN_MEAN, WAY_OTHER };

struct strip_result {
    strip_way way;
    float reciprocal;    /* of the elements of a window */
    double by, inverse;  /* what a sum, or n Q - S^2, is divided by; 1 / by */
    double below, above; /* around it; equal if it is exact */
};

struct strip_arguments {
    gp_window_box box;
    gp_strip_cut cut;
    strip_result result[GP_PASS_RESULTS];
    uint32_t stores; /* see stores_together() */
    uint32_t moved;  /* results of 4 bytes are side by side, but not all aligned */
    uint32_t fours;  /* of pictures side by side: four outputs of a row are of one, or none */
    row_fold fold;
    int64_t less;              /* what a whole window's sum is less than that of its elements */
    uint32_t begin[4], end[4]; /* of windows of a lane's outputs k: entries of prefix sums, by k % 4 */
};

/* By integers alone: S and Q of n elements. */
static __device__ __noinline__ uint64_t window_exactly(unsigned op, unsigned type, int64_t sum, uint128 squares,
                                                       uint64_t n) {
    int64_t s[4] = {}, q[6] = {}, scratch[6 + GP_EXACT_SCRATCH_MORE];
    const gp_exact_form linear = {0, 4}, square = {0, 6};
    const bool root = op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE;
    gp_exact_add_s64(s, sum);
    gp_exact_add_128(q, (uint64_t)squares, (int64_t)(squares >> 64));
    return op == GP_REDUCE_MEAN ? gp_exact_ratio(s, linear, 0, n, false, (gp_type)type)
                                : gp_exact_variance(s, linear, q, square, 0, n, op >= GP_REDUCE_VARIANCE_SAMPLE, root,
                                                    (gp_type)type, scratch);
}

#define BITS_52 4503599627370496.0 /* 2^52 */

/* By the pattern of 2^52 + x: conversions of the machine are slower. */
__device__ inline double as_double(uint32_t x) {
    return __hiloint2double(0x43300000, (int)x) - BITS_52;
}

__device__ inline double as_double(int32_t x) {
    return __hiloint2double(0x43300000, x ^ (int)0x80000000) - (BITS_52 + 2147483648.0);
}

template <class INTEGER> __device__ inline double as_double(INTEGER x) {
    return (double)x;
}

/*
 * sum / n as a float, of |sum| <= 2^24 and n < 2^22. The first quotient q is off by less than two units of its last
 * place, the rest sum - n q is exact, and what it adds is off by 2^-23 units: a quotient of such numbers lies at
 * least 1 / 2n units from the middle of two floats.
 */
__device__ inline float small_mean(int32_t sum, float n, float reciprocal) {
    const float s = __int2float_rn(sum), q = __fmul_rn(s, reciprocal);
    return __fmaf_rn(__fmaf_rn(-n, q, s), reciprocal, q);
}

/* n Q - S^2 times `by`, off by a few of its last bits. Of short sums n Q - S^2 is below 2^52: rounded once. */
__device__ inline double spread_times(int32_t sum, uint32_t squares, uint32_t n, double by) {
    const uint64_t x = (uint64_t)n * squares + (uint64_t)((int64_t)-sum * sum);
    return __fma_rn(__hiloint2double((int)(x >> 32) + 0x43300000, (int)(uint32_t)x), by, -BITS_52 * by);
}

/* Below 2^62. */
__device__ inline double spread_times(int32_t sum, uint64_t squares, uint32_t n, double by) {
    const uint64_t x = n * squares - (uint64_t)((int64_t)sum * sum);
    const double high = __hiloint2double(0x45300000, (int)(x >> 32)) - 0x1p84,
                 low = __hiloint2double(0x43300000, (int)(uint32_t)x) - BITS_52;
    return (high + low) * by;
}

template <class SQUARE> __device__ inline double spread_times(int64_t sum, SQUARE squares, uint32_t n, double by) {
    const uint64_t magnitude = (uint64_t)llabs(sum);
    return as_double((uint128)squares * n - (uint128)magnitude * magnitude) * by;
}

/* How far above a half, less 16, the bits are that a float drops, eight times: below HALF_WIDTH they are within 16
   units of it, more than the roundings on the way make. */
#define HALF_WIDTH (8 * 33)

__device__ inline uint32_t from_half(double x) {
    return (uint32_t)__double2loint(x) * 8 - 8 * (0x10000000u - 16);
}

/* A square root, off by a unit or two of its last bits: Newton's steps from a float's. x: 0, or from 2^-100 to 2^100.
 */
__device__ inline double root_near(double x) {
    double inverse = rsqrtf((float)x);
    inverse = __fma_rn(0.5 * inverse, __fma_rn(-x * inverse, inverse, 1.0), inverse);
    const double root = x * inverse;
    return x == 0 ? 0 : __fma_rn(0.5 * inverse, __fma_rn(-root, root, x), root);
}

#define ROUND_AT 6755399441055744.0 /* 1.5 2^52: what is added to it is rounded to an integer */

/*
 * A mean in the elements' own type: the nearest integer. The quotient is off by less than 2^32 2^-51, so that of the
 * n below 2^18 it can only be wrong at a tie, where the two ends differ: the even one is right.
 */
__device__ inline uint32_t mean_between(double sum, double below, double above) {
    const int low = __double2loint(__fma_rn(sum, below, ROUND_AT)),
              high = __double2loint(__fma_rn(sum, above, ROUND_AT));
    return (uint32_t)(low & 1 ? high : low);
}
