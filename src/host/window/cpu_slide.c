/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the window in blocks: where elements enter and leave, and how large they can be. */
#include "cpu_slide.h"
#include "../cpu/split.h"
#include <string.h>

/* Columns to compute and columns of the window together, up to which a line is done without vectors. */
#define PLAIN_COLS_MAX 8

/* Elements up to which they are added one by one. */
#define FEW_ELEMENTS 8

typedef struct {
    const gp_window_kernels *kernels;
    const gp_problem *problem;
    const int32_t *row;
} line;

/* n elements of the extended row from column x on: where they lie, or copied to the buffer. */
static const int32_t *fetch(const line *l, int64_t x, size_t n, int32_t *buffer) {
    size_t cols = l->problem->cols;
    if (x >= 0 && (size_t)x < cols && n <= cols - (size_t)x)
        return l->row + x;
    if (l->kernels->extend) {
        l->kernels->extend(l->problem, l->row, x, n, buffer);
        return buffer;
    }
    for (size_t done = 0, length; done < n; done += length) {
        gp_window_run run = gp_window_run_at(l->problem, l->row, x + (int64_t)done);
        length = run.count < n - done ? run.count : n - done;
        if (run.step > 0)
            memcpy(buffer + done, run.first, length * sizeof *buffer);
        else if (run.step < 0)
            l->kernels->reverse(run.first - (length - 1), length, buffer + done);
        else
            for (size_t i = 0; i < length; ++i)
                buffer[done + i] = *run.first;
    }
    return buffer;
}

static uint32_t absolute(int32_t value) {
    return value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
}

/* One element as often as `times`. */
static void add_value(int64_t value, size_t times, gp_window_totals *to) {
    to->sum += (gp_i128)value * (gp_i128)times;
    to->square += (gp_u128)(value * value) * times;
    to->magnitude = absolute((int32_t)value) > to->magnitude ? absolute((int32_t)value) : to->magnitude;
}

/* Elements of memory. */
static void add_elements(const line *l, const int32_t *from, const int32_t *end, gp_window_totals *to) {
    if (end - from > FEW_ELEMENTS) {
        l->kernels->accumulate(from, (size_t)(end - from), to);
        return;
    }
    for (; from < end; ++from)
        add_value(*from, 1, to);
}

/* Where a run's elements lie, whatever its order. */
static const int32_t *lowest(const gp_window_run *run) {
    return run->step > 0 ? run->first : run->first - (run->count - 1);
}

/* A run of at most n elements. */
static gp_window_run run_at(const line *l, int64_t x, size_t n) {
    gp_window_run run = gp_window_run_at(l->problem, l->row, x);
    run.count = run.count < n ? run.count : n;
    return run;
}

/* Two runs, each of elements that lie in a row: what both hold is read once. */
static void add_both(const line *l, const gp_window_run *a, const gp_window_run *b, gp_window_totals *to) {
    const int32_t *first = lowest(a), *second = lowest(b), *end = first + a->count, *second_end = second + b->count;
    const int32_t *low = first > second ? first : second, *high = end < second_end ? end : second_end;
    if (low >= high) {
        add_elements(l, first, end, to);
        add_elements(l, second, second_end, to);
        return;
    }
    gp_window_totals both = {0, 0, to->magnitude};
    add_elements(l, low, high, &both);
    to->sum += 2 * both.sum;
    to->square += 2 * both.square;
    to->magnitude = both.magnitude;
    add_elements(l, first < second ? first : second, low, to);
    add_elements(l, high, end > second_end ? end : second_end, to);
}

