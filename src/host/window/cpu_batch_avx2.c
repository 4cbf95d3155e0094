/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight rows of the window with AVX2, by the method of window_batch_avx512.c. AVX2 rounds no 64-bit integers: totals
 * below 2^51 go through double, where they are exact; batches where they can be larger are left to the lines.
 */
#include "cpu_batch.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

#define LANES 8

typedef __m256i vec;
typedef __m256 fvec;

INLINE vec load(const int32_t *at) {
    return _mm256_load_si256((const __m256i *)at);
}

INLINE vec all(int32_t x) {
    return _mm256_set1_epi32(x);
}

INLINE vec add_32(vec a, vec b) {
    return _mm256_add_epi32(a, b);
}

INLINE vec subtract_32(vec a, vec b) {
    return _mm256_sub_epi32(a, b);
}

INLINE vec multiply_32(vec a, vec b) {
    return _mm256_mullo_epi32(a, b);
}

INLINE vec add_64(vec a, vec b) {
    return _mm256_add_epi64(a, b);
}

INLINE vec subtract_64(vec a, vec b) {
    return _mm256_sub_epi64(a, b);
}

/* Of the 64-bit lanes' lower halves. */
INLINE vec multiply_64(vec a, vec b) {
    return _mm256_mul_epi32(a, b);
}

INLINE vec multiply_unsigned(vec a, vec b) {
    return _mm256_mul_epu32(a, b);
}

INLINE vec upper(vec x) {
    return _mm256_srli_epi64(x, 32);
}

INLINE vec odd_of(vec x) {
    return upper(x);
}

INLINE vec extend_odd(vec x) {
    return _mm256_mul_epi32(x, _mm256_set1_epi32(1));
}

INLINE vec shift_up(vec x) {
    return _mm256_slli_epi64(x, 32);
}

INLINE fvec round_32(vec x) {
    return _mm256_cvtepi32_ps(x);
}

INLINE fvec round_square_32(vec x) {
    return _mm256_cvtepi32_ps(x);
}

/* |x| < 2^51: added to the bits of 1.5 * 2^52, x stands in the mantissa's lowest bits. */
INLINE __m128 round_4(vec x) {
    const __m256d offset = _mm256_set1_pd(0x1.8p52);
    const vec bits = _mm256_add_epi64(x, _mm256_castpd_si256(offset));
    return _mm256_cvtpd_ps(_mm256_sub_pd(_mm256_castsi256_pd(bits), offset));
}

INLINE fvec round_64(vec even, vec odd) {
    const __m128 a = round_4(even), b = round_4(odd);
    return _mm256_set_m128(_mm_unpackhi_ps(a, b), _mm_unpacklo_ps(a, b));
}

INLINE fvec round_square_64(vec even, vec odd) {
    return round_64(even, odd);
}

/* Four by four within each 128-bit lane; its own inverse. */
INLINE void transpose_fours(vec v[4]) {
    const vec a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]);
    const vec c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm256_unpacklo_epi64(a, c);
    v[1] = _mm256_unpackhi_epi64(a, c);
    v[2] = _mm256_unpacklo_epi64(b, d);
    v[3] = _mm256_unpackhi_epi64(b, d);
}

/* Row 4 j + k lies in lane j of v[k]. */
INLINE void store_four(const fvec f[4], float *to, size_t pitch) {
    vec v[4];
    for (size_t k = 0; k < 4; ++k)
        v[k] = _mm256_castps_si256(f[k]);
    transpose_fours(v);
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((void *)(to + k * pitch), _mm256_castsi256_si128(v[k]));
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((void *)(to + (4 + k) * pitch), _mm256_extracti128_si256(v[k], 1));
}

INLINE void stream_line(const float *from, float *to) {
    _mm256_stream_ps(to, _mm256_loadu_ps(from));
    _mm256_stream_ps(to + LANES, _mm256_loadu_ps(from + LANES));
}

#define SQUARE_32_MAX INT32_MAX
#define BITS_64 51
#define HAS_128 0
#include "cpu_batch_step.h"

/* n elements of four, others 0. */
INLINE __m128i some(const int32_t *at, size_t n) {
    const __m128i lanes = _mm_cmpgt_epi32(_mm_set1_epi32((int)n), _mm_setr_epi32(0, 1, 2, 3));
    return n < 4 ? _mm_maskload_epi32(at, lanes) : _mm_loadu_si128((const void *)at);
}

/* Four columns, or n < 4 that are all. Returns the largest absolute values. */
INLINE vec gather_four(const int32_t *in, size_t pitch, size_t n, int32_t *columns) {
    vec v[4], largest = all(0);
    for (size_t k = 0; k < 4; ++k)
        v[k] = _mm256_inserti128_si256(_mm256_castsi128_si256(some(in + k * pitch, n)), some(in + (4 + k) * pitch, n),
                                       1);
    transpose_fours(v);
    for (size_t k = 0; k < 4 && k < n; ++k) {
        _mm256_store_si256((__m256i *)(columns + k * LANES), v[k]);
        largest = _mm256_max_epu32(largest, _mm256_abs_epi32(v[k]));
    }
    return largest;
}

AVX2 static uint32_t gather(const int32_t *in, size_t pitch, size_t cols, int32_t *columns) {
    vec largest = all(0);
    if (cols < 4)
        largest = gather_four(in, pitch, cols, columns);
    for (size_t c = 0; c < cols && cols >= 4; c += 4) {
        c = c + 4 > cols ? cols - 4 : c;
        largest = _mm256_max_epu32(largest, gather_four(in + c, pitch, 4, columns + c * LANES));
    }
    __m128i m = _mm_max_epu32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(m);
}

AVX2 static bool slide(const gp_window_batch *b) {
    return slide_batch(b);
}

AVX2 static void drain(gp_batch_queue *queue) {
    drain_lines(queue, SIZE_MAX);
}

const gp_batch_kernels gp_batch_kernels_avx2 = {LANES, gather, slide, drain, stream_part};

#endif
