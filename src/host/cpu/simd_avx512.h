/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of AVX-512 (F, BW, DQ, VL) under the names that simd_avx2.h and simd_neon.h give theirs, so that a kernel
 * is written once and compiled for each instruction set: a source includes one of the three, then the kernel.
 */
#ifndef GP_CPU_SIMD_AVX512_H
#define GP_CPU_SIMD_AVX512_H

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIMD __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) SIMD
#define NAMED(name) name##_avx512

#define LANES 16

typedef __m512i vec;  /* 32-bit lanes */
typedef __m512i wide; /* 64-bit lanes */
typedef __m512 fvec;

#define min_32 _mm512_min_epi32
#define max_32 _mm512_max_epi32
#define max_unsigned _mm512_max_epu32
#define abs_32 _mm512_abs_epi32
#define add_32 _mm512_add_epi32
#define subtract_32 _mm512_sub_epi32
#define multiply_32 _mm512_mullo_epi32 /* modulo 2^32 */
#define add_64 _mm512_add_epi64
#define subtract_64 _mm512_sub_epi64
#define upper_half(x) _mm512_srli_epi64(x, 32) /* x / 2^32 */
#define shift_up(x) _mm512_slli_epi64(x, 32)   /* x * 2^32 */
#define multiply_unsigned _mm512_mul_epu32     /* of 64-bit lanes' lower halves */
#define and_bits _mm512_and_si512
#define or_bits _mm512_or_si512
#define xor_bits _mm512_xor_si512
#define unpack_low_32 _mm512_unpacklo_epi32
#define unpack_high_32 _mm512_unpackhi_epi32
#define unpack_low_64 _mm512_unpacklo_epi64
#define unpack_high_64 _mm512_unpackhi_epi64
#define bits_of _mm512_castps_si512
#define round_32 _mm512_cvtepi32_ps
#define load_floats _mm512_loadu_ps
#define store_floats _mm512_storeu_ps
#define stream_floats _mm512_stream_ps /* past the caches, to a multiple of the vector's length */

INLINE vec load(const int32_t *at) {
    return _mm512_loadu_si512(at);
}

INLINE void store(int32_t *at, vec x) {
    _mm512_storeu_si512(at, x);
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

INLINE bool any_negative(vec x) {
    return _mm512_movepi32_mask(x) != 0;
}

/* ---- sums ---- */

/* Neighbours' sums in 64 bits. */
INLINE wide add_pairs_of(vec x) {
    return _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(x)),
                            _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(x, 1)));
}

/* Modulo 2^64: gcc's own adds signed numbers, which may not overflow. */
INLINE uint64_t add_lanes_64(wide x) {
    x = _mm512_add_epi64(x, _mm512_shuffle_i64x2(x, x, 0x4e));
    x = _mm512_add_epi64(x, _mm512_shuffle_i64x2(x, x, 0xb1));
    x = _mm512_add_epi64(x, _mm512_shuffle_epi32(x, (_MM_PERM_ENUM)0x4e));
    return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(x));
}

INLINE int64_t add_lanes(vec x) {
    return (int64_t)add_lanes_64(add_pairs_of(x));
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

INLINE wide widen_sums(sums s) {
    const vec lower = _mm512_sub_epi32(s.low, _mm512_slli_epi32(s.high, 16));
    return _mm512_add_epi64(add_pairs_of(lower), _mm512_slli_epi64(add_pairs_of(s.high), 16));
}

INLINE int64_t total_of(sums s) {
    return (int64_t)add_lanes_64(widen_sums(s));
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
INLINE wide and_twice(wide a, wide b) {
    return _mm512_add_epi64(a, _mm512_slli_epi64(b, 1));
}

INLINE int64_t total_of_carries(const carries *c) {
    const wide fours = and_twice(add_pairs_of(c->fours), widen_sums(c->eights));
    return (int64_t)add_lanes_64(and_twice(add_pairs_of(c->ones), and_twice(add_pairs_of(c->twos), fours)));
}

/* ---- lanes in 64 bits ---- */

/* The even lanes' and the odd lanes'. */
typedef struct {
    wide even, odd;
} pairs;

INLINE pairs multiply(vec a, vec b) {
    return (pairs){_mm512_mul_epi32(a, b), _mm512_mul_epi32(_mm512_srai_epi64(a, 32), _mm512_srai_epi64(b, 32))};
}

INLINE pairs widen(vec x) {
    return (pairs){_mm512_mul_epi32(x, all(1)), _mm512_srai_epi64(x, 32)};
}

INLINE fvec interleave(__m256 even, __m256 odd) {
    const vec order = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(_mm512_castps256_ps512(even), order, _mm512_castps256_ps512(odd));
}

INLINE fvec round_64(pairs p) {
    return interleave(_mm512_cvtepi64_ps(p.even), _mm512_cvtepi64_ps(p.odd));
}

/* Of numbers below 2^BITS_64, without a sign. */
#define BITS_64 64
INLINE fvec round_unsigned(pairs p) {
    return interleave(_mm512_cvtepu64_ps(p.even), _mm512_cvtepu64_ps(p.odd));
}

/* ---- prefix sums: each lane becomes the sum of those up to it and of all before the vector ---- */

/* carry: of all before, in every lane. */
INLINE vec scan_32(vec x, vec *carry) {
    const vec zero = _mm512_setzero_si512();
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 15));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 14));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 12));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 8));
    x = _mm512_add_epi32(x, *carry);
    *carry = _mm512_permutexvar_epi32(all(15), x);
    return x;
}

