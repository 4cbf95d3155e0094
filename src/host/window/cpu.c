/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window on the processor: the reference row. The window of column x is summed once at the start of a line; from
 * column to column one element enters and one leaves. All in 128 bits: a square is at most 2^62 and a window 2^64
 * - 1.
 */
#include "cpu.h"
#include "../cpu/rounding.h"
#include "../window_array/box.h"
#include <string.h>

typedef struct {
    const gp_problem *problem;
    gp_window_range range;
    const void *argument;
    size_t items;
} window_work;

/* Columns that are worth a piece of their own, when rows are few: starting one costs a pass over the window. */
#define PIECE_COLS_MIN ((size_t)1 << 14)

/* Rows are enough for an even division among the threads if each gets this many. */
#define ROWS_PER_PART 8

/* Of one thread, past its core's own cache. */
#define BYTES_A_NS 10

static void window_share(void *argument, unsigned part, unsigned share, unsigned shares) {
    const window_work *work = argument;
    GP_ROUNDS_TO_NEAREST;
    (void)part;
    work->range(work->argument, gp_part_begin(work->items, share, shares),
                gp_part_begin(work->items, share + 1, shares));
    if (work->problem->bytes_written >= GP_STREAMED_BYTES_MIN)
        gp_streams_done();
}

static uint64_t bytes_of(const gp_problem *problem) {
    return problem->bytes_read + problem->bytes_written;
}

unsigned gp_window_threads(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_threads_worth(context, plan->tiling.blocks, bytes_of(problem) / BYTES_A_NS);
}

gp_status gp_window_in_parts(gp_context *context, unsigned parts, const gp_problem *problem, size_t items,
                             gp_window_range range, const void *argument) {
    window_work work = {problem, range, argument, items};
    gp_threads_share(context, (unsigned)gp_least(parts, items), bytes_of(problem), window_share, &work);
    return GP_OK;
}

typedef struct {
    const gp_problem *problem;
    gp_window_line line;
    size_t pieces; /* of each row */
} lines;

static void pieces_of_lines(const void *argument, size_t first, size_t end) {
    const lines *l = argument;
    const size_t begin = l->problem->col_first, cols = l->problem->col_end - begin, length = cols / l->pieces;
    for (size_t i = first; i < end; ++i) {
        const size_t from = i % l->pieces * length, to = (i + 1) % l->pieces == 0 ? cols : from + length;
        l->line(l->problem, i / l->pieces, begin + from, begin + to);
    }
}

gp_status gp_window_in_lines(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                             gp_window_line line) {
    const unsigned parts = gp_window_threads(context, plan, problem);
    lines l = {problem, line, 1};
    if (parts > 1 && problem->rows / ROWS_PER_PART < parts) {
        const size_t most = (problem->col_end - problem->col_first) / gp_greatest(PIECE_COLS_MIN, problem->window);
        l.pieces = gp_at_least_one(gp_least((size_t)parts * ROWS_PER_PART / problem->rows, most));
    }
    return gp_window_in_parts(context, parts, problem, problem->rows * l.pieces, pieces_of_lines, &l);
}

/* ---- what a window sees outside its row ---- */

/* Far outside by a division, near the row without. */
gp_window_run gp_window_run_at(const gp_problem *problem, const int32_t *row, gp_i128 x) {
    static const int32_t zero = 0;
    const int64_t n = (int64_t)problem->cols, period = gp_window_period(problem->border, n);
    if (x >= 0 && x < n)
        return (gp_window_run){row + x, 1, (size_t)(n - x)};
    if (period == 0) {
        const int64_t at = gp_window_source(problem->border, n, x < 0 ? -1 : n);
        return (gp_window_run){at < 0 ? &zero : row + at, 0, x < 0 ? (size_t)-x : SIZE_MAX};
    }
    gp_i128 phase = x < 0 ? x + period : x < period ? x : x - period;
    if (phase < 0 || phase >= period) {
        phase = x % period;
        phase += phase < 0 ? period : 0;
    }
    if (phase < n)
        return (gp_window_run){row + phase, 1, (size_t)(n - phase)};
    return (gp_window_run){row + gp_window_source(problem->border, n, (int64_t)phase), -1, (size_t)(period - phase)};
}

