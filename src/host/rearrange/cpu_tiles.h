/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the instruction-set rows of the transpose share: the order of tiles, edges, threads, in place. Rows of a tile
 * are as many as make a line of the output, 64 bytes; its columns are what a row of an instruction set's tile holds.
 */
#ifndef GP_CPU_TRANSPOSE_TILES_H
#define GP_CPU_TRANSPOSE_TILES_H

#include "../cpu/rows.h"
#include "../cpu/split.h"
#include <string.h>

#define GP_LINE 64 /* bytes in a line of the cache */

/* Rows this many bytes apart, or a multiple, meet in few sets of the caches and few banks of the memory: they crowd.
 */
#define GP_CROWDED_PITCH 4096

/* Bytes from row to row. */
typedef struct gp_matrices {
    const char *in;
    size_t in_pitch;
    char *out;
    size_t out_pitch;
} gp_matrices;

/* Transposes `tiles` neighbouring tiles of the same rows. stream: output lines are aligned and bypass the caches. */
typedef void (*gp_transpose_panel)(const gp_matrices *at, size_t tiles, bool stream);

/*
 * The same where lines of the output begin anywhere. `kept` has a line for each row of the tiles' output, what the
 * panel of rows above left of it: of both, the whole lines bypass the caches, and the tiles' own is kept.
 */
typedef void (*gp_transpose_skew)(const gp_matrices *at, size_t tiles, char *kept);

/*
 * A square of two by two tiles: `from` holds its rows, two lines each, and its columns become pairs of aligned lines
 * of the output, past the caches (skewed: joined with what is kept). Meanwhile the rows of a square at `in` are
 * copied to `to`, and for each of them is asked for what lies `rows_ahead` further down and `bytes_ahead` to the
 * right; behind the last row come those of the square to the right.
 */
typedef struct gp_transpose_square {
    const char *from;
    char *out;
    size_t out_pitch;
    const char *in;
    size_t in_pitch;
    char *to;
    size_t rows_ahead, bytes_ahead;
    char *kept; /* skewed: a line for each column, as gp_transpose_skew has it */
} gp_transpose_square;

typedef void (*gp_transpose_square_kernel)(const gp_transpose_square *square);

typedef struct gp_transpose_kernels {
    size_t row_bytes;            /* of a tile: 16, 32 or 64 */
    gp_transpose_panel panel[5]; /* for elements of 1, 2, 4, 8, 16 bytes */
    /* In place of gp_transpose_copy_rows(), or NULL. */
    void (*copy_rows)(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t rows, size_t bytes);
    /* Copies lines to aligned lines past the caches. */
    void (*stream_lines)(char *to, const char *from, size_t lines);
    gp_transpose_square_kernel square[5]; /* NULL: none */
    /* Where lines of the output begin at multiples of 4 bytes, and anywhere; squares at the former. NULL: none. */
    gp_transpose_skew skew[5], skew_anywhere[5];
    gp_transpose_square_kernel skewed_square[5];
} gp_transpose_kernels;

/*
 * Whether the output goes past the caches: also where a part's does not stay in its core's cache beside the input, 2
 * MiB together. One thread, us through the caches and past them: 512 x 512 of 4 bytes 53, 63; of 8 bytes 254, 133;
 * 700 x 700 of 4 bytes 171, 140; 1000 x 1000 of 2 bytes 237, 166.
 */
static inline bool gp_transpose_past_caches(const gp_problem *problem, unsigned parts) {
    return problem->bytes_written >= GP_STREAMED_BYTES_MIN || problem->bytes_written > (uint64_t)parts << 20;
}

static inline size_t gp_smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static inline void gp_copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t rows,
                                size_t bytes) {
    for (size_t i = 0; i < rows; ++i)
        memcpy(to + i * to_pitch, from + i * from_pitch, bytes);
}

/* As gp_copy_rows(), for rows of at most a line. */
void gp_transpose_copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t rows,
                            size_t bytes);

gp_status gp_transpose_in_tiles(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                                const gp_transpose_kernels *kernels);

#endif
