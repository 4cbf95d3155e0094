/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums: whole numbers of some 128 to 4300 bits, and the only place where a result is rounded to a float.
 *
 * A sum is limb[0] + limb[1] 2^32 + limb[2] 2^64 + .., times 2^unit. Limbs are int64_t of either sign and may hold
 * carries: adding two arrays limb by limb adds their values, in any order. A fresh sum is zeros. 2^29 additions of
 * values (or of arrays that were carried) are safe between two calls of gp_exact_carry().
 *
 * Integer arithmetic only: the rounding mode, FTZ and DAZ make no difference, and no floating-point exception is
 * raised. Nothing is allocated, no local arrays are used. The GPU computes with the same source: a .cu includes
 * exact.c, which makes every function static.
 */
#pragma once

#include "gpuprim/gpuprim.h"
#include <stdbool.h>
#include <string.h>

#ifdef __CUDACC__
#define GP_EXACT_INLINE static __host__ __device__ __forceinline__
#define GP_EXACT_STATIC static inline __host__ __device__
#define GP_EXACT GP_EXACT_STATIC
#else
#define GP_EXACT_INLINE static inline
#define GP_EXACT_STATIC static
#define GP_EXACT
#endif

/* Stands before a loop that a compiler for GPUs would unroll. The code is rarely reached, and short code is loaded
 * sooner. */
#ifdef __CUDA_ARCH__
#define GP_EXACT_ROLLED _Pragma("unroll 1")
#else
#define GP_EXACT_ROLLED
#endif

/* Other forms than those of gp_exact_form_of() are as good: {-24, 4} for sums of f16 counted in 2^-24, say. */
typedef struct gp_exact_form {
    int16_t unit;   /* exponent of limb 0 */
    uint16_t limbs; /* 3 and more; the magnitude stays below 2^(32 limbs) units */
} gp_exact_form;

#define GP_EXACT_LIMBS 134      /* of the longest form */
#define GP_EXACT_SCRATCH_MORE 4 /* what gp_exact_variance() needs beyond the limbs of the squares */

/* What no limb can hold, or'ed together. */
#define GP_EXACT_NAN 1u
#define GP_EXACT_PLUS_INFINITY 2u
#define GP_EXACT_MINUS_INFINITY 4u

/* Room for 2^64 elements of a type, or for as many squares or products of two:
 * ints {0, 4} and {0, 6}; f16, bf16, f32 {-149, 11} and {-298, 20}; f64 {-1074, 68} and {-2148, 134}. */
GP_EXACT gp_exact_form gp_exact_form_of(gp_type type, bool squares);

/* Makes each limb but the last at least 0 and below 2^32; the last has the sign. The value stays. */
GP_EXACT void gp_exact_carry(int64_t *limb, unsigned limbs);

/*
 * Results. Each is the exact value rounded once to `to`, to nearest with ties to even: the bit pattern of a GP_F64,
 * GP_F32, GP_F16 or GP_BF16. An exact zero is +0; what rounds to zero keeps its sign; what is past the range is
 * infinite. NaN, or infinities of both signs, in `flags` give the quiet NaN with the sign clear and no payload;
 * one infinity gives itself, or where it has no meaning (the variance) NaN.
 * The limbs are carried on the way, so their values stay, but two threads must not ask of one array at once.
 */
GP_EXACT uint64_t gp_exact_round(int64_t *limb, gp_exact_form form, uint32_t flags, gp_type to);

/* sum / n, or its square root. n 0: NaN. With n 1 and the root: the norm, of a sum of squares. */
GP_EXACT uint64_t gp_exact_ratio(int64_t *limb, gp_exact_form form, uint32_t flags, uint64_t n, bool root,
                                 gp_type to);

/*
 * (n Q - S^2) / n^2, or with `sample` / (n (n - 1)), or its square root, of the sum S of n values and the sum Q of
 * their squares. square_form.unit must be 2 sum_form.unit. n 0, or a sample of 1: NaN.
 * scratch: square_form.limbs + GP_EXACT_SCRATCH_MORE limbs, of any content.
 */
