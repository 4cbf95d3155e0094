/* SPDX-License-Identifier: Apache-2.0 */
/* A block of a line of the window, a vector of columns a step: differences of what enters and what leaves, their
 * prefix sums, the totals carried on. No wider than the elements need. */
#include "cpu_slide.h"

#if defined(LANES)
#include "cpu_totals.h"

/* A total of the window before the step, in every lane: as wide as it is computed. */
typedef struct {
    vec narrow;
    wide low, high;
} total;

typedef struct {
    total sum, square;
    units units;
} state;

INLINE void scan_number(width w, number *n, total *before) {
    if (w == IN_32)
        n->narrow = scan_32(n->narrow, &before->narrow);
    if (w == IN_64 || w == WIDE || w == IN_128)
        n->low = scan_64(n->low, &before->low);
    if (w == IN_128)
        n->high = scan_64(n->high, &before->high);
}

INLINE void scan(width sum, width square, numbers *d, state *s) {
#if defined(HAS_128)
    if (square == IN_UNITS) {
        scan_with_units(&d->sum.low, &d->square.high, &s->units);
        return;
    }
#endif
    scan_number(sum, &d->sum, &s->sum);
    scan_number(square, &d->square, &s->square);
}

typedef struct {
    vec enters, leaves;
} elements;

/* A vector of each from column i on, or, from the end on, zeros, which change no total. */
INLINE elements elements_at(const gp_window_block *b, size_t i, size_t end) {
    static const int32_t zeros[LANES];
    return (elements){load(i < end ? b->enters + i : zeros), load(i < end ? b->leaves + i : zeros)};
}

INLINE numbers differences_of(width sum, width square, elements e, state *s) {
    return differences(sum, square, e.enters, e.leaves, &s->units);
}

INLINE void put_vector(float *at, fvec x, bool past_caches) {
    if (past_caches)
        stream(at, (vec)x);
    else
        store(at, (vec)x);
}

/*
 * Steps from one whose results are stored to the one whose elements are loaded. A load waits for an earlier store to
 * an address that differs by a multiple of 4 KiB: AHEAD steps later the store is done. With 2 for 4 a window of 101
 * on 4096 x 4096 of 8 bits takes 15.8 ms, and 12.1 ms this way.
 */
#define AHEAD 4

/*
 * Whole vectors of columns: one is rounded while the next is scanned and the differences of the one after that are
 * taken. Without that, a core whose other thread belongs to a neighbour waits more: 65536 columns of 16 bits in its
 * cache take 51 us, and 44 this way. Returns the column after the last.
 */
INLINE size_t slide_vectors(width sum, width square, const gp_window_block *block, size_t i, state *to) {
    const gp_window_block b = *block;
    const size_t end = i + (b.n - i) / LANES * LANES;
    state s = *to;
    numbers t = differences_of(sum, square, elements_at(&b, i, end), &s);
    scan(sum, square, &t, &s);
    numbers d = differences_of(sum, square, elements_at(&b, i + LANES, end), &s);
    elements second = elements_at(&b, i + (AHEAD - 2) * LANES, end);
    elements third = elements_at(&b, i + (AHEAD - 1) * LANES, end);
#pragma GCC unroll 2
    for (; i < end; i += LANES) {
        const elements fourth = elements_at(&b, i + AHEAD * LANES, end);
        const numbers next = differences_of(sum, square, second, &s);
        __builtin_prefetch((const char *)(b.ahead + i * sizeof(int32_t)));
        if (sum)
            put_vector(b.sum + i, round_sum(sum, &t.sum), b.stream);
        if (square)
            put_vector(b.square + i, round_square(square, &t.square, &s.units), b.stream);
        t = d;
        scan(sum, square, &t, &s);
        d = next, second = third, third = fourth;
    }
    *to = s;
    return i;
}

/* A line fetched for the sake of some columns would make all that is stored behind it wait. */
INLINE void put_part(float *at, fvec x, size_t n, bool past_caches) {
    float each[LANES];
    store(each, (vec)x);
    for (size_t k = 0; k < n; ++k)
        if (past_caches)
            stream_one(at + k, each[k]);
        else
            at[k] = each[k];
}

/* n columns, fewer than a vector's. */
INLINE void slide_part(width sum, width square, const gp_window_block *b, size_t i, size_t n, state *s) {
    const elements e = {load_first(b->enters + i, n, all(0)), load_first(b->leaves + i, n, all(0))};
    numbers t = differences_of(sum, square, e, s);
    scan(sum, square, &t, s);
    if (sum)
        put_part(b->sum + i, round_sum(sum, &t.sum), n, b->stream);
    if (square)
        put_part(b->square + i, round_square(square, &t.square, &s->units), n, b->stream);
}

INLINE void slide_columns(width sum, width square, const gp_window_block *b, state *s) {
    size_t i = 0;
    if (b->stream) { /* up to a whole vector of outputs */
        i = (0 - (uintptr_t)(b->sum ? b->sum : b->square) / sizeof(float)) % LANES;
        i = i < b->n ? i : b->n;
        if (i > 0)
            slide_part(sum, square, b, 0, i, s);
    }
    i = slide_vectors(sum, square, b, i, s);
    if (i < b->n)
        slide_part(sum, square, b, i, b->n - i, s);
}

