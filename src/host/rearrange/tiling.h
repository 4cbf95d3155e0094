/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the transpose kernels and their rows in the catalogue must agree on. Plain C. */
#ifndef GP_TRANSPOSE_H
#define GP_TRANSPOSE_H

#include "../device.h"
#include "../plan.h"
#include <stddef.h>
#include <stdint.h>

/* In place of a number of shared bytes: so few threads cannot do it with any; not so many, though fewer may. */
#define GP_SMEM_FEW_THREADS SIZE_MAX
#define GP_SMEM_OTHER_THREADS (SIZE_MAX - 1)

#define GP_TRANSPOSE_THREADS 256    /* most threads a block, unless named below */
#define GP_TRANSPOSE_THREADS_MIN 64 /* and fewest of those compiled for each of 256, 128 and 64 */
#define GP_TRANSPOSE_NAIVE_REGS 48
#define GP_TRANSPOSE_TILE_REGS 48
#define GP_TRANSPOSE_VECTOR_REGS 64
#define GP_TRANSPOSE_PACK_REGS 128
#define GP_TRANSPOSE_SWAP_REGS 128
#define GP_TRANSPOSE_SKEW_REGS 80
#define GP_TRANSPOSE_QUAD_REGS 64
#define GP_TRANSPOSE_PICK_REGS 64
#define GP_TRANSPOSE_PICK_FLOW_REGS 80
#define GP_TRANSPOSE_ROWS_REGS 64
#define GP_TRANSPOSE_STRIP_REGS 64
#define GP_TRANSPOSE_MIRROR_REGS 128
#define GP_TRANSPOSE_MIRROR_BYTES_REGS 64
#define GP_TRANSPOSE_MIRROR_PICK_REGS 64
#define GP_TRANSPOSE_MIRROR_QUADS_REGS 80
#define GP_TRANSPOSE_ANY_REGS 64

#define GP_TRANSPOSE_SECTOR 32 /* bytes that DRAM writes whole or reads first: output segments start at multiples */
#define GP_TRANSPOSE_VECTOR 16 /* bytes of the widest load and store */
#define GP_TRANSPOSE_STRIP_BYTES 64 /* transpose_strip: bytes of a tile a thread */

/*
 * transpose_skew: rows a warp. 64 x 64 tiles of 4 and 8 bytes where there is much, else 64 x 32, as of 16. H200,
 * share of a copy's speed: 10007 x 9973 of 4, 8, 16 bytes 0.92, 0.93, 0.94, against 0.91, 0.92 of 64 x 32 and 0.89 of
 * 128 x 128; 8192 x 8192 of 8 bytes 0.98.
 */
#define GP_TRANSPOSE_SKEW_ROWS 8

/* transpose_vector, _pack, _swap: squares of one vector's elements that a thread moves. */
#define GP_TRANSPOSE_SQUARES(elem_bytes) ((elem_bytes) == 16 ? 4u : 1u)

/* transpose_bulk: most threads; vectors beside and below each other in a tile, and one more for each column of them.
 */
#define GP_TRANSPOSE_BULK_REGS 64
#define GP_TRANSPOSE_BULK_THREADS 512
#define GP_TRANSPOSE_BULK_ACROSS 16u
#define GP_TRANSPOSE_BULK_DOWN(elem_bytes, threads) ((threads) / ((elem_bytes) == 16 ? 8u : 16u))
#define GP_TRANSPOSE_BULK_SMEM(elem_bytes, threads) \
    ((size_t)16 * GP_TRANSPOSE_BULK_ACROSS * (16 / (elem_bytes)*GP_TRANSPOSE_BULK_DOWN(elem_bytes, threads) + 1))

/* transpose_quad: 4 x 128 vectors a block; words of room after each vector's columns, of `across` vectors in a tile.
 */
#define GP_TRANSPOSE_QUAD_THREADS 128
#define GP_TRANSPOSE_QUAD_PAD(across) ((across) >= 8 ? 4u : 32u / (across))

/*
 * transpose_pick, _wide, _few: threads, vectors of shared memory that a row's piece has, bytes of a column in a tile;
 * blocks that an H200's registers leave room for. A band has several tiles: it has 8 MiB, a tile less than 80 KiB.
 */
#define GP_TRANSPOSE_PICK_THREADS 512
#define GP_TRANSPOSE_PICK_LANES 16
#define GP_TRANSPOSE_PICK_HIGH 128
#define GP_TRANSPOSE_PICK_WIDE_HIGH 256
#define GP_TRANSPOSE_PICK_FEW_LANES 8
#define GP_TRANSPOSE_PICK_FEW_HIGH 128
#define GP_TRANSPOSE_PICK_SHARE 3

/* transpose_pick_tall: threads, and blocks that an SM is to have room for. */
#define GP_TRANSPOSE_PICK_TALL_THREADS 512
#define GP_TRANSPOSE_PICK_TALL_BLOCKS 3

