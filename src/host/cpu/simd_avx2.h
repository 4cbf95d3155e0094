/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of AVX2 under the names that simd_avx512.h tells of. */
#ifndef GP_CPU_SIMD_AVX2_H
#define GP_CPU_SIMD_AVX2_H

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIMD __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) SIMD
#define NAMED(name) name##_avx2

#define LANES 8

typedef __m256i vec;  /* 32-bit lanes */
typedef __m256i wide; /* 64-bit lanes */
typedef __m256 fvec;

#define min_32 _mm256_min_epi32
#define max_32 _mm256_max_epi32
#define max_unsigned _mm256_max_epu32
#define abs_32 _mm256_abs_epi32
#define add_32 _mm256_add_epi32
#define subtract_32 _mm256_sub_epi32
#define multiply_32 _mm256_mullo_epi32 /* modulo 2^32 */
#define add_64 _mm256_add_epi64
#define subtract_64 _mm256_sub_epi64
#define upper_half(x) _mm256_srli_epi64(x, 32) /* x / 2^32 */
#define shift_up(x) _mm256_slli_epi64(x, 32)   /* x * 2^32 */
#define multiply_unsigned _mm256_mul_epu32     /* of 64-bit lanes' lower halves */
#define and_bits _mm256_and_si256
#define or_bits _mm256_or_si256
#define xor_bits _mm256_xor_si256
#define unpack_low_32 _mm256_unpacklo_epi32
#define unpack_high_32 _mm256_unpackhi_epi32
#define unpack_low_64 _mm256_unpacklo_epi64
#define unpack_high_64 _mm256_unpackhi_epi64
#define bits_of _mm256_castps_si256
#define round_32 _mm256_cvtepi32_ps
#define load_floats _mm256_loadu_ps
#define store_floats _mm256_storeu_ps
#define stream_floats _mm256_stream_ps /* past the caches, to a multiple of the vector's length */

INLINE vec load(const int32_t *at) {
    return _mm256_loadu_si256((const __m256i *)at);
}

INLINE void store(int32_t *at, vec x) {
    _mm256_storeu_si256((__m256i *)at, x);
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

/* Lanes that have changed places with those `distance` away, a power of two. */
INLINE vec swap_lanes(vec x, size_t distance) {
    return distance == 4   ? _mm256_permute2x128_si256(x, x, 0x01)
           : distance == 2 ? _mm256_shuffle_epi32(x, 0x4e)
                           : _mm256_shuffle_epi32(x, 0xb1);
}

INLINE int32_t first_lane(vec x) {
    return _mm_cvtsi128_si32(_mm256_castsi256_si128(x));
}

INLINE bool any_negative(vec x) {
    return _mm256_movemask_ps(_mm256_castsi256_ps(x)) != 0;
}

/* ---- sums ---- */

/* Neighbours' sums in 64 bits. */
INLINE wide add_pairs_of(vec x) {
    return _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(x)),
                            _mm256_cvtepi32_epi64(_mm256_extracti128_si256(x, 1)));
}

/* Modulo 2^64. */
INLINE uint64_t add_lanes_64(wide x) {
    const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    return (uint64_t)_mm_cvtsi128_si64(pair) + (uint64_t)_mm_extract_epi64(pair, 1);
}

INLINE int64_t add_lanes(vec x) {
    return (int64_t)add_lanes_64(add_pairs_of(x));
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
    const wide x = _mm256_add_epi64(add_pairs_of(lower), _mm256_slli_epi64(add_pairs_of(s.high), 16));
    return (int64_t)add_lanes_64(x);
}

/* ---- lanes in 64 bits ---- */

/* The even lanes' and the odd lanes'. */
typedef struct {
    wide even, odd;
} pairs;

INLINE pairs multiply(vec a, vec b) {
    return (pairs){_mm256_mul_epi32(a, b), _mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32))};
}

INLINE pairs widen(vec x) {
    return multiply(x, _mm256_set1_epi64x(0x100000001));
}

/* |x| < 2^51: added to the bits of 1.5 * 2^52, x stands in the mantissa's lowest bits. */
INLINE __m128 round_below_2_51(wide x) {
    const __m256d offset = _mm256_set1_pd(0x1.8p52);
    const wide bits = _mm256_add_epi64(x, _mm256_castpd_si256(offset));
    return _mm256_cvtpd_ps(_mm256_sub_pd(_mm256_castsi256_pd(bits), offset));
}

/* Of numbers below 2^BITS_64: AVX2 rounds no 64-bit integers, but in double these are exact. */
#define BITS_64 51
INLINE fvec round_64(pairs p) {
    const __m128 even = round_below_2_51(p.even), odd = round_below_2_51(p.odd);
    return _mm256_set_m128(_mm_unpackhi_ps(even, odd), _mm_unpacklo_ps(even, odd));
}
#define round_unsigned round_64

/* ---- prefix sums: each lane becomes the sum of those up to it and of all before the vector ---- */

