/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries, quotients, roots and the rounding of exact sums. A result is a magnitude in digits of 32 bits, of which as
 * many leading words of 64 bits are taken as make the quotient, or its root, exact to 64 bits; whether anything is
 * left below them is one bit more, the sticky bit. 64 bits and that bit round to any of the types.
 */
#include "exact.h"

GP_EXACT gp_exact_form gp_exact_form_of(gp_type type, bool squares) {
    const gp_exact_form doubles[] = {{-1074, 68}, {-2148, GP_EXACT_LIMBS}};
    const gp_exact_form floats[] = {{-149, 11}, {-298, 20}};
    const gp_exact_form ints[] = {{0, 4}, {0, 6}};
    if (type == GP_F64)
        return doubles[squares];
    return type == GP_F32 || type == GP_F16 || type == GP_BF16 ? floats[squares] : ints[squares];
}

/* The absolute value of carried limbs. Zero: high below low. */
typedef struct natural {
    const int64_t *limb;
    int low, high; /* the lowest and the highest digit that is not 0 */
    bool negative;
} natural;

/* Two's complement: of a negative number the lowest digit that is not 0 is negated, those above are inverted. */
GP_EXACT_INLINE uint32_t digit(const natural *v, int i) {
    if (i < v->low || i > v->high)
        return 0;
    return ((uint32_t)v->limb[i] ^ (v->negative ? UINT32_MAX : 0)) + (v->negative && i == v->low);
}

/* Carries, and takes the absolute value. Most limbs are zeros at both ends, which are passed over. */
GP_EXACT_STATIC void carry_over(int64_t *limb, int limbs, natural *v) {
    int low = 0, high = limbs - 1;
    while (low < high && limb[low] == 0)
        low++;
    while (high > low && limb[high] == 0)
        high--;
    int64_t carry = 0;
    int l = low;
    GP_EXACT_ROLLED
    for (; l < limbs - 1 && (l <= high || carry != 0); l++) {
        const int64_t value = limb[l] + carry;
        limb[l] = value & UINT32_MAX;
        carry = value >> 32;
    }
    limb[l] += carry;
    *v = (natural){limb, low, high + (high < limbs - 1), limb[limbs - 1] < 0};
    while (v->low <= v->high && limb[v->low] == 0)
        v->low++;
    while (v->low <= v->high && digit(v, v->high) == 0)
        v->high--;
}

GP_EXACT void gp_exact_carry(int64_t *limb, unsigned limbs) {
    natural unused;
    carry_over(limb, (int)limbs, &unused);
}

/* 64 bits from bit `at` on; there are zeros below bit 0. */
GP_EXACT_INLINE uint64_t word_at(const natural *v, int at) {
    const int i = at >> 5;
    const unsigned shift = (unsigned)at & 31;
    const uint64_t lower = (uint64_t)digit(v, i + 1) << 32 | digit(v, i);
    return lower >> shift | (uint64_t)digit(v, i + 2) << 32 << (32 - shift);
}

GP_EXACT_INLINE int leading_zeros(uint64_t x) {
#ifdef __CUDA_ARCH__
    return __clzll((long long)x);
#else
    return __builtin_clzll(x);
#endif
}

/* ---- quotients and roots ---- */

/* (high 2^64 + low) / by, for high < by and by >= 2^63: two digits, of which each estimate is at most 2 too great
 * (D. Knuth, The Art of Computer Programming 2, 4.3.1, theorem B). */
GP_EXACT_STATIC uint64_t divide(uint64_t high, uint64_t low, uint64_t by, uint64_t *rest) {
    const uint64_t by1 = by >> 32, by0 = by & UINT32_MAX;
    uint64_t quotient = 0;
    GP_EXACT_ROLLED
    for (int i = 0; i < 2; i++) {
        uint64_t digit = high / by1, over = high % by1;
        while (over <= UINT32_MAX && (digit > UINT32_MAX || digit * by0 > (over << 32 | low >> 32))) {
            digit--;
            over += by1;
        }
        high = (high << 32 | low >> 32) - digit * by;
        low <<= 32;
        quotient = quotient << 32 | digit;
    }
    *rest = high;
    return quotient;
}

