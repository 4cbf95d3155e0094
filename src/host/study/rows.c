/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the study kernels, chosen only when pinned: the reduction ladder and the window ladder, step by step.
 * Those that sum allocate scratch memory and return when the result is there; see ../device/reduce_ladder.h for what
 * their result is. `about` opens with the step's number, which docs/ladder.md tells of.
 */
#include "../cpu/rows.h"
#include "../../device/launch.h"
#include "reduce_ladder.h"
#include "window_ladder.h"

GP_DECLARE_LAUNCHER(gp_launch_reduce_neighbored);
GP_DECLARE_LAUNCHER(gp_launch_reduce_neighbored_less);
GP_DECLARE_LAUNCHER(gp_launch_reduce_interleaved);
GP_DECLARE_LAUNCHER(gp_launch_reduce_unroll2);
GP_DECLARE_LAUNCHER(gp_launch_reduce_unroll4);
GP_DECLARE_LAUNCHER(gp_launch_reduce_unroll8);
GP_DECLARE_LAUNCHER(gp_launch_reduce_unroll_warps8);
GP_DECLARE_LAUNCHER(gp_launch_reduce_complete_unroll8);
GP_DECLARE_LAUNCHER(gp_launch_reduce_template_unroll8);
GP_DECLARE_LAUNCHER(gp_launch_reduce_gmem);
GP_DECLARE_LAUNCHER(gp_launch_reduce_smem);
GP_DECLARE_LAUNCHER(gp_launch_reduce_smem_unroll4);
GP_DECLARE_LAUNCHER(gp_launch_reduce_smem_dyn_unroll4);
GP_DECLARE_LAUNCHER(gp_launch_window_fused);
GP_DECLARE_LAUNCHER(gp_launch_window_split);
GP_DECLARE_LAUNCHER(gp_launch_window_smem);

#define SUM_FLAGS (GP_KERNEL_STUDY | GP_KERNEL_MODULO_32)
#define SUM_ON_HOST "; 32-bit sums of blocks, which the host waits for and adds up"
#define WINDOW_FLAGS (GP_KERNEL_STUDY | GP_KERNEL_FLOAT)
#define WINDOW_BOUND "; in float: off by up to (window + 3) 2^-24 of the sum of magnitudes"

static bool is_sum(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->reduce == GP_REDUCE_SUM;
}

/* Blocks that each take as many elements a thread. */
static uint64_t blocks_of(const gp_problem *problem, uint64_t threads, uint64_t elements) {
    return problem->n / (threads * elements) + (problem->n % (threads * elements) != 0);
}

static uint64_t blocks_by_1(const gp_problem *problem, unsigned threads) {
    return blocks_of(problem, threads, 1);
}

static uint64_t blocks_by_2(const gp_problem *problem, unsigned threads) {
    return blocks_of(problem, threads, 2);
}

static uint64_t blocks_by_4(const gp_problem *problem, unsigned threads) {
    return blocks_of(problem, threads, 4);
}

static uint64_t blocks_by_8(const gp_problem *problem, unsigned threads) {
    return blocks_of(problem, threads, 8);
}

static uint64_t one_part(const gp_problem *problem, unsigned threads) {
    (void)problem;
    (void)threads;
    return 1;
}

static size_t dynamic_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)problem;
    (void)device;
    return threads * sizeof(uint32_t);
}

static bool is_odd_inside(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->border == GP_BORDER_NONE && problem->window % 2 == 1;
}

static uint64_t tiles(const gp_problem *problem, unsigned threads) {
    return problem->rows * ((problem->col_end - problem->col_first + threads - 1) / threads);
}

/* A window too large for any shared memory is named as half the address space: the product may not wrap. */
static size_t window_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)device;
    return problem->window < UINT32_MAX ? GP_WINDOW_LADDER_SMEM((size_t)threads, problem->window) : SIZE_MAX / 2;
}

