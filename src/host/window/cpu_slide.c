/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the window in blocks: where elements enter and leave, and how large they can be. */
#include "cpu_slide.h"
#include "../cpu/split.h"
#include <string.h>

/* Columns to compute and columns of the window together, up to which a line is done without vectors. */
#define PLAIN_COLS_MAX 8

/* Columns up to which a line is extended by its borders as a whole, for all its blocks and its first window. */
#define EXTENDED_MAX 1024

typedef struct {
    const gp_window_kernels *kernels;
    const gp_problem *problem;
    const int32_t *row;
    const int32_t *part; /* columns first .. end - 1 of the extended row lie here: of the row, or a copy */
    int64_t first, end;
} line;

/* Copies n elements of the extended row from column x on. */
static void extend(const line *l, int64_t x, size_t n, int32_t *to) {
    for (size_t length; n > 0; x += (int64_t)length, n -= length, to += length) {
        gp_window_run run = gp_window_run_at(l->problem, l->row, x);
        length = run.count < n ? run.count : n;
        if (run.step > 0)
            memcpy(to, run.first, length * sizeof *to);
        else if (run.step < 0)
            l->kernels->reverse(run.first, length, to);
        else
            for (size_t i = 0; i < length; ++i)
                to[i] = *run.first;
    }
}

/* n elements of the extended row from column x on: where they lie, or copied to the buffer. */
static const int32_t *fetch(const line *l, int64_t x, size_t n, int32_t *buffer) {
    if (x >= l->first && x + (int64_t)n <= l->end)
        return l->part + (x - l->first);
    extend(l, x, n, buffer);
    return buffer;
}

/* One element as often as `times`. */
static void add_value(int64_t value, size_t times, gp_window_totals *to) {
    const uint32_t absolute = (uint32_t)(value < 0 ? -value : value);
    to->sum += (gp_i128)value * (gp_i128)times;
    to->square += (gp_u128)(value * value) * times;
    to->magnitude = absolute > to->magnitude ? absolute : to->magnitude;
}

/* Adds n elements of the extended row from column x on, in any order. */
static void add_run(const line *l, int64_t x, size_t n, gp_window_totals *to) {
    for (size_t length; n > 0; x += (int64_t)length, n -= length) {
        gp_window_run run = gp_window_run_at(l->problem, l->row, x);
        length = run.count < n ? run.count : n;
        if (run.step == 0)
            add_value(*run.first, length, to);
        else
            l->kernels->accumulate(run.step > 0 ? run.first : run.first - (length - 1), length, to);
    }
}

/* The window that begins at column x of the extended row: whole periods once, times their number, then the rest. */
static void add_window(const line *l, int64_t x, gp_window_totals *to) {
    size_t window = l->problem->window, period = gp_window_period(l->problem);
    if (period > 0 && window >= period) {
        add_run(l, x, period, to);
        to->sum *= (gp_i128)(window / period);
        to->square *= window / period;
        window %= period;
    }
    add_run(l, x, window, to);
}

/*
 * A bound on the elements in the window. They entered in the current epoch or in the one before it, which is at least
 * as long as the window: the larger of the two epochs' maxima.
 */
typedef struct {
    size_t entered; /* in the current epoch */
    uint32_t now, before;
} bounds;

static uint32_t bound_with(bounds *b, size_t window, uint32_t magnitude, size_t n) {
    if (b->entered >= window)
        *b = (bounds){0, 0, b->now};
    b->entered += n;
    b->now = magnitude > b->now ? magnitude : b->now;
    return b->now > b->before ? b->now : b->before;
}

static bool lines_agree(const gp_problem *problem) {
    if (!problem->sum || !problem->square)
        return true;
    return ((uintptr_t)problem->sum - (uintptr_t)problem->square) % 64 == 0;
}

/* A block's columns from x on, so that the next block begins where a line of the output does. */
static size_t columns_to_line(const gp_problem *problem, size_t y, size_t x) {
    const float *out = problem->sum ? problem->sum : problem->square;
    return GP_WINDOW_BLOCK - (uintptr_t)(out + y * problem->out_pitch + x) / sizeof *out % (64 / sizeof *out);
}

typedef struct {
    _Alignas(64) int32_t entering[GP_WINDOW_BLOCK], leaving[GP_WINDOW_BLOCK];
} edges;