/*
 * transpose_pick_flat: vectors of a row's piece, most bytes of a tile, and blocks that an SM has at least. H200, us,
 * 91 x 184365 of 1 byte: 385 tiles 15.5, 524 tiles 12.3.
 */
#define GP_TRANSPOSE_PICK_FLAT_LANES_MIN 8
#define GP_TRANSPOSE_PICK_FLAT_LANES_MAX 64
#define GP_TRANSPOSE_PICK_FLAT_BYTES ((size_t)54 << 10)
#define GP_TRANSPOSE_PICK_FLAT_SHARE 4

/* transpose_pick_whole: a warp for each column of a sector; 2 bytes: blocks that a multiprocessor has at least. */
#define GP_TRANSPOSE_PICK_WHOLE_THREADS(elem_bytes) ((elem_bytes) == 1 ? 1024u : 512u)
#define GP_TRANSPOSE_PICK_WHOLE_SHARE 4

/*
 * transpose_pick_flow: threads; tiles that a block has room for; bytes of a row's piece where a thread has so many
 * places in a period. H200, us, 1 byte: 23 x 729444 in tiles of 192, 256, 384 bytes 11.4, 10.7, 10.8; 91 x 184365 of
 * 128, 192 bytes 12.6, 11.6; with 4 tiles of 192 bytes 12.4.
 */
#define GP_TRANSPOSE_PICK_FLOW_THREADS 384
#define GP_TRANSPOSE_PICK_FLOW_THREADS_MIN 192
#define GP_TRANSPOSE_PICK_FLOW_TILES 3
#define GP_TRANSPOSE_PICK_FLOW_WIDE_THREADS 512
#define GP_TRANSPOSE_PICK_FLOW_BYTES(phases) ((phases) == 1 ? 256u : (phases) == 2 ? 192u : 128u)

/*
 * transpose_pick_rows, _cols: words of a column that a warp stores at once, a sector; how often down a column; bytes
 * of a tile a thread; and from row to row in shared memory, an odd number of vectors.
 */
#define GP_TRANSPOSE_PICK_WORDS 8
#define GP_TRANSPOSE_PICK_STEPS(row_bytes) ((row_bytes) <= 64 ? 8u : 4u)
#define GP_TRANSPOSE_PICK_BYTES 64
#define GP_TRANSPOSE_PICK_COLS_THREADS 128
#define GP_TRANSPOSE_PICK_PITCH(row_bytes) (16 * ((((row_bytes) + 15) / 16 + 1) | 1))

/*
 * transpose_rows: bytes of a tile, and the least bytes of a column that a block writes. H200, share of a copy's
 * speed, 4 bytes: 729444 x 23 0.96, 100000 x 257 0.98 of 32 rows, 0.96 of 64, but 120000 x 237 0.97 and 1.01.
 */
#define GP_TRANSPOSE_ROWS_BYTES 32768
#define GP_TRANSPOSE_ROWS_SEGMENT(elem_bytes, row_bytes) ((elem_bytes) == 4 && (row_bytes) > 1024 ? 128u : 256u)

/*
 * transpose_any: bytes of a tile a thread, fewer where that makes too few tiles; and of an element at most. H200,
 * share of a copy's speed, 96 against 64 bytes: 4096 x 4096 of 3, 6, 12, 24 bytes 0.70, 0.77, 0.95, 0.97 against
 * 0.50, 0.74, 0.95, 0.94; 256 x 256 of 1000 bytes 0.94, element by element 0.76.
 */
#define GP_TRANSPOSE_ANY_BYTES 96
#define GP_TRANSPOSE_ANY_BYTES_MIN 12
#define GP_TRANSPOSE_ANY_TILES 256
#define GP_TRANSPOSE_ANY_ELEM 1024

#define GP_TRANSPOSE_LINE 128 /* bytes that one instruction stores best */

#define GP_TRANSPOSE_MIRROR_WIDE_THREADS 512 /* transpose_mirror: of the large tiles */

/* transpose_mirror_bytes, _mid: 8 and 16 lanes along a row; half of the threads for each tile of a pair. */
#define GP_TRANSPOSE_MIRROR_THREADS(lanes) ((lanes)*16)

/*
 * transpose_mirror_pick, _wide, _quads: words that a tile owns of a row, which touches `vectors` at most; bytes from
 * row to row in shared memory, where a row begins as far past a sector's start as in global memory; bytes of a tile.
 * After so many rows as begin at different banks comes room of a sector.
 */
#define GP_TRANSPOSE_MIRROR_PICK_WORDS(vectors) (4 * (vectors)-3)
#define GP_TRANSPOSE_MIRROR_PICK_PITCH(vectors) (((vectors)*16 + 16 + 31) / 32 * 32)
#define GP_TRANSPOSE_MIRROR_PICK_ROWS(vectors, bytes) \
    ((GP_TRANSPOSE_MIRROR_PICK_WORDS(vectors) + 1) * (4 / (bytes)) - 1)
