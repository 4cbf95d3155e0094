/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the GPU kernels which slide windows over views and their rows must agree on. Plain C. */
#pragma once

#include <stdint.h>

#define GP_WINDOW_ANY_THREADS 128
#define GP_WINDOW_ANY_REGS 128
#define GP_WINDOW_ANY_STATIC_SMEM 960

/* window_strip: up to so many threads a block; where warps have a strip each, so many. */
#define GP_STRIP_THREADS_MAX 256
#define GP_WALK_THREADS 128
#define GP_WALK_TOTALS (8 * 3 * 24) /* bytes to the sums of a strip's warps, by channel */
#define GP_STRIP_REGS 128
#define GP_STRIP_BLOCKS 2 /* of 256 threads that an SM is to hold */
#define GP_STRIP_STATIC_SMEM 2560
#define GP_STRIP_AHEAD 4     /* rows that are loaded at once before the first output */
#define GP_STRIP_LOOKED_AT 8 /* rows of the first window by which floats are scaled */

/* Forms of window_strip: the width of elements, and of sums. */
typedef enum gp_strip_form {
    GP_STRIP_F16, /* floats: whole numbers of a unit in 64 bits */
    GP_STRIP_F32_LINEAR,
    GP_STRIP_F32,
    GP_STRIP_F16_WIDE, /* squares in 128 bits: of results that are doubles */
    GP_STRIP_F32_WIDE,
    GP_STRIP_FORMS,                       /* from here on minima and maxima, by the width of elements */
    GP_STRIP_NEAR = GP_STRIP_FORMS + 4,   /* such in windows of few rows */
    GP_STRIP_FOLDED = GP_STRIP_FORMS + 7, /* along lines, by the forms above */
    GP_WALK_LINEAR = GP_STRIP_FORMS + 8,  /* from here on ints, usual results: bytes, no squares, 32 bits */
    GP_WALK_NARROW,                       /* bytes: 32 bits */
    GP_WALK_LONG_2,                       /* of 2 bytes: 32 bits, squares 64 */
    GP_WALK_ANY,                          /* of 4 bytes: 32 bits, or 64 and 128 where the data needs it */
    GP_WALK_NARROW_RGB,                   /* of 3 channels */
    GP_WALK_MEANS,                        /* of f16, f32: whole numbers of two units, each in 32 bits */
    GP_WALK_NARROW_ANY,                   /* from here on any results */
    GP_WALK_NARROW_RGB_ANY,
    GP_WALK_LONG_2_RGB_ANY,
    GP_WALK_WIDE_ANY, /* bytes: 64 bits */
    GP_WALK_WIDE_2_ANY,
    GP_WALK_ANY_ANY,
    GP_WALK_BYTES, /* means of bytes as such; of 3 and of 4 channels */
    GP_WALK_BYTES_RGB,
    GP_WALK_BYTES_RGBA,
    GP_LINE,                     /* from here on along lines: sums of ints in 32 bits; and of squares in 64 */
    GP_LINE_LONG = GP_LINE + 2,  /* sums in 64 bits; and of squares in 128 */
    GP_LINE_FLOATS = GP_LINE + 4 /* sums of floats; and of squares in 64 bits; or in 128 */
} gp_strip_form;

/* Narrow pictures that a strip has side by side: of a batch, or parts of one, from rows on that are as far apart. */
typedef struct gp_strip_pack {
    uint32_t count : 16, span : 15, down : 1; /* columns from one to the next; parts of one. 0: there is one */
    uint32_t inverse;                         /* 2^32 / span, rounded up; 0: there is one */
} gp_strip_pack;

/* Along lines: outputs of a chunk; blocks of GP_WALK_THREADS that an SM is to hold; what a warp has of shared memory:
 * words of chunks that enter and leave, some of them under way. */
#define GP_LINE_CHUNK 256
#define GP_LINE_BLOCKS 4
#define GP_LINE_REGS 128
#define GP_LINE_DEPTH 3
#define GP_LINE_WORDS 292
#define GP_LINE_BYTES (GP_LINE_DEPTH * 2 * GP_LINE_WORDS * 4)
#define GP_LINE_WIDE_LEAST (1 << 16) /* elements of a window of floats: squares in 64 bits are too coarse */

