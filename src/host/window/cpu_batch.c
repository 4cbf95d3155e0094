/* SPDX-License-Identifier: Apache-2.0 */
/* Short rows of the window in batches: which rows make one, and where its results go. */
#include "cpu_batch.h"
#include "../cpu/split.h"
#include <assert.h>
#include <string.h>

/*
 * Rows with gaps of fewer columns have few whole lines, and are written as they are computed: 100000 rows a column
 * apart 2.3 ms with 16 columns and 4.3 with 24, past the caches 4.4 and 5.0; 50000 rows of 40 4.1 and 2.9.
 */
#define APART_COLS_MIN 32

/*
 * Rows done line by line before a batch is tried again: to gather columns in vain takes up to 8 % of a line's time
 * (of 161 to 256 columns of full int32, done by AVX2's batches where AVX-512's are too large, 2 to 4 % with 64 rows,
 * 1 with 256).
 */
#define ROWS_AFTER_LARGE ((size_t)256)

float *gp_batch_output(const gp_problem *problem, float *out, size_t y) {
    return out ? out + y * problem->out_pitch + problem->col_first : NULL;
}

bool gp_batch_compute(const gp_batch_work *work, size_t y, int32_t *columns, float *sum, float *square, size_t pitch,
                      gp_batch_queue *queue) {
    const gp_problem *p = work->problem;
    const int32_t *in = (const int32_t *)p->in + y * p->in_pitch;
    uint32_t bound = work->kernels->gather(in, p->in_pitch, p->cols, columns);
    gp_window_batch batch = {work->map,  columns, p->window,
                             bound,      sum,     square,
                             pitch,      queue,   (uintptr_t)in + work->kernels->lanes * p->in_pitch * sizeof *in,
                             p->in_pitch};
    return work->kernels->slide(&batch);
}

size_t gp_batch_lines(const gp_batch_work *work, size_t y, size_t end) {
    const size_t n = end - y < ROWS_AFTER_LARGE ? end - y : ROWS_AFTER_LARGE;
    for (size_t i = 0; i < n; ++i)
        work->line(work->problem, y + i, work->problem->col_first, work->problem->col_end);
    return n;
}

static void copy_rows(const gp_batch_work *work, const float *from, float *to) {
    const size_t n = work->map->n, pitch = work->problem->out_pitch, lanes = work->kernels->lanes;
    if (!to)
        return;
    if (pitch == n) {
        memcpy(to, from, lanes * n * sizeof *to);
        return;
    }
    for (size_t k = 0; k < lanes; ++k)
        for (size_t x = 0; x < n; ++x)
            to[k * pitch + x] = from[k * n + x];
}

/* Fewer columns than are stored at once: rows pass through a buffer. */
static bool few_columns(const gp_batch_work *work, size_t y, int32_t *columns) {
    const gp_problem *p = work->problem;
    float sum[GP_BATCH_LANES * GP_BATCH_FOUR], square[GP_BATCH_LANES * GP_BATCH_FOUR];
    if (!gp_batch_compute(work, y, columns, p->sum ? sum : NULL, p->square ? square : NULL, work->map->n, NULL))
        return false;
    copy_rows(work, sum, gp_batch_output(p, p->sum, y));
    copy_rows(work, square, gp_batch_output(p, p->square, y));
    return true;
}

/* Returns how many rows are done. */
static size_t batch_at(const gp_batch_work *work, size_t y, size_t end, int32_t *columns) {
    const gp_problem *p = work->problem;
    bool done;
    if (work->map->n < GP_BATCH_FOUR)
        done = few_columns(work, y, columns);
    else
        done = gp_batch_compute(work, y, columns, gp_batch_output(p, p->sum, y), gp_batch_output(p, p->square, y),
                                p->out_pitch, NULL);
    return done ? work->kernels->lanes : gp_batch_lines(work, y, end);
}

static bool streams(const gp_problem *p) {
    const size_t n = p->col_end - p->col_first;
    return p->bytes_written >= GP_STREAMED_BYTES_MIN && (p->out_pitch == n || n >= APART_COLS_MIN);
}

static bool suits(const gp_problem *p, size_t lanes) {
    const bool gaps = p->out_pitch != p->col_end - p->col_first;
    if (p->col_first >= p->col_end || p->rows < lanes || p->cols > GP_BATCH_COLS_MAX)
        return false;
    return !streams(p) || p->cols * lanes <= (gaps ? GP_BATCH_APART_MAX : GP_BATCH_STREAMED_MAX);
}

static void rows(const void *argument, size_t first, size_t end) {
    const gp_batch_work *work = argument;
    const gp_problem *p = work->problem;
    const size_t lanes = work->kernels->lanes;
    size_t y = first;
    assert(end - first >= lanes); /* all rows, or 256 KiB and more of them: 85 of 256 columns */
    _Alignas(64) int32_t columns[(GP_BATCH_COLS_MAX + 1) * GP_BATCH_LANES];
    memset(columns + p->cols * lanes, 0, lanes * sizeof *columns);
    if (streams(p)) {
        gp_batch_stream(work, first, end, columns);
        return;
    }
    while (end - y >= lanes)
        y += batch_at(work, y, end, columns);
    if (y < end) /* with rows of the batch before, again */
        batch_at(work, end - lanes, end, columns);
}

gp_status gp_window_in_batches(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                               const gp_batch_kernels *const *kernels, gp_window_line line) {
    while (*kernels && !suits(problem, (*kernels)->lanes))
        ++kernels;
    if (!*kernels)
        return gp_window_in_lines(context, plan, problem, line);
    gp_window_map map;
    gp_window_map_columns(problem, (*kernels)->lanes, &map);
    gp_batch_work work = {*kernels, problem, &map, line};
    return gp_window_in_rows(context, plan, problem, rows, &work);
}
