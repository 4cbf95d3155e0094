/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the transpose kernels and their rows in the catalogue must agree on. Plain C. */
#ifndef GP_TRANSPOSE_H
#define GP_TRANSPOSE_H

#include "../host/problem.h"
#include <stddef.h>
#include <stdint.h>

#define GP_TRANSPOSE_THREADS 256    /* most threads a block, every kernel */
#define GP_TRANSPOSE_THREADS_MIN 64 /* and fewest of those compiled for each of 256, 128 and 64 */
#define GP_TRANSPOSE_NAIVE_REGS 48
#define GP_TRANSPOSE_TILE_REGS 48
#define GP_TRANSPOSE_VECTOR_REGS 64
#define GP_TRANSPOSE_PACK_REGS 128
#define GP_TRANSPOSE_SWAP_REGS 128
#define GP_TRANSPOSE_SKEW_REGS 80
#define GP_TRANSPOSE_SHIFT_REGS 80
#define GP_TRANSPOSE_STRIP_REGS 64

#define GP_TRANSPOSE_SECTOR 32 /* bytes that DRAM writes whole or reads first: output segments start at multiples */
#define GP_TRANSPOSE_VECTOR 16 /* bytes of the widest load and store */
#define GP_TRANSPOSE_SHIFT_LOADS 3  /* transpose_shift: groups of 4 / elem_bytes rows that a warp loads at once */
#define GP_TRANSPOSE_STRIP_BYTES 64 /* transpose_strip: bytes of a tile a thread */

/*
 * transpose_skew: rows a warp, columns. 64 x 64 tiles of 4 and 8 bytes, 64 x 32 of 16. H200, share of a copy's speed:
 * 10007 x 9973 of 4, 8, 16 bytes 0.92, 0.93, 0.94, against 0.91, 0.92 of 64 x 32 and 0.89 of 128 x 128; 8192 x 8192
 * of 8 bytes 0.98.
 */
#define GP_TRANSPOSE_SKEW_ROWS 8
#define GP_TRANSPOSE_SKEW_COLS(elem_bytes) ((elem_bytes) == 16 ? 32u : 64u)

/* transpose_vector, _pack, _swap: squares of one vector's elements that a thread moves, 64 bytes or more in flight.
 */
#define GP_TRANSPOSE_SQUARES(elem_bytes) ((elem_bytes) == 16 ? 4u : (elem_bytes) == 8 ? 2u : 1u)

/*
 * transpose_shift: words of a column of a tile that each warp loads, few for small matrices; and words from one
 * column in shared memory to the next, with room for the halo: `elems` columns then span whole rounds of 32 banks.
 */
#define GP_TRANSPOSE_SHIFT_FEW 2
#define GP_TRANSPOSE_SHIFT_MANY 8
#define GP_TRANSPOSE_SHIFT_WORDS(words, elems) (((words) + 8 + 32 / (elems)-1) / (32 / (elems)) * (32 / (elems)))

/* How the matrix is cut into tiles, a block each, and in which order blocks take them: bands of tiles, column by
 * column. */
typedef struct gp_transpose_cut {
    uint32_t tile_rows, tile_cols;
    uint32_t down, across; /* tiles */
    uint32_t band;         /* tiles down */
    uint32_t halo;         /* rows above the tile that its skewed output segments may start in */
    size_t smem;
    uint64_t blocks;
} gp_transpose_cut;

#ifdef __cplusplus
extern "C" {
#endif

gp_transpose_cut gp_transpose_cut_tile(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_vector(const gp_problem *problem, unsigned threads); /* _pack and _swap too */
gp_transpose_cut gp_transpose_cut_skew(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_shift(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_strip(const gp_problem *problem, unsigned threads);

#ifdef __cplusplus
}
#endif

#endif
