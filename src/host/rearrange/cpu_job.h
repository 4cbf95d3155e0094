/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose in tiles under way: what transpose_tiles.c and transpose_skew.c share. */
#ifndef GP_CPU_TRANSPOSE_JOB_H
#define GP_CPU_TRANSPOSE_JOB_H

#include "cpu_tiles.h"

/*
 * Where the output's rows are an even number of lines apart, and for wide elements, two panels are done at once and
 * lines written in pairs. Lines alone would all be even ones, and then all odd ones, and such writes run at half the
 * rate (64 MiB in steps of 2 lines 5.0 ms, of 1 or 3 lines 2.6). With AVX2, 4128 x 4128 elements of 4 bytes took 6.8
 * ms so, 7.6 without; 2064 x 4080 of 16 bytes, with what lies ahead asked for, 14.9, 19.6. Elements of 4 bytes are
 * slower so at odd distances (4112 x 4080: 6.0, 7.7), narrow ones where nothing crowds (8256 x 8256 of 1 byte: 9.3,
 * 12.6).
 */
#define GP_PAIR 2

/* Of a row of the output each, or of as many rows of it as follow each other without gaps. */
typedef enum gp_runs { GP_RUNS_NONE, GP_RUNS_OF_LONG_ROWS, GP_RUNS_OF_SHORT_ROWS } gp_runs;

typedef struct gp_tiles {
    gp_matrices whole;
    gp_transpose_panel panel;
    size_t elem_bytes, rows, cols;
    size_t tile_rows, tile_cols;
    size_t strip; /* columns */
    size_t head;  /* rows before the first whole line of the output */
    bool stream;
    bool wide;     /* stream, 8 or 16 bytes, and rows of the output do not crowd */
    bool in_pairs; /* stream, and as choose_pairs() tells */
    bool even;     /* the output's rows are an even number of lines apart: pairs begin in even lines too */
    void (*copy_rows)(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t rows, size_t bytes);
    void (*stream_lines)(char *to, const char *from, size_t lines);
    gp_transpose_square_kernel square; /* NULL: none; else in_pairs or skew */
    gp_transpose_skew skew; /* NULL unless lines of the output begin anywhere and are to bypass the caches */
    size_t kept_lines;
    char *kept; /* so many lines a part; the context's */
    gp_runs runs;
    gp_shares *shares;
} gp_tiles;

/* The matrices from element (r, c) on. */
static inline gp_matrices gp_tiles_at(const gp_tiles *j, size_t r, size_t c) {
    gp_matrices m = j->whole;
    m.in += r * m.in_pitch + c * j->elem_bytes;
    m.out += c * m.out_pitch + r * j->elem_bytes;
    return m;
}

/* Rows r .. r + rows - 1, at most a tile's, of columns c .. c_end - 1. */
void gp_tiles_panel(const gp_tiles *j, size_t r, size_t rows, size_t c, size_t c_end);

/* Rows r .. r + rows - 1, columns c .. c + cols - 1, at most a tile, through a buffer. */
void gp_tiles_edge(const gp_tiles *j, size_t r, size_t rows, size_t c, size_t cols);

/*
 * Two panels from row r on, columns c .. c_end - 1, in squares of two by two tiles; kept: as gp_transpose_square has
 * it, or NULL. Returns how many columns are done.
 */
size_t gp_tiles_squares(const gp_tiles *j, size_t r, size_t c, size_t c_end, char *kept);

/*
 * Where lines of the output begin anywhere. Strips of like length. Without memory for the lines to be kept it is done
 * as where there is no kernel.
 */
void gp_tiles_prepare_skew(gp_tiles *j, gp_context *context, const gp_transpose_kernels *kernels, unsigned parts);

/* Rows r .. r_end - 1, columns c .. c_end - 1, so prepared. */
void gp_tiles_skewed(const gp_tiles *j, size_t r, size_t r_end, size_t c, size_t c_end, char *kept);

/* Past the caches, with one side short: whether in runs, by gp_tiles_run_part(), a gp_part_function for j. */
#if defined(__x86_64__)
gp_runs gp_tiles_choose_runs(const gp_tiles *j);
void gp_tiles_run_part(void *j, unsigned part, unsigned parts);
#else
static inline gp_runs gp_tiles_choose_runs(const gp_tiles *j) {
    (void)j;
    return GP_RUNS_NONE;
}
static inline void gp_tiles_run_part(void *j, unsigned part, unsigned parts) {
    (void)j, (void)part, (void)parts;
}
#endif

#endif
