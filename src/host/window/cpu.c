/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window on the processor: the reference row. The window of column x is summed once at the start of a line; from
 * column to column one element enters and one leaves. All in 128 bits: a square is at most 2^62 and a window 2^64
 * - 1.
 */
#include "cpu.h"
#include "../cpu/rounding.h"
#include "../cpu/split.h"
#include "../cpu/threads.h"

typedef struct {
    const gp_problem *problem;
    gp_window_line line;
    gp_window_range range; /* NULL: line by line */
    const void *argument;
    size_t pieces; /* of each row */
    gp_shares *shares;
} window_work;

/* Columns that are worth a piece of their own, when rows are few: starting one costs a pass over the window. */
#define PIECE_COLS_MIN ((size_t)1 << 14)

/* Rows are enough for an even division among the threads if each gets this many. */
#define ROWS_PER_PART 8

/* Of one thread, past its core's own cache. */
#define BYTES_A_NS 10

static void window_share(const window_work *work, unsigned share, unsigned shares) {
    const gp_problem *problem = work->problem;
    size_t cols = problem->col_end - problem->col_first, items = problem->rows * work->pieces;
    size_t begin = gp_part_begin(items, share, shares), end = gp_part_begin(items, share + 1, shares);
    if (work->range) {
        work->range(work->argument, begin, end);
        return;
    }
    for (size_t i = begin; i < end; ++i) {
        if (work->pieces == 1) {
            work->line(problem, i, problem->col_first, problem->col_end);
            continue;
        }
        size_t piece = i % work->pieces;
        size_t from = cols / work->pieces * piece;
        size_t to = piece + 1 == work->pieces ? cols : from + cols / work->pieces;
        work->line(problem, i / work->pieces, problem->col_first + from, problem->col_first + to);
    }
}

static void window_part(void *argument, unsigned part, unsigned parts) {
    const window_work *work = argument;
    unsigned shares = gp_shares_count(work->shares), share = gp_shares_first(work->shares, part);
    const gp_rounding before = gp_round_to_nearest();
    (void)parts;
    for (; share < shares; share = gp_shares_take(work->shares, part))
        window_share(work, share, shares);
    gp_round_as(before);
    if (work->problem->bytes_written >= GP_STREAMED_BYTES_MIN)
        gp_streams_done();
}

static uint64_t bytes_of(const gp_problem *problem) {
    return problem->bytes_read + problem->bytes_written;
}

static gp_status run(gp_context *context, unsigned parts, window_work *work) {
    const gp_problem *problem = work->problem;
    size_t items = problem->rows * work->pieces;
    parts = parts > items ? (unsigned)items : parts;
    parts = parts > 1 ? parts : 1;
    gp_shares shares;
    work->shares = &shares;
    gp_shares_begin(&shares, bytes_of(problem), parts);
    gp_threads_run(context, parts, window_part, work);
    return GP_OK;
}

static unsigned parts_of(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const uint64_t parts = plan->tiling.blocks < GP_PARTS_MAX ? plan->tiling.blocks : GP_PARTS_MAX;
    return gp_threads_worth(context, (unsigned)parts, bytes_of(problem) / BYTES_A_NS);
}

gp_status gp_window_in_lines(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                             gp_window_line line) {
    if (problem->rows == 0 || problem->col_first >= problem->col_end)
        return GP_OK;
    unsigned parts = parts_of(context, plan, problem);
    size_t cols = problem->col_end - problem->col_first, pieces = 1;
    if (parts > 1 && problem->rows / ROWS_PER_PART < parts) {
        size_t worth = problem->window < PIECE_COLS_MIN ? PIECE_COLS_MIN : problem->window;
        pieces = (size_t)parts * ROWS_PER_PART / problem->rows;
        pieces = pieces > cols / worth ? cols / worth : pieces;
        pieces = pieces > 1 ? pieces : 1;
    }
    window_work work = {.problem = problem, .line = line, .pieces = pieces};
    return run(context, parts, &work);
}

gp_status gp_window_in_rows(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                            gp_window_range range, const void *argument) {
    window_work work = {.problem = problem, .range = range, .argument = argument, .pieces = 1};
    return run(context, parts_of(context, plan, problem), &work);
}

/* Their running sums are two signed 64-bit halves: 2^30 squares of up to 2^62 leave both room. */
bool gp_window_simd_supports(const gp_problem *problem) {
    return problem->window <= (size_t)1 << 30;
}

uint64_t gp_window_cpu_parts(const gp_problem *problem) {
    return gp_parts_for_bytes(bytes_of(problem));
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

void gp_window_line_plain(const gp_problem *problem, size_t y, size_t begin, size_t end) {
    const int32_t *row = (const int32_t *)problem->in + y * problem->in_pitch;
    float *sum = problem->sum ? problem->sum + y * problem->out_pitch : NULL;
    float *square = problem->square ? problem->square + y * problem->out_pitch : NULL;
    const gp_i128 before = (gp_i128)problem->window_before, after = (gp_i128)problem->window - 1 - before;
    totals t = {0, 0};
    gp_window_visit_all(problem, row, (gp_i128)begin - before, add, &t);
    for (size_t x = begin;;) {
        if (sum)
            sum[x] = gp_window_round_signed(t.sum);
        if (square)
            square[x] = gp_window_round(t.square);
        if (x + 1 == end)
            return;
        const int64_t leaves = element(problem, row, (gp_i128)x - before);
        const int64_t enters = element(problem, row, (gp_i128)++x + after);
        t.sum += enters - leaves;
        t.square = t.square + (uint64_t)(enters * enters) - (uint64_t)(leaves * leaves);
    }
}

gp_status gp_launch_window_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_window_in_lines(context, plan, problem, gp_window_line_plain);
}
