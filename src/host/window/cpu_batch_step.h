/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of rows, four columns at a time, in vectors that the including file defines before: INLINE, LANES, vec,
 * fvec, what is done to them, and what it rounds: of 32 bits squares to SQUARE_32_MAX, of 64 bits BITS_64, and, with
 * HAS_128, of 128 bits all.
 */
#ifndef GP_CPU_WINDOW_BATCH_STEP_H
#define GP_CPU_WINDOW_BATCH_STEP_H

#include "cpu_batch.h"
#include <string.h>

/* How wide an output is computed; a constant wherever it is tested. */
typedef enum {
    NONE,
    IN_32, /* modulo 2^32, from which the total follows */
    IN_64, /* even and odd lanes, modulo 2^64 */
    IN_128 /* squares: modulo 2^64, and as if all lower halves were 0 */
} width;

typedef struct {
    vec even, odd; /* in 32 bits: even has all */
    vec even_high, odd_high;
} total;

typedef struct {
    total sum, square;
} totals;

/* 64-bit lanes. */
typedef struct {
    vec even, odd;
} pairs;

/* Of both the lower halves are the elements. */
INLINE pairs both(vec x) {
    return (pairs){x, odd_of(x)};
}

INLINE pairs multiply(pairs a, pairs b) {
    return (pairs){multiply_64(a.even, b.even), multiply_64(a.odd, b.odd)};
}

/* Adds to the totals what enters and takes what leaves. */
INLINE void advance(width sum, width square, totals *t, vec enters, vec leaves) {
    if (sum == IN_32)
        t->sum.even = add_32(t->sum.even, subtract_32(enters, leaves));
    if (square == IN_32)
        t->square.even = add_32(t->square.even, multiply_32(subtract_32(enters, leaves), add_32(enters, leaves)));
    pairs in = both(enters), out = both(leaves);
    if (sum == IN_64) {
        const vec one = all(1);
        t->sum.even = add_64(t->sum.even, subtract_64(multiply_64(in.even, one), multiply_64(out.even, one)));
        t->sum.odd = add_64(t->sum.odd, subtract_64(extend_odd(in.odd), extend_odd(out.odd)));
    }
    if (square < IN_64)
        return;
    pairs a = multiply(in, in), b = multiply(out, out);
    const vec even = subtract_64(a.even, b.even), odd = subtract_64(a.odd, b.odd);
    t->square.even = add_64(t->square.even, even);
    t->square.odd = add_64(t->square.odd, odd);
#if HAS_128
    if (square == IN_128) {
        t->square.even_high = add_64(t->square.even_high, upper_signed(even));
        t->square.odd_high = add_64(t->square.odd_high, upper_signed(odd));
    }
#endif
}

/* a times b, of 32 bits without sign, modulo 2^64. */
INLINE vec multiply_wide(vec a, vec times) {
    vec high = multiply_unsigned(upper(a), times);
    return add_64(multiply_unsigned(a, times), shift_up(high));
}

/* The window one column left of the first computed: each column as often as it is in it. */
INLINE totals first_totals(width sum, width square, const gp_window_batch *b) {
    const gp_window_map *map = b->map;
    totals t = {{all(0), all(0), all(0), all(0)}, {all(0), all(0), all(0), all(0)}};
    for (size_t i = 0; i < map->n_first; ++i) {
        vec x = load(b->columns + map->first[i]), times = all(map->times[i]);
        if (sum == IN_32)
            t.sum.even = add_32(t.sum.even, multiply_32(x, times));
        if (square == IN_32)
            t.square.even = add_32(t.square.even, multiply_32(multiply_32(x, x), times));
        pairs p = both(x);
        if (sum == IN_64) {
            t.sum.even = add_64(t.sum.even, multiply_64(p.even, times));
            t.sum.odd = add_64(t.sum.odd, multiply_64(p.odd, times));
        }
        p = multiply(p, p);
        if (square >= IN_64) {
            t.square.even = add_64(t.square.even, multiply_wide(p.even, times));
            t.square.odd = add_64(t.square.odd, multiply_wide(p.odd, times));
        }
        if (square == IN_128) {
            t.square.even_high = add_64(t.square.even_high, multiply_unsigned(upper(p.even), times));
            t.square.odd_high = add_64(t.square.odd_high, multiply_unsigned(upper(p.odd), times));
        }
    }
    return t;
}

INLINE void advance_to(width sum, width square, const gp_window_batch *b, size_t x, totals *t) {
    vec enters = load(b->columns + b->map->enters[x]), leaves = load(b->columns + b->map->leaves[x]);
    advance(sum, square, t, enters, leaves);
}

