/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose under way on the processor: what its kernels share. */
#pragma once

#include "../cpu/rows.h"
#include "../rearrange_array/walk.h"
#include <string.h>

/* Bytes from row to row. */
typedef struct gp_matrices {
    const char *in;
    size_t in_pitch;
    char *out;
    size_t out_pitch;
} gp_matrices;

typedef struct gp_transpose_job {
    gp_matrices whole;
    size_t elem_bytes, rows, cols;
    void (*share)(const struct gp_transpose_job *job, unsigned part, const gp_matrices *m, size_t rows, size_t cols);
} gp_transpose_job;

/*
 * Whether the output goes past the caches, however many threads there are: what one thread has written need not be
 * fetched from its core's cache when another writes there next.
 */
static inline bool gp_transpose_past_caches(const gp_problem *problem) {
    return problem->bytes_written > (uint64_t)1 << 22;
}

/* The matrices from element (r, c) on. */
static inline gp_matrices gp_matrices_at(gp_matrices m, size_t r, size_t c, size_t elem_bytes) {
    m.in += r * m.in_pitch + c * elem_bytes;
    m.out += c * m.out_pitch + r * elem_bytes;
    return m;
}

static inline void gp_copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t rows,
                                size_t bytes) {
    for (size_t i = 0; i < rows; ++i)
        memcpy(to + i * to_pitch, from + i * from_pitch, bytes);
}

/* Through a buffer of any size. */
static inline void gp_swap_bytes(void *a, void *b, size_t bytes) {
    char held[256];
    for (size_t at = 0, n; at < bytes; at += n) {
        n = gp_least(bytes - at, sizeof held);
        memcpy(held, (char *)a + at, n);
        memcpy((char *)a + at, (char *)b + at, n);
        memcpy((char *)b + at, held, n);
    }
}

/* Rows of the output so short, and without gaps between them, are done in runs of several. */
static inline bool gp_transpose_has_short_rows(size_t rows, size_t elem_bytes) {
    return rows * elem_bytes <= 640;
}

gp_transpose_job gp_transpose_job_of(const gp_problem *problem);

/* Threads to use, as gp_threads_worth() says. */
unsigned gp_transpose_parts(gp_context *context, const gp_plan *plan, const gp_problem *problem);

/* A rectangle of the matrix, which a part has to do: whole units of rows or of columns, the last what is left too. */
typedef void gp_transpose_share(const gp_transpose_job *job, unsigned part, const gp_matrices *m, size_t rows,
                                size_t cols);

/* The whole matrix, share by share. */
void gp_transpose_run(gp_context *context, unsigned parts, gp_transpose_job *job, gp_transpose_share *share);

/* Aligned lines for each part, or NULL. They stay with the context: new ones would be faulted in at every call. */
char *gp_keep_lines(gp_context *context, unsigned parts, size_t lines);

/*
 * Writes a run of `bytes` to `at`, which continues the line in `kept` unless it is a part's first. Whole lines go
 * past the caches, what is in front of the first and behind the last does not. A first run is a line at least. There
 * is room for a line in front of each run.
 */
void gp_transpose_put_run(char *at, char *run, size_t bytes, char *kept, bool first, bool last);

/* out[c][r] = in[r][c] of a small matrix, and nothing is written besides. But for `cpu`, of 1, 2, 4, 8, 16 bytes. */
typedef void gp_transpose_turn(const gp_matrices *at, size_t rows, size_t cols, size_t bytes);

gp_transpose_turn gp_transpose_turn_cpu, gp_transpose_turn_avx512, gp_transpose_turn_avx2, gp_transpose_turn_neon;

/* One that is faster: of elements up to GP_QUICK_BYTES_MAX up to 16 bytes of anything follow each row of the output.
 */
gp_transpose_turn gp_transpose_quick;

#define GP_QUICK_BYTES_MAX ((size_t)16)
#define GP_QUICK_BEHIND ((size_t)16)

/* n elements of any size, `step` bytes from each other, from such that are `apart`, in whichever direction. */
void gp_gather(char *to, size_t step, const unsigned char *from, int64_t apart, size_t n, size_t bytes);

/* Portable C does shorter rows of the output better in squares, and longer elements one by one. */
#define GP_SHORT_DIRECT 384
#define GP_DIRECT_BYTES ((size_t)256)

/*
 * Of a matrix in a wider sense: a walk along some axes comes to its rows, wherever they are in the input, one along
 * others to its columns, wherever in the output. A row has no gaps in the input; `run` rows at a time become runs
 * without gaps of the output. Rows `begin` to begin + rows - 1 of columns `first` to first + cols - 1 are transposed
 * in whole lines that go past the caches. Elements have 1, 2, 4, 8, 16 bytes, rows at least 16.
 */
typedef struct gp_strip {
    const gp_move *along, *across;
    const unsigned char *in;
    unsigned char *out;
    size_t run, begin, rows, first, cols;
    void *memory; /* gp_strip_lines() */
} gp_strip;

/* Columns of a strip whose rows are copied from memory well, and whose lines stay in the cache. */
static inline size_t gp_strip_cols(size_t elem_bytes) {
    return gp_least(8192 / elem_bytes, 4096);
}

/* A line and a pointer for each of so many columns. */
static inline size_t gp_strip_lines(size_t cols) {
    return cols + cols / 8 + 1;
}

typedef void gp_transpose_put_strip(size_t bytes, const gp_strip *strip);

gp_transpose_put_strip gp_transpose_strip_avx512, gp_transpose_strip_avx2, gp_transpose_strip_neon;

/* Moves of views by way of runs of the output (rearrange_array/cpu_runs.c), of large ones in strips unless NULL. */
gp_status gp_rearrange_in_runs(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                               gp_transpose_turn *turn, gp_transpose_put_strip *by_strips);

/* A matrix as such a move. */
gp_status gp_transpose_in_runs(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                               gp_transpose_turn *turn, gp_transpose_put_strip *by_strips);

/* What rows can do; transpose_cpu does everything. */
bool gp_transpose_thin_supports(const gp_problem *problem);       /* one side of a few elements */
bool gp_transpose_lines_simd_supports(const gp_problem *problem); /* output past the caches */
bool gp_transpose_tiles_supports(const gp_problem *problem);      /* elements of 1, 2, 4, 8, 16 bytes */
bool gp_transpose_lines_supports(const gp_problem *problem);      /* output past the caches, up to 256 bytes */

GP_DECLARE_SIMD_LAUNCHERS(transpose_thin);
GP_DECLARE_SIMD_LAUNCHERS(transpose_lines);
GP_DECLARE_SIMD_LAUNCHERS(transpose_tiles);
GP_DECLARE_SIMD_LAUNCHERS(rearrange_array);
GP_DECLARE_LAUNCHER(gp_launch_transpose_lines_cpu);
GP_DECLARE_LAUNCHER(gp_launch_transpose_cpu);
