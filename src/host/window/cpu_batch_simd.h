/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of short rows, a lane a row, four columns at a time. Fours of columns change places with rows within the
 * quarters of a vector, 128 bits each, which are loaded and stored by themselves: half the shuffles of whole vectors,
 * and none for columns that there are not.
 */
#include "cpu_batch.h"

#if defined(LANES)
#include "cpu_totals.h"

/* Four by four within each quarter; its own inverse. */
INLINE void transpose_fours(vec v[4]) {
    const vec a = zip_lower(4, v[0], v[1]), b = zip_upper(4, v[0], v[1]);
    const vec c = zip_lower(4, v[2], v[3]), d = zip_upper(4, v[2], v[3]);
    v[0] = zip_lower(8, a, c);
    v[1] = zip_upper(8, a, c);
    v[2] = zip_lower(8, b, d);
    v[3] = zip_upper(8, b, d);
}

/* Row by row upwards, as what is in one line of memory then is written together. */
INLINE void store_four(const fvec f[4], float *to, size_t pitch) {
    vec v[4] = {(vec)f[0], (vec)f[1], (vec)f[2], (vec)f[3]};
    transpose_fours(v);
    for (size_t row = 0; row < LANES; ++row)
        store_lane(to + row * pitch, v[row % 4], row / 4);
}

/* Four columns. Returns the largest absolute values. */
INLINE vec gather_four(const int32_t *in, size_t pitch, int32_t *columns) {
    vec v[4], largest = all(0);
    for (size_t k = 0; k < 4; ++k)
        v[k] = load_lanes(in + k * pitch, 4 * pitch * sizeof *in);
    transpose_fours(v);
    for (size_t k = 0; k < 4; ++k) {
        store(columns + k * LANES, v[k]);
        largest = max_unsigned(largest, abs_32(v[k]));
    }
    return largest;
}

/* The last four begins where there are four, and may have columns of the one before again. */
SIMD static uint32_t gather(const int32_t *in, size_t pitch, size_t cols, int32_t *columns) {
    vec largest = all(0);
    int32_t few[LANES][4] = {0};
    if (cols < 4) {
        for (size_t row = 0; row < LANES; ++row)
            for (size_t c = 0; c < cols; ++c)
                few[row][c] = in[row * pitch + c];
        in = few[0], pitch = cols = 4;
    }
    for (size_t c = 0; c < cols; c += 4) {
        c = c + 4 > cols ? cols - 4 : c;
        largest = max_unsigned(largest, gather_four(in + c, pitch, columns + c * LANES));
    }
    return largest_lane(largest);
}

INLINE void add_number(width w, number *to, number d) {
    if (w == IN_32)
        to->narrow = add_32(to->narrow, d.narrow);
    if (w > IN_32)
        to->low = add_wide(to->low, d.low);
    if (w == IN_128)
        to->high = add_wide(to->high, d.high);
}

/* 64-bit lanes without sign times 32-bit ones, modulo 2^64. */
INLINE wide multiply_wide(wide a, vec times) {
    return add_64(multiply_unsigned(a, times), shift_up(multiply_unsigned(upper_half(a), times), 32));
}

/* The window one column left of the first computed: each column as often as it is in it. */
INLINE numbers first_totals(width sum, width square, const gp_window_batch *b) {
    const gp_window_map *map = b->map;
    numbers t = {0};
    for (size_t i = 0; i < map->n_first; ++i) {
        const vec x = load(b->columns + map->first[i]), times = all(map->times[i]);
        const pairs p = multiply(x, x);
        numbers n = {0};
        if (sum == IN_32)
            n.sum.narrow = multiply_32(x, times);
        if (sum > IN_32)
            n.sum.low = multiply(x, times);
        if (square == IN_32)
            n.square.narrow = multiply_32(multiply_32(x, x), times);
        if (square > IN_32)
            n.square.low = (pairs){multiply_wide(p.even, times), multiply_wide(p.odd, times)};
        if (square == IN_128)
            n.square.high =
                (pairs){multiply_unsigned(upper_half(p.even), times), multiply_unsigned(upper_half(p.odd), times)};
        add_number(sum, &t.sum, n.sum);
        add_number(square, &t.square, n.square);
    }
    return t;
}

INLINE void advance_to(width sum, width square, const gp_window_batch *b, size_t x, numbers *t) {
    const vec enters = load(b->columns + b->map->enters[x]), leaves = load(b->columns + b->map->leaves[x]);
    const numbers d = differences(sum, square, enters, leaves, NULL);
    add_number(sum, &t->sum, d.sum);
    add_number(square, &t->square, d.square);
}

/* Columns x .. x + 3. */
INLINE void four(width sum, width square, const gp_window_batch *b, size_t x, numbers *t) {
    fvec sums_of[GP_BATCH_FOUR], squares_of[GP_BATCH_FOUR];
    for (size_t k = 0; k < GP_BATCH_FOUR; ++k) {
        advance_to(sum, square, b, x + k, t);
        sums_of[k] = round_sum(sum, &t->sum);
        squares_of[k] = round_square(square, &t->square, NULL);
    }
    if (sum)
        store_four(sums_of, b->sum + x, b->pitch);
    if (square)
        store_four(squares_of, b->square + x, b->pitch);
}

/* Of each line of the next batch's rows once. */
INLINE void prefetch(const gp_window_batch *b, size_t x) {
    const size_t step = b->in_pitch * sizeof(int32_t);
    const uintptr_t at = b->ahead + x / LANES * LANES * sizeof(int32_t) + x % LANES * step;
    for (size_t k = 0; k < GP_BATCH_FOUR; ++k)
        __builtin_prefetch((const void *)(at + k * step));
}

/* What is left of whole fours comes first, and with it one column to three of the next four. */
INLINE void batch_as(width sum, width square, const gp_window_batch *batch) {
    const gp_window_batch b = *batch;
    const size_t n = b.map->n;
    numbers t = first_totals(sum, square, &b);
    size_t x = n > GP_BATCH_FOUR ? n % GP_BATCH_FOUR : 0;
    if (x > 0) {
        numbers ahead = t;
        four(sum, square, &b, 0, &ahead);
        for (size_t k = 0; k < x; ++k)
            advance_to(sum, square, &b, k, &t);
    }
    for (; x < n; x += GP_BATCH_FOUR) {
        four(sum, square, &b, x, &t);
        if (b.ahead != 0)
            prefetch(&b, x);
    }
}

SIMD static bool slide_batch(const gp_window_batch *b) {
    const widths w = widths_for(b->sum, b->square, b->bound, b->window);
    if (w.sum != IN_128 && w.square != IN_128) {
        WITH_WIDTHS(w, batch_as, b);
        return true;
    }
#if defined(HAS_128)
    if (b->sum)
        batch_as(WIDE, IN_128, b);
    else
        batch_as(NONE, IN_128, b);
    return true;
#else
    return false;
#endif
}

SIMD static void write_past(const float *from, float *to, size_t n) {
    for (; n > 0 && (uintptr_t)to % 64 > 0; --n)
        stream_one(to++, *from++);
    for (; n >= GP_BATCH_LINE; n -= GP_BATCH_LINE, from += GP_BATCH_LINE, to += GP_BATCH_LINE)
        for (size_t i = 0; i < GP_BATCH_LINE; i += LANES)
            stream(to + i, load(from + i));
    for (; n > 0; --n)
        stream_one(to++, *from++);
}

gp_status NAMED(gp_launch_window_batch)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_batch_kernels kernels = {LANES, gather, slide_batch, write_past};
    return gp_window_in_batches(context, plan, problem, &kernels, line);
}

#endif
