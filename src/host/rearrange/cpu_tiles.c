/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose in tiles: their order, edges, threads. */
#include "../cpu/threads.h"
#include "cpu_job.h"
#include "cpu_lines.h"
#include <string.h>

/*
 * Columns, in bytes, that are done for all rows before the next. The input is read in rows of this length, the output
 * written a line here and there: 4112 x 4080 elements of 4 bytes took 8.8 ms so, 14.0 ms with 2 KiB, 13.3 with 64
 * KiB. In wide elements twice as many: 2064 x 4080 of 16 bytes 14.9 ms with 8 KiB, so 13.4.
 */
#define STRIP_BYTES ((size_t)8192)

/*
 * The same in squares (below), in columns: each begins in another page of the output. In huge pages twice as many
 * change nothing; in small ones 8192 x 16384 of 4 bytes took 75 ms with 8192, so 57, and 8192 x 8192 of 2 bytes 23.6,
 * so 16.8. Half as many: 4128 x 4128 of 4 bytes 5.4 ms, so 5.1; 2064 x 4080 of 16 bytes 10.2, so 10.0.
 */
#define SQUARES_STRIP ((size_t)4096)

/*
 * Through the caches two lines, if the output is larger than this, or its lines are shared with the next panel and
 * stored in one piece: us with 8 KiB and so, 512 x 512 of 4 bytes 65.7, 53.3; with AVX-512 255 x 257 16.7, 13.1; 240
 * x 240 at a pitch of 241 11.5, 7.9; 500 x 500 59.7, 44.4. But of 16 bytes, 100 x 100, 5.4, 6.6; aligned, 256 x
 * 256, 7.9, 9.1; in halves of a line with AVX2 255 x 257 14.3, 15.0.
 */
#define CACHED_STRIP_BYTES ((size_t)128)
#define CACHED_LONG_MAX ((uint64_t)512 << 10)

/*
 * Rows further down that are asked for where rows crowd, for elements of 1, 2, 4, 8, 16 bytes. A square of 32 rows
 * and less the processor follows, and the rows share one or two sets of the first-level cache, 12 lines each: with 2
 * rows 4096 x 4096 of 4 bytes took 5.7 ms, with 16 6.1. More it does not: 8192 x 8192 of 2 bytes 21.4 ms with 2, 12.6
 * with 16; of 1 byte 11.3 with 8, 8.4 with 16.
 */
static const size_t crowded_rows_ahead[] = {16, 24, 2, 2, 2};

/*
 * Where lines of the output begin anywhere and there is no kernel for that, elements this wide go to
 * gp_transpose_by_lines(). With AVX2 4001 x 3999 of 8 bytes took 24.5 ms through the caches, so 18.9; of 16 47.5, so
 * 27.9; of 4 12.5, so 11.3, but in small pages 14.7, so 15.9. 8003 x 8001 of 2, 1 bytes take 1.4, 2 times as long so.
 */
#define BY_LINES_MIN 8

/*
 * Through the caches, with fewer rows than so many tiles have, the first panel is not shortened so that the others
 * begin at whole lines: output 16 bytes into a line, as malloc gives it, us, 64 x 64 of 4 bytes 0.62, so 0.37; 256 x
 * 256, with 64 tiles, 8.2, 10.6.
 */
#define HEAD_TILES_MIN 8

/* So many are copied one by one rather than as part of a tile. */
#define FEW_ELEMENTS 4

/* Two pieces a row, which may overlap; `piece` is a constant wherever this is inlined. */
static inline __attribute__((always_inline)) void
copy_pieces(size_t piece, char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t rows, size_t bytes) {
    for (; rows > 0; --rows, to += to_pitch, from += from_pitch) {
        memcpy(to, from, piece);
        memcpy(to + bytes - piece, from + bytes - piece, piece);
    }
}

