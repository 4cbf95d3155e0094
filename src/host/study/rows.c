/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the study kernels, chosen only when pinned: the ladders of reductions, windows and transposes.
 * Those that sum allocate scratch memory and return when the result is there: the host adds up 32-bit sums of blocks.
 * What their result is, and how far the windows' may be off, stands in ladder.h. `about` opens with the step's
 * number, which docs/ladder.md tells of.
 */
#include "../cpu/rows.h"
#include "../../device/launch.h"
#include "../arithmetic.h"
#include "../rearrange/fit.h"
#include "../window/tiling.h"
#include "ladder.h"

/* ROW(name, fit, static shared bytes, about), in the ladder's order. */
#define SUM_ROWS(ROW)                                                                                               \
    ROW(reduce_neighbored, fit_by_1, 0,                                                                             \
        "1.1: neighbouring pairs, working threads ever further apart: warps diverge")                               \
    ROW(reduce_neighbored_less, fit_by_1, 0,                                                                        \
        "1.2: neighbouring pairs by consecutive threads: whole warps work or idle")                                 \
    ROW(reduce_interleaved, fit_by_1, 0, "1.3: pairs half the block apart: neighbouring threads load neighbours")   \
    ROW(reduce_unroll2, fit_by_2, 0, "1.4: a thread first adds 2 elements, then pairs half the block apart")        \
    ROW(reduce_unroll4, fit_by_4, 0, "1.5: a thread first adds 4 elements, then pairs half the block apart")        \
    ROW(reduce_unroll8, fit_by_8, 0, "1.6: a thread first adds 8 elements, then pairs half the block apart")        \
    ROW(reduce_unroll_warps8, fit_by_8, 0, "1.7: 8 elements a thread, the last warp without barriers of the block") \
    ROW(reduce_complete_unroll8, fit_by_8, 0,                                                                       \
        "1.8: 8 elements a thread, the loop unrolled by tests on the block size")                                   \
    ROW(reduce_template_unroll8, fit_by_8, 0,                                                                       \
        "1.9: 8 elements a thread, unrolled for each block size without the tests")                                 \
    ROW(reduce_gmem, fit_by_1, 0, "1.10: unrolled in global memory: what shared memory is compared with")           \
    ROW(reduce_smem, fit_by_1, GP_LADDER_STATIC_SMEM, "1.11: unrolled in a shared array of fixed size")             \
    ROW(reduce_smem_unroll4, fit_by_4, GP_LADDER_STATIC_SMEM,                                                       \
        "1.12: 4 elements a thread, in a shared array of fixed size")                                               \
    ROW(reduce_smem_dyn_unroll4, fit_dynamic, 0, "1.13: 4 elements a thread, in a shared array sized at launch")

#define WINDOW_ROWS(ROW)                                                                                  \
    ROW(window_fused, fit_window, 0, "3.1: both outputs added up in global memory by one loop, in float") \
    ROW(window_split, fit_window, 0, "3.2: one output a loop, added up in global memory, in float")       \
    ROW(window_smem, fit_window_smem, 0, "3.3: a thread copies its window to shared memory and adds it up, in float")

#define DECLARE(row, fits, fixed, text) GP_DECLARE_LAUNCHER(gp_launch_##row);
SUM_ROWS(DECLARE)
WINDOW_ROWS(DECLARE)

#define GPU_ROW(row, ceiling, fixed, fits, marks, text) \
    {.name = #row,                                      \
     .about = text,                                     \
     .space = GP_SPACE_GPU,                             \
     .regs_per_thread = ceiling,                        \
     .smem_static = fixed,                              \
     .flags = GP_KERNEL_STUDY | (marks),                \
     .fit = fits,                                       \
     .launch = GP_GPU(gp_launch_##row)},
#define SUM_ROW(row, fits, fixed, text) GPU_ROW(row, GP_LADDER_REGS, fixed, fits, GP_KERNEL_MODULO_32, text)
#define WINDOW_ROW(row, fits, fixed, text) GPU_ROW(row, GP_LADDER_REGS, fixed, fits, GP_KERNEL_FLOAT, text)

/* Blocks whose threads each take as many elements. */
static bool fit_sum(const gp_problem *problem, unsigned attempt, unsigned elements, gp_tiling *tiling) {
    tiling->threads = gp_threads_of_attempt(GP_LADDER_THREADS_MAX, GP_LADDER_THREADS_MIN, attempt);
    if (problem->reduce != GP_REDUCE_SUM || tiling->threads == 0)
        return false;
    const uint64_t each = (uint64_t)tiling->threads * elements;
    tiling->form = gp_log2(tiling->threads / GP_LADDER_THREADS_MIN); /* of reduce_template_unroll8 */
    tiling->blocks = gp_divide_up(problem->n, each);
    tiling->t[GP_TILE_COLS] = gp_to_u32(each);
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
    tiling->threads = gp_threads_of_attempt(GP_LADDER_THREADS_MAX, GP_LADDER_THREADS_MIN, attempt);
    if (tiling->threads == 0 || problem->border != GP_BORDER_NONE || problem->window % 2 == 0)
        return false;
    const uint64_t tiles_a_row = gp_divide_up(problem->col_end - problem->col_first, tiling->threads);
    const gp_window_tiles tiles = {.rows = 1, .cols = tiling->threads, .tiles_a_row = gp_to_u32(tiles_a_row)};
    tiling->blocks = problem->rows * tiles_a_row;
    GP_TILING_PUT(tiling, tiles);
    return true;
}

/* A window too large for any shared memory is named as half the address space: the product may not wrap. */
static bool fit_window_smem(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const bool fits = fit_window(problem, device, attempt, tiling);
    tiling->smem =
        problem->window < UINT32_MAX ? GP_LADDER_WINDOW_SMEM((size_t)tiling->threads, problem->window) : SIZE_MAX / 2;
    return fits;
}

const gp_kernel gp_reduce_study_rows[] = {
    {.name = "reduce_recursive_cpu",
     .about = "1.0: one processor thread adds pairs half the array apart, level by level",
     .space = GP_SPACE_PROCESSOR,
     .flags = GP_KERNEL_STUDY | GP_KERNEL_MODULO_32,
     .fit = fit_recursive,
     .launch = gp_launch_reduce_recursive_cpu},
    SUM_ROWS(SUM_ROW) /* as the list above has them */
};

const gp_kernel gp_window_study_rows[] = {WINDOW_ROWS(WINDOW_ROW)};
const gp_kernel gp_transpose_study_rows[] = {
    GPU_ROW(transpose_tile, GP_TRANSPOSE_TILE_REGS, 0, gp_fit_transpose_tile, 0,
            "4.2: a padded tile in shared memory: both sides are read and written in runs")};

GP_COUNT_ROWS(reduce_study);
GP_COUNT_ROWS(window_study);
GP_COUNT_ROWS(transpose_study);
