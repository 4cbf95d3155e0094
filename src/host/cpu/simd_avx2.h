/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors of simd.h with AVX2. */
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

#define SIMD __attribute__((target("avx2,f16c")))
#define NAMED(name) name##_avx2
#define MM(name) _mm256_##name

#define LANES 8
#define LACKS_CONVERSIONS 1 /* between doubles and ints of 64 bits */

typedef __m256i vec;
typedef __m256i wide;
typedef __m256 fvec;
typedef __m256d dvec;

#include "simd_x86.h"

INLINE vec load_first(const int32_t *at, size_t n, vec rest) {
    const vec lanes = _mm256_cmpgt_epi32(all((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_blendv_epi8(rest, _mm256_maskload_epi32(at, lanes), lanes);
}

INLINE vec swap_lanes(vec x, size_t distance) {
    return distance == 4   ? _mm256_permute2x128_si256(x, x, 0x01)
           : distance == 2 ? _mm256_shuffle_epi32(x, 0x4e)
                           : _mm256_shuffle_epi32(x, 0xb1);
}

INLINE vec max_64(vec a, vec b) {
    return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b));
}

INLINE wide odd_lanes(vec x) {
    return _mm256_srli_epi64(x, 32);
}

INLINE pairs widen(vec x) {
    return multiply(x, all(1));
}

/* |x| < 2^51: added to the bits of 1.5 * 2^52, x stands in the mantissa's lowest bits. */
INLINE dvec doubles_of(wide x) {
    const dvec offset = _mm256_set1_pd(0x1.8p52);
    return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(x, _mm256_castpd_si256(offset))), offset);
}

INLINE fvec floats_of(dvec even, dvec odd) {
    const __m128 a = _mm256_cvtpd_ps(even), b = _mm256_cvtpd_ps(odd);
    return _mm256_set_m128(_mm_unpackhi_ps(a, b), _mm_unpacklo_ps(a, b));
}

INLINE vec scan_32(vec x, vec *carry) {
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
    const vec lower = _mm256_permutevar8x32_epi32(x, all(3));
    x = _mm256_add_epi32(x, _mm256_blend_epi32(all(0), lower, 0xf0));
    x = _mm256_add_epi32(x, *carry);
    *carry = _mm256_permutevar8x32_epi32(x, all(7));
    return x;
}

INLINE pairs scan_64(pairs p, wide *carry) {
    wide x = _mm256_add_epi64(p.even, p.odd);
    x = _mm256_add_epi64(x, _mm256_slli_si256(x, 8));
    x = _mm256_add_epi64(x, _mm256_blend_epi32(all(0), _mm256_permute4x64_epi64(x, 0x50), 0xf0));
    x = _mm256_add_epi64(x, *carry);
    *carry = _mm256_permute4x64_epi64(x, 0xff);
    return (pairs){_mm256_sub_epi64(x, p.odd), x};
}

INLINE vec lanes_up(vec x, size_t n) {
    static const int places[2 * 8] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
    const vec from = load(places + 8 - n);
    return _mm256_andnot_si256(_mm256_srai_epi32(from, 31), _mm256_permutevar8x32_epi32(x, from));
}

INLINE vec pick_lanes(vec x, vec order) {
    return _mm256_permutevar8x32_epi32(x, order);
}

INLINE vec load_lanes(const void *at, size_t step) {
    return _mm256_set_m128i(load_lane((const char *)at + step), load_lane(at));
}

INLINE vec load_rows(const char *const *row, size_t step, size_t first) {
    return _mm256_set_m128i(load_lane(row[step] + first), load_lane(row[0] + first));
}

INLINE void store_lane(void *at, vec x, size_t lane) {
    _mm_storeu_si128(at, lane == 0 ? _mm256_castsi256_si128(x) : _mm256_extracti128_si256(x, 1));
}

#define lower_halves(x) _mm256_cvtph_ps(_mm256_castsi256_si128(x))
#define upper_halves(x) _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1))
#define widen_lower(x) _mm256_cvtps_pd(_mm256_castps256_ps128(x))
#define widen_upper(x) _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))
#define narrow_both(lower, upper) _mm256_set_m128(_mm256_cvtpd_ps(upper), _mm256_cvtpd_ps(lower))

INLINE vec pick_bytes(vec x, const unsigned char *order) {
    return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(load_lane(order)));
}

#endif
