/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of the window with AVX-512 share. */
#ifndef GP_CPU_WINDOW_AVX512_H
#define GP_CPU_WINDOW_AVX512_H

#include "cpu_slide.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) AVX512

#define LANES 16

/* The even and the odd of sixteen columns in 64 bits. */
typedef struct {
    __m512i even, odd;
} pairs;

INLINE __mmask16 first_lanes(size_t n) {
    return (__mmask16)((1u << n) - 1);
}

/* The signed 32-bit halves of 64-bit lanes. */
INLINE pairs halves(__m512i x) {
    return (pairs){_mm512_mul_epi32(x, _mm512_set1_epi32(1)), _mm512_srai_epi64(x, 32)};
}

INLINE pairs multiply(pairs a, pairs b) {
    return (pairs){_mm512_mul_epi32(a.even, b.even), _mm512_mul_epi32(a.odd, b.odd)};
}

INLINE int64_t first_of(__m512i x) {
    return _mm_cvtsi128_si64(_mm512_castsi512_si128(x));
}

INLINE int64_t second_of(__m512i x) {
    return _mm_extract_epi64(_mm512_castsi512_si128(x), 1);
}

/* The sum of the lanes modulo 2^64: gcc's own adds signed numbers, which may not overflow. */
INLINE uint64_t add_all(__m512i x) {
    x = _mm512_add_epi64(x, _mm512_shuffle_i64x2(x, x, 0x4e));
    x = _mm512_add_epi64(x, _mm512_shuffle_i64x2(x, x, 0xb1));
    return (uint64_t)first_of(x) + (uint64_t)second_of(x);
}

/* Members of gp_window_kernels, in window_avx512_row.c. */
uint32_t gp_window_magnitude_avx512(const int32_t *in, size_t n);
void gp_window_accumulate_avx512(const int32_t *in, size_t n, gp_window_totals *to);
void gp_window_extend_avx512(const gp_problem *problem, const int32_t *row, int64_t x, size_t n, int32_t *out);

#endif

#endif
