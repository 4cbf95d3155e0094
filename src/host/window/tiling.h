/* SPDX-License-Identifier: Apache-2.0 */
/* How windows are cut for each kernel: the numbers that fit() decides, a plan keeps and kernels take. Plain C. */
#pragma once

#include "../plan.h"

#define GP_WINDOW_THREADS 256 /* window_naive, window_stream: most threads a block */
#define GP_WINDOW_NAIVE_REGS 64
#define GP_WINDOW_STREAM_REGS 72
#define GP_WINDOW_STREAM_STATIC_SMEM 288 /* three slots a warp */

#define GP_WINDOW_LINE 32        /* columns of a 128-byte line of memory */
#define GP_WINDOW_ALIGN_OUT 127  /* columns that aligned rows' first tiles start early, at most: 512 bytes */
#define GP_WINDOW_ALIGN_IN 31    /* and its pixels up to so many before the window, to load whole lines */
#define GP_WINDOW_OUTPUT_STEP 32 /* columns: neighbouring tiles meet between two lines */

/* window_scan. More registers, or 8 groups a thread, gain at some widths what they lose at others. */
#define GP_WINDOW_SCAN_THREADS 256u /* at most */
#define GP_WINDOW_SCAN_REGS 56      /* at most; 48 where ptxas needs no more */
#define GP_WINDOW_SCAN_LOADS 6      /* 16-byte loads a thread, under way at once */
#define GP_WINDOW_SCAN_WARPS 32     /* words of shared memory before the pixels: one a warp, at most */

/* Tiles of a row, a block each. Other kernels than window_scan leave out what they do not need. */
typedef struct gp_window_tiles {
    uint32_t rows, cols; /* of a tile: 1, and a multiple of GP_WINDOW_OUTPUT_STEP */
    uint32_t tiles_a_row;
    uint32_t tiles_scale, tiles_shift; /* block * scale >> shift: the block's row */
    uint32_t warps_scale;              /* n * scale >> 16: an n-th of a block's warps */
    uint32_t span;                     /* columns a warp; a multiple of 128 */
    uint32_t wide_span;                /* columns a warp where sums are widest */
    uint32_t early_mask;               /* of how many columns early a row's first tile starts */
    uint32_t gaps;                     /* between the columns of two rows: bytes that nobody writes */
} gp_window_tiles;

/* window_rows: blocks of 64 threads with 17 pixels each; 128 threads, 13 or 21 pixels lose at most widths. */
#define GP_WINDOW_ROWS_THREADS 64
#define GP_WINDOW_ROWS_REGS 40
#define GP_WINDOW_ROWS_CHUNK 17 /* pixels a thread; odd, so that 32 threads' chunks lie in different banks */
#define GP_WINDOW_ROWS_ALIGN 3  /* pixels before the block's first, to load 16 bytes */

/* What windows see beyond their row; a form each, and its neighbour where outputs lie one behind the other. */
typedef enum rows_kind {
    ROWS_ZERO,     /* windows end at the row's ends */
    ROWS_EXTENDED, /* windows lie in the extended row */
    ROWS_PERIODIC, /* and whole rows are counted besides */
    ROWS_REPLICATE /* windows end at the row's ends, whose pixels are counted besides */
} rows_kind;

/*
 * Whole rows a block. A row is extended by what its windows reach on both sides; of a window that is wider than the
 * border's period, only what is left over is summed, the rest is counted.
 */
typedef struct gp_window_rows_tiles {
    uint32_t rows, cols;    /* a block */
    uint32_t chunk;         /* pixels of extended rows a thread */
    bool vectors;           /* pixels lie so that 16 bytes can be loaded and put at once, */
    bool across;            /* some of them to two rows */
    bool mirrored;          /* the window of x lies x before that of column 0; else x further */
    bool minus;             /* windows are to be taken off */
    int32_t left, extended; /* columns before the row's first, and all, with the row and those behind it */
    int32_t start, window;  /* column 0's window: start .. start + window - 1 */
    int32_t under, over;    /* columns that windows reach before the row and behind it */
    uint32_t whole;         /* so many times the row is added, */
    uint32_t ends_minus;    /* and so many times its first and its last pixel taken off */
} gp_window_rows_tiles;

/* Prefixes of all pixels and one more, and a sum a row, to an even number; 8 and 4 bytes each. */
#define GP_WINDOW_ROWS_WORDS(threads, chunk, rows) (((size_t)(threads) * (chunk) + 1 + (rows) + 1) / 2 * 2)
#define GP_WINDOW_ROWS_HEAD(threads) (((size_t)(threads) / 32 * (16 + 4) + 15) / 16 * 16) /* a warp's sum, bits */
#define GP_WINDOW_ROWS_SMEM(threads, chunk, rows) \
    (GP_WINDOW_ROWS_HEAD(threads) + GP_WINDOW_ROWS_WORDS(threads, chunk, rows) * 12)

GP_DECLARE_ROW(window_rows);
GP_DECLARE_ROW(window_scan);
GP_DECLARE_ROW(window_stream);
GP_DECLARE_ROW(window_naive);
