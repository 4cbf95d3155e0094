/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window with AVX2, by the method of window_avx512.c, eight columns a step. AVX2 rounds no 64-bit integers: totals
 * below 2^51 go through double, where they are exact; where they can be larger, the block is done without vectors.
 */
#include "cpu_batch.h"
#include "cpu_slide.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) AVX2

#define LANES 8
#define LINE 16 /* columns in a line of the cache: two steps */

enum { NONE, IN_32, IN_64 }; /* how an output is computed; a constant wherever it is tested */

/* Totals of the window before the step, in every lane. */
typedef struct {
    __m256i sum, square;
} carries;

/* The even and odd columns in 64 bits. */
typedef struct {
    __m256i even, odd;
} pairs;

INLINE __m256i load(const int32_t *at) {
    return _mm256_loadu_si256((const __m256i *)at);
}

INLINE pairs multiply(__m256i a, __m256i b) {
    return (pairs){_mm256_mul_epi32(a, b), _mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32))};
}

/* Prefix sums of the differences d, and the carry of the next step. */
INLINE pairs scan_pairs(pairs d, __m256i *carry) {
    __m256i t = _mm256_add_epi64(d.even, d.odd);
    t = _mm256_add_epi64(t, _mm256_slli_si256(t, 8));
    t = _mm256_add_epi64(t, _mm256_blend_epi32(_mm256_setzero_si256(), _mm256_permute4x64_epi64(t, 0x50), 0xf0));
    t = _mm256_add_epi64(t, *carry);
    *carry = _mm256_permute4x64_epi64(t, 0xff);
    return (pairs){_mm256_sub_epi64(t, d.odd), t};
}

INLINE __m256i scan_32(__m256i t, __m256i *carry) {
    t = _mm256_add_epi32(t, _mm256_slli_si256(t, 4));
    t = _mm256_add_epi32(t, _mm256_slli_si256(t, 8));
    __m256i lower = _mm256_permutevar8x32_epi32(t, _mm256_set1_epi32(3));
    t = _mm256_add_epi32(t, _mm256_blend_epi32(_mm256_setzero_si256(), lower, 0xf0));
    t = _mm256_add_epi32(t, *carry);
    *carry = _mm256_permutevar8x32_epi32(t, _mm256_set1_epi32(7));
    return t;
}

/* |x| < 2^51: added to the bits of 1.5 * 2^52, x stands in the mantissa's lowest bits. */
INLINE __m128 round_64(__m256i x) {
    __m256d offset = _mm256_set1_pd(0x1.8p52);
    __m256i bits = _mm256_add_epi64(x, _mm256_castpd_si256(offset));
    return _mm256_cvtpd_ps(_mm256_sub_pd(_mm256_castsi256_pd(bits), offset));
}

INLINE __m256 round_pairs(pairs p) {
    __m128 even = round_64(p.even), odd = round_64(p.odd);
    return _mm256_set_m128(_mm_unpackhi_ps(even, odd), _mm_unpacklo_ps(even, odd));
}

typedef struct {
    __m256 sum, square;
} results;

INLINE results step(int sum, int square, __m256i enters, __m256i leaves, carries *c) {
    results r = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    __m256i d = _mm256_sub_epi32(enters, leaves);
    if (sum == IN_32)
        r.sum = _mm256_cvtepi32_ps(scan_32(d, &c->sum));
    if (sum == IN_64)
        r.sum = round_pairs(scan_pairs(multiply(d, _mm256_set1_epi64x(0x100000001)), &c->sum));
    if (square) /* a^2 - b^2 = (a - b) (a + b), and neither factor passes 32 bits */
        r.square = round_pairs(scan_pairs(multiply(d, _mm256_add_epi32(enters, leaves)), &c->square));
    return r;
}

INLINE void store_line(float *at, __m256 lower, __m256 upper, bool stream) {
    if (stream) {
        _mm256_stream_ps(at, lower);
        _mm256_stream_ps(at + LANES, upper);
    } else {
        _mm256_storeu_ps(at, lower);
        _mm256_storeu_ps(at + LANES, upper);
    }
}

/* b->n is a multiple of LINE. */
INLINE void slide_as(int sum, int square, const gp_window_block *b, carries *carry) {
    carries c = *carry;
    bool stream = b->stream;
    for (size_t i = 0; i < b->n; i += LINE) {
        _mm_prefetch((const char *)(b->ahead + i * sizeof(int32_t)), _MM_HINT_T0);
        results lower = step(sum, square, load(b->enters + i), load(b->leaves + i), &c);
        results upper = step(sum, square, load(b->enters + i + LANES), load(b->leaves + i + LANES), &c);
        if (sum)
            store_line(b->sum + i, lower.sum, upper.sum, stream);
        if (square)
            store_line(b->square + i, lower.square, upper.square, stream);
    }
    *carry = c;
}

