/* SPDX-License-Identifier: Apache-2.0 */
/* In place at any pitch: which pair of tiles a block swaps, and how. */
#ifndef GP_REARRANGE_MIRROR_CUH
#define GP_REARRANGE_MIRROR_CUH

#include "tile.cuh"

/*
 * False: no pair for this number. Pairs are taken in squares of tiles.band x tiles.band, a power of two. A tile's
 * rows end within sectors that the tiles beside it share; so what lies side by side, in either half of the matrix, is
 * swapped at about the same time, while those sectors are in L2. 11585 x 11585 of 8 bytes on an H200: 725 us row by
 * row, 605 in squares of 4 x 4.
 */
__device__ inline bool pair_of_block(const transpose_arguments &a, uint32_t block, tile_index *at) {
    const uint32_t log2 = 31 - __clz((int)a.tiles.band), in_square = a.tiles.band - 1;
    const tile_index square = tile_of_triangle((a.tiles.down + in_square) >> log2, block >> 2 * log2);
    at->row = (square.row << log2) + (block & in_square);
    at->col = (square.col << log2) + (block >> log2 & in_square);
    return at->row <= at->col && at->col < a.tiles.down;
}

#endif
