/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window with AVX-512, sixteen columns a step: differences of what enters and what leaves, their prefix sums within
 * the vector, plus the carry of the step before. In 64 bits, the columns are taken as eight pairs (even and odd
 * column of one 64-bit lane, which costs no shuffle): the pairs' sums are scanned, which gives the odd columns, and
 * an odd column less its own difference is the even one. That is three scan steps for sixteen columns instead of six.
 */
#include "window_slide.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define INLINE static inline __attribute__((always_inline)) AVX512

#define LANES 16

enum { NONE, IN_32, IN_64, WIDE }; /* how an output is computed; a constant wherever it is tested */

/* Totals of the window before the step, in every lane. */
typedef struct {
    __m512i sum;
    __m512i square; /* wide: square = total of lower halves + 2^32 high, both signed */
    __m512i high;
} carries;

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

INLINE pairs subtract(pairs a, pairs b) {
    return (pairs){_mm512_sub_epi64(a.even, b.even), _mm512_sub_epi64(a.odd, b.odd)};
}

/* Prefix sums of the differences d, and the carry of the next step. */
INLINE pairs scan_pairs(pairs d, __m512i *carry) {
    __m512i zero = _mm512_setzero_si512(), t = _mm512_add_epi64(d.even, d.odd);
    t = _mm512_add_epi64(t, _mm512_alignr_epi64(t, zero, 7));
    t = _mm512_add_epi64(t, _mm512_alignr_epi64(t, zero, 6));
    t = _mm512_add_epi64(t, _mm512_alignr_epi64(t, zero, 4));
    t = _mm512_add_epi64(t, *carry);
    *carry = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), t);
    return (pairs){_mm512_sub_epi64(t, d.odd), t};
}

INLINE __m512i scan_32(__m512i t, __m512i *carry) {
    __m512i zero = _mm512_setzero_si512();
    t = _mm512_add_epi32(t, _mm512_alignr_epi32(t, zero, 15));
    t = _mm512_add_epi32(t, _mm512_alignr_epi32(t, zero, 14));
    t = _mm512_add_epi32(t, _mm512_alignr_epi32(t, zero, 12));
    t = _mm512_add_epi32(t, _mm512_alignr_epi32(t, zero, 8));
    t = _mm512_add_epi32(t, *carry);
    *carry = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), t);
    return t;
}

INLINE __m512 interleave(__m256 even, __m256 odd) {
    __m512i order = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(_mm512_castps256_ps512(even), order, _mm512_castps256_ps512(odd));
}

INLINE __m512 round_pairs(pairs p) {
    return interleave(_mm512_cvtepi64_ps(p.even), _mm512_cvtepi64_ps(p.odd));
}

/*
 * low + 2^32 high, rounded once. Below 2^63 it is put together in 64 bits. Else the bits below 2^31 only matter as
 * "there is something", which goes into the lowest of at least 33 bits, and the scale is a power of two: exact.
 */
INLINE __m256 round_wide(__m512i low, __m512i high) {
    __m512i one = _mm512_set1_epi64(1), lower = _mm512_set1_epi64(0xffffffff);
    high = _mm512_add_epi64(high, _mm512_srai_epi64(low, 32));
    low = _mm512_and_si512(low, lower);
    __mmask8 large = _mm512_cmpgt_epi64_mask(high, _mm512_set1_epi64(0x7fffffff));
    __m512i value = _mm512_or_si512(_mm512_slli_epi64(high, 32), low);
    __m512i top = _mm512_add_epi64(high, high);
    top = _mm512_mask_or_epi64(top, _mm512_test_epi64_mask(low, low), top, one);
    __m256 rounded = _mm512_cvtepi64_ps(_mm512_mask_mov_epi64(value, large, top));
    return _mm256_mask_mul_ps(rounded, large, rounded, _mm256_set1_ps(0x1p31f));
}

/* The differences of squares are below 2^62: their halves are scanned apart. */
INLINE __m512 step_square_wide(pairs enters, pairs leaves, carries *c) {
    __m512i lower = _mm512_set1_epi64(0xffffffff);
    pairs d = subtract(multiply(enters, enters), multiply(leaves, leaves));
    pairs low = {_mm512_and_si512(d.even, lower), _mm512_and_si512(d.odd, lower)};
    pairs high = {_mm512_srai_epi64(d.even, 32), _mm512_srai_epi64(d.odd, 32)};
    low = scan_pairs(low, &c->square);
    high = scan_pairs(high, &c->high);
    return interleave(round_wide(low.even, high.even), round_wide(low.odd, high.odd));
}

