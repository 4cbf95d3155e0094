/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that reduce, best first. */
#include "../cpu/rows.h"
#include "../../device/launch.h"
#include "tiling.h"

GP_DECLARE_LAUNCHER(gp_launch_reduce_block);
GP_DECLARE_LAUNCHER(gp_launch_reduce_grid);

#define BLOCK_MAX \
    8192 /* what one block takes in one round of loads; in a trial on an H200 two blocks took 0.3 us longer */

static bool fits_one_block(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->n <= BLOCK_MAX;
}

static uint64_t one_block(const gp_problem *problem, unsigned threads) {
    (void)problem;
    (void)threads;
    return 1;
}

static uint64_t grid_blocks(const gp_problem *problem, unsigned threads) {
    const uint64_t per_block = (uint64_t)threads * GP_REDUCE_LOADS * 4;
    const uint64_t blocks = (problem->n + per_block - 1) / per_block;
    return blocks < GP_REDUCE_GRID_MAX ? blocks : GP_REDUCE_GRID_MAX;
}

static bool has_avx512(const gp_problem *problem, const gp_device *device) {
    (void)problem;
    return (device->cpu_isa & GP_ISA_AVX512) != 0;
}

static bool has_avx2(const gp_problem *problem, const gp_device *device) {
    (void)problem;
    return (device->cpu_isa & GP_ISA_AVX2) != 0;
}

static bool has_neon(const gp_problem *problem, const gp_device *device) {
    (void)problem;
    return (device->cpu_isa & GP_ISA_NEON) != 0;
}

const gp_kernel gp_reduce_rows[] = {
    {.name = "reduce_block",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_REDUCE_THREADS,
     .regs_per_thread = GP_REDUCE_BLOCK_REGS,
     .smem_static = GP_REDUCE_STATIC_SMEM,
     .overlaps = true,
     .blocks = one_block,
     .supports = fits_one_block,
     .launch = GP_GPU(gp_launch_reduce_block),
     .about = "one block for few elements: no second pass over partial results"},
    {.name = "reduce_grid",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_REDUCE_THREADS,
     .regs_per_thread = GP_REDUCE_REGS,
     .smem_static = GP_REDUCE_STATIC_SMEM,
     .overlaps = true,
     .blocks = grid_blocks,
     .launch = GP_GPU(gp_launch_reduce_grid),
     .about = "any number of elements in one launch: the last block to start collects the partial results",
     .waves = 1},
    {.name = "reduce_avx512",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_reduce_cpu_parts,
     .supports = has_avx512,
     .launch = GP_X86(gp_launch_reduce_avx512),
     .about = "AVX-512, several streams a thread"},
    {.name = "reduce_avx2",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_reduce_cpu_parts,
     .supports = has_avx2,
     .launch = GP_X86(gp_launch_reduce_avx2),
     .about = "AVX2, several streams a thread"},
    {.name = "reduce_neon",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_reduce_cpu_parts,
     .supports = has_neon,
     .launch = GP_ARM64(gp_launch_reduce_neon),
     .about = "NEON, pairs added straight into 64 bits"},
    {.name = "reduce_cpu",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_reduce_cpu_parts,
     .launch = gp_launch_reduce_cpu,
     .about = "portable C: the reference that every other kernel is proved against"},
};

const size_t gp_reduce_row_count = sizeof gp_reduce_rows / sizeof *gp_reduce_rows;
