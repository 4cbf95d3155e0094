/* SPDX-License-Identifier: Apache-2.0 */
/* In place at any pitch: which kernel takes which squares, and how it cuts them into tiles. Pure. */
#include "../device/transpose.h"
#include "transpose_supports.h"

static uint64_t divide_up(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

static bool is_plain(const gp_problem *problem) {
    return problem->in_place && gp_transpose_is_plain(problem);
}

/*
 * H200, us, tiles of 7, 15 and 31 words a row. 1 byte: 181 x 181 2.4, 3.4, 5.5; 725 x 725 2.8, 3.6, 6.3; 2897 x 2897
 * 16, 10.1, 10.8; 4096 x 4096 30, 17.2, 15.9. 2 bytes: 363 x 363 2.4, 2.5, 4.1; 725 x 725 3.9, 3.3, 4.9; 1449 x 1449
 * 9.9, 6.5, 7.1. Through the library 1024 x 1024 of 1 byte took 5.1 in tiles of 7.
 */
bool gp_transpose_mirror_bytes_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return is_plain(problem) && problem->elem_bytes <= 2 && problem->rows <= (problem->elem_bytes == 1 ? 800 : 400);
}

/*
 * Of whole vectors the small ones, for which the tiles of transpose_swap are too few: H200, us, against it, 1024 x
 * 1024 of 1 byte 4.1 and 5.6, 512 x 512 of 2 bytes 2.7 and 3.7, but 1024 x 1024 of 2 bytes 5.0 and 4.1.
 */
bool gp_transpose_mirror_bytes_mid_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return is_plain(problem) && problem->elem_bytes <= 2 &&
           problem->rows <= (gp_transpose_is_vectors(problem) ? problem->elem_bytes == 1 ? 1024 : 640
                             : problem->elem_bytes == 1       ? 3200
                                                              : 1700);
}

bool gp_transpose_mirror_bytes_wide_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return is_plain(problem) && problem->elem_bytes <= 2;
}

bool gp_transpose_mirror_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->in_place &&
           (problem->elem_bytes == 12 ? problem->in_align >= 4 : is_plain(problem) && problem->elem_bytes >= 4);
}

/*
 * H200, us, against transpose_mirror (4 bytes) and transpose_swap (16 bytes): 4 bytes 1449 x 1449 7.5 against 9.0,
 * 2897 x 2897 23.2 against 22.2 (2.1 blocks an SM, one after the other), 11585 x 11585 308 against 317; 16 bytes
 * 5793 x 5793 287 against 331.
 */
bool gp_transpose_mirror_wide_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return is_plain(problem) && problem->in_align < GP_TRANSPOSE_SECTOR &&
           (problem->elem_bytes == 4 ? !gp_transpose_is_vectors(problem) && problem->rows > 1024 &&
                                           (problem->rows <= 1920 || problem->rows > 4096)
                                     : problem->elem_bytes == 16 && problem->rows > 1024);
}

/*
 * Squares of pairs: from here on, by 4 x 4 what neighbours share is still in L2. H200, row by row against 4 x 4, us:
 * 4 bytes 725 x 725 3.0 against 3.8, 11585 x 11585 358 against 337; 1 byte 1449 x 1449 4.9 against 5.9, 11585 x 11585
 * 151 against 137.
 */
#define MIRROR_SQUARES_FROM ((uint64_t)4 << 20)

static gp_transpose_cut finish_mirror(gp_transpose_cut cut, const gp_problem *problem, uint64_t skewed) {
    cut.tile_cols = cut.tile_rows;
    cut.down = cut.across = (uint32_t)divide_up(skewed, cut.tile_rows);
    cut.beside = 1;
    cut.band = problem->rows * problem->cols * problem->elem_bytes < MIRROR_SQUARES_FROM || cut.down < 16 ? 1
               : cut.down < 32                                                                            ? 2
                                                                                                          : 4;
    const uint64_t squares = divide_up(cut.down, cut.band);
    cut.blocks = (squares % 2 == 0 ? squares / 2 * (squares + 1) : (squares + 1) / 2 * squares) * cut.band * cut.band;
    return cut;
}

static gp_transpose_cut cut_mirror(const gp_problem *problem, uint32_t side) {
    gp_transpose_cut cut = {.tile_rows = side};
    cut.smem = (size_t)side * (side + 1) * problem->elem_bytes * 2;
    return finish_mirror(cut, problem, problem->rows);
}

/*
 * H200, us, tiles of 32 x 32 against 64 x 64: 4 bytes 725 x 725 3.0 against 4.1, 2897 x 2897 26.2 against 22.2; 8
 * bytes 725 x 725 3.9 against 5.6, 1449 x 1449 12.0 against 10.8. 12 and 16 bytes have 32 x 32.
 */
gp_transpose_cut gp_transpose_cut_mirror(const gp_problem *problem, unsigned threads) {
    (void)threads;
    return cut_mirror(problem, problem->elem_bytes <= 8 && problem->rows > 1024 ? 64 : 32);
}

/* Rows of 512 bytes (4 bytes) and 1024 (16): 130 KiB a block, which architectures 8.0, 9.0 and 10.0 have. */
gp_transpose_cut gp_transpose_cut_mirror_wide(const gp_problem *problem, unsigned threads) {
    (void)threads;
    return cut_mirror(problem, problem->elem_bytes == 4 ? 128 : 64);
}

/*
 * H200, 2 bytes, tiles of 32 against 64 words a row: 2897 x 2897 15.7 against 16.1 us, 4096 x 4096 28.9 against 25.3,
 * 11585 x 11585 182 against 173. 64 words of 1 byte leave one block an SM: 11585 x 11585 92 against 95.
 */
unsigned gp_transpose_mirror_words(const gp_problem *problem, unsigned threads) {
    const unsigned lanes = threads / GP_TRANSPOSE_MIRROR_THREADS(1);
    return lanes == 32 && problem->elem_bytes == 2 && problem->rows > 3500 ? 64 : lanes;
}

/* A word of each row and the rows that share it are the next tile's; rows start up to a word early. */
gp_transpose_cut gp_transpose_cut_mirror_bytes(const gp_problem *problem, unsigned threads) {
    const uint32_t elems = 4 / (uint32_t)problem->elem_bytes, words = gp_transpose_mirror_words(problem, threads);
    const uint32_t beside = words < 32 ? 32 / words : 1;
    gp_transpose_cut cut = {.tile_rows = (words - 1) * elems};
    cut.smem = 2 * 4 * ((size_t)words * (elems * words + beside) + 1);
    return finish_mirror(cut, problem, problem->rows + elems - 1);
}
