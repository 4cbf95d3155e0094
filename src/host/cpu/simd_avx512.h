/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of AVX-512 (F, BW, DQ, VL) under the names that simd_avx2.h and simd_neon.h give theirs, so that a kernel
 * is written once and compiled for each instruction set: a source includes one of the three, then the kernel.
 */
#ifndef GP_CPU_SIMD_AVX512_H
#define GP_CPU_SIMD_AVX512_H

#if defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define SIMD __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) SIMD
#define NAMED(name) name##_avx512

#define LANES 16

typedef __m512i vec; /* 32-bit lanes, or 64-bit ones where a name says so */

INLINE vec load(const int32_t *at) {
    return _mm512_loadu_si512(at);
}

/* x, which the compiler may not load again for a second use: the load ports would be the limit. */
INLINE vec kept(vec x) {
    __asm__("" : "+v"(x));
    return x;
}

/* n elements, fewer than LANES, and `rest` in the other lanes. */
INLINE vec load_first(const int32_t *at, size_t n, vec rest) {
    return _mm512_mask_loadu_epi32(rest, (__mmask16)((1u << n) - 1), at);
}

INLINE vec all(int32_t x) {
    return _mm512_set1_epi32(x);
}

INLINE vec min_32(vec a, vec b) {
    return _mm512_min_epi32(a, b);
}

INLINE vec max_32(vec a, vec b) {
    return _mm512_max_epi32(a, b);
}

INLINE vec and_bits(vec a, vec b) {
    return _mm512_and_si512(a, b);
}

INLINE vec or_bits(vec a, vec b) {
    return _mm512_or_si512(a, b);
}

INLINE vec xor_bits(vec a, vec b) {
    return _mm512_xor_si512(a, b);
}

/* Lanes that have changed places with those `distance` away, a power of two. */
INLINE vec swap_lanes(vec x, size_t distance) {
    return distance == 8   ? _mm512_shuffle_i64x2(x, x, 0x4e)
           : distance == 4 ? _mm512_shuffle_i64x2(x, x, 0xb1)
           : distance == 2 ? _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0x4e)
                           : _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0xb1);
}

INLINE int32_t first_lane(vec x) {
    return _mm_cvtsi128_si32(_mm512_castsi512_si128(x));
}

/* Neighbours' sums in 64 bits. */
INLINE vec add_pairs(vec x) {
    return _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(x)),
                            _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(x, 1)));
}

INLINE int64_t add_lanes(vec x) {
    return _mm512_reduce_add_epi64(add_pairs(x));
}

/*
 * Sums of up to 2^15 elements a lane: modulo 2^32, and of the upper 16 bits, |high| <= 2^30, which leaves less than
 * 2^31 for the sum of the lower ones. Three instructions a vector; widening both halves to 64 bits takes four.
 */
typedef struct {
    vec low, high;
} sums;

INLINE void add_to(sums *to, vec x) {
    x = kept(x);
    to->low = _mm512_add_epi32(to->low, x);
    to->high = _mm512_add_epi32(to->high, _mm512_srai_epi32(x, 16));
}

INLINE sums join(sums a, sums b) {
    return (sums){_mm512_add_epi32(a.low, b.low), _mm512_add_epi32(a.high, b.high)};
}

/* In 64-bit lanes. */
INLINE vec widen_sums(sums s) {
    const vec lower = _mm512_sub_epi32(s.low, _mm512_slli_epi32(s.high, 16));
    return _mm512_add_epi64(add_pairs(lower), _mm512_slli_epi64(add_pairs(s.high), 16));
}

INLINE int64_t total_of(sums s) {
    return _mm512_reduce_add_epi64(widen_sums(s));
}

/*
 * Optional: sums as counters of carries, after W. Harley's population count with vectors for bits. A full adder takes
 * three numbers of one weight to their exclusive or, of that weight, and their majority, of twice the weight: one
 * instruction each, in two's complement too. That makes two a vector.
 */
#define HAS_CARRIES 1

typedef struct {
    vec ones, twos, fours;
    sums eights;
} carries;

/* *sum + x + y = new *sum + 2 * result: where x = y that, else the new sum's opposite. */
INLINE vec full_add(vec *sum, vec x, vec y) {
    *sum = _mm512_ternarylogic_epi32(*sum, x, y, 0x96);
    return _mm512_ternarylogic_epi32(x, y, *sum, 0xd4);
}

INLINE vec count_four(carries *to, const int32_t *at) {
    const vec first = full_add(&to->ones, kept(load(at)), kept(load(at + LANES)));
    const vec second = full_add(&to->ones, kept(load(at + 2 * LANES)), kept(load(at + 3 * LANES)));
    return full_add(&to->twos, first, second);
}

/* Adds 8 vectors. */
INLINE void count_eight(carries *to, const int32_t *at) {
    const vec first = count_four(to, at), second = count_four(to, at + 4 * LANES);
    add_to(&to->eights, full_add(&to->fours, first, second));
}

/* a + 2 b */
INLINE vec and_twice(vec a, vec b) {
    return _mm512_add_epi64(a, _mm512_slli_epi64(b, 1));
}

INLINE int64_t total_of_carries(const carries *c) {
    const vec fours = and_twice(add_pairs(c->fours), widen_sums(c->eights));
    return _mm512_reduce_add_epi64(and_twice(add_pairs(c->ones), and_twice(add_pairs(c->twos), fours)));
}

#endif

#endif