/* The root of high 2^64 + low >= 2^126, rounded down. Newton's method falls from above, until it would rise. */
GP_EXACT_STATIC uint64_t root_of(uint64_t high, uint64_t low, bool *exact) {
    /* The line through sqrt(1/2) and beside the curve is off by 6 %; three steps are good for 39 bits. */
    uint64_t root = ((high >> 32) * 0xb504f334 >> 33) + 0x5a827999, rest;
    GP_EXACT_ROLLED
    for (int i = 0; i < 3; i++)
        root = (root + high / root) / 2;
    root = root > UINT32_MAX ? UINT64_MAX : root << 32 | UINT32_MAX;
    *exact = false;
    while (high < root) { /* else the quotient were 2^64, and the root is 2^64 - 1 */
        const uint64_t quotient = divide(high, low, root, &rest);
        *exact = quotient == root && rest == 0;
        if (quotient >= root)
            break;
        root = quotient + (root - quotient) / 2;
    }
    return root;
}

/* ---- floats ---- */

typedef struct float_format {
    int fraction_bits, exponent_min;
    uint64_t infinity, nan, sign; /* bit patterns */
} float_format;

GP_EXACT_STATIC float_format format_of(gp_type type) {
    float_format f = {type == GP_F64    ? 52
                      : type == GP_F32  ? 23
                      : type == GP_BF16 ? 7
                                        : 10,
                      type == GP_F64   ? -1022
                      : type == GP_F16 ? -14
                                       : -126,
                      0, 0, 0};
    const uint64_t exponents = (uint64_t)(3 - 2 * f.exponent_min);
    f.infinity = exponents << f.fraction_bits;
    f.nan = f.infinity | (uint64_t)1 << (f.fraction_bits - 1);
    f.sign = (exponents + 1) << f.fraction_bits;
    return f;
}

/* mantissa 2^exponent, and a little more if sticky, with the mantissa's bit 63 set. */
GP_EXACT_STATIC uint64_t pack(const float_format *f, bool negative, uint64_t mantissa, int exponent, bool sticky) {
    const uint64_t sign = negative ? f->sign : 0;
    const int above = exponent + 63 - f->exponent_min; /* below 0: subnormal, of fewer bits */
    const int keep = f->fraction_bits + 1 + (above < 0 ? above : 0);
    if (keep < 0)
        return sign;
    if (above > 1 - 2 * f->exponent_min)
        return sign | f->infinity;
    const uint64_t kept = keep > 0 ? mantissa >> (64 - keep) : 0, rest = mantissa << keep;
    const uint64_t half = (uint64_t)1 << 63;
    const bool up = rest > half || (rest == half && (sticky || (kept & 1)));
    /* The leading bit counts one in the field of the exponent, a carry of the rounding too: up to infinity. */
    return sign | (((uint64_t)(above > 0 ? above : 0) << f->fraction_bits) + kept + up);
}

GP_EXACT_STATIC uint64_t special(const float_format *f, uint32_t flags) {
    if (flags == GP_EXACT_PLUS_INFINITY)
        return f->infinity;
    return flags == GP_EXACT_MINUS_INFINITY ? f->sign | f->infinity : f->nan;
}

/* Divides words, the greatest first, by `by` 2^shift. False: a rest was left. */
GP_EXACT_STATIC bool divides(uint64_t *word, int count, uint64_t by, int shift) {
    uint64_t rest = 0;
    for (int k = 0; k < count; k++)
        word[k] = divide(rest, word[k], by << shift, &rest);
    return rest == 0;
}

/*
 * v 2^unit / (by by_too), or its root. A divisor takes less than 64 bits off the quotient, so that 64 bits are left
 * of as many words as there are divisors, and one more; a root takes two words to 64 bits.
 * Rounding down in steps is rounding down once: floor(floor(v / by) / by_too) = floor(v / (by by_too)), and
 * floor(sqrt(floor(v))) = floor(sqrt(v)).
 */