/* carry: of all before, in every lane. */
INLINE vec scan_32(vec x, vec *carry) {
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
    const vec lower = _mm256_permutevar8x32_epi32(x, all(3));
    x = _mm256_add_epi32(x, _mm256_blend_epi32(_mm256_setzero_si256(), lower, 0xf0));
    x = _mm256_add_epi32(x, *carry);
    *carry = _mm256_permutevar8x32_epi32(x, all(7));
    return x;
}

INLINE pairs scan_64(pairs p, wide *carry) {
    wide x = _mm256_add_epi64(p.even, p.odd);
    x = _mm256_add_epi64(x, _mm256_slli_si256(x, 8));
    x = _mm256_add_epi64(x, _mm256_blend_epi32(_mm256_setzero_si256(), _mm256_permute4x64_epi64(x, 0x50), 0xf0));
    x = _mm256_add_epi64(x, *carry);
    *carry = _mm256_permute4x64_epi64(x, 0xff);
    return (pairs){_mm256_sub_epi64(x, p.odd), x};
}

/* Of two kinds at once, in every lane. */
typedef struct {
    wide first, second;
} two_totals;

INLINE two_totals begin_totals(int64_t first, int64_t second) {
    return (two_totals){_mm256_set1_epi64x(first), _mm256_set1_epi64x(second)};
}

INLINE int64_t first_total(two_totals t) {
    return _mm_cvtsi128_si64(_mm256_castsi256_si128(t.first));
}

INLINE int64_t second_total(two_totals t) {
    return _mm_cvtsi128_si64(_mm256_castsi256_si128(t.second));
}

INLINE void scan_two(bool has_a, bool has_b, pairs *a, pairs *b, two_totals *carry) {
    *a = has_a ? scan_64(*a, &carry->first) : *a;
    *b = has_b ? scan_64(*b, &carry->second) : *b;
}

/* Of 32 bits, and of 64; *carry begins with the former's total in both halves. */
INLINE void scan_32_and_64(vec *a, pairs *b, two_totals *carry) {
    *a = scan_32(*a, &carry->first);
    *b = scan_64(*b, &carry->second);
}

/* ---- rows: each half of a vector, 128 bits, by itself ---- */

/* n elements of up to four, others 0. */
INLINE __m128i load_quarter(const int32_t *at, size_t n) {
    const __m128i lanes = _mm_cmpgt_epi32(_mm_set1_epi32((int)n), _mm_setr_epi32(0, 1, 2, 3));
    return n < 4 ? _mm_maskload_epi32(at, lanes) : _mm_loadu_si128((const __m128i *)at);
}

/* From the elements at and at + apart. */
INLINE vec load_quarters(const int32_t *at, size_t apart, size_t n) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_quarter(at, n)), load_quarter(at + apart, n), 1);
}

/* Half j of v[k] goes to row 4 j + k. */
INLINE void store_quarters(const vec v[4], float *to, size_t pitch) {
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((__m128i *)(void *)(to + k * pitch), _mm256_castsi256_si128(v[k]));
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((__m128i *)(void *)(to + (4 + k) * pitch), _mm256_extracti128_si256(v[k], 1));
}

/* One float past the caches. */
INLINE void stream_one(float *at, float x) {
    int bits;
    memcpy(&bits, &x, sizeof bits);
    _mm_stream_si32((int *)(void *)at, bits);
}

/* ---- bytes, for transposes: lanes of 16 bytes ---- */

INLINE vec load_bytes(const char *at) {
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

INLINE void store_bytes(char *at, vec x) {
    _mm256_storeu_si256((__m256i *)(void *)at, x);
}

INLINE void stream_bytes(char *at, vec x) {
    _mm256_stream_si256((__m256i *)(void *)at, x);
}

INLINE vec load_lanes(const char *at, size_t step) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)at)),
                                   _mm_loadu_si128((const __m128i *)(const void *)(at + step)), 1);
}

INLINE void store_lanes(char *at, size_t step, vec x) {
    _mm_storeu_si128((__m128i *)(void *)at, _mm256_castsi256_si128(x));
    _mm_storeu_si128((__m128i *)(void *)(at + step), _mm256_extracti128_si256(x, 1));
}

INLINE vec zip_lower(size_t bytes, vec a, vec b) {
    return bytes == 1   ? _mm256_unpacklo_epi8(a, b)
           : bytes == 2 ? _mm256_unpacklo_epi16(a, b)
           : bytes == 4 ? _mm256_unpacklo_epi32(a, b)
                        : _mm256_unpacklo_epi64(a, b);
}

INLINE vec zip_upper(size_t bytes, vec a, vec b) {
    return bytes == 1   ? _mm256_unpackhi_epi8(a, b)
           : bytes == 2 ? _mm256_unpackhi_epi16(a, b)
           : bytes == 4 ? _mm256_unpackhi_epi32(a, b)
                        : _mm256_unpackhi_epi64(a, b);
}

INLINE vec pick_bytes(vec x, const unsigned char *order) {
    return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)order)));
}

#endif

#endif
