/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor kernels of transposes share: shares of the work, lines kept, runs of lines written. */
#include "cpu_job.h"
#include <stdlib.h>

/* Bytes of a row of the input or the output that a share has at least. */
#define UNIT_BYTES ((size_t)256)

/* A share that is a band of rows keeps the strips of columns as wide as they are; its rows have at least so many
 * bytes. */
#define BAND_BYTES ((size_t)512)

/* A share that a thread takes of another's has at least so many bytes a row: narrower ones leave nothing to a
 * processor's own prefetching. */
#define SHARE_BYTES ((size_t)2048)

/* Of one thread, past its core's own cache. */
#define BYTES_A_NS 15

gp_transpose_job gp_transpose_job_of(const gp_problem *problem) {
    const size_t bytes = problem->elem_bytes;
    return (gp_transpose_job){
        .whole = {problem->in, problem->in_pitch * bytes, problem->out, problem->out_pitch * bytes},
        .elem_bytes = bytes,
        .rows = problem->rows,
        .cols = problem->cols};
}

/* Rows before the first whole lines of the output, from row r on. */
static size_t rows_to_line(const gp_transpose_job *job, size_t r) {
    return (0 - (uintptr_t)(job->whole.out + r * job->elem_bytes)) % (2 * GP_CACHE_LINE) / job->elem_bytes;
}

/* Where share number `share` of `count` rows or columns begins: a whole number of units, the last has the rest. */
static size_t share_begin(size_t count, size_t unit, unsigned share, unsigned shares) {
    return share == shares ? count : gp_part_begin(count / unit, share, shares) * unit;
}

/* All rows of the output begin at one place of a line, so that a band of rows can begin and end with whole lines. */
static bool is_aligned(const gp_transpose_job *job) {
    return job->whole.out_pitch % GP_CACHE_LINE == 0;
}

static void do_share(void *argument, unsigned part, unsigned share, unsigned shares) {
    const gp_transpose_job *job = argument;
    const size_t unit = job->elem_bytes < UNIT_BYTES ? UNIT_BYTES / job->elem_bytes : 1;
    size_t r = 0, c = 0, rows = job->rows, cols = job->cols;
    const bool bands = is_aligned(job) && rows * job->elem_bytes >= shares * BAND_BYTES;
    if ((cols >= rows && !bands) || rows / unit < shares) {
        c = share_begin(job->cols, unit, share, shares);
        cols = share_begin(job->cols, unit, share + 1, shares) - c;
    } else {
        r = share_begin(job->rows, unit, share, shares);
        size_t end = share_begin(job->rows, unit, share + 1, shares);
        r += share > 0 ? rows_to_line(job, r) : 0;
        end = share + 1 < shares ? gp_least(job->rows, end + rows_to_line(job, end)) : end;
        rows = end - r;
    }
    const gp_matrices m = gp_matrices_at(job->whole, r, c, job->elem_bytes);
    if (rows > 0 && cols > 0)
        job->share(job, part, &m, rows, cols);
}

unsigned gp_transpose_parts(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_threads_worth(context, plan->tiling.blocks,
                            (problem->bytes_read + problem->bytes_written) / BYTES_A_NS);
}

void gp_transpose_run(gp_context *context, unsigned parts, gp_transpose_job *job, gp_transpose_share *share) {
    const uint64_t wide = (job->rows > job->cols ? job->rows : job->cols) * job->elem_bytes / SHARE_BYTES;
    job->share = share;
    gp_threads_share(context, parts, is_aligned(job) ? wide * GP_SHARE_BYTES_MIN : 0, do_share, job);
}

char *gp_keep_lines(gp_context *context, unsigned parts, size_t lines) {
    const size_t bytes = parts * lines * GP_CACHE_LINE;
    if (context->lines_bytes < bytes) {
        free(context->lines);
        context->lines = aligned_alloc(GP_CACHE_LINE, bytes);
        context->lines_bytes = context->lines ? bytes : 0;
    }
    return context->lines;
}

void gp_transpose_put_run(char *at, char *run, size_t bytes, char *kept, bool first, bool last) {
    size_t before = (uintptr_t)at % GP_CACHE_LINE, left = before + bytes;
    char *line = at - before;
    const char *from = run - before;
    if (!first && before > 0) {
        memcpy(run - GP_CACHE_LINE, kept, GP_CACHE_LINE);
    } else if (before > 0) {
        memcpy(at, run, GP_CACHE_LINE - before);
        line += GP_CACHE_LINE, from += GP_CACHE_LINE, left -= GP_CACHE_LINE;
    }
    for (; left >= GP_CACHE_LINE; line += GP_CACHE_LINE, from += GP_CACHE_LINE, left -= GP_CACHE_LINE)
        gp_stream_line(line, from);
    if (last)
        memcpy(line, from, left);
    else if (left > 0)
        memcpy(kept, run + bytes - GP_CACHE_LINE, GP_CACHE_LINE);
}
