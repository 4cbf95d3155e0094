/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the window kernels and their rows in the catalogue must agree on. Plain C. */
#ifndef GP_WINDOW_H
#define GP_WINDOW_H

#include "../host/problem.h"
#include <stddef.h>

#define GP_WINDOW_THREADS 256 /* window_naive, window_stream: most threads a block */
#define GP_WINDOW_NAIVE_REGS 64
#define GP_WINDOW_STREAM_REGS 64

/*
 * One H200, 8-bit pixels, share of the read-1-write-2 floor, reflected border, 16384 x 16384 and 4096 x 4096:
 *
 *   window     64 threads     128 threads    256 threads
 *   31         0.981 0.995    0.951 0.966    0.954 0.963
 *   301        0.981 0.984    0.954 0.964    0.957 0.960
 *   501        0.981 0.962    0.956 0.954    0.959 0.954
 *   1001       0.913 0.910    0.962 0.955    0.962 0.940
 *
 * 1024 x 131072, zero border, windows of 1501: 0.956 with 256 threads (0.930 with 40 registers each; 128 threads
 * of 40: 0.895).
 */
#define GP_WINDOW_SCAN_THREADS 64
#define GP_WINDOW_MID_THREADS 128
#define GP_WINDOW_WIDE_THREADS 256
#define GP_WINDOW_SCAN_REGS 48
#define GP_WINDOW_SCAN_LOADS 6   /* 16-byte loads a thread, under way at once */
#define GP_WINDOW_SCAN_GROUPS 4  /* times 4 outputs a thread, at most: a tile's columns */
#define GP_WINDOW_SCAN_WARPS 32  /* words of shared memory before the pixels: one a warp, at most */
#define GP_WINDOW_ALIGN_OUT 31   /* a row's first tile starts up to so many columns early, to store whole lines */
#define GP_WINDOW_ALIGN_IN 3     /* and its pixels up to so many before the window, to load 16 bytes */
#define GP_WINDOW_OUTPUT_STEP 32 /* columns: neighbouring tiles meet between two 128-byte lines */

/* How window_scan cuts rows: the same for all blocks. */
typedef struct gp_window_cut {
    unsigned outputs; /* a tile's columns; a multiple of GP_WINDOW_OUTPUT_STEP */
    unsigned tiles_a_row;
    unsigned span; /* columns a warp; a multiple of 128 */
} gp_window_cut;

/* How window_stream does. */
typedef struct gp_window_pieces {
    int64_t outputs;
    int64_t of_row; /* pieces a row */
} gp_window_pieces;

#ifdef __cplusplus
extern "C" {
#endif

gp_window_cut gp_window_cut_row(const gp_problem *problem, unsigned threads);
gp_window_pieces gp_window_cut_pieces(const gp_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
