/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors under one set of names, so that a kernel is written once and compiled for each instruction set: a source
 * includes simd_avx2.h, simd_avx512.h or simd_neon.h, then the kernel. Those define SIMD, the attribute of functions
 * that use the instructions; LANES, of 32 bits, in a vector; vec, wide, fvec and dvec, vectors of 32 bits, 64 bits,
 * floats and doubles; and, behind this file, what is only declared here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) SIMD

/* Without signs, so that additions may overflow. */
typedef uint32_t lanes_32 __attribute__((vector_size(sizeof(vec))));
typedef uint64_t lanes_64 __attribute__((vector_size(sizeof(vec))));
typedef int32_t signed_32 __attribute__((vector_size(sizeof(vec))));
typedef uint16_t lanes_16 __attribute__((vector_size(sizeof(vec))));

#define add_32(a, b) ((vec)((lanes_32)(a) + (lanes_32)(b)))
#define subtract_32(a, b) ((vec)((lanes_32)(a) - (lanes_32)(b)))
#define multiply_32(a, b) ((vec)((lanes_32)(a) * (lanes_32)(b))) /* modulo 2^32 */
#define add_64(a, b) ((wide)((lanes_64)(a) + (lanes_64)(b)))
#define subtract_64(a, b) ((wide)((lanes_64)(a) - (lanes_64)(b)))
#define upper_half(x) ((wide)((lanes_64)(x) >> 32)) /* x / 2^32 */
#define shift_up(x, bits) ((wide)((lanes_64)(x) << (bits)))

INLINE vec load(const void *at) {
    vec x;
    memcpy(&x, at, sizeof x);
    return x;
}

INLINE void store(void *at, vec x) {
    memcpy(at, &x, sizeof x);
}

INLINE vec all(int32_t x) {
    return (vec)((lanes_32){0} + (uint32_t)x);
}

INLINE wide all_64(int64_t x) {
    return (wide)((lanes_64){0} + (uint64_t)x);
}

INLINE int32_t first_lane(vec x) {
    return (int32_t)((lanes_32)x)[0];
}

INLINE int64_t first_lane_64(wide x) {
    return (int64_t)((lanes_64)x)[0];
}

/* n elements, fewer than LANES, and `rest` in the other lanes. */
INLINE vec load_first(const int32_t *at, size_t n, vec rest);

/* Past the caches, to a multiple of the vector's size; one float anywhere. */
INLINE void stream(void *at, vec x);
INLINE void stream_one(float *at, float x);

/* x, which the compiler may not load again for a second use: the load ports would be the limit. */
INLINE vec kept(vec x);

/* Lanes that have changed places with those `distance` away, a power of two. */
INLINE vec swap_lanes(vec x, size_t distance);

/* Bits that any lane has. */
INLINE uint32_t bits_over_lanes(vec x) {
    for (size_t distance = LANES / 2; distance > 0; distance /= 2)
        x = x | swap_lanes(x, distance);
    return (uint32_t)first_lane(x);
}

/* ---- lanes in 64 bits ---- */

/* Two halves of a vector's lanes: with x86 the even ones and the odd ones, with NEON the first and the last. */
typedef struct {
    wide even, odd;
} pairs;

INLINE pairs multiply(vec a, vec b);
INLINE pairs widen(vec x);

/* A pair of doubles, each rounded once; and numbers of 64 bits as doubles, exact below 2^51. */
INLINE fvec floats_of(dvec even, dvec odd);
INLINE dvec doubles_of(wide x);

/* Rounded once: numbers below 2^BITS_64, of round_unsigned() without a sign. */
#if defined(BITS_64)
INLINE fvec round_64(pairs p);
INLINE fvec round_unsigned(pairs p);
#else
#define BITS_64 51
#define round_unsigned round_64

INLINE fvec round_64(pairs p) {
    return floats_of(doubles_of(p.even), doubles_of(p.odd));
}
#endif

