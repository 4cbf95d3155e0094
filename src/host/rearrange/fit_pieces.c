/* SPDX-License-Identifier: Apache-2.0 */
/* Tilings of transpose_strip, one side short, and of transpose_pieces, elements of any size. Pure. */
#include "fit.h"

/* Bytes of a tile, where there are enough of them. Of pieces of 4 bytes: 11585 x 11585 of 12 on an H200 ran at 0.93
 * of a copy's speed with BUDGET, at 0.95 with BUDGET_4. */
#define BUDGET ((uint64_t)32 << 10)
#define BUDGET_4 ((uint64_t)24 << 10)
#define BUDGET_LEAST ((uint64_t)8 << 10)
#define LONG_COLUMN 128u  /* bytes of a short column from which on tiles and blocks are twice as large */
#define RUN_ROW 256u      /* bytes of rows that transpose_pieces takes as one run */
#define ASPECT 13         /* tenths: a tile's column in bytes over its row's */
#define ROWS_FOR_COLS 16  /* a side is short if the other is so many times as long */
#define PIECES_ELEM 1024u /* most bytes of an element */

/* Smaller tiles where that makes too few for all multiprocessors. */
static uint64_t budget_of(const gp_problem *problem, const gp_device *device, uint64_t most) {
    const uint64_t bytes = problem->rows * problem->cols * problem->elem_bytes;
    while (most > BUDGET_LEAST && bytes / most < 2 * (uint64_t)device->multiprocessors)
        most /= 2;
    return most;
}

static uint32_t piece_of(const gp_problem *problem) {
    const uint32_t piece = gp_piece_bytes(problem);
    return piece < 4 ? piece : 4;
}

/* log2 of the threads that copy a row of so many bytes in vectors, which it may begin anywhere in: a warp at most. */
static uint32_t lanes_of(uint32_t bytes) {
    const uint32_t vectors = (bytes + 2 * (GP_VECTOR - 1)) / GP_VECTOR;
    return vectors > 16 ? 5 : vectors > 8 ? 4 : vectors > 4 ? 3 : vectors > 2 ? 2 : 1;
}

/*
 * From row to row of a tile in shared memory: as far off a vector's start as in the input, so that vectors are copied
 * whole, and past a multiple of 128 bytes (of 32, of short rows) by about as much as a row has in 128 bytes of the
 * output: what a warp picks then lies in different banks. 11 x 1525201 of 1 byte on an H200: 27.8 us with rows an
 * element past 128 bytes, 12 with as many as their columns ask for.
 */
static uint32_t raw_pitch(const gp_problem *problem, uint32_t row, uint64_t column) {
    const uint32_t elem = gp_to_u32(problem->elem_bytes), least = row + GP_VECTOR - 1;
    const uint32_t past = elem * gp_to_u32(column < GP_LINE ? gp_divide_up(GP_LINE, column) : 1);
    const uint32_t wanted = past + gp_to_u32((problem->in_pitch * elem - past) % GP_VECTOR);
    return least + ((wanted - least) & (row < 256 ? 31 : GP_LINE - 1));
}

/*
 * Bytes of the short side up to which a strip is faster than what serves other shapes, on an H200: transpose_vector
 * for whole vectors of 1 and 2 bytes, transpose_pick, transpose_skew and transpose_pieces. Share of a copy's speed,
 * transpose_skew against strips: 4 bytes, 16 columns 0.66 and 0.92, 32 columns 0.98 and 0.90.
 */
static uint64_t most_of_columns(const gp_problem *problem) {
    if (problem->elem_bytes > 2 || !gp_transpose_is_vectors(problem))
        return problem->elem_bytes <= 2 ? 64 : problem->elem_bytes == 4 ? 112 : 128;
    return problem->elem_bytes == 2 ? 32 : 0;
}

