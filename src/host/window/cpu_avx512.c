/* SPDX-License-Identifier: Apache-2.0 */
/* The window with AVX-512: a block of a line in steps of sixteen columns, as narrow as its elements allow. */
#include "cpu_avx512_step.h"
#include "cpu_batch.h"

#if defined(__x86_64__)

/*
 * Part of a line. Where whole lines bypass the caches these lanes do too: a line fetched in between for the sake of
 * its first or last lanes makes all behind it wait (4096 rows with two such lines each: 9.8 ms, so 8.4).
 */
INLINE void stream_first(float *at, __m512 value, size_t n) {
    int bits[LANES];
    _mm512_storeu_si512(bits, _mm512_castps_si512(value));
    for (size_t k = 0; k < n; ++k)
        _mm_stream_si32((int *)(void *)(at + k), bits[k]);
}

INLINE void store(float *at, __m512 value, size_t n, bool stream) {
    if (n < LANES && stream)
        stream_first(at, value, n);
    else if (n < LANES)
        _mm512_mask_storeu_ps(at, first_lanes(n), value);
    else if (stream)
        _mm512_stream_ps(at, value);
    else
        _mm512_storeu_ps(at, value);
}

INLINE size_t columns_before_line(const gp_window_block *b) {
    uintptr_t out = (uintptr_t)(b->sum ? b->sum : b->square);
    size_t head = (0 - out / sizeof(float)) % LANES;
    return head < b->n ? head : b->n;
}

INLINE void put(bool sum, bool square, const gp_window_block *b, size_t i, size_t n, bool stream, results r) {
    if (sum)
        store(b->sum + i, r.sum, n, stream);
    if (square)
        store(b->square + i, r.square, n, stream);
}

typedef struct {
    __m512i enters, leaves;
} elements;

INLINE elements elements_at(const gp_window_block *b, size_t i, size_t n) {
    __mmask16 lanes = first_lanes(n);
    return (elements){_mm512_maskz_loadu_epi32(lanes, b->enters + i), _mm512_maskz_loadu_epi32(lanes, b->leaves + i)};
}

INLINE two_pairs differences_of(width w, bool sum, bool square, elements e) {
    return differences(w, sum, square, e.enters, e.leaves);
}

INLINE two_pairs differences_at(width w, bool sum, bool square, const gp_window_block *b, size_t i, size_t n) {
    return differences_of(w, sum, square, elements_at(b, i, n));
}

INLINE void prefetch(const gp_window_block *b, size_t i) {
    _mm_prefetch((const char *)(b->ahead + i * sizeof(int32_t)), _MM_HINT_T0);
}

/* n columns from column i on, whose differences are d. False: unsure, not done. */
INLINE bool step_at(width w, bool sum, bool square, const gp_window_block *b, size_t i, size_t n, bool stream,
                    two_pairs d, carries *c) {
    carries next = *c;
    results r = step(w, d, &next);
    if (w == SCALED && next.unsure)
        return false;
    put(sum, square, b, i, n, stream, r);
    *c = next;
    return true;
}

/* Whole steps from column i to end. Returns how many columns are done: all, or those before an unsure step. */
INLINE size_t steps_in_turn(width w, bool sum, bool square, const gp_window_block *b, size_t i, size_t end,
                            bool stream, carries *c) {
    two_pairs d = differences_at(w, sum, square, b, i, LANES);
    for (; i < end; i += LANES) {
        two_pairs next = differences_at(w, sum, square, b, i + LANES < end ? i + LANES : i, LANES);
        prefetch(b, i);
        if (!step_at(w, sum, square, b, i, LANES, stream, d, c))
            return i;
        d = next;
    }
    return end;
}

/* Steps from one whose results are stored to the one whose elements are loaded. */
#define NEAR 2
#define FAR 4

/*
 * Whether a load NEAR steps ahead would have the address, but for multiples of 4 KiB, of what one of the last three
 * steps stores: it then waits until that is stored. With rows of all arrays a multiple of 4 KiB apart these are
 * windows of 63 to 157. FAR steps ahead there is time: 4096 x 4096 on a Xeon of 2023 (model 207), full int32, w = 71
 * 13.1 ms and so 10.1, w = 101 13.2 and 10.0, w = 131 10.3 and 10.3; 16 bits, w = 101 11.6 and 9.4.
 */
INLINE bool meets_stores(const int32_t *in, const float *out) {
    const size_t step = LANES * sizeof *in, behind = ((uintptr_t)out - (uintptr_t)in) % 4096;
    return behind > NEAR * step && behind <= (NEAR + 3) * step;
}

INLINE bool block_meets_stores(const gp_window_block *b) {
    return meets_stores(b->enters, b->sum) || meets_stores(b->leaves, b->sum) || meets_stores(b->enters, b->square) ||
           meets_stores(b->leaves, b->square);
}

