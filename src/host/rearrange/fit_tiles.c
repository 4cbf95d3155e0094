/* SPDX-License-Identifier: Apache-2.0 */
/* Tilings of the kernels that move whole elements or vectors: vector and skew; and of the plain one. Pure. */
#include "fit.h"

void gp_tiles_put(gp_tiles tiles, const gp_problem *problem, uint64_t rows, unsigned threads, size_t smem,
                  gp_tiling *tiling) {
    const uint64_t down = gp_divide_up(rows, tiles.rows), across = gp_divide_up(problem->cols, tiles.cols);
    const uint64_t most = GP_BAND_BYTES / ((uint64_t)tiles.rows * tiles.cols * problem->elem_bytes);
    tiles.down = gp_to_u32(down); /* more than 32 bits hold are only looked at in blocks, which no grid holds */
    tiles.across = gp_to_u32(across);
    if (tiles.band == 0)
        tiles.band = down <= most ? gp_to_u32(down) : across < GP_FEW_COLUMNS || most == 0 ? 1 : gp_to_u32(most);
    tiling->threads = threads;
    tiling->smem = smem;
    tiling->blocks = down * across;
    GP_TILING_PUT(tiling, tiles);
}

/*
 * Much: what is read stays longer in L2 than what is written, columns of tiles are taken whole, and two of them
 * together where rows start a multiple of 128 KiB apart: a column alone would then be read from a part of the
 * memory's channels, two APART bytes from each other are read from all. Share of a copy's speed, 16384 x 16384 of 8
 * bytes on an H200: 0.920 without all three, 0.983 with them.
 */
#define MUCH ((uint64_t)128 << 20)
#define PAIR_PITCH ((uint64_t)128 << 10)
#define PAIR_APART(elem_bytes) ((elem_bytes) == 16 ? 8192u : 16384u)

/* Little is cut into tiles of 32 columns instead of 64, so that there are enough for all multiprocessors. */
#define LITTLE ((uint64_t)10 << 20) /* bytes */

/* 4, 8 and 16 bytes; a warp's lanes load neighbouring columns; the padded tile has room for the halo above it. */
bool gp_fit_transpose_skew(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    const uint64_t bytes = problem->elem_bytes, all = problem->rows * problem->cols * bytes;
    if (attempt > 0 || problem->in_place || !gp_transpose_is_plain(problem) || bytes < 4)
        return false;
    gp_tiles tiles = {.rows = GP_TRANSPOSE_THREADS / 32 * GP_TRANSPOSE_SKEW_ROWS,
                      .cols = bytes == 16 || all <= LITTLE ? 32 : 64,
                      .keep_input = all >= MUCH};
    if (problem->out_align < GP_SECTOR)
        tiles.halo = GP_SECTOR / gp_to_u32(bytes);
    const uint64_t rows = problem->rows + (tiles.halo > 0 ? tiles.halo - 1 : 0), wide = tiles.cols * bytes;
    const uint64_t down = gp_divide_up(rows, tiles.rows);
    if (problem->cols > wide / bytes * (GP_FEW_COLUMNS - 1) && down * tiles.rows * wide <= GP_COLUMN_BYTES)
        tiles.band = gp_to_u32(down);
    if (problem->in_pitch * bytes % PAIR_PITCH == 0 && wide < PAIR_APART(bytes))
        tiles.apart = gp_to_u32(PAIR_APART(bytes) / wide);
    tiling->form = (bytes == 16 ? 4u : bytes == 8 ? 2u : 0u) + (tiles.cols == 64);
    gp_tiles_put(tiles, problem, rows, GP_TRANSPOSE_THREADS,
                 (size_t)(tiles.rows + tiles.halo) * (tiles.cols + 1) * bytes, tiling);
    return true;
}

/*
 * 1 and 2 bytes in whole vectors: 4 vectors a thread. Few rows: tiles as high as they are, so that what is written is
 * one run. Few columns: as narrow as they are.
 */
static void fit_vectors(const gp_problem *problem, gp_tiling *tiling) {
    const uint32_t bytes = gp_to_u32(problem->elem_bytes), most = bytes == 1 ? 8 : 16;
    const uint32_t across = problem->rows <= 32                 ? 16
                            : problem->cols > 64                ? most
                            : problem->cols <= 32 && bytes == 1 ? 2
                                                                : 8;
    const uint32_t rows = GP_TRANSPOSE_VECTOR_THREADS * 4 / across;
    tiling->form = (bytes == 2 ? 2u : 0u) + (across == 16 ? 2 : across == 8 ? 1 : 0);
    gp_tiles_put((gp_tiles){.rows = rows, .cols = across * GP_VECTOR / bytes}, problem, problem->rows,
                 GP_TRANSPOSE_VECTOR_THREADS,
                 (size_t)across * (rows * GP_VECTOR + 4 * GP_TRANSPOSE_VECTOR_PAD(across)), tiling);
}

