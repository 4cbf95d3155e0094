/* SPDX-License-Identifier: Apache-2.0 */
/* How transposes are cut into tiles: the numbers that fit() decides, a plan keeps and kernels take. Plain C. */
#pragma once

#include "../plan.h"

#define GP_SECTOR 32u /* bytes that DRAM writes whole or reads first: output segments start at multiples */
#define GP_VECTOR 16u /* bytes of the widest load and store */
#define GP_LINE 128u  /* bytes that one instruction stores best */

#define GP_TRANSPOSE_THREADS 256u /* a block, unless named below */

#define GP_TRANSPOSE_TILE_REGS 48
#define GP_TRANSPOSE_VECTOR_THREADS 128u
#define GP_TRANSPOSE_MIRROR_WIDE_THREADS 512u

/* transpose_mirror: its forms are those of mirror.cu, and from these numbers on of the files named. */
#define GP_MIRROR_WORDS_FORM 6u /* elements of three words of 1, 2, 4 and 8 bytes, then of 5 and 7 bytes */
#define GP_MIRROR_SWAP_FORM 16u
#define GP_MIRROR_PICK_FORM 24u

/* transpose_vector: words of room after each vector's columns, of `across` vectors in a tile's row. */
#define GP_TRANSPOSE_VECTOR_PAD(across) ((across) >= 8 ? 4u : 32u / (across))

/* transpose_skew: rows a warp. */
#define GP_TRANSPOSE_SKEW_ROWS 8u

/* transpose_pick: threads of each form, vectors of a row's piece that a thread copies, bytes of a column in a tile.
 */
#define GP_TRANSPOSE_PICK_LANES 16u
#define GP_TRANSPOSE_PICK_THREADS 512u
#define GP_TRANSPOSE_PICK_HIGH 256u
#define GP_TRANSPOSE_PICK_EVEN_THREADS 256u
#define GP_TRANSPOSE_PICK_EVEN_HIGH 128u
#define GP_TRANSPOSE_PICK_SHARE 3 /* blocks that an H200's registers leave room for */

/* transpose_pieces: words below each other that a thread stores of a column, by the piece's bytes. */
#define GP_TRANSPOSE_PIECES_TIMES(piece) ((piece) == 2 ? 2u : 3u)

/*
 * mirror_pick.cu: words that a tile owns of a row, which touches `vectors` at most; bytes from row to row in
 * shared memory, where a row begins as far past a sector's start as in global memory; bytes of a tile. After so many
 * rows as begin at different banks comes room of a sector.
 */
#define GP_MIRROR_PICK_WORDS(vectors) (4 * (vectors)-3)
#define GP_MIRROR_PICK_PITCH(vectors) (((vectors)*16 + 16 + 31) / 32 * 32)
#define GP_MIRROR_PICK_ROWS(vectors, bytes) ((GP_MIRROR_PICK_WORDS(vectors) + 1) * (4 / (bytes)) - 1)
#define GP_MIRROR_PICK_SMEM(vectors, bytes)                                        \
    ((size_t)GP_MIRROR_PICK_ROWS(vectors, bytes) * GP_MIRROR_PICK_PITCH(vectors) + \
     (GP_MIRROR_PICK_ROWS(vectors, bytes) / (GP_SECTOR / (bytes)) + 1) * GP_SECTOR)
#define GP_MIRROR_PICK_VECTORS 8
#define GP_MIRROR_PICK_THREADS(elem_bytes) ((elem_bytes) == 1 ? 512u : 256u)
#define GP_MIRROR_PICK_SMALL_VECTORS 4
#define GP_MIRROR_PICK_SMALL_THREADS 256u
#define GP_MIRROR_PICK_WIDE_VECTORS(elem_bytes) ((elem_bytes) == 4 ? 32 : 16)
#define GP_MIRROR_PICK_WIDE_THREADS(elem_bytes) ((elem_bytes) == 4 ? 256u : (elem_bytes) == 1 ? 384u : 512u)

/* Tiles of a matrix, a block each, and in which order blocks take them. Other kernels than those named ignore a
 * member. */
typedef struct gp_tiles {
    uint32_t rows, cols;   /* of a tile */
    uint32_t down, across; /* tiles */
    uint32_t band;         /* tiles down that are taken before the next column; in place: side of a square of pairs */
    uint32_t halo;         /* rows above a tile that its skewed output segments may start in */
    uint32_t pitch;        /* bytes from row to row in shared memory, or words from column to column */
    uint32_t apart;        /* skew: two columns so many tiles from each other are taken together; 0 or a power of 2 */
    uint32_t keep_input;   /* skew: what is read stays in L2 longer than what is written */
    uint32_t stride; /* pieces: columns from one that a thread stores of to its next; strip: to a thread's next */
    uint32_t chunks; /* pieces: parts of a column that warps share */
    uint32_t lanes;  /* pieces, strip: log2 of the threads that copy a row; 0: rows are one run of memory */
} gp_tiles;

static inline gp_tiles gp_tiles_of(const gp_plan *plan) {
    gp_tiles tiles;
    memcpy(&tiles, plan->tiling.t, sizeof tiles);
    return tiles;
}

/* The most bytes, 16 or fewer, that divide an element's size and every address. */
static inline uint32_t gp_piece_bytes(const gp_problem *problem) {
    return gp_alignment(problem->elem_bytes | problem->in_align | problem->out_align | GP_VECTOR);
}
