/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the reduction kernels and their rows in the catalogue must agree on. Plain C. */
#pragma once

#include <stdint.h>

/* With as many blocks as are resident, one H200 ran 1024 threads, 2 or 8 loads or more blocks no faster. */
#define GP_REDUCE_THREADS 512
#define GP_REDUCE_LOADS 4
#define GP_REDUCE_LINE 32       /* elements of a memory line, from which on a warp's loads touch no sector more */
#define GP_REDUCE_REGS 32       /* 2048 threads on an SM of 65536 registers */
#define GP_REDUCE_BLOCK_REGS 64 /* reduce_block is alone on its SM */
#define GP_REDUCE_GRID_MAX 65536
#define GP_REDUCE_STATIC_SMEM 264 /* one 64-bit slot a warp, the ticket */

/* What changes no result of an operation. Calls refuse the least and the greatest of no elements. */
#define GP_REDUCE_IDENTITY(op) \
    ((op) == GP_REDUCE_MIN ? INT32_MAX : (op) == GP_REDUCE_MAX ? INT32_MIN : (op) == GP_REDUCE_AND ? -1 : 0)

/* What an operation makes of a and b, of any type; of vectors the least and the greatest have names of their own. */
#define GP_REDUCE_JOIN(op, a, b, least, greatest) \
    ((op) == GP_REDUCE_SUM   ? (a) + (b)          \
     : (op) == GP_REDUCE_MIN ? (least)            \
     : (op) == GP_REDUCE_MAX ? (greatest)         \
     : (op) == GP_REDUCE_AND ? (a) & (b)          \
     : (op) == GP_REDUCE_OR  ? (a) | (b)          \
                             : (a) ^ (b))

/* In the context's workspace, cleared once; every call leaves it cleared. */
typedef struct gp_reduce_space {
    uint32_t started;    /* blocks of the running call */
    uint32_t unused[31]; /* the partial results have lines of their own */
    uint64_t partial[GP_REDUCE_GRID_MAX];
} gp_reduce_space;
