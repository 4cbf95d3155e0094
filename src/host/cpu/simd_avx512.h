/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors of simd.h with AVX-512 (F, BW, DQ, VL). */
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

#define SIMD __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define NAMED(name) name##_avx512
#define MM(name) _mm512_##name

#define LANES 16
#define BITS_64 64

typedef __m512i vec;
typedef __m512i wide;
typedef __m512 fvec;
typedef __m512d dvec;

#include "simd_x86.h"

INLINE vec load_first(const int32_t *at, size_t n, vec rest) {
    return _mm512_mask_loadu_epi32(rest, (__mmask16)((1u << n) - 1), at);
}

INLINE vec swap_lanes(vec x, size_t distance) {
    return distance == 8   ? _mm512_shuffle_i64x2(x, x, 0x4e)
           : distance == 4 ? _mm512_shuffle_i64x2(x, x, 0xb1)
           : distance == 2 ? _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0x4e)
                           : _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0xb1);
}

INLINE vec max_64(vec a, vec b) {
    return _mm512_max_epi64(a, b);
}

INLINE wide odd_lanes(vec x) {
    return _mm512_srai_epi64(x, 32);
}

INLINE pairs widen(vec x) {
    return (pairs){_mm512_mul_epi32(x, all(1)), odd_lanes(x)};
}

INLINE fvec interleave(__m256 even, __m256 odd) {
    const vec order = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(_mm512_castps256_ps512(even), order, _mm512_castps256_ps512(odd));
}

INLINE dvec doubles_of(wide x) {
    return _mm512_cvtepi64_pd(x);
}

INLINE fvec floats_of(dvec even, dvec odd) {
    return interleave(_mm512_cvtpd_ps(even), _mm512_cvtpd_ps(odd));
}

INLINE fvec round_64(pairs p) {
    return interleave(_mm512_cvtepi64_ps(p.even), _mm512_cvtepi64_ps(p.odd));
}

INLINE fvec round_unsigned(pairs p) {
    return interleave(_mm512_cvtepu64_ps(p.even), _mm512_cvtepu64_ps(p.odd));
}

INLINE vec scan_32(vec x, vec *carry) {
    x = add_32(x, _mm512_alignr_epi32(x, all(0), 15));
    x = add_32(x, _mm512_alignr_epi32(x, all(0), 14));
    x = add_32(x, _mm512_alignr_epi32(x, all(0), 12));
    x = add_32(x, _mm512_alignr_epi32(x, all(0), 8));
    x = add_32(x, *carry);
    *carry = _mm512_permutexvar_epi32(all(15), x);
    return x;
}

INLINE pairs scan_64(pairs p, wide *carry) {
    wide x = add_64(p.even, p.odd);
    x = add_64(x, _mm512_alignr_epi64(x, all(0), 7));
    x = add_64(x, _mm512_alignr_epi64(x, all(0), 6));
    x = add_64(x, _mm512_alignr_epi64(x, all(0), 4));
    x = add_64(x, *carry);
    *carry = _mm512_permutexvar_epi64(all_64(7), x);
    return (pairs){subtract_64(x, p.odd), x};
}

static const int sixteen_before[2 * 16] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

INLINE vec lanes_up(vec x, size_t n) {
    const vec from = _mm512_loadu_si512(sixteen_before + 16 - n);
    return _mm512_maskz_permutexvar_epi32((__mmask16)(0xffffu << n), from, x);
}

INLINE vec pick_lanes(vec x, vec order) {
    return _mm512_permutexvar_epi32(order, x);
}

INLINE vec load_lanes(const void *at, size_t step) {
    const char *from = at;
    vec x = _mm512_castsi128_si512(load_lane(from));
    x = _mm512_inserti32x4(x, load_lane(from + step), 1);
    x = _mm512_inserti32x4(x, load_lane(from + 2 * step), 2);
    return _mm512_inserti32x4(x, load_lane(from + 3 * step), 3);
}

INLINE vec load_rows(const char *const *row, size_t step, size_t first) {
    vec x = _mm512_castsi128_si512(load_lane(row[0] + first));
    x = _mm512_inserti32x4(x, load_lane(row[step] + first), 1);
    x = _mm512_inserti32x4(x, load_lane(row[2 * step] + first), 2);
    return _mm512_inserti32x4(x, load_lane(row[3 * step] + first), 3);
}

INLINE void store_lane(void *at, vec x, size_t lane) {
    _mm_storeu_si128(at, lane == 0   ? _mm512_castsi512_si128(x)
                         : lane == 1 ? _mm512_extracti32x4_epi32(x, 1)
                         : lane == 2 ? _mm512_extracti32x4_epi32(x, 2)
                                     : _mm512_extracti32x4_epi32(x, 3));
}

INLINE vec pick_bytes(vec x, const unsigned char *order) {
    return _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(load_lane(order)));
}

#define lower_halves(x) _mm512_cvtph_ps(_mm512_castsi512_si256(x))
#define upper_halves(x) _mm512_cvtph_ps(_mm512_extracti64x4_epi64(x, 1))
/* Optional: rounded down in any mode of the thread's, which takes 10 ns to change. All lanes: gcc's macros without a
   mask do not convert theirs. */
#define HAS_SUMS_DOWN 1
#define sum_down(a, b) _mm512_maskz_add_round_pd(0xff, a, b, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define less_down(a, b) _mm512_maskz_sub_round_pd(0xff, a, b, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)

#define widen_lower(x) _mm512_cvtps_pd(_mm512_castps512_ps256(x))
#define widen_upper(x) _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))
#define narrow_both(lower, upper) \
    _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(lower)), _mm512_cvtpd_ps(upper), 1)

/* Optional: the 64 bytes of x and y, one behind the other, from byte `first` on. Where that is no multiple of 4,
 * words are taken, and halves of two neighbours where it is odd. */
#define HAS_JOINED 1

INLINE vec words_from(size_t first, vec x, vec y) {
    static const short words[2 * 32 + 1] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                            17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
                                            34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50,
                                            51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64};
    return _mm512_permutex2var_epi16(x, _mm512_loadu_si512(words + first), y);
}

INLINE vec joined(size_t first, vec x, vec y) {
    if (first % 4 == 0)
        return _mm512_permutex2var_epi32(x, _mm512_loadu_si512(sixteen_before + first / 4), y);
    const vec whole = words_from(first / 2, x, y);
    if (first % 2 == 0)
        return whole;
    return _mm512_or_si512(_mm512_srli_epi16(whole, 8), _mm512_slli_epi16(words_from(first / 2 + 1, x, y), 8));
}

/* Optional: fewer bytes than a vector has, and zeros. */
#define load_some(at, bytes) _mm512_maskz_loadu_epi8(_cvtu64_mask64(~(~UINT64_C(0) << (bytes))), at)

/* Optional: a product and a sum with one rounding are one instruction. */
#define HAS_FUSED 1
#define fused(a, b, c) _mm512_fmadd_ps(a, b, c)

#define HAS_COPY_SOME 1

/* 1 to 64 bytes. */
INLINE void copy_some(char *to, const char *from, size_t bytes) {
    const __mmask64 first = ~UINT64_C(0) >> (64 - bytes);
    _mm512_mask_storeu_epi8(to, first, _mm512_maskz_loadu_epi8(first, from));
}

#endif