GP_EXACT uint64_t gp_exact_variance(int64_t *sum, gp_exact_form sum_form, int64_t *square, gp_exact_form square_form,
                                    uint32_t flags, uint64_t n, bool sample, bool root, gp_type to, int64_t *scratch);

/* The sum (unit 0) modulo 2^64; whether it is within an int64_t or uint64_t. */
GP_EXACT bool gp_exact_to_int(int64_t *limb, gp_exact_form form, bool is_signed, uint64_t *modulo);

/* ---- adding; here, so that loops can have them inline ---- */

/* magnitude 2^bit units, or minus that. There must be three limbs from bit / 32 on. */
GP_EXACT_INLINE void gp_exact_add_bits(int64_t *limb, unsigned bit, uint64_t magnitude, bool negative) {
    const int64_t sign = -(int64_t)negative;
    const unsigned shift = bit & 31;
    const int64_t low = (int64_t)((magnitude << shift) & UINT32_MAX);
    const int64_t middle = (int64_t)((magnitude >> (32 - shift)) & UINT32_MAX);
    const int64_t high = (int64_t)((magnitude >> 32) >> (32 - shift));
    limb += bit >> 5;
    limb[0] += (low ^ sign) - sign;
    limb[1] += (middle ^ sign) - sign;
    limb[2] += (high ^ sign) - sign;
}

/* a b 2^bit units, or minus that. */
GP_EXACT_INLINE void gp_exact_add_product_bits(int64_t *limb, unsigned bit, uint64_t a, uint64_t b, bool negative) {
    const uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    gp_exact_add_bits(limb, bit, a0 * b0, negative);
    gp_exact_add_bits(limb, bit + 32, a0 * b1, negative);
    gp_exact_add_bits(limb, bit + 32, a1 * b0, negative);
    gp_exact_add_bits(limb, bit + 64, a1 * b1, negative);
}

/* Integers with a sign, in forms of unit 0 (or counted in units of any form): of 64 bits, and of 128. */
GP_EXACT_INLINE void gp_exact_add_s64(int64_t *limb, int64_t value) {
    limb[0] += value & UINT32_MAX;
    limb[1] += value >> 32;
}

GP_EXACT_INLINE void gp_exact_add_128(int64_t *limb, uint64_t low, int64_t high) {
    gp_exact_add_bits(limb, 0, low, false);
    gp_exact_add_s64(limb + 2, high);
}

/* Bit patterns of floats, and back. */
#define GP_EXACT_SAME_BITS(name, to, from) \
    GP_EXACT_INLINE to name(from x) {      \
        to y;                              \
        memcpy(&y, &x, sizeof y);          \
        return y;                          \
    }
GP_EXACT_SAME_BITS(gp_bits_of_f32, uint32_t, float)
GP_EXACT_SAME_BITS(gp_bits_of_f64, uint64_t, double)
GP_EXACT_SAME_BITS(gp_f32_of_bits, float, uint32_t)
GP_EXACT_SAME_BITS(gp_f64_of_bits, double, uint64_t)
#undef GP_EXACT_SAME_BITS

/* A float taken apart: (-1)^negative mantissa 2^(bit + unit of its type), or special: a flag, and mantissa 0. */
typedef struct gp_exact_parts {
    uint64_t mantissa;
    unsigned bit;
    bool negative;
    uint32_t special;
} gp_exact_parts;

GP_EXACT_INLINE gp_exact_parts gp_exact_take_apart(uint64_t fraction, unsigned exponent, unsigned fraction_bits,
                                                   unsigned exponent_max, bool negative) {
    gp_exact_parts parts = {fraction, 0, negative, 0};
    if (exponent == exponent_max) {
        const uint32_t infinity = negative ? GP_EXACT_MINUS_INFINITY : GP_EXACT_PLUS_INFINITY;
        parts.special = fraction ? GP_EXACT_NAN : infinity;
        parts.mantissa = 0;
    } else if (exponent > 0) {
        parts.mantissa |= (uint64_t)1 << fraction_bits;
        parts.bit = exponent - 1;
    }
    return parts;
}

