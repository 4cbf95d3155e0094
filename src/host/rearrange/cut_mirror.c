/* SPDX-License-Identifier: Apache-2.0 */
/* In place at any pitch: which kernel takes which squares, and how it cuts them into tiles. Pure. */
#include "cut.h"
#include "supports.h"
#include "tiling.h"

static bool is_plain(const gp_problem *problem) {
    return problem->in_place && gp_transpose_is_plain(problem);
}

/* Clusters of blocks came with compute capability 9.0; shared memory as transpose_mirror_pick_quads has it. */
static bool has_clusters(const gp_device *device) {
    return device->compute_major >= 9 && device->smem_per_block_optin >= GP_TRANSPOSE_MIRROR_QUADS_SMEM;
}

/*
 * H200, us, tiles of 7 and 15 words a row, and of transpose_mirror_pick. 1 byte: 181 x 181 2.4, 3.4; 725 x 725 2.8,
 * 3.7, 4.2; 1449 x 1449 5.8, 4.9, 4.5; 2897 x 2897 16, 10.1, 8.9. 2 bytes: 363 x 363 2.4, 2.5; 725 x 725 3.9, 3.3,
 * 3.6; 1449 x 1449 9.9, 6.3, 4.9. Through the library 1024 x 1024 of 1 byte took 5.1 in tiles of 7.
 */
bool gp_transpose_mirror_bytes_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return is_plain(problem) && problem->elem_bytes <= 2 && problem->rows <= (problem->elem_bytes == 1 ? 800 : 400);
}

/*
 * Of whole vectors the small ones, for which the tiles of transpose_swap are too few: H200, us, against it, 1024 x
 * 1024 of 1 byte 4.1 and 5.6, 512 x 512 and 728 x 728 of 2 bytes 2.7 and 3.5 against 3.7 and 4.2, but 1024 x 1024 of
 * 2 bytes 5.0 and 4.1. 1 byte, rows whole eights apart begin at few banks, which transpose_mirror_pick suffers from:
 * 1144 x 1144 4.2 and 7.3, 1448 x 1448 4.9 and 7.3, 2040 x 2040 6.3 and 11.5, but 2047 x 2047 7.1 and 6.4.
 */
bool gp_transpose_mirror_bytes_mid_supports(const gp_problem *problem, const gp_device *device) {
    const bool vectors = gp_transpose_is_vectors(problem), eights = !vectors && problem->in_pitch % 8 == 0;
    (void)device;
    return is_plain(problem) && problem->elem_bytes <= 2 &&
           problem->rows <= (problem->elem_bytes == 2 ? (vectors ? 768 : 800)
                             : eights                 ? 2048
                                                      : 1024);
}

/*
 * H200, us, against transpose_mirror_pick_quads and, 2 bytes, _wide: 1 byte, odd pitch, 2897 x 2897 9.4 and 10.3,
 * 3501 x 3501 11.6 and 11.3, 4501 x 4501 17.1 and 16.2; one by one, as even pitches have it, 5793 x 5793 24.9
 * and 24.8; 2 bytes 2897 x 2897 12.7 and 13.2, 5793 x 5793 44.1 and 41.6, 11585 x 11585 174 and 159.
 */
bool gp_transpose_mirror_pick_supports(const gp_problem *problem, const gp_device *device) {
    const uint64_t most = problem->elem_bytes == 2 ? 4000 : problem->in_pitch % 2 == 1 ? 3500 : 5000;
    return is_plain(problem) && problem->elem_bytes <= 2 && (problem->rows <= most || !has_clusters(device));
}

bool gp_transpose_mirror_pick_quads_supports(const gp_problem *problem, const gp_device *device) {
    return is_plain(problem) && problem->elem_bytes == 1 && has_clusters(device);
}

/*
 * transpose_mirror: rows from which on 4 and 8 bytes have tiles of 64 x 64, not 32 x 32. H200, us, of 32 x 32 and 64
 * x 64 and, 4 bytes, transpose_mirror_pick_wide: 4 bytes 1449 x 1449 6.5, 7.5, 7.7, 1722 x 1722 8.5, 10.1, 2897 x
 * 2897 24.7, 21.2, 20.9; 8 bytes 1149 x 1149 7.5, 9.5, 1449 x 1449 11.1, 10.8, 1722 x 1722 14.8, 15.8, 2897 x
 * 2897 40.3, 40.1.
 */