/* Adds n elements of the extended row from column x on. A reflection and what it reflects are added together. */
static void add_run(const line *l, int64_t x, size_t n, gp_window_totals *to) {
    while (n > 0) {
        gp_window_run run = run_at(l, x, n), next = {NULL, 0, 0};
        x += (int64_t)run.count, n -= run.count;
        if (run.step == 0) {
            add_value(*run.first, run.count, to);
            continue;
        }
        if (run.step < 0 && n > 0)
            next = run_at(l, x, n);
        if (next.step > 0) {
            x += (int64_t)next.count, n -= next.count;
            add_both(l, &run, &next, to);
        } else {
            add_elements(l, lowest(&run), lowest(&run) + run.count, to);
        }
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

/* window <= 2^shift */
static unsigned shift_of(size_t window) {
    return window > 1 ? 64 - (unsigned)__builtin_clzll(window - 1) : 0;
}

static void set_widths(gp_window_block *block, uint32_t bound, size_t window) {
    uint64_t sum = (uint64_t)bound * window;
    gp_u128 largest = block->square ? (gp_u128)sum * bound : sum;
    block->sum_in_32 = sum <= INT32_MAX;
    block->narrow = bound < GP_WINDOW_LARGE && largest < (gp_u128)1 << 63;
    block->small = bound < GP_WINDOW_SMALL && largest <= INT32_MAX;
    block->below_2_64 = largest >> 64 == 0;
    block->below_2_51 = block->narrow && largest < (gp_u128)1 << 51;
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

void gp_window_slide_line(const gp_window_kernels *kernels, const gp_problem *problem, size_t y, size_t begin,
                          size_t end) {
    if (end - begin + problem->window <= PLAIN_COLS_MAX) {
        gp_window_line_plain(problem, y, begin, end);
        return;
    }
    _Alignas(64) int32_t entering[GP_WINDOW_BLOCK], leaving[GP_WINDOW_BLOCK];
    line l = {kernels, problem, (const int32_t *)problem->in + y * problem->in_pitch};
    int64_t before = (int64_t)problem->window_before, after = (int64_t)problem->window - 1 - before;
    gp_window_totals totals = {0, 0, 0};
    add_window(&l, (int64_t)begin - 1 - before, &totals);
    bounds b = {problem->window, totals.magnitude, 0};
    gp_window_block block = {.shift = shift_of(problem->window),
                             .stream = problem->bytes_written >= GP_STREAMED_BYTES_MIN && lines_agree(problem)};
    for (size_t x = begin; x < end; x += block.n) {
        block.n = columns_to_line(problem, y, x);
        block.n = end - x < block.n ? end - x : block.n;
        block.enters = fetch(&l, (int64_t)x + after, block.n, entering);
        block.leaves = fetch(&l, (int64_t)x - 1 - before, block.n, leaving);
        block.ahead = (uintptr_t)l.row + ((uintptr_t)x + (uintptr_t)after + 2 * GP_WINDOW_BLOCK) * sizeof *l.row;
        block.sum = problem->sum ? problem->sum + y * problem->out_pitch + x : NULL;
        block.square = problem->square ? problem->square + y * problem->out_pitch + x : NULL;
        uint32_t magnitude = kernels->magnitude(block.enters, block.n);
        set_widths(&block, bound_with(&b, problem->window, magnitude, block.n), problem->window);
        kernels->slide(&block, &totals);
    }
}

gp_window_block gp_window_block_after(const gp_window_block *block, size_t n) {
    gp_window_block rest = *block;
    rest.enters += n, rest.leaves += n, rest.ahead += n * sizeof(int32_t), rest.n -= n;
    rest.sum = rest.sum ? rest.sum + n : NULL;
    rest.square = rest.square ? rest.square + n : NULL;
    return rest;
}

/* Squares modulo 2^64: that is all of them where they are asked for. */
static void slide_narrow(const gp_window_block *block, gp_window_totals *totals) {
    int64_t sum = (int64_t)totals->sum;
    uint64_t square = (uint64_t)totals->square;
    for (size_t i = 0; i < block->n; ++i) {
        int64_t enters = block->enters[i], leaves = block->leaves[i];
        sum += enters - leaves;
        square += (uint64_t)((enters - leaves) * (enters + leaves));
        if (block->sum)
            block->sum[i] = (float)sum;
        if (block->square)
            block->square[i] = (float)(int64_t)square;
    }
    totals->sum = sum;
    totals->square = square;
}

void gp_window_slide_scalar(const gp_window_block *block, gp_window_totals *totals) {
    if (block->narrow) {
        slide_narrow(block, totals);
        return;
    }
    int64_t sum = (int64_t)totals->sum;
    gp_u128 square = totals->square;
    for (size_t i = 0; i < block->n; ++i) {
        int64_t enters = block->enters[i], leaves = block->leaves[i];
        sum += enters - leaves;
        square = square + (uint64_t)(enters * enters) - (uint64_t)(leaves * leaves);
        if (block->sum)
            block->sum[i] = (float)sum;
        if (block->square)
            block->square[i] = gp_window_round(square);
    }
    totals->sum = sum;
    totals->square = square;
}
