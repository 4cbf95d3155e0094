/* SPDX-License-Identifier: Apache-2.0 */
/* What slides a window by one column, in the vectors of the simd_*.h that the including file names before: how wide
 * totals are computed, the differences of what enters and what leaves, and rounding. */
#pragma once

#include "cpu.h"

/* An absolute value below which the sum and the difference of two elements fit 32 bits. */
#define LARGE (1 << 30)

/* How wide an output is computed; a constant wherever it is tested. */
typedef enum {
    NONE,
    IN_32,    /* modulo 2^32, from which the total follows */
    IN_64,    /* elements below LARGE */
    WIDE,     /* in 64 bits, any elements */
    IN_UNITS, /* squares past 64 bits, modulo 2^64 and in units of 2^shift */
    IN_128    /* squares past 64 bits, modulo 2^64 and as if all lower halves were 0; or too wide for these vectors */
} width;

typedef struct {
    width sum, square;
} widths;

/* bound: on the elements' absolute values. The sum of elements is no larger than that of their squares. */
static inline widths widths_for(bool sum, bool square, uint32_t bound, size_t window) {
    const uint64_t largest_sum = (uint64_t)bound * window;
    const gp_u128 largest_square = square ? (gp_u128)largest_sum * bound : 0;
    const bool large = bound >= LARGE || largest_square >> 63 != 0;
    widths w = {NONE, NONE};
    if (sum)
        w.sum = largest_sum >> (BITS_64 - 1) != 0 ? IN_128 : large ? WIDE : largest_sum <= INT32_MAX ? IN_32 : IN_64;
    if (square)
        w.square = largest_square >> BITS_64 != 0 ? IN_128
                   : large                        ? WIDE
                   : largest_square <= INT32_MAX  ? IN_32
                                                  : IN_64;
    return w;
}

/* Calls f(sum, square, ...) with the widths as constants, but for those past 64 bits. */
#define WITH_WIDTHS(w, f, ...)                                                              \
    do {                                                                                    \
        if ((w).square == NONE)                                                             \
            (w).sum == IN_32   ? f(IN_32, NONE, __VA_ARGS__)                                \
            : (w).sum == IN_64 ? f(IN_64, NONE, __VA_ARGS__)                                \
                               : f(WIDE, NONE, __VA_ARGS__);                                \
        else if ((w).sum == NONE)                                                           \
            (w).square == IN_32   ? f(NONE, IN_32, __VA_ARGS__)                             \
            : (w).square == IN_64 ? f(NONE, IN_64, __VA_ARGS__)                             \
                                  : f(NONE, WIDE, __VA_ARGS__);                             \
        else if ((w).square == IN_32)                                                       \
            f(IN_32, IN_32, __VA_ARGS__);                                                   \
        else if ((w).square == WIDE)                                                        \
            f(WIDE, WIDE, __VA_ARGS__);                                                     \
        else                                                                                \
            (w).sum == IN_32 ? f(IN_32, IN_64, __VA_ARGS__) : f(IN_64, IN_64, __VA_ARGS__); \
    } while (0)

typedef struct {
    vec narrow; /* IN_32 */
    pairs low;  /* wider: modulo 2^64 */
    pairs high; /* IN_UNITS, IN_128 */
} number;

typedef struct {
    number sum, square;
} numbers;

/* Without signs. */
INLINE uint32_t largest_lane(vec x) {
    for (size_t distance = LANES / 2; distance > 0; distance /= 2)
        x = max_unsigned(x, swap_lanes(x, distance));
    return (uint32_t)first_lane(x);
}

INLINE pairs add_wide(pairs a, pairs b) {
    return (pairs){add_64(a.even, b.even), add_64(a.odd, b.odd)};
}

INLINE pairs subtract_wide(pairs a, pairs b) {
    return (pairs){subtract_64(a.even, b.even), subtract_64(a.odd, b.odd)};
}

#if !defined(HAS_128)
typedef struct {
    char none;
} units;
#endif

/* a^2 - b^2 = (a - b) (a + b), where neither factor passes 32 bits. */
INLINE numbers differences(width sum, width square, vec enters, vec leaves, units *u) {
    const vec less = subtract_32(enters, leaves), plus = add_32(enters, leaves);
    numbers d = {0};
    if (sum == IN_32)
        d.sum.narrow = less;
    if (sum == IN_64)
        d.sum.low = widen(less);
    if (sum == WIDE)
        d.sum.low = subtract_wide(widen(enters), widen(leaves));
    if (square == IN_32)
        d.square.narrow = multiply_32(less, plus);
    if (square == IN_64)
        d.square.low = multiply(less, plus);
    if (square >= WIDE)
        d.square.low = subtract_wide(multiply(enters, enters), multiply(leaves, leaves));
#if defined(HAS_128)
    if (square == IN_UNITS)
        d.square.high = in_units(u, d.square.low);
    if (square == IN_128)
        d.square.high = (pairs){odd_lanes(d.square.low.even), odd_lanes(d.square.low.odd)};
#endif
    (void)u;
    return d;
}

INLINE fvec round_sum(width w, const number *n) {
    return w == IN_32 ? round_32(n->narrow) : round_64(n->low);
}

INLINE fvec round_square(width w, const number *n, units *u) {
#if defined(HAS_128)
    if (w == IN_UNITS)
        return round_units(u, n->high);
    if (w == IN_128)
        return round_128(n->low, n->high);
#endif
    (void)u;
    return w == IN_32 ? round_32(n->narrow) : round_unsigned(n->low);
}