#define MIRROR_LARGE_FROM 1921

bool gp_transpose_mirror_pick_wide_supports(const gp_problem *problem, const gp_device *device) {
    return is_plain(problem) && has_clusters(device) &&
           (problem->elem_bytes == 2 || (problem->elem_bytes == 4 && problem->rows >= MIRROR_LARGE_FROM));
}

bool gp_transpose_mirror_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->in_place &&
           (problem->elem_bytes == 12 ? problem->in_align >= 4 : is_plain(problem) && problem->elem_bytes >= 4);
}

/* H200, us, against transpose_swap: 725 x 725 7.0 and 6.9, 5793 x 5793 287 and 331. */
bool gp_transpose_mirror_wide_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return is_plain(problem) && problem->elem_bytes == 16 && problem->in_align < GP_TRANSPOSE_SECTOR &&
           problem->rows > 1000;
}

/*
 * Squares of pairs: from here on, by 4 x 4 what neighbours share is still in L2; smaller ones lose, as blocks beside
 * the diagonal have no pair and SMs get unequal shares. H200, row by row against squares, us: 4 bytes 725 x 725 3.0
 * and 3.8, 11585 x 11585 358 and 337; 1 byte 1449 x 1449 4.9 and 5.9, 11585 x 11585 151 and 137; 12 bytes 725 x 725
 * 5.8 and 6.8, 2897 x 2897 60.2 and 62.1, 4096 x 4096 107.7 and 107.6, 5793 x 5793 263 and 236; 16 bytes in tiles of
 * 64 x 64 2897 x 2897 79.3 and 75.1.
 */
#define MIRROR_SQUARES_FROM ((uint64_t)128 << 20)
#define MIRROR_WIDE_SQUARES_FROM ((uint64_t)4 << 20)

static gp_transpose_cut in_squares(gp_transpose_cut cut, uint32_t band) {
    cut.band = band;
    const uint64_t squares = gp_divide_up(cut.down, cut.band);
    cut.blocks = (squares % 2 == 0 ? squares / 2 * (squares + 1) : (squares + 1) / 2 * squares) * cut.band * cut.band;
    return cut;
}

static gp_transpose_cut finish_mirror(gp_transpose_cut cut, const gp_problem *problem, uint64_t skewed,
                                      uint64_t squares_from) {
    const uint64_t bytes = problem->rows * problem->cols * problem->elem_bytes;
    cut.tile_cols = cut.tile_rows;
    cut.down = cut.across = (uint32_t)gp_divide_up(skewed, cut.tile_rows);
    return in_squares(cut, bytes < squares_from || cut.down < 16 ? 1 : cut.down < 32 ? 2 : 4);
}

static gp_transpose_cut cut_mirror(const gp_problem *problem, uint32_t side, uint64_t squares_from) {
    gp_transpose_cut cut = {.tile_rows = side};
    cut.smem = (size_t)side * (side + 1) * problem->elem_bytes * 2;
    return finish_mirror(cut, problem, problem->rows, squares_from);
}

gp_transpose_cut gp_transpose_cut_mirror(const gp_problem *problem, unsigned threads) {
    (void)threads;
    const bool large = problem->elem_bytes <= 8 && problem->rows >= MIRROR_LARGE_FROM;
    return cut_mirror(problem, large ? 64 : 32, MIRROR_SQUARES_FROM);
}

/* Rows of 1024 bytes: 130 KiB a block, which architectures 8.0, 9.0 and 10.0 have. */
gp_transpose_cut gp_transpose_cut_mirror_wide(const gp_problem *problem, unsigned threads) {
    (void)threads;
    return cut_mirror(problem, 64, MIRROR_WIDE_SQUARES_FROM);
}

/* A word of each row and the rows that share it are the next tile's; rows start up to a word early. */
gp_transpose_cut gp_transpose_cut_mirror_bytes(const gp_problem *problem, unsigned threads) {
    const uint32_t elems = 4 / (uint32_t)problem->elem_bytes, words = threads / GP_TRANSPOSE_MIRROR_THREADS(1);
    const uint32_t beside = 32 / words;
    gp_transpose_cut cut = {.tile_rows = (words - 1) * elems};
    cut.smem = 2 * 4 * ((size_t)words * (elems * words + beside) + 1);
    return finish_mirror(cut, problem, problem->rows + elems - 1, MIRROR_SQUARES_FROM);
}

