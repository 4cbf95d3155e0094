/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that window_rows and its row in the catalogue must agree on. Plain C. */
#ifndef GP_WINDOW_ROWS_H
#define GP_WINDOW_ROWS_H

#include "../problem.h"
#include <stddef.h>

/*
 * One H200, 2^24 pixels, windows of 15, REFLECT_101, share of the floor of blocks of 64 and of 128 threads with 17
 * pixels each, and of 64 with 13 and 21: 64 columns of 8 bits 0.96, 0.95; 0.93, 0.97; 128 columns 0.97, 0.97; 0.94,
 * 0.91; 181: 0.86, 0.87; 0.83, 0.76; 64 columns of full int32 0.64, 0.63; 0.59, 0.66. 48 registers: within 0.01.
 */
#define GP_WINDOW_ROWS_THREADS 64
#define GP_WINDOW_ROWS_THREADS_MAX 256 /* for long extended rows, of which each block has one */
#define GP_WINDOW_ROWS_REGS 40
#define GP_WINDOW_ROWS_CHUNK 17 /* pixels a thread; odd, so that 32 threads' chunks lie in different banks */
#define GP_WINDOW_ROWS_ALIGN 3  /* pixels before the block's first, to load 16 bytes */

/*
 * How window_rows cuts an image: the same for all blocks. A row is extended by what its windows reach on both sides;
 * of a window that is wider than the border's period, only what is left over is summed, the rest is counted.
 */
typedef struct gp_window_rows_cut {
    unsigned rows;       /* a block */
    unsigned chunk;      /* pixels of extended rows a thread */
    bool vectors;        /* pixels lie so that 16 bytes can be loaded and put at once, */
    bool across;         /* some of them to two rows */
    bool mirrored;       /* the window of x lies x before that of column 0; else x further */
    bool minus;          /* windows are to be taken off */
    int left, extended;  /* columns before the row's first, and all, with the row and those behind it */
    int start, window;   /* column 0's window: start .. start + window - 1 */
    int under, over;     /* columns that windows reach before the row and behind it */
    unsigned whole;      /* so many times the row is added, */
    unsigned ends_minus; /* and so many times its first and its last pixel taken off */
} gp_window_rows_cut;

/* Prefixes of all pixels and one more, and a sum a row, to an even number; 8 and 4 bytes each. */
#define GP_WINDOW_ROWS_WORDS(threads, chunk, rows) (((size_t)(threads) * (chunk) + 1 + (rows) + 1) / 2 * 2)
#define GP_WINDOW_ROWS_HEAD(threads) (((size_t)(threads) / 32 * (16 + 4) + 15) / 16 * 16) /* a warp's sum, bits */
#define GP_WINDOW_ROWS_SMEM(threads, chunk, rows) \
    (GP_WINDOW_ROWS_HEAD(threads) + GP_WINDOW_ROWS_WORDS(threads, chunk, rows) * 12)

#ifdef __cplusplus
extern "C" {
#endif

gp_window_rows_cut gp_window_cut_rows(const gp_problem *problem, unsigned threads);

#ifdef __cplusplus
}
#endif

#endif