/* Columns x .. x + 3. */
INLINE void four(width sum, width square, const gp_window_batch *b, size_t x, totals *t) {
    fvec sums[GP_BATCH_FOUR], squares[GP_BATCH_FOUR];
    for (size_t k = 0; k < GP_BATCH_FOUR; ++k) {
        advance_to(sum, square, b, x + k, t);
        if (sum)
            sums[k] = sum == IN_32 ? round_32(t->sum.even) : round_64(t->sum.even, t->sum.odd);
        if (square == IN_32)
            squares[k] = round_square_32(t->square.even);
        else if (square == IN_64)
            squares[k] = round_square_64(t->square.even, t->square.odd);
#if HAS_128
        else if (square == IN_128)
            squares[k] = round_square_128(t->square.even, t->square.even_high, t->square.odd, t->square.odd_high);
#endif
    }
    if (sum)
        store_four(sums, b->sum + x, b->pitch);
    if (square)
        store_four(squares, b->square + x, b->pitch);
}

/* Asks for the next batch: of each line of its rows once. */
INLINE void prefetch(const gp_window_batch *b, size_t x) {
    const size_t step = b->in_pitch * sizeof(int32_t);
    const uintptr_t at = b->ahead + x / LANES * LANES * sizeof(int32_t) + x % LANES * step;
    for (size_t k = 0; k < GP_BATCH_FOUR; ++k)
        __builtin_prefetch((const void *)(at + k * step));
}

INLINE void drain_lines(gp_batch_queue *q, size_t lines) {
    while (lines > 0 && q->at < q->n) {
        const float *from = q->pieces[q->at].from;
        float *to = q->pieces[q->at].to;
        const size_t left = q->pieces[q->at].lines, now = left < lines ? left : lines;
        for (size_t i = 0; i < now; ++i)
            stream_line(from + i * GP_BATCH_LINE, to + i * GP_BATCH_LINE);
        q->pieces[q->at].from = from + now * GP_BATCH_LINE;
        q->pieces[q->at].to = to + now * GP_BATCH_LINE;
        q->pieces[q->at].lines = left - now;
        q->at += now == left;
        lines -= now;
    }
}

/* What is left of whole fours comes first, and with it one column to three of the next four. */
INLINE void slide_as(width sum, width square, const gp_window_batch *batch) {
    const gp_window_batch b = *batch;
    const size_t n = b.map->n;
    totals t = first_totals(sum, square, &b);
    size_t x = n > GP_BATCH_FOUR ? n % GP_BATCH_FOUR : 0;
    if (x > 0) {
        totals ahead = t;
        four(sum, square, &b, 0, &ahead);
        for (size_t k = 0; k < x; ++k)
            advance_to(sum, square, &b, k, &t);
    }
    /* As many lines as are computed. */
    const size_t lines = LANES * GP_BATCH_FOUR / GP_BATCH_LINE * (sum && square ? 2 : 1);
    for (; x < n; x += GP_BATCH_FOUR) {
        four(sum, square, &b, x, &t);
        if (b.queue) {
            prefetch(&b, x);
            drain_lines(b.queue, lines);
        }
    }
}

/* False: too wide for these vectors, and nothing is done. */
INLINE bool slide_batch(const gp_window_batch *b) {
    const uint64_t sum = (uint64_t)b->bound * b->window;
    const gp_u128 square = (gp_u128)sum * b->bound;
    const width sums = sum <= INT32_MAX ? IN_32 : IN_64;
    const width squares = square <= SQUARE_32_MAX ? IN_32 : square >> BITS_64 == 0 ? IN_64 : IN_128;
    if (!HAS_128 && (sum >> BITS_64 != 0 || (b->square && squares == IN_128)))
        return false;
    if (!b->square && sums == IN_32)
        slide_as(IN_32, NONE, b);
    else if (!b->square)
        slide_as(IN_64, NONE, b);
    else if (squares == IN_32)
        b->sum ? slide_as(IN_32, IN_32, b) : slide_as(NONE, IN_32, b);
    else if (!b->sum)
        squares == IN_64 ? slide_as(NONE, IN_64, b) : slide_as(NONE, IN_128, b);
    else if (sums == IN_32)
        slide_as(IN_32, IN_64, b);
    else
        squares == IN_64 ? slide_as(IN_64, IN_64, b) : slide_as(IN_64, IN_128, b);
    return true;
}

/* Parts of lines go past the caches too: window_avx512.c tells why. */
static void stream_part(const float *from, float *to, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        int bits;
        memcpy(&bits, from + i, sizeof bits);
        _mm_stream_si32((int *)(void *)(to + i), bits);
    }
}

#endif
