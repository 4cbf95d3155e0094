/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the reduction kernels and their rows in the catalogue must agree on. Plain C. */
#ifndef GP_REDUCE_H
#define GP_REDUCE_H

#include <stdint.h>

/*
 * Trial kernels outside the library, one H200: 512 threads with four 16-byte loads each, as many blocks as are
 * resident, ran at 1.40 times the speed of CUB at 2^20 elements, 1.18 at 2^24, 1.08 at 2^26 and 1.03 at 2^28; 1024
 * threads, 2 or 8 loads or more blocks at no more.
 */
#define GP_REDUCE_THREADS 512
#define GP_REDUCE_LOADS 4
/*
 * Elements of a memory line. From a pointer 4 bytes off, loads that were aligned to 16 bytes only, so that every
 * warp's 512 bytes touched one sector more, ran at 0.94 of the aligned speed at 2^29 elements.
 */
#define GP_REDUCE_LINE 32
#define GP_REDUCE_REGS 32       /* 2048 threads on an SM of 65536 registers */
#define GP_REDUCE_BLOCK_REGS 64 /* reduce_block is alone on its SM */
#define GP_REDUCE_GRID_MAX 65536
/*
 * Of so many rounds of chunks one, the last, is drawn by the blocks that are done first. Times CUB's speed on one
 * H200 with none, one in 32, 8, 5, 4 and 2: 2^26 1.066, 1.066, 1.074, 1.076, 1.076, 1.075;
 * 2^28 1.020, 1.022, 1.024, 1.027, 1.026, 1.025; 2^30 1.003, 1.005, 1.009, 1.008, 1.008, 1.007. All drawn 0.989 at
 * 2^30.
 */
#define GP_REDUCE_DRAWN 5
#define GP_REDUCE_DRAWN_MAX ((uint64_t)1 << 30) /* elements */
#define GP_REDUCE_STATIC_SMEM 272               /* one 64-bit slot a warp, the ticket, two draws */

#define GP_REDUCE_DEALT 2 /* in a tiling, behind the tile: how many tiles are dealt out; UINT32_MAX: all */

/* In the context's workspace, cleared once; every call leaves it cleared. */
typedef struct gp_reduce_space {
    uint32_t started; /* blocks of the running call */
    uint32_t unused[31];
    uint32_t drawn; /* chunks of the running call; each counter and the partial results have a line of their own */
    uint32_t unused_too[31];
    uint64_t partial[GP_REDUCE_GRID_MAX];
} gp_reduce_space;

#endif
