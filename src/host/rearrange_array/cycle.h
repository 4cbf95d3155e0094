/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rearrange_cycle: matrices without gaps, transposed where they are, on a GPU. Plain C; goes to kernels by value.
 *
 * A tall matrix is cut into pieces of some rows. Each is transposed by way of shared memory, which turns the matrix
 * into one of units, a piece's columns, that are long enough to be moved one by one along the cycles of their
 * permutation; a bit says of each place whether it has been written. Where the last piece has too few rows the matrix
 * is taken to be padded, its end to lie in the workspace, and lines are shifted together at last. A wide matrix goes
 * the same way back. (After F. Gustavson, L. Karlsson, B. Kagstrom, "Parallel and cache-efficient in-place matrix
 * storage format conversion", 2012, and I. Sung, J. Gomez-Luna, J. M. Gonzalez-Linares, N. Guil, W. Hwu, "In-place
 * transposition of rectangular matrices on accelerators", 2014.)
 */
#pragma once

#include "../kernel.h"
#include "move.h"

#define GP_REARRANGE_CYCLE_REGS 64
#define GP_REARRANGE_CYCLE_THREADS 512u
#define GP_REARRANGE_CYCLE_BLOCKS 2u /* of so many threads an SM */
#define GP_CYCLE_WORDS 4u            /* of a unit that a thread holds */

/*
 * Elements of a square, from which on its pairs do not change places one by one. Batches of 100 MB on an H200, us one
 * by one and so: 8 x 8 of 4 bytes 231, 425; 16 x 16 of 4 bytes 234, 136; 2048 x 2048 of 1 byte 1691, 265.
 */
#define GP_CYCLE_SQUARE 256u

/* The part of the workspace that need not be zero between calls: counters, then flags, then ends of matrices. */
#define GP_CYCLE_SPACE_FIRST ((size_t)2 << 20)
#define GP_CYCLE_SPACE_BYTES ((size_t)6 << 20)
#define GP_CYCLE_COUNTERS 4096u /* of 4 bytes; half of them are for shifts, one a block */

/* What a plan's tiling keeps. */
typedef struct gp_cycle_tile {
    uint32_t rows, cols; /* of a tile in shared memory: of the tall side; rows are a piece's */
    uint32_t parts;      /* tiles of a piece, which are loaded before one of them is stored; 0: units are elements */
} gp_cycle_tile;

typedef struct gp_cycle {
    gp_move others;          /* without the matrices' own axes: what counts matrices */
    uint64_t matrices;       /* in all, */
    uint64_t first, at_once; /* and those of a launch */
    uint64_t high, across;   /* the longer and the shorter side, in elements */
    bool tall;               /* the longer side becomes the shorter stride */
    uint32_t rows;           /* of a piece */
    uint64_t pieces;
    uint64_t bytes;         /* of a matrix */
    uint64_t unit, apart;   /* bytes of a unit, and from one to the next */
    uint64_t cut;           /* bytes from which on the padded matrix is in the workspace */
    uint64_t tail;          /* bytes of that, of each matrix */
    uint32_t units, flags;  /* of a matrix; words of 32 flags */
    uint32_t word;          /* bytes that are moved at once */
    uint32_t lanes, slices; /* threads of a unit; slices of it, that are moved one after another */
    unsigned char *space;
} gp_cycle;

/* False: it is no matrix without gaps in place, or the workspace has no room for its flags. align: of the output. */
GP_C_LINKAGE bool gp_cycle_make(gp_cycle *c, const gp_move *move, unsigned align, uint32_t rows);