const gp_kernel gp_reduce_study_rows[] = {
    {.name = "reduce_recursive_cpu",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = one_part,
     .supports = is_sum,
     .launch = gp_launch_reduce_recursive_cpu,
     .about = "1.0: pairs half the array apart, level by level; all in 32 bits",
     .flags = SUM_FLAGS},
    {.name = "reduce_neighbored",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_1,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_neighbored),
     .about = "1.1: neighbouring pairs, working threads ever further apart: warps diverge" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_neighbored_less",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_1,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_neighbored_less),
     .about = "1.2: the same pairs by consecutive threads: whole warps work or idle" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_interleaved",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_1,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_interleaved),
     .about = "1.3: pairs half the block apart: neighbouring threads touch neighbouring elements" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_unroll2",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_2,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_unroll2),
     .about = "1.4: each thread first adds 2 elements, then 1.3" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_unroll4",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_4,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_unroll4),
     .about = "1.5: each thread first adds 4 elements, then 1.3" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_unroll8",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_8,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_unroll8),
     .about = "1.6: each thread first adds 8 elements, then 1.3" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_unroll_warps8",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_8,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_unroll_warps8),
     .about = "1.7: 1.6, its last warp without barriers of the block" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_complete_unroll8",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_8,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_complete_unroll8),
     .about = "1.8: 1.7, its loop unrolled by tests on the block size" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_template_unroll8",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_8,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_template_unroll8),
     .about = "1.9: 1.8 compiled for each block size, without the tests" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_gmem",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .blocks = blocks_by_1,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_gmem),
     .about = "1.10: completely unrolled in global memory: what shared memory is compared with" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_smem",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .smem_static = GP_LADDER_STATIC_SMEM,
     .blocks = blocks_by_1,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_smem),
     .about = "1.11: 1.10 in a static shared array" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_smem_unroll4",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .smem_static = GP_LADDER_STATIC_SMEM,
     .blocks = blocks_by_4,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_smem_unroll4),
     .about = "1.12: each thread first adds 4 elements, then 1.11" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_smem_dyn_unroll4",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_LADDER_THREADS_MIN,
     .threads_max = GP_LADDER_THREADS_MAX,
     .regs_per_thread = GP_LADDER_REGS,
     .smem = dynamic_smem,
     .blocks = blocks_by_4,
     .supports = is_sum,
     .launch = GP_GPU(gp_launch_reduce_smem_dyn_unroll4),
     .about = "1.13: 1.12 in a dynamic shared array, sized at launch" SUM_ON_HOST,
     .flags = SUM_FLAGS},
};

const gp_kernel gp_window_study_rows[] = {
    {.name = "window_fused",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = GP_WINDOW_LADDER_THREADS_MIN,
     .threads_max = GP_WINDOW_LADDER_THREADS_MAX,
     .regs_per_thread = GP_WINDOW_LADDER_REGS,
     .blocks = tiles,
     .supports = is_odd_inside,
     .launch = GP_GPU(gp_launch_window_fused),
     .about = "3.1: both outputs accumulated in global memory by one loop" WINDOW_BOUND,
     .flags = WINDOW_FLAGS},
    {.name = "window_split",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = GP_WINDOW_LADDER_THREADS_MIN,
     .threads_max = GP_WINDOW_LADDER_THREADS_MAX,
     .regs_per_thread = GP_WINDOW_LADDER_REGS,
     .blocks = tiles,
     .supports = is_odd_inside,
     .launch = GP_GPU(gp_launch_window_split),
     .about = "3.2: one output a loop, still accumulated in global memory" WINDOW_BOUND,
     .flags = WINDOW_FLAGS},
    {.name = "window_smem",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = GP_WINDOW_LADDER_THREADS_MIN,
     .threads_max = GP_WINDOW_LADDER_THREADS_MAX,
     .regs_per_thread = GP_WINDOW_LADDER_REGS,
     .smem = window_smem,
     .blocks = tiles,
     .supports = is_odd_inside,
     .launch = GP_GPU(gp_launch_window_smem),
     .about = "3.3: each thread copies its window to shared memory and adds it up there" WINDOW_BOUND,
     .flags = WINDOW_FLAGS},
};

const size_t gp_reduce_study_row_count = sizeof gp_reduce_study_rows / sizeof *gp_reduce_study_rows;
const size_t gp_window_study_row_count = sizeof gp_window_study_rows / sizeof *gp_window_study_rows;
