/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of a line of the window, a vector of columns a step: differences of what enters and what leaves, their
 * prefix sums, the totals carried on. No wider than the elements need.
 */
#include "cpu_slide.h"

#if defined(LANES)
#include "cpu_totals.h"

/* Totals of the window before the step. */
typedef struct {
    vec sum, square;      /* where nothing is wider than 32 bits, in every lane */
    two_totals both;      /* else; of IN_UNITS the sum and the units, of IN_128 the sum alone */
    two_totals in_halves; /* IN_128: modulo 2^64, and the upper half */
    units units;
} state;

INLINE void scan(width sum, width square, numbers *d, state *s) {
    pairs none = {0};
    if (sum == IN_32 && square <= IN_32)
        d->sum.narrow = scan_32(d->sum.narrow, &s->sum);
    if (square == IN_32)
        d->square.narrow = scan_32(d->square.narrow, &s->square);
    if (square == IN_128)
        scan_two(true, true, &d->square.low, &d->square.high, &s->in_halves);
    if (sum == IN_32 && square == IN_64)
        scan_32_and_64(&d->sum.narrow, &d->square.low, &s->both);
    else if (square == IN_UNITS)
        scan_two(sum, true, &d->sum.low, &d->square.high, &s->both);
    else if (square == IN_64 || square == WIDE)
        scan_two(sum, true, &d->sum.low, &d->square.low, &s->both);
    else if (sum > IN_32)
        scan_two(true, false, &d->sum.low, &none, &s->both);
}

typedef struct {
    vec enters, leaves;
} elements;

/* Those of column i on, or, from the end on, zeros, which change no total. */
INLINE elements elements_at(const gp_window_block *b, size_t i, size_t end) {
    static const int32_t zeros[LANES];
    return (elements){load(i < end ? b->enters + i : zeros), load(i < end ? b->leaves + i : zeros)};
}

INLINE numbers differences_of(width sum, width square, elements e, state *s) {
    return differences(sum, square, e.enters, e.leaves, &s->units);
}

INLINE void put_vector(float *at, fvec x, bool stream) {
    if (stream)
        stream_floats(at, x);
    else
        store_floats(at, x);
}

/* Steps from one whose results are stored to the one whose elements are loaded. */
#define NEAR 2
#define FAR 4

/*
 * Whole vectors of columns: one is rounded while the next is scanned and the differences of the one after that are
 * taken. Without that, a core whose other thread belongs to a neighbour waits more: 65536 columns of 16 bits in its
 * cache take 51 us, and 44 this way. Returns the column after the last.
 */
INLINE size_t slide_vectors(width sum, width square, size_t ahead, const gp_window_block *block, size_t i,
                            state *to) {
    const gp_window_block b = *block;
    const size_t end = i + (b.n - i) / LANES * LANES;
    state s = *to;
    numbers t = differences_of(sum, square, elements_at(&b, i, end), &s);
    scan(sum, square, &t, &s);
    numbers d = differences_of(sum, square, elements_at(&b, i + LANES, end), &s);
    elements third = elements_at(&b, i + (ahead - 2) * LANES, end);
    elements fourth = elements_at(&b, i + (ahead - 1) * LANES, end);
#pragma GCC unroll 2
    for (; i < end; i += LANES) {
        const elements in = elements_at(&b, i + ahead * LANES, end);
        const numbers next = differences_of(sum, square, ahead == FAR ? third : in, &s);
        __builtin_prefetch((const char *)(b.ahead + i * sizeof(int32_t)));
        if (sum)
            put_vector(b.sum + i, round_sum(sum, &t.sum), b.stream);
        if (square)
            put_vector(b.square + i, round_square(square, &t.square, &s.units), b.stream);
        t = d;
        scan(sum, square, &t, &s);
        d = next, third = fourth, fourth = in;
    }
    *to = s;
    return i;
}

/*
 * Whether a load NEAR steps ahead would have the address, but for multiples of 4 KiB, of what one of the last three
 * steps stores: it then waits until that is stored. With rows of all arrays a multiple of 4 KiB apart these are
 * windows of 63 to 157. FAR steps ahead the store is done: a window of 101 on 4096 x 4096 of 16 bits takes 17.9 ms
 * with NEAR alone and 14.7 ms with both.
 */
