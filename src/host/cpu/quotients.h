/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotients and their roots by numbers of two doubles with a bound on what they lack: loops that the compiler turns
 * into vectors of what SIMD names, without branches. Where both ends round to one result, that is the exact one's.
 */
#pragma once

#include "../exact.h"

#define NUMBERS 256 /* at once, at most */
#define ALWAYS_INLINE static inline __attribute__((always_inline)) SIMD

/* 2^k, if that is a normal number; ldexp() would need libm. */
static inline double power_of_two(int k) {
    return gp_f64_of_bits((uint64_t)(k + 1023) << 52);
}

/* The nearest double; and a whole number of a magnitude below 2^62, or the next below one that is not whole. */
#if defined(LACKS_CONVERSIONS)
/* By the bits of sums with 2^52, 2^84 and 3 2^51, beside which fractions, and what others add, have no room. */
#define ONE_AND_A_HALF 0x1.8p52
ALWAYS_INLINE double f64_of(int64_t x) {
    const uint64_t low = ((uint64_t)x & UINT32_MAX) | 0x4330000000000000,
                   high = (uint64_t)x >> 32 ^ 0x4530000080000000;
    return (gp_f64_of_bits(high) - (0x1p84 + 0x1p63 + 0x1p52)) + gp_f64_of_bits(low);
}

ALWAYS_INLINE int64_t s64_of(double x) {
    const double high = x * 0x1p-32 + ONE_AND_A_HALF, rest = x - (high - ONE_AND_A_HALF) * 0x1p32,
                 low = rest + ONE_AND_A_HALF;
    const uint64_t none = 0x4338000000000000, above = low - ONE_AND_A_HALF > rest;
    return (int64_t)(((gp_bits_of_f64(high) - none) << 32) + (gp_bits_of_f64(low) - none) - above);
}
#else
ALWAYS_INLINE double f64_of(int64_t x) {
    return (double)x;
}

ALWAYS_INLINE int64_t s64_of(double x) {
    return (int64_t)x;
}
#endif

/* More than high + low - off and less than high + low + off, if these are not the same. */
typedef struct {
    double high[NUMBERS], low[NUMBERS], off[NUMBERS];
} numbers;

/* a + b, and what rounding it lost. */
ALWAYS_INLINE double sum_and_rest(double a, double b, double *rest) {
    const double sum = a + b, back = sum - a;
    *rest = (a - (sum - back)) + (b - back);
    return sum;
}

/* a b, and what rounding it lost, as Dekker splits factors. */
ALWAYS_INLINE double product_and_rest(double a, double b, double *rest) {
    const double a_shifted = a * (0x1p27 + 1), a_high = a_shifted - (a_shifted - a), a_low = a - a_high;
    const double b_shifted = b * (0x1p27 + 1), b_high = b_shifted - (b_shifted - b), b_low = b - b_high;
    const double product = a * b;
    *rest = (((a_high * b_high - product) + a_high * b_low) + a_low * b_high) + a_low * b_low;
    return product;
}

/* Of what is not exact: more than any step loses below the range of doubles, whatever this is multiplied with. */
#define LEAST_OFF 0x1p-500

/*
 * n Q - S^2 of sums S and of squares Q, to Q. Each number below 2^-53 of the largest is in no more than five
 * roundings. What could be lost below the range of doubles makes it open. Of one element it is 0.
 */
ALWAYS_INLINE void make_numerators(const numbers *s, numbers *q, const double *length, size_t n) {
    for (size_t j = 0; j < n; j++) {
        double a, b, rest;
        const double by = length[j], none = q->high[j] - q->high[j];
        const double sum = s->high[j], least = __builtin_fabs(sum) * 2 + s->off[j];
        const double more = product_and_rest(by, q->high[j], &a), less = product_and_rest(sum, sum, &b);
        const double a2 = by * q->low[j], b2 = 2 * sum * s->low[j], b3 = s->low[j] * s->low[j];
        const double high = sum_and_rest(more, -less, &rest), low = rest + ((a + a2) - (b + (b2 + b3)));
        const double size = ((__builtin_fabs(a) + __builtin_fabs(a2)) + (__builtin_fabs(b) + __builtin_fabs(b2))) +
                            (b3 + __builtin_fabs(rest));
        const double off = by * q->off[j] + least * s->off[j];
        const bool tiny = (sum != 0) & (less < 0x1p-900);
        const double numerator = sum_and_rest(high, low, &rest);
        q->off[j] = by == 1 ? none : (off * (1 + 0x1p-20) + size * 0x1p-49) + (tiny ? __builtin_inf() : 0);
        q->low[j] = by == 1 ? none : rest;
        q->high[j] = by == 1 ? none : numerator;
    }
}

/* x / by, or its root; the remainders of quotients and roots are exact. What is tiny is left open. */
ALWAYS_INLINE void divide_as(bool root, numbers *x, const double *divisors, size_t n) {
    for (size_t j = 0; j < n; j++) {
        double rest;
        const double by = divisors[j];
        double y = x->high[j] / by, back = product_and_rest(y, by, &rest);
        double more = (((x->high[j] - back) - rest) + x->low[j]) / by;
        double off = x->off[j] / by * (1 + 0x1p-20) + __builtin_fabs(more) * 0x1p-50;
        off += ((x->low[j] != 0) | (x->off[j] != 0)) ? LEAST_OFF : 0;
        off = ((x->high[j] != 0) & (__builtin_fabs(y) < 0x1p-900)) ? __builtin_inf() : off;
        if (root) {
            const double r = __builtin_sqrt(y);
            back = product_and_rest(r, r, &rest);
            const double left = (((y - back) - rest) + more) / (2 * r);
            more = y == 0 ? 0 : left;
            off = (off == 0 ? 0 : off / r * (1 + 0x1p-20)) + __builtin_fabs(more) * 0x1p-50;
            y = r;
        }
        x->high[j] = y, x->low[j] = more, x->off[j] = off;
    }
}

/* Ends that are not exact are moved apart by what rounding them to a double may have moved them. */
ALWAYS_INLINE void round_as(bool to_float, const numbers *x, size_t n, uint64_t *bits, uint64_t *unsure) {
    for (size_t j = 0; j < n; j++) {
        const double low = x->high[j] + (x->low[j] - x->off[j]), high = x->high[j] + (x->low[j] + x->off[j]);
        uint64_t open = (high - high != 0) | (low - low != 0);
        if (to_float) {
            const double apart = ((x->low[j] != 0) | (x->off[j] != 0)) ? 0x1p-51 : 0;
            bits[j] = gp_bits_of_f32((float)(low - __builtin_fabs(low) * apart + 0.0));
            open |= bits[j] != gp_bits_of_f32((float)(high + __builtin_fabs(high) * apart + 0.0));
        } else {
            bits[j] = gp_bits_of_f64(low + 0.0);
            open |= low != high;
        }
        unsure[j] |= open;
    }
}

/* Quotients x / by, or with `root` their roots, as the bits of floats or of doubles; unsure: those that are left
 * open. */
ALWAYS_INLINE void round_quotients(bool root, bool to_float, numbers *x, const double *by, size_t n, uint64_t *bits,
                                   uint64_t *unsure) {
    if (root)
        divide_as(true, x, by, n);
    else
        divide_as(false, x, by, n);
    if (to_float)
        round_as(true, x, n, bits, unsure);
    else
        round_as(false, x, n, bits, unsure);
}