/* The block from column x of row y on. */
static void set_block(const line *l, size_t y, size_t x, size_t end, edges *e, gp_window_block *block) {
    const gp_problem *problem = l->problem;
    const int64_t before = (int64_t)problem->window_before, after = (int64_t)problem->window - 1 - before;
    block->n = columns_to_line(problem, y, x);
    block->n = end - x < block->n ? end - x : block->n;
    block->sum = problem->sum ? problem->sum + y * problem->out_pitch + x : NULL;
    block->square = problem->square ? problem->square + y * problem->out_pitch + x : NULL;
    block->enters = fetch(l, (int64_t)x + after, block->n, e->entering);
    block->leaves = fetch(l, (int64_t)x - 1 - before, block->n, e->leaving);
    block->ahead = (uintptr_t)l->row + ((uintptr_t)x + (uintptr_t)after + 2 * GP_WINDOW_BLOCK) * sizeof *l->row;
}

/*
 * A block is fetched before the one before it is computed: what was copied to its buffer in other pieces than it is
 * read in must first have left the core, and with it all before it that goes past the caches. Not inlined: its
 * buffers would cost lines that are too short for them.
 */
static __attribute__((noinline)) void slide_blocks(const gp_window_kernels *kernels, const gp_problem *problem,
                                                   size_t y, size_t begin, size_t end) {
    const int32_t *row = (const int32_t *)problem->in + y * problem->in_pitch;
    const int64_t first = (int64_t)begin - 1 - (int64_t)problem->window_before;
    const size_t extended = end - begin + problem->window;
    line l = {kernels, problem, row, row, 0, (int64_t)problem->cols};
    gp_window_totals totals = {0, 0, 0};
    int32_t copy[EXTENDED_MAX];
    if (extended <= EXTENDED_MAX) {
        extend(&l, first, extended, copy);
        kernels->accumulate(copy, problem->window, &totals);
        l.part = copy, l.first = first, l.end = first + (int64_t)extended;
    } else {
        add_window(&l, first, &totals);
    }
    bounds b = {problem->window, totals.magnitude, 0};
    edges e[2];
    gp_window_block block[2];
    block[0].stream = block[1].stream = problem->bytes_written >= GP_STREAMED_BYTES_MIN && lines_agree(problem);
    block[0].window = block[1].window = problem->window;
    set_block(&l, y, begin, end, &e[0], &block[0]);
    unsigned turn = 0;
    for (size_t x = begin; x < end; turn = !turn) {
        gp_window_block *now = &block[turn];
        x += now->n;
        if (x < end)
            set_block(&l, y, x, end, &e[!turn], &block[!turn]);
        now->bound = bound_with(&b, problem->window, kernels->magnitude(now->enters, now->n), now->n);
        kernels->slide(now, &totals);
    }
}

void gp_window_slide_line(const gp_window_kernels *kernels, const gp_problem *problem, size_t y, size_t begin,
                          size_t end) {
    if (end - begin + problem->window <= PLAIN_COLS_MAX)
        gp_window_line_plain(problem, y, begin, end);
    else
        slide_blocks(kernels, problem, y, begin, end);
}

/* below_2_63: every sum of squares; a constant. */
static inline void slide_each(const gp_window_block *block, bool below_2_63, gp_window_totals *totals) {
    int64_t sum = (int64_t)totals->sum;
    uint64_t low = (uint64_t)totals->square;
    gp_i128 square = (gp_i128)totals->square;
    for (size_t i = 0; i < block->n; ++i) {
        int64_t enters = block->enters[i], leaves = block->leaves[i];
        int64_t difference = (enters - leaves) * (enters + leaves); /* of their squares, which are at most 2^62 */
        sum += enters - leaves;
        low += (uint64_t)difference;
        square += difference;
        if (block->sum)
            block->sum[i] = (float)sum;
        if (block->square)
            block->square[i] = below_2_63 ? (float)(int64_t)low : gp_window_round((gp_u128)square);
    }
    totals->sum = sum;
    totals->square = below_2_63 ? low : (gp_u128)square;
}

void gp_window_slide_scalar(const gp_window_block *block, gp_window_totals *totals) {
    if ((gp_u128)block->bound * block->bound * block->window >> 63 == 0)
        slide_each(block, true, totals);
    else
        slide_each(block, false, totals);
}