/*
 * The same, at least `ahead` and never unsure: one is rounded while the next is scanned and differences of the one
 * after that are taken, so that a core whose other thread belongs to a neighbour, and has half its queues, waits
 * less. From cache, such a core, times the time of one after the other: full int32 and 16 bits 0.97, and with the
 * loop's copy, which saves moves and addresses, 0.94 and 0.95. What lies ahead is asked for in order: with the last
 * steps' lines first 4096 x 4096 of 8 bits, w = 1001, took 9.7 ms, so 8.6.
 */
INLINE size_t steps_at_once(width w, bool sum, bool square, const gp_window_block *b, size_t i, size_t end,
                            bool stream, size_t ahead, carries *c) {
    two_pairs t = totals_of(w, differences_at(w, sum, square, b, i, LANES), c);
    two_pairs d = differences_at(w, sum, square, b, i + LANES, LANES);
    elements third = elements_at(b, i + (ahead - 2) * LANES, LANES),
             fourth = elements_at(b, i + (ahead - 1) * LANES, LANES);
    size_t last = end - ahead * LANES;
#pragma GCC unroll 2
    for (; i < last; i += LANES) {
        elements in = elements_at(b, i + ahead * LANES, LANES);
        two_pairs next = differences_of(w, sum, square, ahead == FAR ? third : in);
        prefetch(b, i);
        put(sum, square, b, i, LANES, stream, round_totals(w, t, c));
        t = totals_of(w, d, c);
        d = next, third = fourth, fourth = in;
    }
    for (size_t k = i; k < end; k += LANES)
        prefetch(b, k);
    put(sum, square, b, i, LANES, stream, round_totals(w, t, c));
    t = totals_of(w, d, c);
    put(sum, square, b, i + LANES, LANES, stream, round_totals(w, t, c));
    if (ahead == FAR) {
        t = totals_of(w, differences_of(w, sum, square, third), c);
        put(sum, square, b, i + 2 * LANES, LANES, stream, round_totals(w, t, c));
        t = totals_of(w, differences_of(w, sum, square, fourth), c);
        put(sum, square, b, i + 3 * LANES, LANES, stream, round_totals(w, t, c));
    }
    return end;
}

/* Returns how many columns are done: all, or those before an unsure step. stream is b->stream, a constant. */
INLINE size_t slide_lines(width w, bool sum, bool square, const gp_window_block *block, bool stream, carries *carry) {
    const gp_window_block b = *block;
    carries c = *carry;
    size_t i = stream ? columns_before_line(&b) : 0;
    if (i > 0 && !step_at(w, sum, square, &b, 0, i, stream, differences_at(w, sum, square, &b, 0, i), &c))
        return 0;
    size_t end = i + (b.n - i) / LANES * LANES;
    if (w < SCALED && sum && square && stream && i + FAR * LANES <= end && block_meets_stores(&b))
        i = steps_at_once(w, sum, square, &b, i, end, stream, FAR, &c);
    else if (w < SCALED && i + NEAR * LANES <= end)
        i = steps_at_once(w, sum, square, &b, i, end, stream, NEAR, &c);
    else if (i < end)
        i = steps_in_turn(w, sum, square, &b, i, end, stream, &c);
    if (i == end && i < b.n &&
        step_at(w, sum, square, &b, i, b.n - i, stream, differences_at(w, sum, square, &b, i, b.n - i), &c))
        i = b.n;
    *carry = c;
    return i;
}

INLINE size_t slide_outputs(width w, bool sum, bool square, const gp_window_block *b, carries *c) {
    return b->stream ? slide_lines(w, sum, square, b, true, c) : slide_lines(w, sum, square, b, false, c);
}

INLINE size_t slide_as(width w, const gp_window_block *b, carries *c) {
    if (b->sum && b->square)
        return slide_outputs(w, true, true, b, c);
    return b->sum && w < HIGH ? slide_outputs(w, true, false, b, c) : slide_outputs(w, false, true, b, c);
}

/* Each in every second lane. */
INLINE __m512i in_turns(int64_t first, int64_t second) {
    return _mm512_unpacklo_epi64(_mm512_set1_epi64(first), _mm512_set1_epi64(second));
}

AVX512 static void slide_exact(const gp_window_block *b, gp_window_totals *totals) {
    carries c = {.totals = in_turns((int64_t)totals->sum, 0),
                 .halves = in_turns((int64_t)(uint32_t)totals->square, (int64_t)(uint64_t)(totals->square >> 32))};
    slide_as(EXACT, b, &c);
    totals->sum = first_of(c.totals);
    totals->square = (gp_u128)((gp_i128)second_of(c.halves) * ((gp_i128)1 << 32) + first_of(c.halves));
}