/*
 * Tiles of 3 bytes: high, so that the halo is a small part of them; multiples of 32 rows, so that each begins in a
 * sector as the column does. Matrices of up to NARROW columns are one tile across.
 */
#define TRIPLE_ROWS 224u
#define TRIPLE_LINES 128u /* where no halo is needed: 4000 x 6000 on an H200 41.5 us by 224 rows, 39.8 so */
#define TRIPLE_COLS 32u
#define TRIPLE_NARROW 96u
#define TRIPLE_NARROW_ROWS 96u
#define TRIPLE_HALO 12u  /* rows: at least a sector less a word, and whole blocks of 4 */
#define TRIPLE_LEAST 32u /* rows of a matrix: less leaves most lanes idle */

/*
 * 3 bytes, columns of the output whole words from a word's start: blocks of 4 rows by 12 bytes are turned in
 * registers. A column of the tile is an odd number of words in shared memory.
 */
static bool fit_triples(const gp_problem *problem, gp_tiling *tiling) {
    if (problem->elem_bytes != 3 || problem->out_align < 4 || problem->rows % 4 != 0 ||
        problem->rows < TRIPLE_LEAST || problem->cols < 4)
        return false;
    gp_tiles tiles = {.rows = problem->out_align < GP_SECTOR ? TRIPLE_ROWS : TRIPLE_LINES, .cols = TRIPLE_COLS};
    if (problem->cols <= TRIPLE_NARROW) {
        tiles.cols = gp_to_u32(gp_round_up(problem->cols, 4));
        tiles.rows = tiles.cols > TRIPLE_COLS ? TRIPLE_NARROW_ROWS : TRIPLE_ROWS;
    }
    if (problem->rows <= tiles.rows + tiles.rows / 2)
        tiles.rows = gp_to_u32(problem->rows);
    if (problem->out_align < GP_SECTOR && tiles.rows < problem->rows)
        tiles.halo = TRIPLE_HALO;
    tiles.pitch = ((tiles.rows + tiles.halo) * 3 / 4 + 1) | 1;
    tiling->form = 5 + (problem->in_align >= 4);
    gp_tiles_put(tiles, problem, problem->rows + tiles.halo, GP_TRANSPOSE_THREADS,
                 (size_t)(tiles.cols + 4) * tiles.pitch * 4, tiling);
    return true;
}

bool gp_fit_transpose_vector(const gp_problem *problem, const gp_device *device, unsigned attempt,
                             gp_tiling *tiling) {
    (void)device;
    if (attempt > 0 || problem->in_place)
        return false;
    if (problem->elem_bytes > 2)
        return fit_triples(problem, tiling);
    fit_vectors(problem, tiling);
    return gp_transpose_is_vectors(problem);
}

/* The largest square of a power of two with at most 4 elements a thread, rows padded by one. */
bool gp_fit_transpose_tile(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    const unsigned threads = gp_threads_of_attempt(GP_TRANSPOSE_THREADS, 32, attempt);
    if (threads == 0 || problem->in_place || !gp_transpose_is_plain(problem))
        return false;
    const uint32_t side = 1u << gp_log2((uint64_t)threads * 4) / 2;
    tiling->form = gp_log2(problem->elem_bytes);
    gp_tiles_put((gp_tiles){.rows = side, .cols = side}, problem, problem->rows, threads,
                 (size_t)side * (side + 1) * problem->elem_bytes, tiling);
    return true;
}

/* A thread a word, of the widest type that divides an element's size and every address. */
bool gp_fit_transpose_naive(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    tiling->threads = gp_threads_of_attempt(GP_TRANSPOSE_THREADS, 32, attempt);
    if (tiling->threads == 0)
        return false;
    const uint64_t words = problem->elem_bytes / gp_piece_bytes(problem);
    tiling->form = gp_log2(gp_piece_bytes(problem));
    tiling->blocks = gp_divide_up(problem->rows * problem->cols * words, tiling->threads);
    return true;
}