INLINE bool meets(const int32_t *in, const float *out) {
    const size_t step = LANES * sizeof *in, behind = ((uintptr_t)out - (uintptr_t)in) % 4096;
    return out && behind > NEAR * step && behind <= (NEAR + 3) * step;
}

INLINE bool loads_meet_stores(const gp_window_block *b) {
    return meets(b->enters, b->sum) || meets(b->leaves, b->sum) || meets(b->enters, b->square) ||
           meets(b->leaves, b->square);
}

/* A line fetched for the sake of some columns would make all that is stored behind it wait. */
INLINE void put_part(float *at, fvec x, size_t n, bool stream) {
    float each[LANES];
    store_floats(each, x);
    for (size_t k = 0; k < n; ++k)
        if (stream)
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
    if (b->stream && loads_meet_stores(b))
        i = slide_vectors(sum, square, FAR, b, i, s);
    else
        i = slide_vectors(sum, square, NEAR, b, i, s);
    if (i < b->n)
        slide_part(sum, square, b, i, b->n - i, s);
}

INLINE void slide_as(width sum, width square, const gp_window_block *b, gp_window_totals *t) {
    const uint64_t low = (uint64_t)t->square, sum_32 = (uint32_t)t->sum;
    const int64_t first = sum == IN_32 ? (int64_t)(sum_32 << 32 | sum_32) : (int64_t)t->sum;
    state s = {.sum = all((int32_t)t->sum),
               .square = all((int32_t)low),
               .both = begin_totals(first, (int64_t)low),
               .in_halves = begin_totals((int64_t)low, (int64_t)(t->square >> 32))};
    slide_columns(sum, square, b, &s);
    t->sum = sum > IN_32 ? first_total(s.both) : square > IN_32 ? (int32_t)first_total(s.both) : first_lane(s.sum);
    t->square = square > IN_32 ? (uint64_t)second_total(s.both) : (uint32_t)first_lane(s.square);
    if (square == IN_128) {
        const uint64_t lower = (uint64_t)first_total(s.in_halves), high = (uint64_t)second_total(s.in_halves);
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
    state s = {.both = begin_totals((int64_t)t->sum, (int64_t)begin), .units = begin_units(shift)};
    if (sum)
        slide_columns(WIDE, IN_UNITS, b, &s);
    else
        slide_columns(NONE, IN_UNITS, b, &s);
    if (!units_sure(&s.units))
        return false;
    const gp_u128 least = ((gp_u128)(uint64_t)second_total(s.both) - UNITS_ERROR) << shift;
    t->sum = first_total(s.both);
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

/*
 * Data of the whole range shows in the first elements. Where none is negative, all bits together are a bound, at half
 * the cost of absolute values.
 */
SIMD static uint32_t magnitude(const int32_t *in, size_t n) {
    const size_t whole = n - n % LANES;
    const vec rest = load_first(in + whole, n - whole, all(0));
    if (whole > 0 && any_negative(add_32(load(in), all(LARGE)))) /* below -LARGE, or LARGE or more */
        return UINT32_C(1) << 31;
    vec bits = rest, largest = abs_32(rest);
#pragma GCC unroll 4
    for (size_t i = 0; i < whole; i += LANES)
        bits = or_bits(bits, load(in + i));
    if (!any_negative(bits)) {
        for (size_t distance = LANES / 2; distance > 0; distance /= 2)
            bits = or_bits(bits, swap_lanes(bits, distance));
        return (uint32_t)first_lane(bits);
    }
    for (size_t i = 0; i < whole; i += LANES)
        largest = max_unsigned(largest, abs_32(load(in + i)));
    return largest_lane(largest);
}

/*
 * In 64 bits, of at most 2^30 elements: the sum; the squares of pairs modulo 2^64; their upper halves, up to 2^31
 * each. The lower halves' sum stays below 2^62, so that the two others tell it.
 */
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

SIMD static void reverse(const int32_t *in, size_t n, int32_t *out) {
    for (size_t i = 0; i < n; ++i)
        out[i] = in[-(ptrdiff_t)i];
}

static void line(const gp_problem *problem, size_t y, size_t begin, size_t end) {
    static const gp_window_kernels kernels = {magnitude, accumulate, reverse, slide};
    gp_window_slide_line(&kernels, problem, y, begin, end);
}

gp_status NAMED(gp_launch_window)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_window_in_lines(context, plan, problem, line);
}

#endif