/* How the columns of a thread or a lane are loaded: one by one, all at once, or, of bytes, all from any address on.
 */
enum { GP_VECTORS_NONE, GP_VECTORS_TOGETHER, GP_VECTORS_ANYWHERE };

/* How window_strip cuts a box; the tiling's numbers. */
typedef struct gp_strip_cut {
    uint32_t rows, cols; /* of outputs that a block, or a warp, computes; columns of all channels */
    uint32_t strips, segments;
    uint32_t number;  /* of ints' strips in all segments and batches */
    uint32_t reach;   /* columns from a window's first to behind its last */
    uint32_t area;    /* elements of a window */
    uint32_t over;    /* bits that no magnitude has of which sums of 32 bits hold the windows; 0: none is looked at */
    uint16_t small;   /* windows' sums are up to 2^24, and n below 2^22 */
    uint16_t vectors; /* GP_VECTORS_*; of floats: results are stored at once too */
    uint16_t channels;     /* of a strip of ints, which has them as columns; 1: they are batches */
    uint16_t warps;        /* of a strip of ints; 1: a block has several strips */
    uint32_t skew;         /* the first output's window begins so many columns behind a strip's first */
    uint32_t prefix_bytes; /* of shared memory */
    uint32_t warp_bytes;   /* of it, for a strip of ints */
    gp_strip_pack pack;
} gp_strip_cut;

/* window_any, of what sees NaNs or infinities: maps of bits of a tile of outputs with what its windows see. rows 0:
 * such outputs are listed. */
typedef struct gp_special_cut {
    uint32_t rows, cols; /* of outputs; cols: of whole words */
} gp_special_cut;

#define GP_SPECIAL_MAPS 3

/* Of means of bytes as such: words of a lane's columns, and bytes that it loads and stores at once. */
#define GP_BYTES_WORDS(channels) ((channels) == 3 ? 6 : 4)
#define GP_BYTES_UNIT(channels) ((channels) == 3 ? 8 : 16)
#define GP_BYTES_ROWS_MAX 257       /* of a window, so that 16 bits hold a column's sum */
#define GP_BYTES_AREA_MAX (1 << 14) /* of a window, so that floats tell which byte is nearest */

/* window_strip of extremes: words hold as many elements as they can. */
#define GP_EXTREMES_THREADS_MAX 512
#define GP_EXTREMES_REGS 64
#define GP_EXTREMES_DOWN 4  /* rows of words whose elements are neighbours of a column, at a time */
#define GP_EXTREMES_GAP 8   /* words between two of them, against bank conflicts */
#define GP_EXTREMES_SMALL 5 /* up to here all elements of a window along rows are compared */

typedef struct gp_extremes_cut {
    uint32_t rows, cols; /* of outputs that a block computes; columns of all channels */
    uint32_t strips, segments;
    uint32_t reach;   /* columns from a window's first to behind its last */
    uint32_t words;   /* of a row of the input that a block works on */
    uint32_t block;   /* columns of a channel that a thread does; a window has no fewer, unless it is small */
    uint32_t vectors; /* words can be loaded as such */
    uint32_t skew;    /* the first output's window begins so many columns behind a strip's first */
    gp_strip_pack pack;
} gp_extremes_cut;

/* window_strip of extremes in windows of few rows, by the bytes of an element: blocks of GP_WALK_THREADS that an SM
 * is to hold, and how large windows are, by measurement. */
#define GP_NEAR_BLOCKS(bytes) ((bytes) == 1 ? 6 : 7)
#define GP_NEAR_REGS(bytes) ((bytes) == 1 ? 80 : 72)
#define GP_NEAR_ROWS_MAX(bytes) ((bytes) == 4 ? 32 : 20)
#define GP_NEAR_REACH_MAX(bytes) ((bytes) == 1 ? 64 : INT32_MAX)