/* What is kept in units, and what was added modulo 2^64, make the exact total. */
AVX512 static void take_totals(const carries *c, gp_i128 kept, unsigned shift, gp_window_totals *totals) {
    gp_u128 least = (gp_u128)(kept - ERROR) << shift;
    uint64_t low = (uint64_t)totals->square + add_all(c->low);
    totals->sum = first_of(c->totals);
    totals->square = least + (low - (uint64_t)least);
}

/*
 * Not for windows of 8 or fewer: of random int32 5 often have too small a total, and a block in 12 would be done
 * twice (4096 x 4096: 9.8 ms, scaled 9.0). In units a fourth as large as those of slide_scaled(): the largest total
 * has 2^64, and with those on top that are kept too many it begins again at 0, which is found too small. False: not
 * done.
 */
AVX512 static bool slide_high(const gp_window_block *b, gp_window_totals *totals) {
    if (b->shift <= 3)
        return false;
    unsigned shift = b->shift - 2;
    uint64_t begin = (uint64_t)(totals->square >> shift) + BEGIN;
    if (begin < 2 * (uint64_t)HIGH_MIN || (uint32_t)begin < 2 * ERROR)
        return false;
    carries c = {.totals = in_turns((int64_t)totals->sum, (int64_t)begin),
                 .low = _mm512_setzero_si512(),
                 .shift = _mm512_set1_epi64(shift),
                 .scale = _mm512_set1_ps(0x1p32f * (float)(UINT64_C(1) << shift)),
                 .smallest = _mm512_set1_epi32(-1)};
    slide_as(HIGH, b, &c);
    if (_mm512_cmplt_epu32_mask(c.smallest, _mm512_set1_epi64(HIGH_MIN + ERROR)) != 0)
        return false;
    take_totals(&c, (uint64_t)second_of(c.totals), shift, totals);
    return true;
}

/* Returns how many columns are done: none if a total was too small to be sure of, which only shows at the end. */
AVX512 static size_t slide_scaled(const gp_window_block *b, gp_window_totals *totals) {
    const __m512 sure = _mm512_set1_ps((float)(UINT64_C(1) << SURE));
    carries c = {.totals = in_turns((int64_t)totals->sum, (int64_t)(uint64_t)(totals->square >> b->shift) + BEGIN),
                 .low = _mm512_setzero_si512(),
                 .shift = _mm512_set1_epi64(b->shift),
                 .scale = _mm512_set1_ps((float)(UINT64_C(1) << b->shift)),
                 .least = _mm512_set1_ps(0x1p63f)};
    size_t done = slide_as(SCALED, b, &c);
    if (_mm512_cmp_ps_mask(c.least, sure, _CMP_LE_OQ) != 0)
        return 0;
    take_totals(&c, second_of(c.totals), b->shift, totals);
    return done;
}

AVX512 static void slide_in_64(const gp_window_block *b, gp_window_totals *totals) {
    carries c = {.totals = in_turns((int64_t)totals->sum, (int64_t)(uint64_t)totals->square)};
    if (b->narrow && b->sum_in_32)
        slide_as(MEDIUM, b, &c);
    else if (b->narrow)
        slide_as(NARROW, b, &c);
    else
        slide_as(WIDE, b, &c);
    totals->sum = b->sum_in_32 ? (int32_t)first_of(c.totals) : first_of(c.totals);
    totals->square = (uint64_t)second_of(c.totals);
}

AVX512 static void slide_small(const gp_window_block *b, gp_window_totals *totals) {
    carries c = {.totals = _mm512_set1_epi32((int)totals->sum), .halves = _mm512_set1_epi32((int)totals->square)};
    slide_as(SMALL, b, &c);
    totals->sum = _mm512_cvtsi512_si32(c.totals);
    totals->square = (uint32_t)_mm512_cvtsi512_si32(c.halves);
}

static void slide(const gp_window_block *b, gp_window_totals *totals) {
    if (b->small) {
        slide_small(b, totals);
        return;
    }
    if (b->narrow || b->below_2_64) {
        slide_in_64(b, totals);
        return;
    }
    if (slide_high(b, totals))
        return;
    size_t done = slide_scaled(b, totals);
    if (done == b->n)
        return;
    gp_window_block rest = gp_window_block_after(b, done);
    slide_exact(&rest, totals);
}

static void window_line(const gp_problem *problem, size_t y, size_t begin, size_t end) {
    static const gp_window_kernels kernels = {gp_window_magnitude_avx512, gp_window_accumulate_avx512, NULL, slide,
                                              gp_window_extend_avx512};
    gp_window_slide_line(&kernels, problem, y, begin, end);
}

gp_status gp_launch_window_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_batch_kernels *const kernels[] = {&gp_batch_kernels_avx512, &gp_batch_kernels_avx2, NULL};
    return gp_window_in_batches(context, plan, problem, kernels, window_line);
}

#endif