#define GP_TRANSPOSE_MIRROR_PICK_SMEM(vectors, bytes)                                                  \
    ((size_t)GP_TRANSPOSE_MIRROR_PICK_ROWS(vectors, bytes) * GP_TRANSPOSE_MIRROR_PICK_PITCH(vectors) + \
     (GP_TRANSPOSE_MIRROR_PICK_ROWS(vectors, bytes) / (GP_TRANSPOSE_SECTOR / (bytes)) + 1) * GP_TRANSPOSE_SECTOR)
#define GP_TRANSPOSE_MIRROR_PICK_VECTORS 8
#define GP_TRANSPOSE_MIRROR_PICK_THREADS(elem_bytes) ((elem_bytes) == 1 ? 512 : 256)
#define GP_TRANSPOSE_MIRROR_PICK_WIDE_VECTORS(elem_bytes) ((elem_bytes) == 2 ? 16 : 32)
#define GP_TRANSPOSE_MIRROR_PICK_WIDE_THREADS(elem_bytes) ((elem_bytes) == 2 ? 512 : 256)
#define GP_TRANSPOSE_MIRROR_QUADS_VECTORS 16
#define GP_TRANSPOSE_MIRROR_QUADS_THREADS 384
#define GP_TRANSPOSE_MIRROR_QUADS_SMEM \
    (GP_TRANSPOSE_MIRROR_PICK_SMEM(GP_TRANSPOSE_MIRROR_QUADS_VECTORS, 1) + GP_TRANSPOSE_SECTOR)

/* How the matrix is cut into tiles, a block each, and in which order blocks take them: bands of tiles, in them one or
 * two columns after another. */
typedef struct gp_transpose_cut {
    uint32_t tile_rows, tile_cols;
    uint32_t down, across; /* tiles */
    uint32_t band;         /* tiles down; transpose_mirror: side of the squares in which pairs are taken */
    uint32_t apart;    /* two columns so many tiles from each other are walked down together; a power of two, or 0 */
    uint32_t outlives; /* what is read is to stay in L2 longer than what is written */
    uint32_t halo;     /* rows above the tile that its skewed output segments may start in */
    uint32_t far;      /* transpose_pick, _wide, _few, _any: offsets need 64 bits */
    uint32_t tight;    /* transpose_pick_any: a block has little shared memory */
    uint32_t pitch;    /* transpose_pick, _wide, _few, _any, _whole: bytes from row to row in shared memory */
    uint32_t lanes;    /* transpose_pick_flat: vectors of shared memory that a row has */
    uint32_t room, slot; /* likewise: `slot` bytes are left after every 2^room rows */
    uint32_t turns;      /* transpose_pick_flat: threads that share the words that start at one place; _flow: the
                            places of a thread */
    uint32_t whole;      /* transpose_mirror_pick_quads: pairs before the first that is cut into quarters */
    uint32_t slice;      /* transpose_pick_flow: bytes of shared memory that a tile has */
    size_t smem;
    uint64_t blocks;
} gp_transpose_cut;

/* What a plan keeps of it: all but the last two, which are the plan's own. */
#define GP_TRANSPOSE_CUT_KEPT (offsetof(gp_transpose_cut, slice) + sizeof(uint32_t))

#ifdef __cplusplus
extern "C" {
#endif

gp_transpose_cut gp_transpose_cut_tile(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_vector(const gp_problem *problem, unsigned threads); /* _pack and _swap too */
gp_transpose_cut gp_transpose_cut_bulk(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_skew(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_strip(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_rows(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_any(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_quad(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick(const gp_problem *problem, const gp_device *device, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_wide(const gp_problem *problem, const gp_device *device, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_few(const gp_problem *problem, const gp_device *device, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_any(const gp_problem *problem, const gp_device *device, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_tall(const gp_problem *problem, const gp_device *device, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_flat(const gp_problem *problem, const gp_device *device, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_whole(const gp_problem *problem, const gp_device *device, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_flow(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_flow_wide(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_rows(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_pick_cols(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_mirror(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_mirror_wide(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_mirror_bytes(const gp_problem *problem, unsigned threads); /* _mid too */
gp_transpose_cut gp_transpose_cut_mirror_pick(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_mirror_pick_wide(const gp_problem *problem, unsigned threads);
gp_transpose_cut gp_transpose_cut_mirror_pick_quads(const gp_problem *problem, unsigned threads);

gp_transpose_cut gp_transpose_cut_of(const gp_plan *plan);

/* The most bytes, 16 or fewer, that divide an element's size and every address. */
uint32_t gp_transpose_piece(const gp_problem *problem);

/* transpose_any: bytes from row to row of a tile of `cols` columns in shared memory. */
uint32_t gp_transpose_any_pitch(const gp_problem *problem, uint32_t cols);

#ifdef __cplusplus
}
#endif

#endif
