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

/* Blocks whose threads each take as many elements. */
static bool fit_sum(const gp_problem *problem, unsigned attempt, unsigned elements, gp_tiling *tiling) {
    tiling->threads = gp_threads_of_attempt(GP_LADDER_THREADS_MAX, GP_LADDER_THREADS_MIN, attempt);
    if (problem->reduce != GP_REDUCE_SUM || tiling->threads == 0)
        return false;
    const uint64_t each = (uint64_t)tiling->threads * elements;
    tiling->blocks = problem->n / each + (problem->n % each != 0);
    return true;
}

#define FIT_SUM(elements)                                                                               \
    static bool fit_by_##elements(const gp_problem *problem, const gp_device *device, unsigned attempt, \
                                  gp_tiling *tiling) {                                                  \
        (void)device;                                                                                   \
        return fit_sum(problem, attempt, elements, tiling);                                             \
    }

FIT_SUM(1)
FIT_SUM(2)
FIT_SUM(4)
FIT_SUM(8)

static bool fit_dynamic(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const bool fits = fit_by_4(problem, device, attempt, tiling);
    tiling->smem = tiling->threads * sizeof(uint32_t);
    return fits;
}

static bool fit_recursive(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return problem->reduce == GP_REDUCE_SUM && gp_fit_processor(device, 0, 1, attempt, tiling);
}

static bool fit_window(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    tiling->threads = gp_threads_of_attempt(GP_WINDOW_LADDER_THREADS_MAX, GP_WINDOW_LADDER_THREADS_MIN, attempt);
    if (tiling->threads == 0 || problem->border != GP_BORDER_NONE || problem->window % 2 == 0)
        return false;
    const size_t columns = problem->col_end - problem->col_first;
    tiling->blocks = problem->rows * ((columns + tiling->threads - 1) / tiling->threads);
    return true;
}

/* A window too large for any shared memory is named as half the address space: the product may not wrap. */
static bool fit_window_smem(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const bool fits = fit_window(problem, device, attempt, tiling);
    tiling->smem =
        problem->window < UINT32_MAX ? GP_WINDOW_LADDER_SMEM((size_t)tiling->threads, problem->window) : SIZE_MAX / 2;
    return fits;
}

const gp_kernel gp_reduce_study_rows[] = {
    {.name = "reduce_recursive_cpu",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_recursive,
     .launch = gp_launch_reduce_recursive_cpu,
     .about = "1.0: pairs half the array apart, level by level; all in 32 bits",
     .flags = SUM_FLAGS},
    {.name = "reduce_neighbored",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_1,
     .launch = GP_GPU(gp_launch_reduce_neighbored),
     .about = "1.1: neighbouring pairs, working threads ever further apart: warps diverge" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_neighbored_less",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_1,
     .launch = GP_GPU(gp_launch_reduce_neighbored_less),
     .about = "1.2: the same pairs by consecutive threads: whole warps work or idle" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_interleaved",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_1,
     .launch = GP_GPU(gp_launch_reduce_interleaved),
     .about = "1.3: pairs half the block apart: neighbouring threads touch neighbouring elements" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_unroll2",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_2,
     .launch = GP_GPU(gp_launch_reduce_unroll2),
     .about = "1.4: each thread first adds 2 elements, then 1.3" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_unroll4",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_4,
     .launch = GP_GPU(gp_launch_reduce_unroll4),
     .about = "1.5: each thread first adds 4 elements, then 1.3" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_unroll8",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_8,
     .launch = GP_GPU(gp_launch_reduce_unroll8),
     .about = "1.6: each thread first adds 8 elements, then 1.3" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_unroll_warps8",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_8,
     .launch = GP_GPU(gp_launch_reduce_unroll_warps8),
     .about = "1.7: 1.6, its last warp without barriers of the block" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_complete_unroll8",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_8,
     .launch = GP_GPU(gp_launch_reduce_complete_unroll8),
     .about = "1.8: 1.7, its loop unrolled by tests on the block size" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_template_unroll8",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_8,
     .launch = GP_GPU(gp_launch_reduce_template_unroll8),
     .about = "1.9: 1.8 compiled for each block size, without the tests" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_gmem",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_by_1,
     .launch = GP_GPU(gp_launch_reduce_gmem),
     .about = "1.10: completely unrolled in global memory: what shared memory is compared with" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_smem",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .smem_static = GP_LADDER_STATIC_SMEM,
     .fit = fit_by_1,
     .launch = GP_GPU(gp_launch_reduce_smem),
     .about = "1.11: 1.10 in a static shared array" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_smem_unroll4",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .smem_static = GP_LADDER_STATIC_SMEM,
     .fit = fit_by_4,
     .launch = GP_GPU(gp_launch_reduce_smem_unroll4),
     .about = "1.12: each thread first adds 4 elements, then 1.11" SUM_ON_HOST,
     .flags = SUM_FLAGS},
    {.name = "reduce_smem_dyn_unroll4",
     .operation = GP_OPERATION_REDUCE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_LADDER_REGS,
     .fit = fit_dynamic,
     .launch = GP_GPU(gp_launch_reduce_smem_dyn_unroll4),
     .about = "1.13: 1.12 in a dynamic shared array, sized at launch" SUM_ON_HOST,
     .flags = SUM_FLAGS},
};

const gp_kernel gp_window_study_rows[] = {
    {.name = "window_fused",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_LADDER_REGS,
     .fit = fit_window,
     .launch = GP_GPU(gp_launch_window_fused),
     .about = "3.1: both outputs accumulated in global memory by one loop" WINDOW_BOUND,
     .flags = WINDOW_FLAGS},
    {.name = "window_split",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_LADDER_REGS,
     .fit = fit_window,
     .launch = GP_GPU(gp_launch_window_split),
     .about = "3.2: one output a loop, still accumulated in global memory" WINDOW_BOUND,
     .flags = WINDOW_FLAGS},
    {.name = "window_smem",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_LADDER_REGS,
     .fit = fit_window_smem,
     .launch = GP_GPU(gp_launch_window_smem),
     .about = "3.3: each thread copies its window to shared memory and adds it up there" WINDOW_BOUND,
     .flags = WINDOW_FLAGS},
};

const size_t gp_reduce_study_row_count = sizeof gp_reduce_study_rows / sizeof *gp_reduce_study_rows;
const size_t gp_window_study_row_count = sizeof gp_window_study_rows / sizeof *gp_window_study_rows;