static gp_window_run run_up_to(const gp_problem *problem, const int32_t *row, gp_i128 x, size_t most) {
    gp_window_run run = gp_window_run_at(problem, row, x);
    run.count = run.count < most ? run.count : most;
    return run;
}

void gp_window_visit_all(const gp_problem *problem, const int32_t *row, gp_i128 x, gp_window_visit visit,
                         void *argument) {
    const size_t window = problem->window, period = (size_t)gp_window_period(problem->border, (int64_t)problem->cols);
    const size_t whole = period > 0 ? window / period : 0, rest = period > 0 ? window % period : window;
    for (size_t done = 0, each = whole > 0 ? period : rest; done < each;) {
        const size_t times = whole + (done < rest);
        gp_window_run run = run_up_to(problem, row, x + (gp_i128)done, (done < rest ? rest : each) - done);
        done += run.count;
        if (run.step == 0)
            visit(argument, &(gp_window_run){run.first, 0, 1}, times * run.count);
        else
            visit(argument, &run, times);
    }
}

void gp_window_extend(const gp_problem *problem, const int32_t *row, int64_t x, size_t n, int32_t *to) {
    for (gp_window_run run; n > 0; x += (int64_t)run.count, n -= run.count, to += run.count) {
        run = run_up_to(problem, row, x, n);
        if (run.step > 0)
            memcpy(to, run.first, run.count * sizeof *to);
        else if (run.step < 0)
            for (size_t i = 0; i < run.count; ++i)
                to[i] = run.first[-(ptrdiff_t)i];
        else
            for (size_t i = 0; i < run.count; ++i)
                to[i] = *run.first;
    }
}

/* ---- the reference row ---- */

/* Running sums of the rows with vectors are two signed 64-bit halves: 2^30 squares of up to 2^62 leave both room. */
bool gp_window_simd_supports(const gp_problem *problem) {
    return problem->window <= (size_t)1 << 30;
}

typedef struct {
    gp_i128 sum;
    gp_u128 square;
} totals;

static void add(void *argument, const gp_window_run *run, size_t times) {
    totals *to = argument;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)run->count; ++i) {
        const int64_t value = run->first[i * run->step];
        to->sum += (gp_i128)value * (gp_i128)times;
        to->square += (gp_u128)(value * value) * times;
    }
}

/* Of the row as the window sees it, at column x. */
static int32_t element(const gp_problem *problem, const int32_t *row, gp_i128 x) {
    return x >= 0 && x < (gp_i128)problem->cols ? row[x] : *gp_window_run_at(problem, row, x).first;
}

static void line(const gp_problem *problem, size_t y, size_t begin, size_t end) {
    const int32_t *row = (const int32_t *)problem->in + y * problem->in_pitch;
    float *sum = problem->sum ? problem->sum + y * problem->out_pitch : NULL;
    float *square = problem->square ? problem->square + y * problem->out_pitch : NULL;
    const gp_i128 before = (gp_i128)problem->window_before, after = (gp_i128)problem->window - 1 - before;
    totals t = {0, 0};
    gp_window_visit_all(problem, row, (gp_i128)begin - before, add, &t);
    for (size_t x = begin;;) {
        if (sum)
            sum[x] = (float)t.sum;
        if (square)
            square[x] = (float)t.square;
        if (x + 1 == end)
            return;
        const int64_t leaves = element(problem, row, (gp_i128)x - before);
        const int64_t enters = element(problem, row, (gp_i128)++x + after);
        t.sum += enters - leaves;
        t.square = t.square + (uint64_t)(enters * enters) - (uint64_t)(leaves * leaves);
    }
}

gp_status gp_launch_window_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_window_in_lines(context, plan, problem, line);
}