/* With a call of memcpy for each row 24 x 24 of 4 bytes took 0.21 us, so 0.18. */
void gp_transpose_copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t rows,
                            size_t bytes) {
    if (bytes >= 32)
        copy_pieces(32, to, to_pitch, from, from_pitch, rows, bytes);
    else if (bytes >= 16)
        copy_pieces(16, to, to_pitch, from, from_pitch, rows, bytes);
    else if (bytes >= 8)
        copy_pieces(8, to, to_pitch, from, from_pitch, rows, bytes);
    else if (bytes >= 4)
        copy_pieces(4, to, to_pitch, from, from_pitch, rows, bytes);
    else if (bytes >= 2)
        copy_pieces(2, to, to_pitch, from, from_pitch, rows, bytes);
    else
        copy_pieces(1, to, to_pitch, from, from_pitch, rows, bytes);
}

/* The transpose of a tile, or of rows x cols of it at the matrix's edge, into a buffer. */
static void tile_to_buffer(const gp_tiles *j, const gp_matrices *m, size_t rows, size_t cols, char *buffer) {
    char part[GP_LINE * GP_LINE];
    gp_matrices whole = {m->in, m->in_pitch, buffer, GP_LINE};
    if (rows < j->tile_rows || cols < j->tile_cols) {
        j->copy_rows(part, GP_LINE, m->in, m->in_pitch, rows, cols * j->elem_bytes);
        whole.in = part;
        whole.in_pitch = GP_LINE;
    }
    j->panel(&whole, 1, false);
}

void gp_tiles_edge(const gp_tiles *j, size_t r, size_t rows, size_t c, size_t cols) {
    char buffer[GP_LINE * GP_LINE];
    gp_matrices m = gp_tiles_at(j, r, c);
    if (rows * cols <= FEW_ELEMENTS) {
        for (size_t k = 0; k < rows; ++k)
            gp_copy_rows(m.out + k * j->elem_bytes, m.out_pitch, m.in + k * m.in_pitch, j->elem_bytes, cols,
                         j->elem_bytes);
        return;
    }
    tile_to_buffer(j, &m, rows, cols, buffer);
    j->copy_rows(m.out, m.out_pitch, buffer, GP_LINE, cols, rows * j->elem_bytes);
}

void gp_tiles_panel(const gp_tiles *j, size_t r, size_t rows, size_t c, size_t c_end) {
    if (rows == j->tile_rows) {
        gp_matrices m = gp_tiles_at(j, r, c);
        size_t tiles = (c_end - c) / j->tile_cols;
        j->panel(&m, tiles, j->stream);
        c += tiles * j->tile_cols;
    }
    for (; c < c_end; c += j->tile_cols)
        gp_tiles_edge(j, r, rows, c, gp_smaller(c_end - c, j->tile_cols));
}

/*
 * The same rows of the next square. A line has 64 rows of 1-byte elements or 32 of 2: more than the processor follows
 * by itself (8192 x 8192 of 1 byte 12.1 ms, so 9.2; of 2 bytes 29.5, so 19.6; of 4 bytes 51.2, but so 54.9). Few rows
 * of wide elements are done sooner: there, the fourth square.
 */
static void prefetch_square(const gp_tiles *j, const gp_matrices *m) {
    size_t length = GP_PAIR * j->tile_cols * j->elem_bytes, ahead = j->wide ? 4 * length : length;
    for (size_t k = 0; k < j->tile_rows && (j->wide || j->elem_bytes < 4); ++k)
        for (size_t next = ahead; next < ahead + length; next += GP_LINE)
            __builtin_prefetch(m->in + k * m->in_pitch + next);
}

/* Two panels of full tiles in squares of two by two tiles, by way of the first-level cache. */
static void do_panel_pair(const gp_tiles *j, size_t r, size_t c, size_t c_end) {
    _Alignas(GP_LINE) char buffer[GP_PAIR * GP_LINE * GP_PAIR * GP_LINE];
    size_t cols = GP_PAIR * j->tile_cols;
    for (; c + cols <= c_end; c += cols) {
        gp_matrices m = gp_tiles_at(j, r, c), to_buffer = {m.in, m.in_pitch, buffer, GP_PAIR * GP_LINE};
        for (size_t k = 0; k < GP_PAIR; ++k) {
            prefetch_square(j, &to_buffer);
            j->panel(&to_buffer, GP_PAIR, false);
            to_buffer.in += j->tile_rows * m.in_pitch;
            to_buffer.out += GP_LINE;
        }
        for (size_t k = 0; k < cols; ++k)
            j->stream_lines(m.out + k * m.out_pitch, buffer + k * GP_PAIR * GP_LINE, GP_PAIR);
    }
    gp_tiles_panel(j, r, j->tile_rows, c, c_end);
    gp_tiles_panel(j, r + j->tile_rows, j->tile_rows, c, c_end);
}