static gp_transpose_cut cut_pick(const gp_problem *problem, uint32_t vectors, uint64_t squares_from) {
    const uint32_t bytes = (uint32_t)problem->elem_bytes, elems = 4 / bytes;
    gp_transpose_cut cut = {.tile_rows = GP_TRANSPOSE_MIRROR_PICK_WORDS(vectors) * elems};
    cut.smem = GP_TRANSPOSE_MIRROR_PICK_SMEM(vectors, bytes);
    return finish_mirror(cut, problem, problem->rows + elems - 1, squares_from);
}

/* Two blocks, a cluster, swap a pair. */
static gp_transpose_cut cut_clusters(const gp_problem *problem, uint32_t vectors, uint64_t squares_from) {
    gp_transpose_cut cut = cut_pick(problem, vectors, squares_from);
    cut.blocks *= 2;
    return cut;
}

/* One number of threads for each size of element. */
static size_t smem_if(unsigned threads, unsigned wanted, size_t smem) {
    return threads == wanted ? smem : threads < wanted ? GP_SMEM_FEW_THREADS : GP_SMEM_OTHER_THREADS;
}

/* H200, us, row by row against squares: 2 bytes 1449 x 1449 4.9 and 5.6; 1 byte 2897 x 2897 9.5 and 8.9. */
gp_transpose_cut gp_transpose_cut_mirror_pick(const gp_problem *problem, unsigned threads) {
    gp_transpose_cut cut = cut_pick(problem, GP_TRANSPOSE_MIRROR_PICK_VECTORS, (uint64_t)8 << 20);
    cut.smem = smem_if(threads, GP_TRANSPOSE_MIRROR_PICK_THREADS(problem->elem_bytes), 2 * cut.smem);
    return cut;
}

/*
 * H200, us, row by row against squares: 2 bytes 5793 x 5793 41.6 and 41.7, 11585 x 11585 167 and 159; 4 bytes 76.5
 * and 77.4, 316 and 308.
 */
gp_transpose_cut gp_transpose_cut_mirror_pick_wide(const gp_problem *problem, unsigned threads) {
    const size_t bytes = problem->elem_bytes;
    gp_transpose_cut cut = cut_clusters(problem, GP_TRANSPOSE_MIRROR_PICK_WIDE_VECTORS(bytes), (uint64_t)192 << 20);
    cut.smem = smem_if(threads, GP_TRANSPOSE_MIRROR_PICK_WIDE_THREADS(bytes), cut.smem);
    return cut;
}

/*
 * Odd pitches: the last pairs are cut into quarters, as else a fifth of the SMs work on when the others are done.
 * H200, us, with none, 8, 12, 16, 24 of them (a form with 320 threads): 5793 x 5793 24.6, 23.5, 23.5, 23.6, 23.9,
 * 11585 x 11585 83.2, 81.3, 81.4, 81.7, 82.4; with none, row by row instead of squares of 4 x 4, 25.2 and 86.0. Even
 * pitches stay with what the kernel had before it cut any: row by row against squares 24.9 and 25.1, 86.4 and 83.9.
 */
#define QUADS_CUT 12u

gp_transpose_cut gp_transpose_cut_mirror_pick_quads(const gp_problem *problem, unsigned threads) {
    (void)threads;
    const bool odd = problem->in_pitch % 2 == 1;
    gp_transpose_cut cut = cut_pick(problem, GP_TRANSPOSE_MIRROR_QUADS_VECTORS, (uint64_t)64 << 20);
    if (odd)
        cut = in_squares(cut, cut.down < 16 ? 1 : 4);
    const uint32_t quarters = odd && cut.blocks > QUADS_CUT ? QUADS_CUT : 0;
    cut.whole = (uint32_t)cut.blocks - quarters;
    cut.blocks = 2 * (cut.blocks + 3 * quarters); /* a cluster of two for a pair */
    cut.smem = GP_TRANSPOSE_MIRROR_QUADS_SMEM;
    return cut;
}