/* ---- sums ---- */

INLINE wide add_pairs_of(vec x) {
    const pairs p = widen(x);
    return add_64(p.even, p.odd);
}

/* Modulo 2^64. */
INLINE uint64_t add_lanes_64(wide x) {
    for (size_t distance = LANES / 2; distance > 1; distance /= 2)
        x = add_64(x, swap_lanes((vec)x, distance));
    return (uint64_t)first_lane_64(x);
}

INLINE int64_t add_lanes(vec x) {
    return (int64_t)add_lanes_64(add_pairs_of(x));
}

/* Sums of up to 2^15 elements a lane: modulo 2^32, and of the upper 16 bits, |high| <= 2^30, which leaves less than
 * 2^31 for the sum of the lower ones. Three instructions a vector; widening both halves to 64 bits takes four. */
typedef struct {
    vec low, high;
} sums;

INLINE void add_to(sums *to, vec x) {
    x = kept(x);
    to->low = add_32(to->low, x);
    to->high = add_32(to->high, (signed_32)x >> 16);
}

INLINE sums join(sums a, sums b) {
    return (sums){add_32(a.low, b.low), add_32(a.high, b.high)};
}

INLINE wide widen_sums(sums s) {
    const vec lower = subtract_32(s.low, (lanes_32)s.high << 16);
    return add_64(add_pairs_of(lower), shift_up(add_pairs_of(s.high), 16));
}

/* ---- prefix sums: each lane becomes the sum of those up to it and of all before the vector ---- */

/* *carry: of all before, in every lane. */
INLINE vec scan_32(vec x, vec *carry);
INLINE pairs scan_64(pairs p, wide *carry);

/* Each lane takes the place of the one n behind it, of the first n zeros; lane i becomes lane order[i]. */
INLINE vec lanes_up(vec x, size_t n);
INLINE vec pick_lanes(vec x, vec order);

/* Each lane, of 32 bits or of 64, becomes the sum of those up to it that lie a multiple of `apart` in front of it,
 * and of *carry, which becomes the lanes that `last` tells. */
INLINE vec scan_by(bool is_64, size_t apart, vec x, vec *carry, vec last) {
    const size_t words = is_64 ? 2 : 1;
    for (size_t n = apart; n * words < LANES; n *= 2)
        x = is_64 ? (vec)add_64(x, lanes_up(x, n * words)) : add_32(x, lanes_up(x, n));
    x = is_64 ? (vec)add_64(x, *carry) : add_32(x, *carry);
    *carry = pick_lanes(x, last);
    return x;
}

/* ---- lanes of 16 bytes ---- */

/* Lane i is loaded from at + i * step. */
INLINE vec load_lanes(const void *at, size_t step);
INLINE void store_lane(void *at, vec x, size_t lane);

/* Lane i is loaded from row[i * step] + first. */
INLINE vec load_rows(const char *const *row, size_t step, size_t first);

#define LANES_16 (sizeof(vec) / 16)

INLINE void store_lanes(char *at, size_t step, vec x) {
    for (size_t i = 0; i < LANES_16; ++i)
        store_lane(at + i * step, x, i);
}

/* Of each lane, elements of the lower (upper) half of a and of b in turns. `bytes`, of one, is a constant. */
INLINE vec zip_lower(size_t bytes, vec a, vec b);
INLINE vec zip_upper(size_t bytes, vec a, vec b);

/* add_bytes(x): sums of a vector's bytes, in 64 bits. max_signed(bytes, a, b): the greater of each two signed
 * elements of so many bytes, of one. lower_halves(x), upper_halves(x): half of a vector of f16 as floats;
 * widen_lower(x), widen_upper(x): of one of floats as doubles; narrow_both(lower, upper): back, rounded. */

/* Byte i of each lane becomes the lane's byte order[i], or 0 where that is 0x80. */
INLINE vec pick_bytes(vec x, const unsigned char *order);
