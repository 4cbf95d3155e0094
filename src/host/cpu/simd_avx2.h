/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of AVX2 under the names that simd_avx512.h tells of. */
#ifndef GP_CPU_SIMD_AVX2_H
#define GP_CPU_SIMD_AVX2_H

#if defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define SIMD __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) SIMD
#define NAMED(name) name##_avx2

#define LANES 8

typedef __m256i vec; /* 32-bit lanes, or 64-bit ones where a name says so */

INLINE vec load(const int32_t *at) {
    return _mm256_loadu_si256((const __m256i *)at);
}

/* x, which the compiler may not load again for a second use: the load ports would be the limit. */
INLINE vec kept(vec x) {
    __asm__("" : "+x"(x));
    return x;
}

/* n elements, fewer than LANES, and `rest` in the other lanes. */
INLINE vec load_first(const int32_t *at, size_t n, vec rest) {
    const vec lanes = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_blendv_epi8(rest, _mm256_maskload_epi32(at, lanes), lanes);
}

INLINE vec all(int32_t x) {
    return _mm256_set1_epi32(x);
}

INLINE vec min_32(vec a, vec b) {
    return _mm256_min_epi32(a, b);
}

INLINE vec max_32(vec a, vec b) {
    return _mm256_max_epi32(a, b);
}

INLINE vec and_bits(vec a, vec b) {
    return _mm256_and_si256(a, b);
}

INLINE vec or_bits(vec a, vec b) {
    return _mm256_or_si256(a, b);
}

INLINE vec xor_bits(vec a, vec b) {
    return _mm256_xor_si256(a, b);
}

/* Lanes that have changed places with those `distance` away, a power of two. */
INLINE vec swap_lanes(vec x, size_t distance) {
    return distance == 4   ? _mm256_permute2x128_si256(x, x, 0x01)
           : distance == 2 ? _mm256_shuffle_epi32(x, 0x4e)
                           : _mm256_shuffle_epi32(x, 0xb1);
}

INLINE int32_t first_lane(vec x) {
    return _mm_cvtsi128_si32(_mm256_castsi256_si128(x));
}

/* Neighbours' sums in 64 bits. */
INLINE vec add_pairs(vec x) {
    return _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(x)),
                            _mm256_cvtepi32_epi64(_mm256_extracti128_si256(x, 1)));
}

INLINE int64_t add_lanes_64(vec x) {
    const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    return _mm_cvtsi128_si64(pair) + _mm_extract_epi64(pair, 1);
}

INLINE int64_t add_lanes(vec x) {
    return add_lanes_64(add_pairs(x));
}

/* Sums of up to 2^15 elements a lane, by the method of simd_avx512.h. */
typedef struct {
    vec low, high;
} sums;

INLINE void add_to(sums *to, vec x) {
    x = kept(x);
    to->low = _mm256_add_epi32(to->low, x);
    to->high = _mm256_add_epi32(to->high, _mm256_srai_epi32(x, 16));
}

INLINE sums join(sums a, sums b) {
    return (sums){_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}

INLINE int64_t total_of(sums s) {
    const vec lower = _mm256_sub_epi32(s.low, _mm256_slli_epi32(s.high, 16));
    return add_lanes_64(_mm256_add_epi64(add_pairs(lower), _mm256_slli_epi64(add_pairs(s.high), 16)));
}

#endif

#endif