typedef struct {
    __m512 sum, square;
} results;

INLINE results step(int sum, int square, __m512i enters, __m512i leaves, carries *c) {
    results r = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    if (sum == WIDE || square == WIDE) {
        pairs in = halves(enters), out = halves(leaves);
        if (sum)
            r.sum = round_pairs(scan_pairs(subtract(in, out), &c->sum));
        if (square)
            r.square = step_square_wide(in, out, c);
        return r;
    }
    __m512i d = _mm512_sub_epi32(enters, leaves);
    if (sum == IN_32)
        r.sum = _mm512_cvtepi32_ps(scan_32(d, &c->sum));
    if (sum == IN_64)
        r.sum = round_pairs(scan_pairs(halves(d), &c->sum));
    if (square) { /* a^2 - b^2 = (a - b) (a + b), and neither factor passes 32 bits */
        __m512i s = _mm512_add_epi32(enters, leaves);
        pairs differences = {d, _mm512_srli_epi64(d, 32)}, sums = {s, _mm512_srli_epi64(s, 32)};
        r.square = round_pairs(scan_pairs(multiply(differences, sums), &c->square));
    }
    return r;
}

/*
 * Part of a line. Where whole lines bypass the caches these lanes do too: a line fetched in between for the sake of
 * its first or last lanes makes all behind it wait (4096 rows with two such lines each: 9.8 ms, so 8.4).
 */
INLINE void store_first(float *at, __m512 value, size_t n, bool stream) {
    if (!stream) {
        _mm512_mask_storeu_ps(at, first_lanes(n), value);
        return;
    }
    int bits[LANES];
    _mm512_storeu_si512(bits, _mm512_castps_si512(value));
    for (size_t k = 0; k < n; ++k)
        _mm_stream_si32((int *)(void *)(at + k), bits[k]);
}

INLINE void step_first(int sum, int square, const gp_window_block *b, size_t i, size_t n, carries *c) {
    results r = step(sum, square, _mm512_maskz_loadu_epi32(first_lanes(n), b->enters + i),
                     _mm512_maskz_loadu_epi32(first_lanes(n), b->leaves + i), c);
    if (sum)
        store_first(b->sum + i, r.sum, n, b->stream);
    if (square)
        store_first(b->square + i, r.square, n, b->stream);
}

INLINE size_t columns_before_line(const gp_window_block *b) {
    uintptr_t out = (uintptr_t)(b->sum ? b->sum : b->square);
    size_t head = (0 - out / sizeof(float)) % LANES;
    return head < b->n ? head : b->n;
}

INLINE void store(float *at, __m512 value, bool stream) {
    if (stream)
        _mm512_stream_ps(at, value);
    else
        _mm512_storeu_ps(at, value);
}

INLINE void slide_as(int sum, int square, const gp_window_block *b, carries *carry) {
    carries c = *carry;
    size_t i = b->stream ? columns_before_line(b) : 0;
    bool stream = b->stream;
    if (i > 0)
        step_first(sum, square, b, 0, i, &c);
    for (; i + LANES <= b->n; i += LANES) {
        _mm_prefetch((const char *)(b->ahead + i * sizeof(int32_t)), _MM_HINT_T0);
        results r = step(sum, square, _mm512_loadu_si512(b->enters + i), _mm512_loadu_si512(b->leaves + i), &c);
        if (sum)
            store(b->sum + i, r.sum, stream);
        if (square)
            store(b->square + i, r.square, stream);
    }
    if (i < b->n)
        step_first(sum, square, b, i, b->n - i, &c);
    *carry = c;
}

AVX512 static void slide_wide(const gp_window_block *b, carries *c) {
    if (b->sum && b->square)
        slide_as(WIDE, WIDE, b, c);
    else if (b->sum)
        slide_as(WIDE, NONE, b, c);
    else
        slide_as(NONE, WIDE, b, c);
}

AVX512 static void slide_narrow(const gp_window_block *b, carries *c) {
    if (!b->sum)
        slide_as(NONE, IN_64, b, c);
    else if (b->sum_in_32 && b->square)
        slide_as(IN_32, IN_64, b, c);
    else if (b->sum_in_32)
        slide_as(IN_32, NONE, b, c);
    else if (b->square)
        slide_as(IN_64, IN_64, b, c);
    else
        slide_as(IN_64, NONE, b, c);
}

