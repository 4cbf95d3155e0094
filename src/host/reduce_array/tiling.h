/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the GPU kernels which reduce views and their rows in the catalogue must agree on. Plain C. */
#pragma once

#include <stdint.h>

/* Blocks of 512 threads, three an SM where 40 registers are enough; and of 256 with 80, three an SM too. */
#define GP_REDUCE_ALL_THREADS 512
#define GP_REDUCE_ALL_FEW_THREADS 256 /* f64, and squares */
#define GP_REDUCE_ALL_LIGHT_REGS 40   /* bits, and extremes of up to 4 bytes */
#define GP_REDUCE_ALL_HEAVY_REGS 64
#define GP_REDUCE_ALL_REGS 80 /* of GP_REDUCE_ALL_FEW_THREADS */
#define GP_REDUCE_ALL_STATIC_SMEM 2688
#define GP_REDUCE_ALL_VECTORS 4 /* of 16 bytes, that a thread loads at once; fewer of some floats of 2 bytes */
#define GP_REDUCE_ALL_GRID_MAX 2048

#define GP_REDUCE_ANY_THREADS 32
#define GP_REDUCE_ANY_REGS 128
#define GP_REDUCE_ANY_STATIC_SMEM 16
#define GP_REDUCE_ANY_GRID_MAX 65536
#define GP_REDUCE_ANY_SHARE 8 /* elements at least of a thread, if blocks share an output */

/* Forms of reduce_all. */
typedef enum gp_reduce_all_form {
    GP_ALL_BITS,
    GP_ALL_EXTREMES,                     /* of 1 byte; then of 2, 4 and 8 */
    GP_ALL_INTS = GP_ALL_EXTREMES + 4,   /* of 1 byte; then of 2, 4 and 8 */
    GP_ALL_FLOATS = GP_ALL_INTS + 4,     /* of 2 bytes; then of 4 and 8 */
    GP_ALL_SINGLES = GP_ALL_FLOATS + 3,  /* of 2 bytes; then of 4: without doubles */
    GP_ALL_SQUARES = GP_ALL_SINGLES + 2, /* of 2 bytes; then of 4: with sums of squares, without doubles */
    GP_ALL_FORMS = GP_ALL_SQUARES + 2
} gp_reduce_all_form;

/* Dynamic shared memory of a thread: what its sums need that are not exact in a register. */
#define GP_ALL_COLUMN_FLOATS 136
#define GP_ALL_COLUMN_F64 272
#define GP_ALL_COLUMN_SQUARES 216

/* reduce_many: up to so many threads a block, of up to 64 registers. */
#define GP_REDUCE_MANY_THREADS 512
#define GP_REDUCE_MANY_REGS 64
#define GP_REDUCE_MANY_STATIC_SMEM 7328
#define GP_REDUCE_MANY_STATE 64u /* bytes at most that a thread has of an output */

/* Forms of reduce_many: the bytes of an element; several of an output loaded at once, or one each of several outputs.
 */
typedef enum gp_reduce_many_form {
    GP_MANY_BITS,
    GP_MANY_EXTREMES,                      /* of 1 byte; then of 2, 4 and 8 */
    GP_MANY_PLACES = GP_MANY_EXTREMES + 4, /* of 1 byte; then of 2 and 4 */
    GP_MANY_SPAN_1 = GP_MANY_PLACES + 3,
    GP_MANY_SPAN_1_PACKED,
    GP_MANY_SPAN_1_WIDE,
    GP_MANY_SPAN_2,
    GP_MANY_SPAN_2_PACKED,
    GP_MANY_SPAN_2_WIDE,
    GP_MANY_SPAN_4,
    GP_MANY_SPAN_4_PACKED,
    GP_MANY_SPAN_4_WIDE,
    GP_MANY_SUM_1,
    GP_MANY_SUM_2,
    GP_MANY_SUM_4,
    GP_MANY_SUM_1_PACKED,
    GP_MANY_SUM_2_PACKED,
    GP_MANY_SUM_1_WIDEST,
    GP_MANY_SUM_1_WIDE,
    GP_MANY_SUM_2_WIDE,
    GP_MANY_SUM_4_WIDE,
    GP_MANY_SQUARES_1,
    GP_MANY_SQUARES_1_PACKED,
    GP_MANY_SQUARES_1_WIDE,
    GP_MANY_SQUARES_2,
    GP_MANY_SQUARES_2_PACKED,
    GP_MANY_INTS_1, /* any sums, and partners */
    GP_MANY_INTS_1_PACKED,
    GP_MANY_INTS_1_WIDE, /* one of them, without masks and products */
    GP_MANY_INTS_2,
    GP_MANY_INTS_2_PACKED,
    GP_MANY_INTS_4,
    GP_MANY_INTS_8,
    GP_MANY_APART, /* the greatest difference of floats, and of ints of 4 and 8 bytes: of 2, 4 and 8 */
    GP_MANY_MASKED_BITS = GP_MANY_APART + 3,
    GP_MANY_MASKED_EXTREMES, /* of 1 byte; then of 2, 4 and 8 */
    GP_MANY_FLOATS_2 = GP_MANY_MASKED_EXTREMES + 4,
    GP_MANY_FLOATS_2_PACKED,
    GP_MANY_FLOATS_2_WIDE,
    GP_MANY_FLOATS_4,
    GP_MANY_FLOATS_4_PACKED,
    GP_MANY_FLOATS_4_WIDE,
    GP_MANY_DOUBLES_4,
    GP_MANY_DOUBLES_8,
    GP_MANY_PRODUCTS_2,
    GP_MANY_PRODUCTS_2_PACKED,
    GP_MANY_PRODUCTS_4,
    GP_MANY_PRODUCTS_4_PACKED,
    GP_MANY_COUNTED, /* where some may not count, and differences: of 2 bytes; then of 4 and 8 */
    GP_MANY_TWOFOLD = GP_MANY_COUNTED + 3, /* any sums: of 2 bytes; then of 4, 8 without partners, and 8 with them */
    GP_MANY_MOMENTS_2 = GP_MANY_TWOFOLD + 4,
    GP_MANY_MOMENTS_2_PACKED,
    GP_MANY_MOMENTS_2_WIDE,
    GP_MANY_MOMENTS_4,
    GP_MANY_MOMENTS_4_PACKED,
    GP_MANY_MOMENTS_4_WIDE,
    GP_MANY_FORMS
} gp_reduce_many_form;

