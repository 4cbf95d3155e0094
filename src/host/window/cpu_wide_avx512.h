/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of squares past 64 bits, with AVX-512: up to 92 bits, of which a float shows 24. */
#pragma once

#include "../cpu/simd_avx512.h"
#include "cpu_slide.h"

#if defined(__x86_64__)

#define HAS_128 1

/*
 * `low` is the total modulo 2^64; `high` 2^32 times less, too small by less than 2^31: by 1 for each element added as
 * if its lower half were 0. From 2^63 on the lower 32 bits only matter to rounding as "there is something", in a bit
 * far below a float's 24; the scale is an exact power of two.
 */
INLINE __m256 round_half_128(wide low, wide high) {
    const wide lower = all_64(0xffffffff);
    high = add_64(high, subtract_64(upper_half(low), high) & lower);
    const __mmask8 large = _mm512_cmpge_epi64_mask(high, all_64(INT64_C(1) << 31));
    const __mmask8 rest = _mm512_mask_test_epi64_mask(large, low, lower);
    const wide x = _mm512_mask_mov_epi64(low, large, high);
    const __m256 f = _mm512_cvtepu64_ps(_mm512_mask_or_epi64(x, rest, x, all_64(1)));
    return _mm256_mask_mul_ps(f, large, f, _mm256_set1_ps(0x1p32f));
}

INLINE fvec round_128(pairs low, pairs high) {
    return interleave(round_half_128(low.even, high.even), round_half_128(low.odd, high.odd));
}

/*
 * Squares in units of 2^shift, in which the largest total fits 64 bits: differences are rounded down to units before
 * they are scanned. A block begins UNITS_ERROR - 2 units too high; each pair of columns takes away less than 2, and
 * an even column, which is its pair without the odd one, adds less than 1: the true total is always less than what is
 * kept, by less than UNITS_ERROR.
 *
 * Where what is kept is UNITS_MIN or more, floats are 2^34 units or more apart, and numbers halfway between have no
 * lower half. The true total has the same upper half as what is kept, and more than nothing in the lower one, if that
 * of what is kept is UNITS_ERROR or more: then both round as the upper half does with something below it, for which
 * its lowest bit stands. Whether all totals were such is looked at when the block is done: random lower halves fail
 * in one of 2^13 blocks.
 */
#define UNITS_ERROR 1024
#define UNITS_MIN (INT64_C(1) << 57)
_Static_assert(2 * (GP_WINDOW_BLOCK / 2 + LANES) <= UNITS_ERROR - 2, "a block's pairs, and those of a step cut off");

typedef struct {
    wide shift, low; /* a unit is 2^shift; low adds up what is kept modulo 2^64, for the exact total at the end */
    wide totals;     /* before the step: the sum and the units in turns */
    fvec scale;      /* of what is rounded */
    vec smallest;    /* of totals' lower halves, and of their upper ones */
} units;

INLINE units begin_units(unsigned shift, int64_t sum, int64_t begin) {
    return (units){all_64(shift), all(0), _mm512_unpacklo_epi64(all_64(sum), all_64(begin)),
                   _mm512_set1_ps(0x1p32f * (float)(UINT64_C(1) << shift)), all(-1)};
}

INLINE pairs in_units(units *u, pairs d) {
    u->low = add_64(u->low, add_64(d.even, d.odd));
    return (pairs){_mm512_srav_epi64(d.even, u->shift), _mm512_srav_epi64(d.odd, u->shift)};
}

INLINE fvec round_units(units *u, pairs p) {
    u->smallest = _mm512_min_epu32(_mm512_min_epu32(u->smallest, p.even), p.odd);
    const vec upper = _mm512_mask_shuffle_epi32(p.odd, 0x5555, p.even, _MM_PERM_CDAB);
    return _mm512_mul_ps(_mm512_cvtepu32_ps(upper | all(1)), u->scale);
}

/* The sum and the units, as four fours of each; from the totals of the fours those of pairs and of single lanes
 * follow by subtraction. */
INLINE void scan_with_units(pairs *a, pairs *b, units *u) {
    const wide of_a = add_64(a->even, a->odd), of_b = add_64(b->even, b->odd);
    const wide second = _mm512_unpackhi_epi64(of_a, of_b);
    wide fours = add_64(_mm512_unpacklo_epi64(of_a, of_b), second);
    fours = add_64(fours, _mm512_alignr_epi64(fours, all(0), 6));
    fours = add_64(fours, _mm512_alignr_epi64(fours, all(0), 4));
    fours = add_64(fours, u->totals);
    u->totals = _mm512_shuffle_i64x2(fours, fours, 0xff);
    const wide first = subtract_64(fours, second);
    const wide to_a = _mm512_unpacklo_epi64(first, fours), to_b = _mm512_unpackhi_epi64(first, fours);
    *a = (pairs){subtract_64(to_a, a->odd), to_a};
    *b = (pairs){subtract_64(to_b, b->odd), to_b};
}

/* Whether all that was rounded may have been. */
INLINE bool units_sure(const units *u) {
    return _mm512_cmplt_epu32_mask(u->smallest, all_64(UNITS_MIN + UNITS_ERROR)) == 0;
}

#endif