/*
 * The same in squares, each copied from the input while the one before is written. What lies ahead is asked for:
 * where rows do not crowd the next square, of few rows of wide elements the second. Times the speed of pairs of
 * panels: 4096 x 4096 elements of 4 bytes 1.11, 8192 x 16384 1.10, 4112 x 4080 of 8 bytes 1.12, 2064 x 4080 of
 * 16 1.12; 8192 x 8192 of 2 bytes 1.66, of 1 byte 1.37. Of single panels: 4112 x 4080 of 4 bytes 1.14, 4128 x
 * 4128 1.55. With `kept` for lines that begin anywhere, 4001 x 3999 of 8 and 16 bytes, of single panels: 1.1
 * and 1.15, in small pages 1.3. Returns how many columns are done.
 */
size_t gp_tiles_squares(const gp_tiles *j, size_t r, size_t c, size_t c_end, char *kept) {
    _Alignas(GP_LINE) char buffer[2][GP_PAIR * GP_LINE * GP_PAIR * GP_LINE];
    size_t rows = GP_PAIR * j->tile_rows, cols = GP_PAIR * j->tile_cols, squares = (c_end - c) / cols;
    gp_matrices m = gp_tiles_at(j, r, c);
    bool crowded = m.in_pitch % GP_CROWDED_PITCH == 0;
    gp_transpose_square s = {.out_pitch = m.out_pitch,
                             .in_pitch = m.in_pitch,
                             .kept = kept,
                             .rows_ahead = crowded ? crowded_rows_ahead[__builtin_ctzll(j->elem_bytes)] : 0,
                             .bytes_ahead = crowded ? 0 : (j->elem_bytes > 4 ? 2 : 1) * GP_PAIR * GP_LINE};
    if (squares > 0)
        gp_copy_rows(buffer[0], GP_PAIR * GP_LINE, m.in, m.in_pitch, rows, GP_PAIR * GP_LINE);
    for (size_t i = 0; i < squares; ++i) {
        s.from = buffer[i % 2];
        s.to = buffer[(i + 1) % 2];
        s.in = m.in + (i + 1 < squares ? i + 1 : i) * GP_PAIR * GP_LINE;
        s.out = m.out + i * cols * m.out_pitch;
        j->square(&s);
        if (kept)
            s.kept += cols * GP_LINE;
    }
    return squares * cols;
}

static void do_squares(const gp_tiles *j, size_t r, size_t c, size_t c_end) {
    c += gp_tiles_squares(j, r, c, c_end, NULL);
    gp_tiles_panel(j, r, j->tile_rows, c, c_end);
    gp_tiles_panel(j, r + j->tile_rows, j->tile_rows, c, c_end);
}

/* Panels: the rows before the first whole line, if any, and then a tile's rows each. */
static size_t panel_begin(const gp_tiles *j, size_t panel) {
    if (j->head > 0)
        return panel == 0 ? 0 : gp_smaller(j->rows, j->head + (panel - 1) * j->tile_rows);
    return gp_smaller(j->rows, panel * j->tile_rows);
}

/* Where rows of the output are even: whether those of a panel that begins at row r begin in odd lines. */
static bool begins_odd(const gp_tiles *j, size_t r) {
    return (uintptr_t)(j->whole.out + r * j->elem_bytes) % (GP_PAIR * GP_LINE) != 0;
}

static void do_block(const gp_tiles *j, size_t panel, size_t panel_end, size_t c, size_t c_end) {
    for (size_t strip_end; c < c_end; c = strip_end) {
        strip_end = gp_smaller(c_end, c + j->strip);
        for (size_t p = panel; p < panel_end; ++p) {
            size_t r = panel_begin(j, p), rows = panel_begin(j, p + 1) - r;
            bool pair =
                j->in_pairs && p + GP_PAIR <= panel_end && panel_begin(j, p + GP_PAIR) - r == GP_PAIR * j->tile_rows;
            if (pair && !(j->even && begins_odd(j, r))) {
                (j->square ? do_squares : do_panel_pair)(j, r, c, strip_end);
                ++p;
            } else {
                gp_tiles_panel(j, r, rows, c, strip_end);
            }
        }
    }
}