INLINE int64_t any_lane(__m256i x) {
    return _mm_cvtsi128_si64(_mm256_castsi256_si128(x));
}

AVX2 static void slide_lines(const gp_window_block *b, gp_window_totals *totals) {
    bool in_32 = b->sum && b->sum_in_32;
    carries c = {_mm256_set1_epi64x((int64_t)totals->sum), _mm256_set1_epi64x((int64_t)(uint64_t)totals->square)};
    if (in_32)
        c.sum = _mm256_set1_epi32((int32_t)totals->sum);
    if (!b->sum)
        slide_as(NONE, IN_64, b, &c);
    else if (in_32 && b->square)
        slide_as(IN_32, IN_64, b, &c);
    else if (in_32)
        slide_as(IN_32, NONE, b, &c);
    else if (b->square)
        slide_as(IN_64, IN_64, b, &c);
    else
        slide_as(IN_64, NONE, b, &c);
    totals->sum = in_32 ? (int32_t)any_lane(c.sum) : any_lane(c.sum);
    totals->square = (uint64_t)any_lane(c.square);
}

/* n columns of the block from the first on, and what is left of it. */
static gp_window_block split_off(gp_window_block *b, size_t n) {
    gp_window_block first = *b;
    first.n = n;
    *b = gp_window_block_after(b, n);
    return first;
}

static void slide(const gp_window_block *block, gp_window_totals *totals) {
    if (!block->below_2_51 || block->n < LINE) {
        gp_window_slide_scalar(block, totals);
        return;
    }
    gp_window_block rest = *block;
    size_t head = (0 - (uintptr_t)(rest.sum ? rest.sum : rest.square) / sizeof(float)) % LINE;
    if (rest.stream && head > 0) {
        gp_window_block first = split_off(&rest, head);
        gp_window_slide_scalar(&first, totals);
    }
    gp_window_block lines = split_off(&rest, rest.n - rest.n % LINE);
    slide_lines(&lines, totals);
    if (rest.n > 0)
        gp_window_slide_scalar(&rest, totals);
}

AVX2 static uint32_t magnitude(const int32_t *in, size_t n) {
    __m256i largest = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        largest = _mm256_max_epu32(largest, _mm256_abs_epi32(load(in + i)));
    __m256i rest = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n - i)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    largest = _mm256_max_epu32(largest, _mm256_abs_epi32(_mm256_maskload_epi32(in + i, rest)));
    __m128i m = _mm_max_epu32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(m);
}

INLINE uint64_t add_lanes(__m256i x) {
    __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    return (uint64_t)_mm_cvtsi128_si64(pair) + (uint64_t)_mm_extract_epi64(pair, 1);
}

/* Sums in 64 bits: elements of 2^31 and halves of squares of 2^32, of at most 2^30 elements. */
AVX2 static void accumulate(const int32_t *in, size_t n, gp_window_totals *to) {
    __m256i zero = _mm256_setzero_si256(), lower = _mm256_set1_epi64x(0xffffffff);
    __m256i sum = zero, low = zero, high = zero, lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (size_t i = 0; i < n; i += LANES) {
        int left = n - i < LANES ? (int)(n - i) : LANES;
        __m256i x = _mm256_maskload_epi32(in + i, _mm256_cmpgt_epi32(_mm256_set1_epi32(left), lanes));
        pairs p = multiply(x, _mm256_set1_epi64x(0x100000001)), s = multiply(x, x);
        sum = _mm256_add_epi64(sum, _mm256_add_epi64(p.even, p.odd));
        low =
            _mm256_add_epi64(low, _mm256_add_epi64(_mm256_and_si256(s.even, lower), _mm256_and_si256(s.odd, lower)));
        high = _mm256_add_epi64(high, _mm256_add_epi64(_mm256_srli_epi64(s.even, 32), _mm256_srli_epi64(s.odd, 32)));
    }
    uint32_t largest = magnitude(in, n);
    to->sum += (int64_t)add_lanes(sum);
    to->square += add_lanes(low) + ((gp_u128)add_lanes(high) << 32);
    to->magnitude = largest > to->magnitude ? largest : to->magnitude;
}

AVX2 static void reverse(const int32_t *in, size_t n, int32_t *out) {
    __m256i order = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        _mm256_storeu_si256((__m256i *)(out + i), _mm256_permutevar8x32_epi32(load(in + n - LANES - i), order));
    for (; i < n; ++i)
        out[i] = in[n - 1 - i];
}

static void window_line(const gp_problem *problem, size_t y, size_t begin, size_t end) {
    static const gp_window_kernels kernels = {magnitude, accumulate, reverse, slide, NULL};
    gp_window_slide_line(&kernels, problem, y, begin, end);
}

gp_status gp_launch_window_avx2(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_batch_kernels *const kernels[] = {&gp_batch_kernels_avx2, NULL};
    return gp_window_in_batches(context, plan, problem, kernels, window_line);
}

#endif
