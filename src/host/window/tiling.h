/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the window kernels and their rows in the catalogue must agree on. Plain C. */
#ifndef GP_WINDOW_H
#define GP_WINDOW_H

#include "../problem.h"
#include <stdbool.h>
#include <stddef.h>

#define GP_WINDOW_THREADS 256 /* window_naive, window_stream: most threads a block */
#define GP_WINDOW_NAIVE_REGS 64
#define GP_WINDOW_STREAM_REGS 72
#define GP_WINDOW_STREAM_STATIC_SMEM 288 /* three slots a warp */

/*
 * One H200, 8-bit pixels, share of the read-1-write-2 floor, reflected border, 16384 x 16384 and 4096 x 4096:
 *
 *   window     64 threads     128 threads    256 threads
 *   31         0.989 0.997    0.966 0.991    0.966 0.981
 *   301        0.986 0.996    0.965 0.988    0.965 0.977
 *   501        0.986 0.992    0.968 0.985    0.967 0.969
 *   701        0.979 0.966    0.971 0.990    0.967 0.975
 *   1001       0.948 0.937    0.975 0.981    0.970 0.965
 *   1501                                     0.973 0.955
 *
 * 24 bits, zero border, 1001: 64 threads 0.821 0.873, 128 0.933 0.936.
 *
 * 4096 x 4096, 1001, what fewer instructions brought: scans in words without carries, whole groups stored without
 * more questions, 24 bits 0.811 to 0.910, reflected 8 bits 0.929 to 0.951; loads without a branch each in even shares
 * of the warps, mirrored pixels from the tile itself, reflected 0.982. Those straight from the row: 0.794. 64
 * registers instead of 48: 24 bits 0.873 for 0.923; 8 groups a thread: 0.935 for 0.949, but full int32 0.803 for
 * 0.687.
 *
 * Before that, without a border, what each step brought (64 threads; 4096 x 4096): rows' first tiles from 512 bytes
 * instead of 128, windows of 101, 0.936 to 0.958 (16384 x 16384: 0.954 to 0.982); the sectors that rows end in
 * fetched early, 31, 0.954 to 0.977; a tile's last pixels loaded as a group of four instead of one by one after the
 * others, 3, 0.967 to 0.976. Wrapped, 1001: pixels from the other end loaded with the others 0.760 to 0.968; from
 * whole lines 0.961 to 0.970.
 */
#define GP_WINDOW_SCAN_THREADS 64
#define GP_WINDOW_MID_THREADS 128
#define GP_WINDOW_WIDE_THREADS 256
#define GP_WINDOW_SCAN_REGS 56   /* at most; 48 where ptxas needs no more */
#define GP_WINDOW_SCAN_LOADS 6   /* 16-byte loads a thread, under way at once */
#define GP_WINDOW_SCAN_GROUPS 4  /* times 4 outputs a thread, at most: a tile's columns */
#define GP_WINDOW_SCAN_WARPS 32  /* words of shared memory before the pixels: one a warp, at most */
#define GP_WINDOW_LINE 32        /* columns of a 128-byte line of memory */
#define GP_WINDOW_ALIGN_OUT 127  /* columns that aligned rows' first tiles start early, at most: 512 bytes */
#define GP_WINDOW_ALIGN_IN 31    /* and its pixels up to so many before the window, to load whole lines */
#define GP_WINDOW_OUTPUT_STEP 32 /* columns: neighbouring tiles meet between two lines */

#define GP_WINDOW_FEW_THREADS 512
#define GP_WINDOW_FEW_REGS 64
#define GP_WINDOW_FEW_HEAD (GP_WINDOW_FEW_THREADS / 32 * 52) /* bytes of shared memory before the pixels */

/* How window_scan and window_scan_few cut rows: the same for all blocks. */
typedef struct gp_window_cut {
    unsigned outputs; /* a tile's columns; a multiple of GP_WINDOW_OUTPUT_STEP */
    unsigned tiles_a_row;
    unsigned tiles_scale, tiles_shift; /* block * scale >> shift: the block's row */
    unsigned warps_scale;              /* n * scale >> 16: an n-th of a block's warps */
    unsigned span;                     /* columns a warp; a multiple of 128 */
    unsigned wide_span;                /* the same where sums are widest */
    unsigned early_mask;               /* of how many columns early a row's first tile starts */
    unsigned gaps;                     /* between the columns of two rows: bytes that nobody writes */
} gp_window_cut;

/* How window_stream does. */
typedef struct gp_window_pieces {
    int64_t outputs;
    int64_t of_row;     /* pieces a row */
    int64_t early_mask; /* as above */
} gp_window_pieces;

#ifdef __cplusplus
extern "C" {
#endif

bool gp_window_is_few(const gp_problem *problem); /* outputs: fewer than keep all of a device busy */
gp_window_cut gp_window_cut_row(const gp_problem *problem, unsigned threads);
gp_window_cut gp_window_cut_few(const gp_problem *problem, unsigned threads);
gp_window_pieces gp_window_cut_pieces(const gp_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