GP_EXACT_INLINE gp_exact_parts gp_exact_parts_f32(float x) {
    const uint32_t bits = gp_bits_of_f32(x);
    return gp_exact_take_apart(bits & 0x7fffff, bits >> 23 & 0xff, 23, 0xff, bits >> 31);
}

GP_EXACT_INLINE gp_exact_parts gp_exact_parts_f64(double x) {
    const uint64_t bits = gp_bits_of_f64(x);
    return gp_exact_take_apart(bits & 0xfffffffffffff, bits >> 52 & 0x7ff, 52, 0x7ff, bits >> 63);
}

/* An f16 as a float, which holds it exactly; a bf16 is the upper half of one. */
GP_EXACT_INLINE float gp_exact_widen_f16(uint16_t half) {
    const uint32_t exponent = half >> 10 & 0x1f;
    uint32_t fraction = half & 0x3ff, bits = (uint32_t)(half & 0x8000) << 16;
    if (exponent > 0) {
        bits |= ((exponent == 0x1f ? 0xff : exponent + 112) << 23) | fraction << 13;
    } else if (fraction > 0) { /* 2^-24 of it: normal as a float */
        uint32_t shifted = 0;
        for (; !(fraction & 0x400); fraction <<= 1)
            shifted++;
        bits |= ((113 - shifted) << 23) | (fraction & 0x3ff) << 13;
    }
    return gp_f32_of_bits(bits);
}

GP_EXACT_INLINE float gp_exact_widen_bf16(uint16_t upper) {
    return gp_f32_of_bits((uint32_t)upper << 16);
}

/* x, in any form of which x is a whole number of units, below 2^(32 limbs - 12) of them. */
GP_EXACT_INLINE void gp_exact_add_f64(int64_t *limb, gp_exact_form form, double x, uint32_t *flags) {
    const gp_exact_parts p = gp_exact_parts_f64(x);
    *flags |= p.special;
    const int bit = (int)p.bit - 1074 - form.unit;
    if (bit >= 0)
        gp_exact_add_bits(limb, (unsigned)bit, p.mantissa, p.negative);
    else if (p.mantissa != 0) /* its low bits are 0 */
        gp_exact_add_bits(limb, 0, p.mantissa >> -bit, p.negative);
}

/* Flags of a product of which a factor is special: that of 0 and an infinity is NaN. */
GP_EXACT_INLINE uint32_t gp_exact_special_product(gp_exact_parts a, gp_exact_parts b) {
    const bool zero = (a.mantissa | a.special) == 0 || (b.mantissa | b.special) == 0;
    if (((a.special | b.special) & GP_EXACT_NAN) || zero)
        return GP_EXACT_NAN;
    return a.negative != b.negative ? GP_EXACT_MINUS_INFINITY : GP_EXACT_PLUS_INFINITY;
}

/* x y, in the forms of squares of f32 and of f64. */
GP_EXACT_INLINE void gp_exact_add_product_f32(int64_t *limb, float x, float y, uint32_t *flags) {
    const gp_exact_parts a = gp_exact_parts_f32(x), b = gp_exact_parts_f32(y);
    if (a.special | b.special)
        *flags |= gp_exact_special_product(a, b);
    else
        gp_exact_add_bits(limb, a.bit + b.bit, a.mantissa * b.mantissa, a.negative != b.negative);
}

GP_EXACT_INLINE void gp_exact_add_product_f64(int64_t *limb, double x, double y, uint32_t *flags) {
    const gp_exact_parts a = gp_exact_parts_f64(x), b = gp_exact_parts_f64(y);
    if (a.special | b.special)
        *flags |= gp_exact_special_product(a, b);
    else
        gp_exact_add_product_bits(limb, a.bit + b.bit, a.mantissa, b.mantissa, a.negative != b.negative);
}
