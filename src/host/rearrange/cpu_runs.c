/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transpose in tiles with one short side, past the caches: tiles go to a buffer, a run of lines of each row of the
 * output, or rows of the output that follow each other, and whole lines of it bypass the caches.
 */
#include "cpu_job.h"
#include "cpu_lines.h"

#if defined(__x86_64__)

#define BUFFER_BYTES ((size_t)16 << 10)

/* Lines of a row of the output in a run, where those are long; as many rows of it as fit the buffer, where short. */
#define RUN_LINES 4
#define RUN_ROOM (GP_LINE + RUN_LINES * GP_LINE) /* of a long row, a line in front of it */

/*
 * What comes later is asked for: panels of rows, or bytes of each row, in steps of as many columns. 24 x 166666 of 4
 * bytes 9.8 GB/s without, 256 bytes ahead 21.5, 512 20.7, 1024 19.3; 129032 x 31 18.5, 1 panel ahead 22.7, 2 22.5, 4
 * 21.6; of 16 bytes 17 x 58823 12.5, 17.2, 25.9, 25.7.
 */
#define PANELS_AHEAD 2
#define STEP_BYTES ((size_t)256)

#define LONG_ROWS_MAX (BUFFER_BYTES / RUN_ROOM)
/* Rows or bytes of a short row: 8 bytes 100 x 20000, 800, 12.7 GB/s, so 10.2; 16 bytes 64 x 15625 13.8, so 18.0. */
#define SHORT_ROWS_MAX ((size_t)64)
#define SHORT_ROW_MAX ((size_t)640)

/*
 * Long rows only if elements have more than a byte and some tiles are not whole. GB/s of memory that is in no cache,
 * before and so: 129032 x 31 of 4 bytes 8.0, 15.2, 41666 x 24 of 16 17.3, 17.5, 31 x 129032 of 4 6.3, 18.0; with AVX2
 * 9.0, 15.1, 13.9, 13.9, 7.3, 15.6.
 */
gp_runs gp_tiles_choose_runs(const gp_tiles *j) {
    const size_t row_bytes = j->rows * j->elem_bytes;
    if (j->elem_bytes > 1 && j->cols <= LONG_ROWS_MAX && j->cols % j->tile_cols != 0 &&
        j->rows > RUN_LINES * j->tile_rows)
        return GP_RUNS_OF_LONG_ROWS;
    if ((j->rows <= SHORT_ROWS_MAX || row_bytes <= SHORT_ROW_MAX) && row_bytes * j->tile_cols <= BUFFER_BYTES &&
        j->whole.out_pitch == row_bytes && j->cols * row_bytes > BUFFER_BYTES)
        return GP_RUNS_OF_SHORT_ROWS;
    return GP_RUNS_NONE;
}

/* Rows and columns of a piece into a buffer. */
static void tiles_to_buffer(const gp_tiles *j, size_t r, size_t rows, size_t c, size_t cols, char *to, size_t pitch) {
    gp_tiles piece = *j;
    piece.whole = gp_tiles_at(j, r, c);
    piece.whole.out = to;
    piece.whole.out_pitch = pitch;
    piece.stream = false;
    for (size_t k = 0; k < rows; k += j->tile_rows)
        gp_tiles_panel(&piece, k, gp_smaller(j->tile_rows, rows - k), 0, cols);
}

static void prefetch_panel(const gp_tiles *j, size_t r) {
    const char *in = j->whole.in + (r + PANELS_AHEAD * j->tile_rows) * j->whole.in_pitch;
    for (size_t k = 0; k < j->tile_rows; ++k, in += j->whole.in_pitch)
        for (size_t i = 0; i < j->cols * j->elem_bytes; i += GP_LINE)
            __builtin_prefetch(in + i);
}

static void long_rows(const gp_tiles *j, size_t r, size_t r_end) {
    _Alignas(GP_LINE) char buffer[BUFFER_BYTES], kept[LONG_ROWS_MAX * GP_LINE];
    const size_t begin = r;
    for (size_t rows; r < r_end; r += rows) {
        rows = gp_smaller(RUN_LINES * j->tile_rows, r_end - r);
        for (size_t k = 0; k < rows; k += j->tile_rows) {
            prefetch_panel(j, r + k);
            tiles_to_buffer(j, r + k, gp_smaller(j->tile_rows, rows - k), 0, j->cols,
                            buffer + GP_LINE + k * j->elem_bytes, RUN_ROOM);
        }
        for (size_t c = 0; c < j->cols; ++c)
            gp_transpose_put_run(gp_tiles_at(j, r, c).out, buffer + c * RUN_ROOM + GP_LINE, rows * j->elem_bytes,
                                 kept + c * GP_LINE, r == begin, r + rows == r_end);
    }
}

/* Of each row what the step after the one at column c takes. */
static void prefetch_rows(const gp_tiles *j, size_t c) {
    const char *in = j->whole.in + c * j->elem_bytes + STEP_BYTES;
    for (size_t r = 0; r < j->rows; ++r, in += j->whole.in_pitch)
        for (size_t k = 0; k < STEP_BYTES; k += GP_LINE)
            __builtin_prefetch(in + k);
}

static void short_rows(const gp_tiles *j, size_t c, size_t c_end) {
    _Alignas(GP_LINE) char buffer[GP_LINE + BUFFER_BYTES], kept[GP_LINE];
    const size_t begin = c, row_bytes = j->whole.out_pitch;
    const size_t most = BUFFER_BYTES / row_bytes / j->tile_cols * j->tile_cols;
    for (size_t cols; c < c_end; c += cols) {
        cols = gp_smaller(most, c_end - c);
        for (size_t k = 0; k < cols; k += STEP_BYTES / j->elem_bytes) {
            prefetch_rows(j, c + k);
            tiles_to_buffer(j, 0, j->rows, c + k, gp_smaller(cols - k, STEP_BYTES / j->elem_bytes),
                            buffer + GP_LINE + k * row_bytes, row_bytes);
        }
        gp_transpose_put_run(gp_tiles_at(j, 0, c).out, buffer + GP_LINE, cols * row_bytes, kept, c == begin,
                             c + cols == c_end);
    }
}

/* Parts begin at whole tiles. */
void gp_tiles_run_part(void *argument, unsigned part, unsigned parts) {
    const gp_tiles *j = argument;
    const bool is_long = j->runs == GP_RUNS_OF_LONG_ROWS;
    const size_t unit = is_long ? j->tile_rows : j->tile_cols, n = is_long ? j->rows : j->cols;
    const size_t begin = gp_part_begin(n / unit, part, parts) * unit;
    const size_t end = part + 1 < parts ? gp_part_begin(n / unit, part + 1, parts) * unit : n;
    (is_long ? long_rows : short_rows)(j, begin, end);
    gp_streams_done();
}

#endif
