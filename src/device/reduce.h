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
#define GP_REDUCE_STATIC_SMEM 264 /* one 64-bit slot a warp, the ticket */

/* In the context's workspace, cleared once; every call leaves it cleared. */
typedef struct gp_reduce_space {
    uint32_t started;    /* blocks of the running call */
    uint32_t unused[63]; /* partial results start on a line of their own */
    uint64_t partial[GP_REDUCE_GRID_MAX];
} gp_reduce_space;

#endif