INLINE total total_from(uint64_t low, uint64_t high) {
    return (total){all((int32_t)low), all_64((int64_t)low), all_64((int64_t)high)};
}

INLINE int64_t end_of(width w, const total *t) {
    return w == IN_32 ? first_lane(t->narrow) : first_lane_64(t->low);
}

INLINE void slide_as(width sum, width square, const gp_window_block *b, gp_window_totals *t) {
    state s = {.sum = total_from((uint64_t)t->sum, 0),
               .square = total_from((uint64_t)t->square, (uint64_t)(t->square >> 32))};
    slide_columns(sum, square, b, &s);
    t->sum = end_of(sum, &s.sum);
    t->square = (uint64_t)end_of(square, &s.square);
    if (square == IN_128) {
        const uint64_t lower = (uint64_t)t->square, high = (uint64_t)first_lane_64(s.square.high);
        t->square = (gp_u128)(high + (uint32_t)((lower >> 32) - high)) << 32 | (uint32_t)lower;
    }
}

#if defined(HAS_128)
/* Squares in units. False: one was too small, or its rounding not sure; *t is then as before. */
INLINE bool slide_units(bool sum, const gp_window_block *b, gp_window_totals *t) {
    const unsigned shift = 62 - (unsigned)__builtin_clzll(b->window - 1);
    const uint64_t begin = (uint64_t)(t->square >> shift) + UNITS_ERROR - 2;
    if (begin < 2 * (uint64_t)UNITS_MIN || (uint32_t)begin < 2 * UNITS_ERROR)
        return false;
    state s = {.units = begin_units(shift, (int64_t)t->sum, (int64_t)begin)};
    if (sum)
        slide_columns(WIDE, IN_UNITS, b, &s);
    else
        slide_columns(NONE, IN_UNITS, b, &s);
    if (!units_sure(&s.units))
        return false;
    const gp_u128 least = ((gp_u128)((lanes_64)s.units.totals)[1] - UNITS_ERROR) << shift;
    t->sum = first_lane_64(s.units.totals);
    t->square = least + ((uint64_t)t->square + add_lanes_64(s.units.low) - (uint64_t)least);
    return true;
}

SIMD static void slide_wider(const gp_window_block *b, gp_window_totals *t) {
    if (slide_units(b->sum, b, t))
        return;
    if (b->sum)
        slide_as(WIDE, IN_128, b, t);
    else
        slide_as(NONE, IN_128, b, t);
}
#else
#define slide_wider gp_window_slide_scalar
#endif

SIMD static void slide(const gp_window_block *b, gp_window_totals *t) {
    const widths w = widths_for(b->sum, b->square, b->bound, b->window);
    if (w.sum == IN_128 || w.square == IN_128)
        slide_wider(b, t);
    else
        WITH_WIDTHS(w, slide_as, b, t);
}

/* Data of the whole range shows in the first elements. Where none is negative, all bits together are a bound, at half
 * the cost of absolute values. */
SIMD static uint32_t magnitude(const int32_t *in, size_t n) {
    const size_t whole = n - n % LANES;
    const vec rest = load_first(in + whole, n - whole, all(0));
    if (whole > 0 && bits_over_lanes(add_32(load(in), all(LARGE))) > INT32_MAX) /* below -LARGE, or LARGE or more */
        return UINT32_C(1) << 31;
    vec bits = rest, largest = abs_32(rest);
#pragma GCC unroll 4
    for (size_t i = 0; i < whole; i += LANES)
        bits = bits | load(in + i);
    const uint32_t all_bits = bits_over_lanes(bits);
    if (all_bits <= INT32_MAX)
        return all_bits;
    for (size_t i = 0; i < whole; i += LANES)
        largest = max_unsigned(largest, abs_32(load(in + i)));
    return largest_lane(largest);
}

/* In 64 bits, of at most 2^30 elements: the sum; the squares of pairs modulo 2^64; their upper halves, up to 2^31
 * each. The lower halves' sum stays below 2^62, so that the two others tell it. */
SIMD static void accumulate(const int32_t *in, size_t n, gp_window_totals *to) {
    const uint32_t largest = magnitude(in, n);
    wide sum = widen(all(0)).even, low = sum, high = sum;
    for (size_t step; n > 0; in += step, n -= step) {
        step = n < LANES ? n : LANES;
        const vec x = step == LANES ? load(in) : load_first(in, step, all(0));
        const pairs each = widen(x), squares = multiply(x, x);
        const wide square = add_64(squares.even, squares.odd);
        sum = add_64(sum, add_64(each.even, each.odd));
        low = add_64(low, square);
        high = add_64(high, upper_half(square));
    }
    const gp_u128 least = (gp_u128)add_lanes_64(high) << 32;
    to->sum += (int64_t)add_lanes_64(sum);
    to->square += least + (add_lanes_64(low) - (uint64_t)least);
    to->magnitude = largest > to->magnitude ? largest : to->magnitude;
}

static void line(const gp_problem *problem, size_t y, size_t begin, size_t end) {
    static const gp_window_kernels kernels = {magnitude, accumulate, slide};
    gp_window_slide_line(&kernels, problem, y, begin, end);
}

gp_status NAMED(gp_launch_window)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_window_in_lines(context, plan, problem, line);
}

#endif
