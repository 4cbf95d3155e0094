/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transpose by way of whole lines that bypass the caches, for elements of any size, wherever lines of the output
 * begin. A panel of rows becomes runs of the output's rows in a buffer, a group of columns at a time; of each run the
 * whole lines are written and what is left is kept until the panel below.
 */
#include "cpu_job.h"

/*
 * Columns are done in strips: each begins in another page of the output. A panel's strip is done in groups of
 * columns, this many bytes of a row. What lies AHEAD_BYTES further is prefetched: 4001 x 3999 elements of 3 bytes
 * take 10.8 ms with 256 of them and 9.1 ms with 512.
 */
#define STRIP ((size_t)2048)
#define GROUP_BYTES ((size_t)256)
#define GROUP_COLS_MAX ((size_t)64)
#define AHEAD_BYTES ((size_t)512)

/*
 * Rows of a panel: of elements up to 16 bytes, which are copied four rows at a time, as many fours as make runs
 * of 256 bytes, but the processor does not follow many. Of wider ones as many as make runs of 512 bytes.
 */
#define NARROW_RUN ((size_t)256)
#define WIDE_RUN ((size_t)512)
#define PANEL_ROWS_MAX ((size_t)64)

/* A column's room: the line kept, the run, what lies behind it. Wide elements have more room, but fewer columns. */
#define BUFFER_BYTES (GROUP_COLS_MAX * (GP_CACHE_LINE + NARROW_RUN + GP_QUICK_BEHIND))

typedef struct {
    gp_transpose_job base;
    gp_transpose_quick quick;
    size_t panel, group; /* rows, columns */
} job;

/* A panel's rows r .. r + rows - 1 of a part's r_begin .. r_end - 1. */
typedef struct {
    size_t r, rows, r_begin, r_end;
} panel;

static size_t rows_of_panel(size_t bytes) {
    return bytes > GP_QUICK_BYTES_MAX ? WIDE_RUN / bytes : gp_least(PANEL_ROWS_MAX, NARROW_RUN / bytes / 4 * 4);
}

/* Columns from c on, at most a group's and not past c_end. */
static void do_group(const job *j, const panel *p, size_t c, size_t c_end, char *kept) {
    _Alignas(GP_CACHE_LINE) char buffer[BUFFER_BYTES];
    size_t bytes = j->base.elem_bytes, pitch = GP_CACHE_LINE + j->panel * bytes + GP_QUICK_BEHIND;
    size_t cols = gp_least(j->group, c_end - c),
           ahead_end = gp_least(AHEAD_BYTES + cols * bytes, (c_end - c) * bytes);
    const char *in = j->base.whole.in + p->r * j->base.whole.in_pitch + c * bytes;
    for (size_t k = 0; k < p->rows; ++k)
        for (size_t ahead = AHEAD_BYTES; ahead < ahead_end; ahead += GP_CACHE_LINE)
            __builtin_prefetch(in + k * j->base.whole.in_pitch + ahead);
    gp_matrices to_buffer = {in, j->base.whole.in_pitch, buffer + GP_CACHE_LINE, pitch};
    j->quick(&to_buffer, p->rows, cols, bytes);
    char *out = j->base.whole.out + c * j->base.whole.out_pitch + p->r * bytes;
    for (size_t k = 0; k < cols; ++k)
        gp_transpose_put_run(out + k * j->base.whole.out_pitch, buffer + k * pitch + GP_CACHE_LINE, p->rows * bytes,
                             kept + k * GP_CACHE_LINE, p->r == p->r_begin, p->r + p->rows == p->r_end);
}

/* A panel's columns c .. c_end - 1. */
static void do_panel(const job *j, const panel *p, size_t c, size_t c_end, char *kept) {
    for (; c < c_end; c += gp_least(j->group, c_end - c), kept += j->group * GP_CACHE_LINE)
        do_group(j, p, c, c_end, kept);
}

static void do_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    gp_rectangle at;
    (void)parts;
    for (unsigned share = GP_SHARE_NONE; gp_transpose_next(&j->base, part, &share, &at);) {
        const size_t c_end = at.c + at.cols;
        panel p = {.r_begin = at.r, .r_end = at.r + at.rows};
        for (size_t c = at.c; c < c_end; c += STRIP)
            for (p.r = p.r_begin; p.r < p.r_end; p.r += j->panel) {
                p.rows = gp_least(j->panel, p.r_end - p.r);
                do_panel(j, &p, c, gp_least(c_end, c + STRIP), j->base.kept + part * j->base.kept_bytes);
            }
    }
    gp_streams_done();
}

bool gp_transpose_lines_supports(const gp_problem *problem) {
    const size_t bytes = problem->elem_bytes;
    return !problem->in_place && bytes <= GROUP_BYTES && gp_transpose_past_caches(problem) &&
           problem->rows >= 2 * rows_of_panel(bytes);
}

gp_status gp_launch_transpose_lines_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const size_t bytes = problem->elem_bytes;
    const unsigned parts = gp_transpose_parts(context, plan, problem);
    job j = {.base = gp_transpose_job_of(problem),
             .quick = gp_transpose_quick_of(bytes),
             .panel = rows_of_panel(bytes),
             .group = gp_least(GROUP_COLS_MAX, GROUP_BYTES / bytes)};
    if (!gp_transpose_keep_lines(context, parts, &j.base, gp_least(problem->cols, STRIP)))
        return gp_launch_transpose_cpu(context, plan, problem);
    gp_transpose_run(context, parts, &j.base, do_part);
    return GP_OK;
}
