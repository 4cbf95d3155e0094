/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the window in blocks: where elements enter and leave, and how large they can be. */
#include "window_slide.h"
#include "split.h"
#include <string.h>

/* Columns to compute and columns of the window together, up to which a line is done without vectors. */
#define PLAIN_COLS_MAX 8

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

/* Adds n elements of the extended row from column x on. */
static void add_run(const line *l, int64_t x, size_t n, gp_window_totals *to) {
    for (size_t length; n > 0; n -= length, x += (int64_t)length) {
        gp_window_run run = gp_window_run_at(l->problem, l->row, x);
        length = run.count < n ? run.count : n;
        if (run.step != 0) {
            l->kernels->accumulate(run.step > 0 ? run.first : run.first - (length - 1), length, to);
            continue;
        }
        int64_t value = *run.first;
        to->sum += (gp_i128)value * (gp_i128)length;
        to->square += (gp_u128)(value * value) * length;
        to->magnitude = absolute(*run.first) > to->magnitude ? absolute(*run.first) : to->magnitude;
    }
}

/* The window that begins at column x of the extended row: whole periods once, times their number, then the rest. */
static gp_window_totals whole_window(const line *l, int64_t x) {
    gp_window_totals totals = {0, 0, 0};
    size_t window = l->problem->window, period = gp_window_period(l->problem);
    if (period > 0 && window >= period) {
        add_run(l, x, period, &totals);
        totals.sum *= (gp_i128)(window / period);
        totals.square *= window / period;
        window %= period;
    }
    add_run(l, x, window, &totals);
    return totals;
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
    int32_t entering[GP_WINDOW_BLOCK], leaving[GP_WINDOW_BLOCK];
    line l = {kernels, problem, (const int32_t *)problem->in + y * problem->in_pitch};
    int64_t before = (int64_t)problem->window_before, after = (int64_t)problem->window - 1 - before;
    gp_window_totals totals = whole_window(&l, (int64_t)begin - 1 - before);
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