/* Pairs that begin in even lines are not torn apart. */
static size_t share_begin(const gp_tiles *j, size_t panels, unsigned share, unsigned shares) {
    size_t panel = gp_part_begin(panels, share, shares);
    bool pairs = j->in_pairs && j->even && share < shares && panel > 0;
    return pairs && begins_odd(j, panel_begin(j, panel)) ? panel - 1 : panel;
}

/* Shares divide the panels, or the tiles of all panels if there are too few. Of skewed work each part has one. */
static void do_share(const gp_tiles *j, unsigned share, unsigned shares) {
    size_t panels = (j->rows - gp_smaller(j->head, j->rows) + j->tile_rows - 1) / j->tile_rows + (j->head > 0);
    size_t tiles = (j->cols + j->tile_cols - 1) / j->tile_cols, panel = 0, c = 0, c_end = j->cols;
    if (panels >= tiles || panels >= 8 * (size_t)shares) {
        panel = share_begin(j, panels, share, shares);
        panels = share_begin(j, panels, share + 1, shares);
    } else {
        c = gp_part_begin(tiles, share, shares) * j->tile_cols;
        c_end = gp_smaller(j->cols, gp_part_begin(tiles, share + 1, shares) * j->tile_cols);
    }
    if (j->skew)
        gp_tiles_skewed(j, panel_begin(j, panel), panel_begin(j, panels), c, c_end,
                        j->kept + share * j->kept_lines * GP_LINE);
    else
        do_block(j, panel, panels, c, c_end);
}

static void do_part(void *argument, unsigned part, unsigned parts) {
    const gp_tiles *j = argument;
    unsigned shares = gp_shares_count(j->shares), share = gp_shares_first(j->shares, part);
    (void)parts;
    for (; share < shares; share = gp_shares_take(j->shares, part))
        do_share(j, share, shares);
    if (j->stream || j->skew)
        gp_streams_done();
}

/* In place: a square of side `tile_rows` changes places with its mirror image. */
static void swap_squares(const gp_tiles *j, size_t r, size_t c) {
    char lower[GP_LINE * GP_LINE], upper[GP_LINE * GP_LINE];
    size_t rows = gp_smaller(j->tile_rows, j->rows - r), cols = gp_smaller(j->tile_rows, j->rows - c);
    gp_matrices m = gp_tiles_at(j, r, c), mirror = gp_tiles_at(j, c, r);
    for (size_t k = 0; k < cols; k += j->tile_cols) {
        gp_matrices piece = gp_tiles_at(j, r, c + k);
        tile_to_buffer(j, &piece, rows, gp_smaller(j->tile_cols, cols - k), lower + k * GP_LINE);
    }
    for (size_t k = 0; k < rows; k += j->tile_cols) {
        gp_matrices piece = gp_tiles_at(j, c, r + k);
        tile_to_buffer(j, &piece, cols, gp_smaller(j->tile_cols, rows - k), upper + k * GP_LINE);
    }
    j->copy_rows(m.out, m.out_pitch, lower, GP_LINE, cols, rows * j->elem_bytes);
    j->copy_rows(mirror.out, mirror.out_pitch, upper, GP_LINE, rows, cols * j->elem_bytes);
}

/* Band i of rows has i + 1 squares: part p takes bands p, p + parts, ... so that the parts are of like size. */
static void swap_part(void *argument, unsigned part, unsigned parts) {
    const gp_tiles *j = argument;
    for (size_t r = part * j->tile_rows; r < j->rows; r += parts * j->tile_rows)
        for (size_t c = 0; c <= r; c += j->tile_rows)
            swap_squares(j, r, c);
}

/* Rows until the output's lines begin at whole elements, if they do so in all rows of the output alike; else none. */
static size_t rows_before_line(const gp_tiles *j, bool *aligned) {
    size_t offset = (0 - (uintptr_t)j->whole.out) % GP_LINE;
    *aligned = j->whole.out_pitch % GP_LINE == 0 && offset % j->elem_bytes == 0;
    return *aligned ? gp_smaller(j->rows, offset / j->elem_bytes) : 0;
}

