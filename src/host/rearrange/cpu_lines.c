/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transpose by way of whole lines that bypass the caches, for elements of any size, wherever lines of the output
 * begin. A panel of rows becomes runs of the output's rows in a buffer, a group of columns at a time; of each run the
 * whole lines are written and what is left is kept until the panel below.
 */
#include "cpu_lines.h"
#include "../cpu/threads.h"
#include "cpu_quick.h"
#include <stdlib.h>
#include <string.h>

char *gp_transpose_kept_lines(gp_context *context, size_t lines) {
    size_t bytes = lines * GP_LINE;
    if (context->lines_bytes < bytes) {
        free(context->lines);
        context->lines = aligned_alloc(GP_LINE, bytes);
        context->lines_bytes = context->lines ? bytes : 0;
    }
    return context->lines;
}

#if defined(__x86_64__)
#include <emmintrin.h>

/*
 * Columns are done in strips: each begins in another page of the output. A panel's strip is done in groups of
 * columns, this many bytes of a row; what lies further ahead is asked for (4001 x 3999 elements of 3 bytes: 256
 * ahead 10.8 ms, so 9.1, in another run so 10.1, 768 ahead 10.9; of 48 bytes 256 ahead 75.3, so 71.1).
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
#define BUFFER_BYTES (GROUP_COLS_MAX * (GP_LINE + NARROW_RUN + GP_QUICK_BEHIND))

typedef struct {
    gp_matrices whole;
    gp_transpose_quick quick;
    size_t elem_bytes, rows, cols;
    size_t panel, group; /* rows, columns */
    size_t strip;        /* columns */
    char *kept;          /* so many lines a part */
} job;

/* A panel's rows r .. r + rows - 1 of a part's r_begin .. r_end - 1. */
typedef struct {
    size_t r, rows, r_begin, r_end;
} panel;

static size_t rows_of_panel(size_t bytes) {
    return bytes > GP_QUICK_BYTES_MAX ? WIDE_RUN / bytes : gp_smaller(PANEL_ROWS_MAX, NARROW_RUN / bytes / 4 * 4);
}

static void stream_line(char *to, const char *from) {
    for (size_t k = 0; k < GP_LINE; k += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(void *)(to + k), _mm_loadu_si128((const __m128i *)(const void *)(from + k)));
}

void gp_transpose_put_run(char *at, char *run, size_t bytes, char *kept, bool first, bool last) {
    size_t before = (uintptr_t)at % GP_LINE, left = before + bytes;
    char *line = at - before;
    const char *from = run - before;
    if (!first) {
        memcpy(run - GP_LINE, kept, GP_LINE);
    } else if (before > 0) {
        memcpy(at, run, GP_LINE - before);
        line += GP_LINE, from += GP_LINE, left -= GP_LINE;
    }
    for (; left >= GP_LINE; line += GP_LINE, from += GP_LINE, left -= GP_LINE)
        stream_line(line, from);
    if (last)
        memcpy(line, from, left);
    else
        memcpy(kept, run + bytes - GP_LINE, GP_LINE);
}

/* Columns from c on, at most a group's and not past c_end. */
static void do_group(const job *j, const panel *p, size_t c, size_t c_end, char *kept) {
    _Alignas(GP_LINE) char buffer[BUFFER_BYTES];
    size_t bytes = j->elem_bytes, pitch = GP_LINE + j->panel * bytes + GP_QUICK_BEHIND;
    size_t cols = gp_smaller(j->group, c_end - c),
           ahead_end = gp_smaller(AHEAD_BYTES + cols * bytes, (c_end - c) * bytes);
    const char *in = j->whole.in + p->r * j->whole.in_pitch + c * bytes;
    for (size_t k = 0; k < p->rows; ++k)
        for (size_t ahead = AHEAD_BYTES; ahead < ahead_end; ahead += GP_LINE)
            __builtin_prefetch(in + k * j->whole.in_pitch + ahead);
    gp_matrices to_buffer = {in, j->whole.in_pitch, buffer + GP_LINE, pitch};
    j->quick(&to_buffer, p->rows, cols, bytes);
    char *out = j->whole.out + c * j->whole.out_pitch + p->r * bytes;
    for (size_t k = 0; k < cols; ++k)
        gp_transpose_put_run(out + k * j->whole.out_pitch, buffer + k * pitch + GP_LINE, p->rows * bytes,
                             kept + k * GP_LINE, p->r == p->r_begin, p->r + p->rows == p->r_end);
}

/* A panel's columns c .. c_end - 1. */
static void do_panel(const job *j, const panel *p, size_t c, size_t c_end, char *kept) {
    for (; c < c_end; c += gp_smaller(j->group, c_end - c), kept += j->group * GP_LINE)
        do_group(j, p, c, c_end, kept);
}

/* Parts have whole panels, and the last of them what is left, or columns: of rows or columns whichever are more. */
static void do_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    size_t panels = j->rows / j->panel;
    panel p = {.r_begin = 0, .r_end = j->rows};
    size_t c_begin = 0, c_end = j->cols;
    if (j->rows >= j->cols) {
        p.r_begin = gp_part_begin(panels, part, parts) * j->panel;
        p.r_end = part + 1 < parts ? gp_part_begin(panels, part + 1, parts) * j->panel : j->rows;
    } else {
        c_begin = gp_part_begin(j->cols, part, parts);
        c_end = gp_part_begin(j->cols, part + 1, parts);
    }
    char *kept = j->kept + part * j->strip * GP_LINE;
    for (size_t c = c_begin; c < c_end; c += j->strip)
        for (p.r = p.r_begin; p.r < p.r_end; p.r += j->panel) {
            p.rows = gp_smaller(j->panel, p.r_end - p.r);
            do_panel(j, &p, c, gp_smaller(c_end, c + j->strip), kept);
        }
    gp_streams_done();
}

bool gp_transpose_by_lines(gp_context *context, const gp_problem *problem, unsigned parts) {
    size_t bytes = problem->elem_bytes;
    if (bytes > GROUP_BYTES || !gp_transpose_past_caches(problem, parts))
        return false;
    job j = {.whole = {problem->in, problem->in_pitch * bytes, problem->out, problem->out_pitch * bytes},
             .quick = gp_transpose_quick_of(bytes),
             .elem_bytes = bytes,
             .rows = problem->rows,
             .cols = problem->cols,
             .panel = rows_of_panel(bytes),
             .group = gp_smaller(GROUP_COLS_MAX, GROUP_BYTES / bytes),
             .strip = gp_smaller(problem->cols, STRIP)};
    if (problem->rows < 2 * j.panel)
        return false;
    j.kept = gp_transpose_kept_lines(context, parts * j.strip);
    if (j.kept)
        gp_threads_run(context, parts, do_part, &j);
    return j.kept != NULL;
}

#endif