GP_EXACT_STATIC uint64_t finish(const natural *v, int unit, uint64_t by, uint64_t by_too, bool root,
                                const float_format *f) {
    if (v->high < v->low)
        return 0;
    if (v->negative && root)
        return f->nan;
    const int count = 1 + root + (by > 1) + (by_too > 1);
    const int at = 32 * v->high + 64 - leading_zeros(digit(v, v->high)) - 64 * count;
    const uint64_t lowest = (uint64_t)v->limb[v->low];
    bool sticky = 32 * v->low + 63 - leading_zeros(lowest & -lowest) < at;
    int exponent = at + unit; /* of the last word's bit 0 */
    uint64_t word[4];
    GP_EXACT_ROLLED
    for (int k = 0; k < count; k++)
        word[k] = word_at(v, at + 64 * (count - 1 - k));
    GP_EXACT_ROLLED
    for (int turn = 0; turn < 2; turn++, by = by_too) {
        if (by > 1) {
            const int shift = leading_zeros(by);
            sticky |= !divides(word, count, by, shift);
            exponent += shift;
        }
    }
    const int first = count - 1 - root; /* of the words that count; before them are 2 bits at most */
    uint64_t high = word[first], low = root ? word[first + 1] : 0;
    const uint64_t over = first > 0 ? word[first - 1] : 0;
    int shift = over ? 64 - leading_zeros(over) : 0;
    shift += root && ((exponent + shift) & 1); /* the root halves it */
    if (shift > 0) {
        sticky |= low << (64 - shift) != 0;
        low = low >> shift | high << (64 - shift);
        high = high >> shift | over << (64 - shift);
        exponent += shift;
    }
    if (root) {
        bool exact;
        high = root_of(high, low, &exact);
        low = !exact;
        exponent /= 2;
    }
    return pack(f, v->negative, high, exponent, sticky || low != 0);
}

GP_EXACT uint64_t gp_exact_ratio(int64_t *limb, gp_exact_form form, uint32_t flags, uint64_t n, bool root,
                                 gp_type to) {
    const float_format f = format_of(to);
    if (flags != 0 || n == 0)
        return special(&f, n == 0 || (root && flags != GP_EXACT_PLUS_INFINITY) ? GP_EXACT_NAN : flags);
    natural v;
    carry_over(limb, form.limbs, &v);
    return finish(&v, form.unit, n, 1, root, &f);
}

GP_EXACT uint64_t gp_exact_round(int64_t *limb, gp_exact_form form, uint32_t flags, gp_type to) {
    return gp_exact_ratio(limb, form, flags, 1, false, to);
}

GP_EXACT uint64_t gp_exact_variance(int64_t *sum, gp_exact_form sum_form, int64_t *square, gp_exact_form square_form,
                                    uint32_t flags, uint64_t n, bool sample, bool root, gp_type to,
                                    int64_t *scratch) {
    const float_format f = format_of(to);
    if (flags != 0 || n <= (uint64_t)sample)
        return f.nan;
    natural s, q, v;
    carry_over(sum, sum_form.limbs, &s);
    carry_over(square, square_form.limbs, &q);
    const int limbs = square_form.limbs + GP_EXACT_SCRATCH_MORE;
    for (int l = 0; l < limbs; l++)
        scratch[l] = 0;
    for (int i = q.low; i <= q.high; i++)
        gp_exact_add_product_bits(scratch, 32 * (unsigned)i, digit(&q, i), n, false);
    for (int i = s.low; i <= s.high; i++)
        for (int j = s.low; j <= s.high; j++)
            gp_exact_add_bits(scratch, 32 * (unsigned)(i + j), (uint64_t)digit(&s, i) * digit(&s, j), true);
    carry_over(scratch, limbs, &v);
    return finish(&v, square_form.unit, n, n - sample, root, &f);
}

GP_EXACT bool gp_exact_to_int(int64_t *limb, gp_exact_form form, bool is_signed, uint64_t *modulo) {
    gp_exact_carry(limb, form.limbs);
    *modulo = (uint64_t)limb[1] << 32 | (uint64_t)limb[0];
    const int64_t above = is_signed && *modulo >> 63 ? -1 : 0;
    bool fits = limb[form.limbs - 1] == above;
    for (unsigned l = 2; l + 1 < form.limbs; l++)
        fits &= limb[l] == (above & UINT32_MAX);
    return fits;
}
