/* SPDX-License-Identifier: Apache-2.0 */
/* Short rows of the window in batches: which rows make one, and where its results go. */
#include "cpu_batch.h"
#include <assert.h>
#include <string.h>

/* Rows done line by line before a batch is tried again, where numbers are too large for one. */
#define ROWS_AFTER_LARGE ((size_t)256)

/* An output that goes past the caches, in whole lines: what is left of a batch's last line waits for the next batch.
 */
typedef struct {
    float *to;      /* where buffer[begin] goes; NULL: not asked for */
    size_t begin;   /* what is before in its line of memory is not ours */
    size_t waiting; /* end of what is left of the batch before; the next one goes behind */
    _Alignas(64) float buffer[GP_BATCH_LINE + GP_BATCH_STREAMED_MAX + GP_BATCH_LINE];
} stretch;

typedef struct {
    const gp_batch_kernels *kernels;
    const gp_problem *problem;
    const gp_window_map *map;
    gp_window_line line;
} batches;

static bool past_caches(const gp_problem *p) {
    return p->bytes_written >= GP_STREAMED_BYTES_MIN;
}

static bool has_gaps(const gp_problem *p) {
    return p->out_pitch != p->col_end - p->col_first;
}

static float *output_of(const gp_problem *problem, float *out, size_t y) {
    return out ? out + y * problem->out_pitch + problem->col_first : NULL;
}

/* Computes the batch of rows that begins with row y. False: its numbers are too large, nothing is done. */
static bool compute(const batches *b, size_t y, int32_t *columns, float *sum, float *square, size_t pitch) {
    const gp_problem *p = b->problem;
    const int32_t *in = (const int32_t *)p->in + y * p->in_pitch;
    const uintptr_t next = (uintptr_t)in + b->kernels->lanes * p->in_pitch * sizeof *in;
    const gp_window_batch batch = {.map = b->map,
                                   .columns = columns,
                                   .window = p->window,
                                   .bound = b->kernels->gather(in, p->in_pitch, p->cols, columns + b->kernels->lanes),
                                   .sum = sum,
                                   .square = square,
                                   .pitch = pitch,
                                   .ahead = past_caches(p) ? next : 0,
                                   .in_pitch = p->in_pitch};
    return b->kernels->slide(&batch);
}

/* Rows one by one from y on; returns how many. */
static size_t lines(const batches *b, size_t y, size_t end) {
    const size_t n = end - y < ROWS_AFTER_LARGE ? end - y : ROWS_AFTER_LARGE;
    for (size_t i = 0; i < n; ++i)
        b->line(b->problem, y + i, b->problem->col_first, b->problem->col_end);
    return n;
}

/* ---- through the caches ---- */

static void copy_rows(const batches *b, const float *from, float *to) {
    const size_t n = b->map->n;
    for (size_t k = 0; to && k < b->kernels->lanes; ++k)
        for (size_t x = 0; x < n; ++x)
            to[k * b->problem->out_pitch + x] = from[k * n + x];
}

/* Fewer columns than are stored at once pass through a buffer. */
static bool few_columns(const batches *b, size_t y, int32_t *columns) {
    const gp_problem *p = b->problem;
    float sum[GP_BATCH_LANES * GP_BATCH_FOUR], square[GP_BATCH_LANES * GP_BATCH_FOUR];
    if (!compute(b, y, columns, p->sum ? sum : NULL, p->square ? square : NULL, b->map->n))
        return false;
    copy_rows(b, sum, output_of(p, p->sum, y));
    copy_rows(b, square, output_of(p, p->square, y));
    return true;
}

/* Returns how many rows are done. */
static size_t batch_at(const batches *b, size_t y, size_t end, int32_t *columns) {
    const gp_problem *p = b->problem;
    const bool done = b->map->n < GP_BATCH_FOUR
                          ? few_columns(b, y, columns)
                          : compute(b, y, columns, output_of(p, p->sum, y), output_of(p, p->square, y), p->out_pitch);
    return done ? b->kernels->lanes : lines(b, y, end);
}

/* ---- past the caches ---- */

static void begin(stretch *s, float *to) {
    s->to = to;
    s->waiting = s->begin = (uintptr_t)to / sizeof *to % GP_BATCH_LINE;
}

/* Writes the whole lines up to `end`, or all of it; the rest goes with the next batch. */
static void write_lines(const batches *b, stretch *s, size_t end, bool all) {
    const size_t stays = all ? 0 : end % GP_BATCH_LINE, written = end - stays;
    if (s->to && written > s->begin) {
        b->kernels->write(s->buffer + s->begin, s->to, written - s->begin);
        s->to += written - s->begin;
        s->begin = 0;
        memcpy(s->buffer, s->buffer + written, stays * sizeof(float));
        end = stays;
    }
    s->waiting = end;
}

