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
#define GP_TRANSPOSE_TURN_REGS 80
#define GP_TRANSPOSE_QUAD_REGS 64
#define GP_TRANSPOSE_PICK_REGS 64
#define GP_TRANSPOSE_ROWS_REGS 64
#define GP_TRANSPOSE_STRIP_REGS 64

#define GP_TRANSPOSE_SECTOR 32 /* bytes that DRAM writes whole or reads first: output segments start at multiples */
#define GP_TRANSPOSE_VECTOR 16 /* bytes of the widest load and store */
#define GP_TRANSPOSE_STRIP_BYTES 64 /* transpose_strip: bytes of a tile a thread */

/*
 * transpose_skew: rows a warp, columns. 64 x 64 tiles of 4 and 8 bytes, 64 x 32 of 16. H200, share of a copy's speed:
 * 10007 x 9973 of 4, 8, 16 bytes 0.92, 0.93, 0.94, against 0.91, 0.92 of 64 x 32 and 0.89 of 128 x 128; 8192 x 8192
 * of 8 bytes 0.98.
 */
#define GP_TRANSPOSE_SKEW_ROWS 8
#define GP_TRANSPOSE_SKEW_COLS(elem_bytes) ((elem_bytes) == 16 ? 32u : 64u)

/* transpose_vector, _pack, _swap: squares of one vector's elements that a thread moves. */
#define GP_TRANSPOSE_SQUARES(elem_bytes) ((elem_bytes) == 16 ? 4u : 1u)

/* transpose_quad: 4 x 128 vectors a block; words of room after each vector's columns, of `across` vectors in a tile.
 */
#define GP_TRANSPOSE_QUAD_THREADS 128
#define GP_TRANSPOSE_QUAD_PAD(across) ((across) >= 8 ? 4u : 32u / (across))

/*
 * transpose_pick_rows, _cols: words of a column that a warp stores at once, a sector; how often down a column; bytes
 * of a tile a thread; and from row to row in shared memory, an odd number of vectors. H200, share of a copy's speed,
 * 1 byte, 8 and 4 steps: 1000000 x 8 1.08 and 1.06, 184365 x 91 0.88 and 0.93.
 */
#define GP_TRANSPOSE_PICK_WORDS 8
#define GP_TRANSPOSE_PICK_STEPS(row_bytes) ((row_bytes) <= 64 ? 8u : 4u)
#define GP_TRANSPOSE_PICK_BYTES 64
#define GP_TRANSPOSE_PICK_COLS_THREADS 128
#define GP_TRANSPOSE_PICK_PITCH(row_bytes) (16 * ((((row_bytes) + 15) / 16 + 1) | 1))

/* transpose_turn: rows of a tile, and bytes from row to row in shared memory: room for all sectors of a row's piece.
 */
#define GP_TRANSPOSE_TURN_ROWS(threads) ((threads) < 128 ? 64u : 128u)
#define GP_TRANSPOSE_TURN_PITCH(row_bytes) ((row_bytes) + GP_TRANSPOSE_SECTOR)

/*
 * transpose_rows: bytes of a tile, and the least bytes of a column that a block writes. H200, share of a copy's
 * speed, 4 bytes: 729444 x 23 0.96, 100000 x 257 0.94 of 64 rows, 0.92 of 16.
 */
#define GP_TRANSPOSE_ROWS_BYTES 32768
#define GP_TRANSPOSE_ROWS_SEGMENT 256

/* How the matrix is cut into tiles, a block each, and in which order blocks take them: bands of tiles, in them one or
 * two columns after another. */
typedef struct gp_transpose_cut {
    uint32_t tile_rows, tile_cols;
    uint32_t down, across; /* tiles */
    uint32_t band;         /* tiles down */
    uint32_t beside;       /* columns of tiles that blocks walk down together: 1 or 2 */
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
gp_transpose_cut gp_transpose_cut_turn(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_strip(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_rows(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_quad(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_rows(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_cols(const gp_problem *problem, unsigned threads);

#ifdef __cplusplus
}
#endif

#endif