/* Of two kinds at once, in turns. */
typedef struct {
    wide in_turns;
} two_totals;

INLINE two_totals begin_totals(int64_t first, int64_t second) {
    return (two_totals){_mm512_unpacklo_epi64(_mm512_set1_epi64(first), _mm512_set1_epi64(second))};
}

INLINE int64_t first_total(two_totals t) {
    return _mm_cvtsi128_si64(_mm512_castsi512_si128(t.in_turns));
}

INLINE int64_t second_total(two_totals t) {
    return _mm_extract_epi64(_mm512_castsi512_si128(t.in_turns), 1);
}

/*
 * As four fours of each kind; from the totals of the fours those of pairs and of single lanes follow by subtraction.
 */
INLINE void scan_two(bool has_a, bool has_b, pairs *a, pairs *b, two_totals *carry) {
    (void)has_a, (void)has_b;
    const wide zero = _mm512_setzero_si512();
    wide a_pairs = _mm512_add_epi64(a->even, a->odd), b_pairs = _mm512_add_epi64(b->even, b->odd);
    const wide second_pairs = _mm512_unpackhi_epi64(a_pairs, b_pairs);
    wide fours = _mm512_add_epi64(_mm512_unpacklo_epi64(a_pairs, b_pairs), second_pairs);
    fours = _mm512_add_epi64(fours, _mm512_alignr_epi64(fours, zero, 6));
    fours = _mm512_add_epi64(fours, _mm512_alignr_epi64(fours, zero, 4));
    fours = _mm512_add_epi64(fours, carry->in_turns);
    carry->in_turns = _mm512_shuffle_i64x2(fours, fours, 0xff);
    const wide first_pairs = _mm512_sub_epi64(fours, second_pairs);
    a_pairs = _mm512_unpacklo_epi64(first_pairs, fours);
    b_pairs = _mm512_unpackhi_epi64(first_pairs, fours);
    *a = (pairs){_mm512_sub_epi64(a_pairs, a->odd), a_pairs};
    *b = (pairs){_mm512_sub_epi64(b_pairs, b->odd), b_pairs};
}

/* Of 32 bits, in 64-bit lanes whose upper halves are anything, and of 64. */
INLINE void scan_32_and_64(vec *a, pairs *b, two_totals *carry) {
    pairs p = {*a, _mm512_srli_epi64(*a, 32)};
    scan_two(true, true, &p, b, carry);
    *a = _mm512_mask_shuffle_epi32(p.even, 0xaaaa, p.odd, _MM_PERM_CDAB);
}

/* ---- rows: each quarter of a vector, 128 bits, by itself ---- */

/* n elements of up to four, others 0. */
INLINE __m128i load_quarter(const int32_t *at, size_t n) {
    return n < 4 ? _mm_maskz_loadu_epi32((__mmask8)((1u << n) - 1), at) : _mm_loadu_si128((const __m128i *)at);
}

/* From the elements at, at + apart .. */
INLINE vec load_quarters(const int32_t *at, size_t apart, size_t n) {
    vec x = _mm512_castsi128_si512(load_quarter(at, n));
    x = _mm512_inserti32x4(x, load_quarter(at + apart, n), 1);
    x = _mm512_inserti32x4(x, load_quarter(at + 2 * apart, n), 2);
    return _mm512_inserti32x4(x, load_quarter(at + 3 * apart, n), 3);
}