/* Writes all that was computed, and begins again at row y. */
static void restart(const batches *b, stretch output[2], size_t y) {
    float *const out[2] = {b->problem->sum, b->problem->square};
    for (unsigned k = 0; k < 2; ++k) {
        write_lines(b, &output[k], output[k].waiting, true);
        begin(&output[k], output_of(b->problem, out[k], y));
    }
}

/* Returns how many rows are done. */
static size_t stream_at(const batches *b, stretch output[2], size_t y, size_t end, int32_t *columns) {
    float *target[2];
    for (unsigned k = 0; k < 2; ++k)
        target[k] = output[k].to ? output[k].buffer + output[k].waiting : NULL;
    if (!compute(b, y, columns, target[0], target[1], b->map->n)) {
        const size_t n = lines(b, y, end);
        restart(b, output, y + n);
        return n;
    }
    for (unsigned k = 0; k < 2; ++k)
        write_lines(b, &output[k], output[k].waiting + b->kernels->lanes * b->map->n, false);
    return b->kernels->lanes;
}

static void stream_rows(const batches *b, size_t first, size_t end, int32_t *columns) {
    const size_t lanes = b->kernels->lanes;
    stretch output[2];
    begin(&output[0], NULL);
    begin(&output[1], NULL);
    restart(b, output, first);
    size_t y = first;
    while (end - y >= lanes)
        y += stream_at(b, output, y, end, columns);
    restart(b, output, end - lanes);
    if (y < end) { /* with rows of the batch before, again */
        stream_at(b, output, end - lanes, end, columns);
        restart(b, output, end);
    }
}

/* ---- all ---- */

static void count(void *argument, const gp_window_run *run, size_t times) {
    uint32_t *counts = argument;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)run->count; ++i)
        counts[run->first[i * run->step]] += (uint32_t)times;
}

/* Number 0 is what ZERO has outside the row. */
static void map_columns(const gp_problem *problem, size_t lanes, gp_window_map *map) {
    const int64_t before = (int64_t)problem->window_before, after = (int64_t)problem->window - 1 - before;
    const int64_t first = (int64_t)problem->col_first;
    int32_t row[GP_BATCH_COLS_MAX];
    uint32_t counts[GP_BATCH_COLS_MAX + 1];
    memset(counts, 0, (problem->cols + 1) * sizeof *counts);
    for (size_t c = 0; c < problem->cols; ++c)
        row[c] = (int32_t)c + 1;
    map->n = problem->col_end - problem->col_first;
    map->n_first = 0;
    memset(map->enters, 0, GP_BATCH_FOUR * sizeof *map->enters);
    memset(map->leaves, 0, GP_BATCH_FOUR * sizeof *map->leaves);
    gp_window_extend(problem, row, first + after, map->n, map->enters);
    gp_window_extend(problem, row, first - 1 - before, map->n, map->leaves);
    for (size_t x = 0; x < map->n; ++x) {
        map->enters[x] *= (int32_t)lanes;
        map->leaves[x] *= (int32_t)lanes;
    }
    gp_window_visit_all(problem, row, first - 1 - before, count, counts);
    for (size_t c = 1; c <= problem->cols; ++c)
        if (counts[c] > 0) {
            map->first[map->n_first] = (uint32_t)(c * lanes);
            map->times[map->n_first++] = (int32_t)counts[c];
        }
}

bool gp_window_batch_supports(const gp_problem *p, size_t lanes) {
    if (!gp_window_simd_supports(p) || p->rows < lanes || p->cols > GP_BATCH_COLS_MAX)
        return false;
    return !past_caches(p) ||
           (has_gaps(p) ? p->cols <= GP_BATCH_COLS_APART : p->cols * lanes <= GP_BATCH_STREAMED_MAX);
}

static void rows(const void *argument, size_t first, size_t end) {
    const batches *b = argument;
    const gp_problem *p = b->problem;
    const size_t lanes = b->kernels->lanes;
    assert(end - first >= lanes); /* all rows, or 256 KiB and more of them: 85 of 256 columns */
    _Alignas(64) int32_t columns[(1 + GP_BATCH_COLS_MAX) * GP_BATCH_LANES];
    memset(columns, 0, lanes * sizeof *columns);
    if (past_caches(p) && !has_gaps(p)) {
        stream_rows(b, first, end, columns);
        return;
    }
    size_t y = first;
    while (end - y >= lanes)
        y += batch_at(b, y, end, columns);
    if (y < end) /* with rows of the batch before, again */
        batch_at(b, end - lanes, end, columns);
}

gp_status gp_window_in_batches(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                               const gp_batch_kernels *kernels, gp_window_line line) {
    gp_window_map map;
    map_columns(problem, kernels->lanes, &map);
    const batches b = {kernels, problem, &map, line};
    return gp_window_in_parts(context, gp_window_threads(context, plan, problem), problem, problem->rows, rows, &b);
}
