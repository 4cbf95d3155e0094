/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sixteen rows of the window with AVX-512. Fours of columns change places with rows within 128-bit lanes, which are
 * loaded and stored for themselves: half the shuffles of whole vectors, and none for columns that there are not.
 */
#include "cpu_batch.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) AVX512

#define LANES GP_BATCH_LANES

typedef __m512i vec;
typedef __m512 fvec;

INLINE vec load(const int32_t *at) {
    return _mm512_load_si512(at);
}

INLINE vec all(int32_t x) {
    return _mm512_set1_epi32(x);
}

INLINE vec add_32(vec a, vec b) {
    return _mm512_add_epi32(a, b);
}

INLINE vec subtract_32(vec a, vec b) {
    return _mm512_sub_epi32(a, b);
}

INLINE vec multiply_32(vec a, vec b) {
    return _mm512_mullo_epi32(a, b);
}

INLINE vec add_64(vec a, vec b) {
    return _mm512_add_epi64(a, b);
}

INLINE vec subtract_64(vec a, vec b) {
    return _mm512_sub_epi64(a, b);
}

/* Of the 64-bit lanes' lower halves. */
INLINE vec multiply_64(vec a, vec b) {
    return _mm512_mul_epi32(a, b);
}

INLINE vec multiply_unsigned(vec a, vec b) {
    return _mm512_mul_epu32(a, b);
}

INLINE vec upper(vec x) {
    return _mm512_srli_epi64(x, 32);
}

INLINE vec upper_signed(vec x) {
    return _mm512_srai_epi64(x, 32);
}

INLINE vec odd_of(vec x) {
    return upper_signed(x);
}

INLINE vec extend_odd(vec x) {
    return x;
}

INLINE vec shift_up(vec x) {
    return _mm512_slli_epi64(x, 32);
}

INLINE fvec interleave(__m256 even, __m256 odd) {
    const vec order = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(_mm512_castps256_ps512(even), order, _mm512_castps256_ps512(odd));
}

INLINE fvec round_32(vec x) {
    return _mm512_cvtepi32_ps(x);
}

INLINE fvec round_64(vec even, vec odd) {
    return interleave(_mm512_cvtepi64_ps(even), _mm512_cvtepi64_ps(odd));
}

INLINE fvec round_square_32(vec x) {
    return _mm512_cvtepu32_ps(x);
}

INLINE fvec round_square_64(vec even, vec odd) {
    return interleave(_mm512_cvtepu64_ps(even), _mm512_cvtepu64_ps(odd));
}

/*
 * The total of which `low` is what it is modulo 2^64, and `high` 2^32 times less, too small by less than 2^31: by 1
 * for each element of the first window, up to 2^30, and for each column since. From 2^63 on the lower 32 bits only
 * matter to rounding as "there is something", in a bit far below a float's 24; the scale is an exact power of two.
 */
INLINE __m256 round_128(vec low, vec high) {
    const vec lower = _mm512_set1_epi64(0xffffffff);
    high = add_64(high, _mm512_and_si512(subtract_64(upper(low), high), lower));
    const __mmask8 large = _mm512_cmpge_epi64_mask(high, _mm512_set1_epi64(INT64_C(1) << 31));
    const __mmask8 rest = _mm512_mask_test_epi64_mask(large, low, lower);
    const vec x = _mm512_mask_mov_epi64(low, large, high);
    const __m256 f = _mm512_cvtepu64_ps(_mm512_mask_or_epi64(x, rest, x, _mm512_set1_epi64(1)));
    return _mm256_mask_mul_ps(f, large, f, _mm256_set1_ps(0x1p32f));
}

INLINE fvec round_square_128(vec even, vec even_high, vec odd, vec odd_high) {
    return interleave(round_128(even, even_high), round_128(odd, odd_high));
}

/* Four by four within each 128-bit lane; its own inverse. */
INLINE void transpose_fours(vec v[4]) {
    const vec a = _mm512_unpacklo_epi32(v[0], v[1]), b = _mm512_unpackhi_epi32(v[0], v[1]);
    const vec c = _mm512_unpacklo_epi32(v[2], v[3]), d = _mm512_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm512_unpacklo_epi64(a, c);
    v[1] = _mm512_unpackhi_epi64(a, c);
    v[2] = _mm512_unpacklo_epi64(b, d);
    v[3] = _mm512_unpackhi_epi64(b, d);
}

/* Row 4 j + k lies in lane j of v[k]. */
INLINE void store_four(const fvec f[4], float *to, size_t pitch) {
    vec v[4];
    for (size_t k = 0; k < 4; ++k)
        v[k] = _mm512_castps_si512(f[k]);
    transpose_fours(v);
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((void *)(to + k * pitch), _mm512_castsi512_si128(v[k]));
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((void *)(to + (4 + k) * pitch), _mm512_extracti32x4_epi32(v[k], 1));
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((void *)(to + (8 + k) * pitch), _mm512_extracti32x4_epi32(v[k], 2));
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((void *)(to + (12 + k) * pitch), _mm512_extracti32x4_epi32(v[k], 3));
}

INLINE void stream_line(const float *from, float *to) {
    _mm512_stream_ps(to, _mm512_loadu_ps(from));
}

#define SQUARE_32_MAX UINT32_MAX
#define BITS_64 64
#define HAS_128 1
#include "cpu_batch_step.h"

/* n elements of four, others 0. */
INLINE __m128i some(const int32_t *at, size_t n) {
    return n < 4 ? _mm_maskz_loadu_epi32((__mmask8)((1u << n) - 1), at) : _mm_loadu_si128((const void *)at);
}

/* Columns of 16 rows, of which n < 4 or, whole fours, 4 are there. Returns the largest absolute values. */
INLINE vec gather_four(const int32_t *in, size_t pitch, size_t n, int32_t *columns) {
    vec v[4], largest = all(0);
    for (size_t k = 0; k < 4; ++k) {
        v[k] = _mm512_castsi128_si512(some(in + k * pitch, n));
        v[k] = _mm512_inserti32x4(v[k], some(in + (4 + k) * pitch, n), 1);
        v[k] = _mm512_inserti32x4(v[k], some(in + (8 + k) * pitch, n), 2);
        v[k] = _mm512_inserti32x4(v[k], some(in + (12 + k) * pitch, n), 3);
    }
    transpose_fours(v);
    for (size_t k = 0; k < 4 && k < n; ++k) {
        _mm512_store_si512(columns + k * LANES, v[k]);
        largest = _mm512_max_epu32(largest, _mm512_abs_epi32(v[k]));
    }
    return largest;
}

/* The last four begins where there are four, and may have columns of the one before again. */
AVX512 static uint32_t gather(const int32_t *in, size_t pitch, size_t cols, int32_t *columns) {
    if (cols < 4)
        return _mm512_reduce_max_epu32(gather_four(in, pitch, cols, columns));
    vec largest = all(0);
    for (size_t c = 0;; c += 4) {
        c = c + 4 > cols ? cols - 4 : c;
        largest = _mm512_max_epu32(largest, gather_four(in + c, pitch, 4, columns + c * LANES));
        if (c + 4 == cols)
            return _mm512_reduce_max_epu32(largest);
    }
}

/* No batch is too wide. */
AVX512 static bool slide(const gp_window_batch *b) {
    return slide_batch(b);
}

AVX512 static void drain(gp_batch_queue *queue) {
    drain_lines(queue, SIZE_MAX);
}

const gp_batch_kernels gp_batch_kernels_avx512 = {LANES, gather, slide, drain, stream_part};

#endif