/*
 * Whether the output is written in pairs of lines, as GP_PAIR tells, or by way of squares: of narrow elements where
 * rows crowd (5184 x 5184 of 2 bytes 0.8 times the speed of single panels), of others but where only the input's
 * crowd and lines are odd (4112 x 4096 of 4 bytes 0.9).
 */
static void choose_pairs(gp_tiles *j, const gp_transpose_kernels *kernels) {
    bool in_crowded = j->whole.in_pitch % GP_CROWDED_PITCH == 0;
    bool out_crowded = j->whole.out_pitch % GP_CROWDED_PITCH == 0;
    bool pairs = out_crowded || j->elem_bytes >= 8;
    bool squares =
        pairs || (j->elem_bytes == 4 && (j->even || !in_crowded)) || (j->elem_bytes == 2 && j->even && in_crowded);
    j->wide = !out_crowded && j->elem_bytes >= 8;
    if (squares)
        j->square = kernels->square[__builtin_ctzll(j->elem_bytes)];
    j->in_pairs = pairs || j->square || (j->even && j->elem_bytes == 4);
    j->strip = j->square ? SQUARES_STRIP : (j->wide ? 2 : 1) * STRIP_BYTES / j->elem_bytes;
}

gp_status gp_transpose_in_tiles(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                                const gp_transpose_kernels *kernels) {
    if (problem->rows == 0 || problem->cols == 0)
        return GP_OK;
    size_t bytes = problem->elem_bytes;
    gp_tiles j = {.whole = {problem->in, problem->in_pitch * bytes, problem->out, problem->out_pitch * bytes},
                  .panel = kernels->panel[__builtin_ctzll(bytes)],
                  .copy_rows = kernels->copy_rows ? kernels->copy_rows : gp_transpose_copy_rows,
                  .stream_lines = kernels->stream_lines,
                  .elem_bytes = bytes,
                  .rows = problem->rows,
                  .cols = problem->cols,
                  .tile_rows = GP_LINE / bytes,
                  .tile_cols = kernels->row_bytes / bytes,
                  .strip = STRIP_BYTES / bytes};
    j.even = j.whole.out_pitch % (GP_PAIR * GP_LINE) == 0;
    if (j.rows <= j.tile_rows && j.cols <= j.tile_cols && !problem->in_place) {
        gp_tiles_edge(&j, 0, j.rows, 0, j.cols);
        return GP_OK;
    }
    bool aligned;
    j.head = rows_before_line(&j, &aligned);
    unsigned parts = plan->tiling.blocks > GP_PARTS_MAX ? GP_PARTS_MAX : (unsigned)plan->tiling.blocks;
    bool past_caches = gp_transpose_past_caches(problem, parts);
    if (!past_caches && j.rows < HEAD_TILES_MIN * j.tile_rows) {
        aligned = aligned && j.head == 0;
        j.head = 0;
    }
    if (past_caches && !problem->in_place && (j.runs = gp_tiles_choose_runs(&j)) != GP_RUNS_NONE) {
        gp_threads_run(context, parts, gp_tiles_run_part, &j);
        return GP_OK;
    }
    j.stream = aligned && past_caches;
    if (j.stream)
        choose_pairs(&j, kernels);
    else if (problem->bytes_written > CACHED_LONG_MAX || (!aligned && bytes < 16 && kernels->row_bytes == GP_LINE))
        j.strip = CACHED_STRIP_BYTES / bytes;
    if (!aligned && past_caches && !problem->in_place)
        gp_tiles_prepare_skew(&j, context, kernels, parts);
    if (!aligned && !j.skew && !problem->in_place && bytes >= BY_LINES_MIN &&
        gp_transpose_by_lines(context, problem, parts))
        return GP_OK;
    gp_shares shares;
    gp_shares_begin(&shares, j.skew ? 0 : problem->bytes_read + problem->bytes_written, parts);
    j.shares = &shares;
    gp_threads_run(context, parts, problem->in_place ? swap_part : do_part, &j);
    return GP_OK;
}