/* Quarter j of v[k] goes to row 4 j + k, upwards, as what is in one line of memory then is written together. */
INLINE void store_quarters(const vec v[4], float *to, size_t pitch) {
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((__m128i *)(void *)(to + k * pitch), _mm512_castsi512_si128(v[k]));
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((__m128i *)(void *)(to + (4 + k) * pitch), _mm512_extracti32x4_epi32(v[k], 1));
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((__m128i *)(void *)(to + (8 + k) * pitch), _mm512_extracti32x4_epi32(v[k], 2));
    for (size_t k = 0; k < 4; ++k)
        _mm_storeu_si128((__m128i *)(void *)(to + (12 + k) * pitch), _mm512_extracti32x4_epi32(v[k], 3));
}

/* One float past the caches. */
INLINE void stream_one(float *at, float x) {
    int bits;
    memcpy(&bits, &x, sizeof bits);
    _mm_stream_si32((int *)(void *)at, bits);
}

/* ---- bytes, for transposes: lanes of 16 bytes ---- */

INLINE vec load_bytes(const char *at) {
    return _mm512_loadu_si512(at);
}

INLINE void store_bytes(char *at, vec x) {
    _mm512_storeu_si512(at, x);
}

/* Past the caches, to a multiple of the vector's size. */
INLINE void stream_bytes(char *at, vec x) {
    _mm512_stream_si512((void *)at, x);
}

/* Lane i is loaded from at + i * step. */
INLINE vec load_lanes(const char *at, size_t step) {
    vec x = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)at));
    x = _mm512_inserti32x4(x, _mm_loadu_si128((const __m128i *)(const void *)(at + step)), 1);
    x = _mm512_inserti32x4(x, _mm_loadu_si128((const __m128i *)(const void *)(at + 2 * step)), 2);
    return _mm512_inserti32x4(x, _mm_loadu_si128((const __m128i *)(const void *)(at + 3 * step)), 3);
}

INLINE void store_lanes(char *at, size_t step, vec x) {
    _mm_storeu_si128((__m128i *)(void *)at, _mm512_castsi512_si128(x));
    _mm_storeu_si128((__m128i *)(void *)(at + step), _mm512_extracti32x4_epi32(x, 1));
    _mm_storeu_si128((__m128i *)(void *)(at + 2 * step), _mm512_extracti32x4_epi32(x, 2));
    _mm_storeu_si128((__m128i *)(void *)(at + 3 * step), _mm512_extracti32x4_epi32(x, 3));
}

/* Of each lane, elements of the lower (upper) half of a and of b in turns. `bytes` is a constant where it is tested.
 */
INLINE vec zip_lower(size_t bytes, vec a, vec b) {
    return bytes == 1   ? _mm512_unpacklo_epi8(a, b)
           : bytes == 2 ? _mm512_unpacklo_epi16(a, b)
           : bytes == 4 ? _mm512_unpacklo_epi32(a, b)
                        : _mm512_unpacklo_epi64(a, b);
}

INLINE vec zip_upper(size_t bytes, vec a, vec b) {
    return bytes == 1   ? _mm512_unpackhi_epi8(a, b)
           : bytes == 2 ? _mm512_unpackhi_epi16(a, b)
           : bytes == 4 ? _mm512_unpackhi_epi32(a, b)
                        : _mm512_unpackhi_epi64(a, b);
}

/* Byte i of each lane becomes the lane's byte order[i], or 0 where that is 0x80. */
INLINE vec pick_bytes(vec x, const unsigned char *order) {
    return _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(const void *)order)));
}

/*
 * Optional: the 64 bytes of x and y, one behind the other, from byte `first` on. Where that is no multiple of 4,
 * words are taken, and halves of two neighbours where it is odd.
 */
#define HAS_JOINED 1

INLINE vec words_from(size_t first, vec x, vec y) {
    static const short words[2 * 32 + 1] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                            17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
                                            34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50,
                                            51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64};
    return _mm512_permutex2var_epi16(x, _mm512_loadu_si512(words + first), y);
}

INLINE vec joined(size_t first, vec x, vec y) {
    static const int fours[2 * 16] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    if (first % 4 == 0)
        return _mm512_permutex2var_epi32(x, _mm512_loadu_si512(fours + first / 4), y);
    const vec whole = words_from(first / 2, x, y);
    if (first % 2 == 0)
        return whole;
    return _mm512_or_si512(_mm512_srli_epi16(whole, 8), _mm512_slli_epi16(words_from(first / 2 + 1, x, y), 8));
}

#define HAS_COPY_SOME 1

/* 1 to 64 bytes. */
INLINE void copy_some(char *to, const char *from, size_t bytes) {
    const __mmask64 first = ~UINT64_C(0) >> (64 - bytes);
    _mm512_mask_storeu_epi8(to, first, _mm512_maskz_loadu_epi8(first, from));
}

#endif

#endif
