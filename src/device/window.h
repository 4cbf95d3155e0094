/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the window kernels and their rows in the catalogue must agree on. Plain C. */
#ifndef GP_WINDOW_H
#define GP_WINDOW_H

#include "../host/problem.h"
#include <stddef.h>

#define GP_WINDOW_THREADS 256 /* window_naive and window_tile: most threads a block */
#define GP_WINDOW_NAIVE_REGS 64
#define GP_WINDOW_TILE_REGS 32

/*
 * window_scan: consecutive pixels a thread. Odd, so that 32 threads' chunks lie in different banks without padding,
 * and just above 16, so that 64 threads hold 1024 columns with a halo.
 *
 * One H200, 8-bit pixels, share of the read-1-write-2 floor at 16384 x 16384: windows of 15: 64 threads 0.97, 128
 * 0.93, 256 0.95; windows of 301: 64 threads 0.88, 128 0.95, 256 0.96. A ceiling of 48 registers, or shared memory
 * padded to hold fewer blocks, took up to 0.04 from each.
 */
#define GP_WINDOW_CHUNK 17
#define GP_WINDOW_SCAN_THREADS 64
#define GP_WINDOW_MID_THREADS 160 /* 2048 columns and a window up to 512 fill a block */
#define GP_WINDOW_WIDE_THREADS 256
#define GP_WINDOW_HUGE_THREADS 1024
#define GP_WINDOW_ROWS_THREADS 128
#define GP_WINDOW_SCAN_REGS 64
#define GP_WINDOW_ROWS_REGS 56
#define GP_WINDOW_ALIGN_OUT 7     /* a row's first tile starts up to so many columns early, to store full sectors */
#define GP_WINDOW_ALIGN_IN 3      /* and its pixels up to so many before the window, to load 16 bytes */
#define GP_WINDOW_OUTPUT_STEP 32  /* columns: neighbouring tiles meet between two 128-byte lines */
#define GP_WINDOW_PREFIX_BYTES 24 /* widest prefix of a chunk: sum and two halves of the squares' sum */
#define GP_WINDOW_ROW_BYTES 48    /* window_scan_rows: what is kept of each row of the block */

/*
 * Words of outputs on their way to memory, and likewise of pixels, a block: some spare ones, as the last chunk reads
 * on for outputs that are not stored; with short rows, some for each.
 */
#define GP_WINDOW_SCAN_WORDS(threads) ((size_t)(threads)*GP_WINDOW_CHUNK + 24)
#define GP_WINDOW_ROWS_WORDS(threads) ((size_t)(threads) * (GP_WINDOW_CHUNK + 7))

/* Shared bytes of window_scan: outputs and pixels, prefixes of chunks and warps, one word a warp. */
#define GP_WINDOW_SCAN_SMEM(threads) \
    (8 * GP_WINDOW_SCAN_WORDS(threads) + ((size_t)(threads) + 32) * GP_WINDOW_PREFIX_BYTES + 32 * sizeof(int))
#define GP_WINDOW_ROWS_SMEM(threads)                                                                            \
    (8 * GP_WINDOW_ROWS_WORDS(threads) + ((size_t)(threads) + 32) * GP_WINDOW_PREFIX_BYTES + 32 * sizeof(int) + \
     (size_t)(threads)*GP_WINDOW_ROW_BYTES)

/* Chunks that a tile of `outputs` columns needs, up to the end of its last window and one pixel more. */
#define GP_WINDOW_CHUNKS(outputs, window) (((outputs) + (window) + GP_WINDOW_CHUNK - 1) / GP_WINDOW_CHUNK)

/* How window_scan cuts rows: the same for all blocks. */
typedef struct gp_window_cut {
    unsigned outputs; /* a tile's columns; a multiple of GP_WINDOW_OUTPUT_STEP */
    unsigned tiles_a_row;
    unsigned chunks; /* a tile's, halo included */
    unsigned rows;   /* tiles that a block of window_scan_rows takes, where tiles_a_row is 1 */
} gp_window_cut;

#ifdef __cplusplus
extern "C"
#endif
    gp_window_cut
    gp_window_cut_row(const gp_problem *problem, unsigned threads);

#endif
