/* SPDX-License-Identifier: Apache-2.0 */
/* Tilings of transpose_mirror: matrices in place, a tile and its mirror image at a time, in three ways. Pure. */
#include "fit.h"

/*
 * Squares of pairs: from here on, by 4 x 4 what neighbours share is still in L2; smaller matrices lose, as blocks
 * beside the diagonal have no pair and SMs get unequal shares. 11585 x 11585 of 4 bytes on an H200: 358 us row by
 * row, 337 in squares.
 */
#define SQUARES_FROM ((uint64_t)128 << 20)

/* Tiles on and above the diagonal, in squares of band x band, of which blocks below the diagonal have no pair. */
static void put_pairs(const gp_problem *problem, uint32_t side, uint64_t rows, uint64_t squares_from,
                      unsigned threads, size_t smem, gp_tiling *tiling) {
    const uint32_t down = gp_to_u32(gp_divide_up(rows, side));
    const uint64_t bytes = problem->rows * problem->cols * problem->elem_bytes;
    const uint32_t band = bytes < squares_from || down < 16 ? 1 : down < 32 ? 2 : 4;
    const uint64_t squares = gp_divide_up(down, band);
    const gp_tiles tiles = {.rows = side, .cols = side, .down = down, .across = down, .band = band};
    tiling->threads = threads;
    tiling->smem = smem;
    tiling->blocks = (squares % 2 == 0 ? squares / 2 * (squares + 1) : (squares + 1) / 2 * squares) * band * band;
    GP_TILING_PUT(tiling, tiles);
}

/* 1 and 2 bytes in place, in whole vectors: a square of squares of vectors and its mirror image, smaller where those
 * are too few for all multiprocessors. */
static bool fit_swap(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    if (attempt > 0 || !gp_transpose_is_vectors(problem) || problem->elem_bytes > 2)
        return false;
    for (unsigned threads = GP_TRANSPOSE_THREADS;; threads = GP_TRANSPOSE_THREADS / 4) {
        const uint32_t side = 1u << gp_log2(threads) / 2, bytes = side * GP_VECTOR;
        const uint32_t elems = bytes / gp_to_u32(problem->elem_bytes);
        tiling->form = GP_MIRROR_SWAP_FORM + (problem->elem_bytes == 2) + (threads == GP_TRANSPOSE_THREADS ? 0u : 2u);
        tiling->regs = 128;
        put_pairs(problem, elems, problem->rows, UINT64_MAX, threads, (size_t)elems * bytes * 2, tiling);
        if (tiling->blocks >= device->multiprocessors || threads < GP_TRANSPOSE_THREADS)
            return true;
    }
}

/* Rows from which on tiles are 64 x 64, not 32 x 32; of 16 bytes only where rows begin off a sector. */
#define LARGE_FROM 1921u
#define LARGE_FROM_OF_16 1001u

/* Of elements of three words, or of 5 or 7 bytes; of others UINT32_MAX. */
static uint32_t form_of_words(uint32_t words, uint32_t word) {
    return words == 3 && word <= 8         ? GP_MIRROR_WORDS_FORM + gp_log2(word)
           : (words | 2) == 7 && word == 1 ? GP_MIRROR_WORDS_FORM + 4 + (words == 7)
                                           : UINT32_MAX;
}

/* 4, 8 and 16 bytes, and of several words: a padded tile and its mirror image. 64 x 64 of 16 bytes take 130 KiB. */
static bool fit_loads(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    const uint32_t elem = gp_to_u32(problem->elem_bytes);
    const uint32_t word = gp_to_u32(gp_alignment(problem->elem_bytes | GP_VECTOR));
    const uint32_t of_words = form_of_words(elem / word, word);
    const bool plain = gp_transpose_is_plain(problem);
    const bool can = plain ? elem >= 4 : of_words != UINT32_MAX && problem->in_align >= word;
    const bool large = elem == 16 ? problem->in_align < GP_SECTOR && problem->rows >= LARGE_FROM_OF_16
                                  : plain && problem->rows >= LARGE_FROM;
    if (!can || attempt > large)
        return false;
    const bool wide = large && attempt == 0;
    const uint32_t side = wide ? 64 : 32;
    tiling->form = plain ? (elem == 16 ? 4u : elem == 8 ? 2u : 0u) + wide : of_words;
    const bool heavy = wide && elem == 16;
    put_pairs(problem, side, problem->rows, heavy ? (uint64_t)4 << 20 : SQUARES_FROM,
              heavy ? GP_TRANSPOSE_MIRROR_WIDE_THREADS : GP_TRANSPOSE_THREADS, (size_t)side * (side + 1) * elem * 2,
              tiling);
    tiling->regs = wide ? 128 : 64;
    return true;
}

#define CLUSTERS_FROM 9u /* compute capability */

/* Rows from which on a pair is a cluster's; 4 bytes are taken from there on only. */
static uint64_t wide_from(uint32_t elem) {
    return elem == 1 ? 5001 : elem == 2 ? 4001 : LARGE_FROM;
}

/*
 * 1 and 2 bytes, and much of 4: raw rows in shared memory, elements picked from them. Large matrices take larger
 * tiles, and a cluster of two blocks a pair; few tiles are made smaller. A word of each row and the rows that share
 * it are the next tile's.
 */
static bool fit_pick(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    if (problem->elem_bytes > 4 || !gp_transpose_is_plain(problem))
        return false;
    const uint32_t elem = gp_to_u32(problem->elem_bytes), elems = 4 / elem;
    const bool large = device->compute_major >= CLUSTERS_FROM && problem->rows >= wide_from(elem);
    if (elem == 4 ? !large || attempt > 0 || problem->in_align >= GP_SECTOR : attempt > large)
        return false;
    const bool wide = large && attempt == 0;
    const uint64_t most = problem->rows / (GP_MIRROR_PICK_WORDS(GP_MIRROR_PICK_VECTORS) * elems) + 1;
    const bool small = !wide && most * most / 2 < device->multiprocessors / 3;
    const uint32_t vectors = wide    ? GP_MIRROR_PICK_WIDE_VECTORS(elem)
                             : small ? GP_MIRROR_PICK_SMALL_VECTORS
                                     : GP_MIRROR_PICK_VECTORS;
    const size_t smem = GP_MIRROR_PICK_SMEM(vectors, elem);
    tiling->form = GP_MIRROR_PICK_FORM + gp_log2(elem) + (wide ? 4u : small ? 0u : 2u);
    tiling->regs = 64;
    put_pairs(problem, GP_MIRROR_PICK_WORDS(vectors) * elems, problem->rows + elems - 1,
              (uint64_t)(wide ? 192 : 8) << 20,
              wide    ? GP_MIRROR_PICK_WIDE_THREADS(elem)
              : small ? GP_MIRROR_PICK_SMALL_THREADS
                      : GP_MIRROR_PICK_THREADS(elem),
              wide ? smem : 2 * smem, tiling);
    if (wide)
        tiling->blocks *= 2;
    return true;
}

/* The tilings of all ways one after another: each way is the best for what it can. */
bool gp_fit_transpose_mirror(const gp_problem *problem, const gp_device *device, unsigned attempt,
                             gp_tiling *tiling) {
    static bool (*const ways[])(const gp_problem *problem, const gp_device *device, unsigned attempt,
                                gp_tiling *tiling) = {fit_swap, fit_pick, fit_loads};
    for (size_t i = 0; i < sizeof ways / sizeof *ways && problem->in_place; i++)
        for (unsigned own = 0; ways[i](problem, device, own, tiling); own++)
            if (attempt-- == 0)
                return true;
    return false;
}
