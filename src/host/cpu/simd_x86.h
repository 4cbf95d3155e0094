/* SPDX-License-Identifier: Apache-2.0 */
/* What AVX2 and AVX-512 have in common of simd.h, with MM(name) for an intrinsic function of the vectors' size. */
#pragma once

#include "simd.h"

#define min_32 MM(min_epi32)
#define max_32 MM(max_epi32)
#define max_unsigned MM(max_epu32)
#define abs_32 MM(abs_epi32)
#define round_32 MM(cvtepi32_ps)
#define add_bytes(x) MM(sad_epu8)(x, all(0))
#define multiply_unsigned MM(mul_epu32) /* of 64-bit lanes' lower halves */
#define upper_products(a, b) ((lanes_16)MM(mulhi_epu16)((vec)(a), (vec)(b)))

INLINE void stream(void *at, vec x) {
    MM(stream_ps)((float *)at, (fvec)x);
}

INLINE void stream_one(float *at, float x) {
    int bits;
    memcpy(&bits, &x, sizeof bits);
    _mm_stream_si32((int *)(void *)at, bits);
}

INLINE vec kept(vec x) {
    __asm__("" : "+v"(x));
    return x;
}

/* In the places of the even ones before them. */
INLINE wide odd_lanes(vec x);

INLINE pairs multiply(vec a, vec b) {
    return (pairs){MM(mul_epi32)(a, b), MM(mul_epi32)(odd_lanes(a), odd_lanes(b))};
}

INLINE vec zip_lower(size_t bytes, vec a, vec b) {
    return bytes == 1   ? MM(unpacklo_epi8)(a, b)
           : bytes == 2 ? MM(unpacklo_epi16)(a, b)
           : bytes == 4 ? MM(unpacklo_epi32)(a, b)
                        : MM(unpacklo_epi64)(a, b);
}

INLINE vec zip_upper(size_t bytes, vec a, vec b) {
    return bytes == 1   ? MM(unpackhi_epi8)(a, b)
           : bytes == 2 ? MM(unpackhi_epi16)(a, b)
           : bytes == 4 ? MM(unpackhi_epi32)(a, b)
                        : MM(unpackhi_epi64)(a, b);
}

INLINE vec max_64(vec a, vec b);

/* `bytes` is a constant. */
INLINE vec max_signed(size_t bytes, vec a, vec b) {
    return bytes == 1   ? MM(max_epi8)(a, b)
           : bytes == 2 ? MM(max_epi16)(a, b)
           : bytes == 4 ? MM(max_epi32)(a, b)
                        : max_64(a, b);
}

INLINE __m128i load_lane(const void *at) {
    return _mm_loadu_si128(at);
}
