/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose in tiles whose output's lines begin anywhere: whole lines are joined from two panels. */
#include "cpu_job.h"
#include "cpu_lines.h"

/*
 * Lines of the output that are kept from panel to panel where they begin anywhere: as many columns are done at once.
 * 4001 x 3999 elements of 4 bytes took 7.6 ms with 1024 and 6.3 with 4096; 8003 x 8001 of 1 byte 1.05, of 2 bytes 1.0
 * to 1.09 times as long with 4096. The second-level cache holds them.
 */
#define KEPT_LINES_MAX 8192

/* Bytes from an address to the next line. */
static size_t to_line(const char *at) {
    return (0 - (uintptr_t)at) % GP_LINE;
}

/*
 * Whole tiles from (r, c) to row r_end where lines of the output begin anywhere. All that lies between lines goes
 * past the caches; what lies before the first and after the last does not.
 */
static void do_skewed_tiles(const gp_tiles *j, size_t r, size_t r_end, size_t c, size_t tiles, char *kept) {
    gp_matrices m = gp_tiles_at(j, r, c), first = {m.in, m.in_pitch, kept, GP_LINE};
    size_t lines = tiles * j->tile_cols;
    j->panel(&first, tiles, false);
    for (size_t i = 0; i < lines; ++i)
        memcpy(m.out + i * m.out_pitch, kept + i * GP_LINE, to_line(m.out + i * m.out_pitch));
    r += j->tile_rows;
    for (; j->square && r + GP_PAIR * j->tile_rows <= r_end; r += GP_PAIR * j->tile_rows) {
        size_t done = gp_tiles_squares(j, r, c, c + lines, kept);
        for (size_t k = 0; k < GP_PAIR && done < lines; ++k) {
            m = gp_tiles_at(j, r + k * j->tile_rows, c + done);
            j->skew(&m, (lines - done) / j->tile_cols, kept + done * GP_LINE);
        }
    }
    for (; r < r_end; r += j->tile_rows) {
        m = gp_tiles_at(j, r, c);
        j->skew(&m, tiles, kept);
    }
    m = gp_tiles_at(j, r_end - j->tile_rows, c);
    for (size_t i = 0; i < lines; ++i) {
        char *end = m.out + i * m.out_pitch + GP_LINE;
        size_t rest = GP_LINE - to_line(end);
        memcpy(end - rest, kept + i * GP_LINE + GP_LINE - rest, rest);
    }
}

void gp_tiles_skewed(const gp_tiles *j, size_t r, size_t r_end, size_t c, size_t c_end, char *kept) {
    size_t tiles_end = c_end - c_end % j->tile_cols, full_end = r_end - (r_end - r) % j->tile_rows;
    for (size_t strip = c, length; strip < tiles_end && r < full_end; strip += length) {
        length = gp_smaller(tiles_end - strip, j->kept_lines);
        do_skewed_tiles(j, r, full_end, strip, length / j->tile_cols, kept);
    }
    for (size_t k = r; k < full_end && tiles_end < c_end; k += j->tile_rows)
        gp_tiles_edge(j, k, j->tile_rows, tiles_end, c_end - tiles_end);
    for (size_t k = c; k < c_end && full_end < r_end; k += j->tile_cols)
        gp_tiles_edge(j, full_end, r_end - full_end, k, gp_smaller(j->tile_cols, c_end - k));
}

void gp_tiles_prepare_skew(gp_tiles *j, gp_context *context, const gp_transpose_kernels *kernels, unsigned parts) {
    const bool anywhere = (uintptr_t)j->whole.out % 4 != 0 || j->whole.out_pitch % 4 != 0;
    const int kind = __builtin_ctzll(j->elem_bytes);
    gp_transpose_skew skew = anywhere ? kernels->skew_anywhere[kind] : kernels->skew[kind];
    if (!skew)
        return;
    size_t strips = (j->cols + KEPT_LINES_MAX - 1) / KEPT_LINES_MAX, length = j->cols / strips + 1;
    j->kept_lines = (length + j->tile_cols - 1) / j->tile_cols * j->tile_cols;
    j->kept = gp_transpose_kept_lines(context, parts * j->kept_lines);
    j->skew = j->kept ? skew : NULL;
    j->square = j->skew && !anywhere ? kernels->skewed_square[kind] : NULL;
}
