/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The study ladders: what their kernels, the sums' host part and the rows in the catalogue must agree on. Plain C.
 *
 * The result of every row that reduces: each block (of reduce_recursive_cpu: the one thread) makes the sum of its
 * elements modulo 2^32, taken as an int32; the host adds these in 64 bits. It is congruent to the exact sum modulo
 * 2^32, and equal to it where no block's sum passes 32 bits. Windows are added up in float: off by up to (window + 3)
 * 2^-24 of the sum of the magnitudes.
 */
#pragma once

#include "../../device/launch.h"

#define GP_LADDER_THREADS_MIN 64 /* the last warp joins two elements a lane */
#define GP_LADDER_THREADS_MAX 1024
#define GP_LADDER_REGS 32                                                /* two blocks of 1024 on 65536 registers */
#define GP_LADDER_STATIC_SMEM (GP_LADDER_THREADS_MAX * sizeof(uint32_t)) /* reduce_smem, reduce_smem_unroll4 */
/* Shared bytes of window_smem: each thread has a copy of its window, and of the squares. */
#define GP_LADDER_WINDOW_SMEM(threads, window) (2 * (window) * (threads) * sizeof(float))

/* What a kernel of the ladder takes. Unsigned: sums wrap. */
typedef struct gp_ladder_arguments {
    const uint32_t *in; /* n elements, for the forms in shared memory */
    uint64_t n;
    uint32_t *data;    /* for the forms in place: a copy of the input, with zeros after it up to whole blocks */
    uint32_t *partial; /* receives one sum a block */
} gp_ladder_arguments;

GP_DECLARE_LAUNCHER(gp_launch_reduce_recursive_cpu);

/*
 * Runs a kernel of the ladder, adds up the sums of its blocks on the host and delivers the total to problem->result.
 * Allocates, copies and waits. data_blocks: blocks of `threads` elements that a block folds in place; 0: not in
 * place.
 */
GP_C_LINKAGE gp_status gp_ladder_sum(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                                     const void *kernel, unsigned data_blocks);