static uint64_t most_of_rows(const gp_problem *problem) {
    if (problem->elem_bytes == 3 && problem->out_align >= 4 && problem->rows % 4 == 0)
        return 95; /* bytes: from 32 rows on transpose_vector's words are faster */
    if (problem->elem_bytes <= 2 && gp_transpose_is_vectors(problem))
        return problem->elem_bytes == 2 ? 31 : 0;
    if (!gp_transpose_is_plain(problem))
        return 400;
    return problem->elem_bytes <= 4 ? 128 : problem->elem_bytes == 8 ? 200 : 300;
}

/*
 * Few rows: the output is one run, and a thread's words lie a multiple of the rows' words apart, in which the same
 * rows come again: so the places that it picks from only move along. A single column without gaps is a single row.
 */
static bool fit_few_rows(const gp_problem *problem, const gp_device *device, gp_tiling *tiling) {
    const bool column_alone = problem->cols == 1 && problem->in_pitch == 1;
    const uint64_t rows = column_alone ? 1 : problem->rows, cols = column_alone ? problem->rows : problem->cols;
    const uint64_t column = rows * problem->elem_bytes;
    if ((!column_alone && problem->out_pitch != rows) || column > most_of_rows(problem) ||
        cols / rows < ROWS_FOR_COLS)
        return false;
    const uint64_t budget = budget_of(problem, device, column > LONG_COLUMN ? BUDGET : BUDGET / 2);
    const uint64_t wide = budget / column, width = wide >= 128 ? wide / 128 * 128 : wide >= 8 ? wide / 4 * 4 : 4;
    gp_tiles tiles = {.rows = gp_to_u32(rows), .cols = gp_to_u32(gp_least(width, cols)), .band = 1, .down = 1};
    const uint32_t row = tiles.cols * gp_to_u32(problem->elem_bytes);
    tiles.across = gp_to_u32(gp_divide_up(cols, tiles.cols));
    tiles.pitch = raw_pitch(problem, row, column);
    tiles.lanes = lanes_of(row);
    tiling->threads = budget == BUDGET ? 512 : 256;
    tiles.stride = column < tiling->threads ? tiling->threads / gp_to_u32(column) : 1; /* times 4 columns */
    tiling->form = 5 + gp_log2(piece_of(problem)) + (tiling->threads == 512 ? 3 : 0);
    tiling->blocks = gp_divide_up(cols, tiles.cols);
    tiling->smem = tiles.rows * (size_t)tiles.pitch + 3 * GP_VECTOR;
    GP_TILING_PUT(tiling, tiles);
    return true;
}

/* Few columns: rows of the input are one run; a warp stores a sector of each of 4 columns at a time. */
static bool fit_few_columns(const gp_problem *problem, const gp_device *device, gp_tiling *tiling) {
    const uint64_t row = problem->cols * problem->elem_bytes;
    if (!gp_transpose_is_plain(problem) || problem->in_pitch != problem->cols || row > most_of_columns(problem) ||
        problem->rows / problem->cols < ROWS_FOR_COLS)
        return false;
    const uint32_t elem = gp_to_u32(problem->elem_bytes), unit = GP_SECTOR / elem;
    const uint64_t rows = budget_of(problem, device, BUDGET / 2) / row / unit * unit;
    gp_tiles tiles = {.rows = gp_to_u32(gp_greatest(rows, unit)), .cols = gp_to_u32(problem->cols), .band = 1};
    if (problem->out_align < GP_SECTOR)
        tiles.halo = unit;
    tiling->form = gp_log2(elem);
    gp_tiles_put(tiles, problem, problem->rows + (tiles.halo > 0 ? tiles.halo - 1 : 0), GP_TRANSPOSE_THREADS,
                 (size_t)gp_round_up((tiles.rows + tiles.halo) * row, GP_VECTOR) + GP_VECTOR, tiling);
    return true;
}

bool gp_fit_transpose_strip(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return attempt == 0 && !problem->in_place &&
           (fit_few_rows(problem, device, tiling) || fit_few_columns(problem, device, tiling));
}