INLINE int64_t any_lane(__m512i x) {
    return _mm_cvtsi128_si64(_mm512_castsi512_si128(x));
}

AVX512 static void slide(const gp_window_block *b, gp_window_totals *totals) {
    uint64_t low = (uint64_t)totals->square;
    carries c = {_mm512_set1_epi64((int64_t)totals->sum), _mm512_set1_epi64((int64_t)low), _mm512_setzero_si512()};
    if (b->narrow) {
        bool in_32 = b->sum && b->sum_in_32;
        if (in_32)
            c.sum = _mm512_set1_epi32((int32_t)totals->sum);
        slide_narrow(b, &c);
        totals->sum = in_32 ? (int32_t)any_lane(c.sum) : any_lane(c.sum);
        totals->square = (uint64_t)any_lane(c.square);
        return;
    }
    c.square = _mm512_set1_epi64((int64_t)(low & 0xffffffff));
    c.high = _mm512_set1_epi64((int64_t)(uint64_t)(totals->square >> 32));
    slide_wide(b, &c);
    totals->sum = any_lane(c.sum);
    totals->square = (gp_u128)(((gp_i128)any_lane(c.high) * ((gp_i128)1 << 32)) + any_lane(c.square));
}

AVX512 static uint32_t magnitude(const int32_t *in, size_t n) {
    __m512i a = _mm512_setzero_si512(), b = a;
    size_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        a = _mm512_max_epu32(a, _mm512_abs_epi32(_mm512_loadu_si512(in + i)));
        b = _mm512_max_epu32(b, _mm512_abs_epi32(_mm512_loadu_si512(in + i + LANES)));
    }
    for (size_t length; i < n; i += length) {
        length = n - i < LANES ? n - i : LANES;
        a = _mm512_max_epu32(a, _mm512_abs_epi32(_mm512_maskz_loadu_epi32(first_lanes(length), in + i)));
    }
    return _mm512_reduce_max_epu32(_mm512_max_epu32(a, b));
}

/* Sums in 64 bits: elements of 2^31 and halves of squares of 2^32, of at most 2^30 elements. */
AVX512 static void accumulate(const int32_t *in, size_t n, gp_window_totals *to) {
    __m512i zero = _mm512_setzero_si512(), lower = _mm512_set1_epi64(0xffffffff);
    __m512i sum = zero, low = zero, high = zero, largest = zero;
    for (size_t i = 0; i < n; i += LANES) {
        __m512i x = _mm512_maskz_loadu_epi32(n - i < LANES ? first_lanes(n - i) : (__mmask16)0xffff, in + i);
        pairs p = halves(x), s = multiply(p, p);
        largest = _mm512_max_epu32(largest, _mm512_abs_epi32(x));
        sum = _mm512_add_epi64(sum, _mm512_add_epi64(p.even, p.odd));
        low =
            _mm512_add_epi64(low, _mm512_add_epi64(_mm512_and_si512(s.even, lower), _mm512_and_si512(s.odd, lower)));
        high = _mm512_add_epi64(high, _mm512_add_epi64(_mm512_srli_epi64(s.even, 32), _mm512_srli_epi64(s.odd, 32)));
    }
    uint32_t magnitude_of_these = _mm512_reduce_max_epu32(largest);
    to->sum += _mm512_reduce_add_epi64(sum);
    to->square += (uint64_t)_mm512_reduce_add_epi64(low);
    to->square += (gp_u128)(uint64_t)_mm512_reduce_add_epi64(high) << 32;
    to->magnitude = magnitude_of_these > to->magnitude ? magnitude_of_these : to->magnitude;
}

AVX512 static void reverse(const int32_t *in, size_t n, int32_t *out) {
    __m512i order = _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        _mm512_storeu_si512(out + i, _mm512_permutexvar_epi32(order, _mm512_loadu_si512(in + n - LANES - i)));
    for (; i < n; ++i)
        out[i] = in[n - 1 - i];
}

static void window_line(const gp_problem *problem, size_t y, size_t begin, size_t end) {
    static const gp_window_kernels kernels = {magnitude, accumulate, reverse, slide};
    gp_window_slide_line(&kernels, problem, y, begin, end);
}

gp_status gp_launch_window_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_window_in_lines(context, plan, problem, window_line);
}

#endif