/* How reduce_many cuts a pass; the tiling's numbers. A team is lanes x slices threads of a block. */
typedef struct gp_many_cut {
    uint32_t rows, cols; /* of a tile: outputs, and elements of each */
    uint32_t lanes;      /* threads that take an output's elements in turns */
    uint32_t outputs;    /* that a block computes side by side */
    uint32_t slices;     /* of the elements, among a block's threads */
    uint32_t splits;     /* blocks that share a tile */
    uint32_t tiles;
    uint32_t chunks;     /* of a walk along the last reduced axis */
    uint32_t parts;      /* chunks of all walks */
    uint32_t chunk;      /* elements of one, or units */
    uint32_t groups;     /* of parts, one for each slice of a block */
    uint32_t dealt;      /* groups from here on are drawn; UINT32_MAX: none */
    uint32_t joined;     /* blocks of a tile that are joined at once, before all are */
    uint32_t fold;       /* rows without gaps that are one long row, whose columns a row apart are one output's */
    uint8_t lanes_first; /* neighbours take an output's elements, not neighbouring outputs; lanes are up to 32 */
    uint8_t rest;        /* reduce_any is launched behind it, for outputs that may fail */
    uint8_t zero;        /* 0, which the compiler does not know */
    uint8_t by_columns;  /* parts of a tile's outputs are joined, and each output is finished by a thread */
} gp_many_cut;

/* reduce_short: its forms are reduce_many's. */
#define GP_REDUCE_SHORT_THREADS 256
#define GP_REDUCE_SHORT_BLOCKS 4 /* that an SM is to hold: up to 64 registers */
#define GP_REDUCE_SHORT_REGS 64
#define GP_REDUCE_SHORT_STATIC_SMEM 3680

typedef struct gp_short_cut {
    uint32_t rows, cols; /* of a tile, which goes to shared memory at once, while another is taken there */
    uint32_t lanes;      /* threads of a row, a power of two */
    uint32_t outputs;    /* rows side by side */
    uint32_t stage;      /* bytes of a tile in shared memory */
    uint32_t tiles;
    uint32_t dealt;  /* tiles from here on are drawn; UINT32_MAX: none */
    uint32_t inner;  /* tiles from the second on, behind which 16 bytes of the array follow at least */
    uint32_t rest;   /* reduce_any is launched behind it, for outputs that may fail */
    uint32_t run;    /* contiguous bytes of a row: all, or those of a box */
    uint32_t across; /* boxes side by side, which a row of a picture has; 0: rows are contiguous */
} gp_short_cut;

/* In a tiling of the others, behind the tile. */
enum {
    GP_REDUCE_ALL_DEALT = 3, /* tiles from here on are drawn; UINT32_MAX: none */
    GP_REDUCE_ANY_TEAM = 2,  /* threads that share an output, a power of two */
    GP_REDUCE_ANY_SPLITS = 3 /* blocks that do, if all threads of each do */
};

/* The part of the context's workspace that is not gp_reduce_int()'s. */
#define GP_REDUCE_ARRAY_SPACE_FIRST ((size_t)576 << 10)
#define GP_REDUCE_ARRAY_SPACE_BYTES ((size_t)448 << 10)

/* Behind it that of reduce_many: numbers of failed outputs, tiles' counters, and what blocks send. */
#define GP_REDUCE_MANY_SPACE_FIRST ((size_t)1 << 20)
#define GP_REDUCE_MANY_SPACE_BYTES ((size_t)7 << 20)
#define GP_MANY_FAILED_MAX 131072u
#define GP_MANY_TILES_MAX 4096u
#define GP_MANY_SENT_BYTES ((size_t)6 << 20)