/* Rows and columns of a tile: both sides of about equally many bytes, a side that is short whole. */
static gp_tiles tile_of(const gp_problem *problem, uint64_t budget) {
    const uint32_t elem = gp_to_u32(problem->elem_bytes), unit = GP_SECTOR / gp_alignment(GP_SECTOR | elem);
    uint64_t high = GP_LINE; /* of a column, bytes: whole lines and whole units of rows */
    while ((high + GP_LINE / 2) * (high + GP_LINE / 2) * 100 < budget * elem * ASPECT * ASPECT)
        high += GP_LINE;
    high = gp_round_up(high, (uint64_t)elem * unit);
    uint64_t rows = high / elem, cols = gp_at_least_one(budget / high);
    if (problem->cols <= cols + cols / 2) {
        cols = problem->cols;
        rows = gp_greatest(budget / (cols * elem) / unit * unit, unit);
    }
    if (problem->rows <= rows + rows / 2) {
        rows = problem->rows;
        cols = gp_least(problem->cols, gp_at_least_one(budget / (rows * elem)));
    }
    return (gp_tiles){.rows = gp_to_u32(rows), .cols = gp_to_u32(cols)};
}

/*
 * How warps share a tile's columns. Segments of the output begin at sectors, so columns are skewed alike every
 * `period` of them: a thread goes on in such steps.
 */
static void share_columns(const gp_problem *problem, gp_tiles *tiles, uint32_t words, bool skewed) {
    const uint32_t elem = gp_to_u32(problem->elem_bytes), warps = GP_TRANSPOSE_THREADS / 32;
    const uint32_t chunk = 32 * GP_TRANSPOSE_PIECES_TIMES(piece_of(problem)); /* words */
    const uint32_t off = gp_to_u32(problem->out_pitch * elem % GP_SECTOR);
    const uint32_t period = !skewed || off == 0 ? 1 : GP_SECTOR / gp_alignment(GP_SECTOR | off);
    tiles->chunks = gp_to_u32(gp_divide_up(words, chunk));
    tiles->stride = period;
    while (tiles->stride * tiles->chunks < warps)
        tiles->stride += period;
    if (tiles->stride > tiles->cols)
        tiles->stride = tiles->cols;
}

bool gp_fit_transpose_pieces(const gp_problem *problem, const gp_device *device, unsigned attempt,
                             gp_tiling *tiling) {
    const uint32_t elem = gp_to_u32(problem->elem_bytes);
    if (problem->in_place || problem->elem_bytes > PIECES_ELEM || attempt > 2)
        return false;
    const uint64_t budget = piece_of(problem) == 4 ? BUDGET_4 : BUDGET;
    gp_tiles tiles = tile_of(problem, budget_of(problem, device, budget) >> attempt);
    const bool single = tiles.rows == problem->rows, skewed = problem->out_align < GP_SECTOR;
    const uint32_t row = tiles.cols * elem;
    if (!single && skewed)
        tiles.halo = gp_to_u32(gp_divide_up(GP_SECTOR - 1, elem));
    const uint32_t words =
        single ? gp_to_u32(gp_divide_up(problem->rows * elem + GP_SECTOR - 1, 4)) : tiles.rows * elem / 4;
    const bool run = tiles.cols == problem->in_pitch && row <= RUN_ROW;
    tiles.pitch = run ? row : raw_pitch(problem, row, tiles.rows * (uint64_t)elem);
    tiles.lanes = run ? 0 : lanes_of(row);
    share_columns(problem, &tiles, words, skewed);
    tiling->form = gp_log2(piece_of(problem));
    gp_tiles_put(tiles, problem, problem->rows + tiles.halo, GP_TRANSPOSE_THREADS,
                 (size_t)(tiles.rows + tiles.halo) * tiles.pitch + 3 * GP_VECTOR, tiling);
    return true;
}
