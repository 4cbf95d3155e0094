/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for sums and squares in a window, best first. */
#include "../device/launch.h"
#include "../device/window.h"
#include "cpu/rows.h"

GP_DECLARE_LAUNCHER(gp_launch_window_naive);
GP_DECLARE_LAUNCHER(gp_launch_window_tile);
GP_DECLARE_LAUNCHER(gp_launch_window_scan);
GP_DECLARE_LAUNCHER(gp_launch_window_scan_rows);
GP_DECLARE_LAUNCHER(gp_launch_window_scan_mid);
GP_DECLARE_LAUNCHER(gp_launch_window_scan_wide);
GP_DECLARE_LAUNCHER(gp_launch_window_scan_huge);

/* Beyond these, a tile would hold more halo than outputs, or the next kernel is faster (window.h has figures). */
#define SCAN_WINDOW_MAX 128
#define MID_WINDOW_MAX 512
#define ROWS_WINDOW_MAX 1024
#define WIDE_WINDOW_MAX 2048
#define HUGE_WINDOW_MAX 8192

static bool scan_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= SCAN_WINDOW_MAX;
}

/* Rows so short that a block takes several. */
static bool rows_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    if (problem->window > ROWS_WINDOW_MAX)
        return false;
    const gp_window_cut cut = gp_window_cut_row(problem, GP_WINDOW_ROWS_THREADS);
    return cut.tiles_a_row == 1 && cut.rows > 1;
}

static bool mid_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= MID_WINDOW_MAX;
}

static bool wide_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= WIDE_WINDOW_MAX;
}

static bool huge_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= HUGE_WINDOW_MAX;
}

static bool threads_suffice(const gp_problem *problem, unsigned threads) {
    return threads >= GP_WINDOW_CHUNKS(GP_WINDOW_OUTPUT_STEP, problem->window);
}

/* A block of fewer threads than a tile has chunks cannot do it, however much shared memory there is. */
static size_t scan_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)device;
    return threads_suffice(problem, threads) ? GP_WINDOW_SCAN_SMEM(threads) : GP_SMEM_FEW_THREADS;
}

/* Likewise one that no longer takes a whole row. */
static size_t rows_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)device;
    const bool whole_rows = threads_suffice(problem, threads) && gp_window_cut_row(problem, threads).tiles_a_row == 1;
    return whole_rows ? GP_WINDOW_ROWS_SMEM(threads) : GP_SMEM_FEW_THREADS;
}

static uint64_t scan_blocks(const gp_problem *problem, unsigned threads) {
    return (uint64_t)problem->rows * gp_window_cut_row(problem, threads).tiles_a_row;
}

static uint64_t rows_blocks(const gp_problem *problem, unsigned threads) {
    const gp_window_cut cut = gp_window_cut_row(problem, threads);
    return (problem->rows + cut.rows - 1) / cut.rows;
}

gp_window_cut gp_window_cut_row(const gp_problem *problem, unsigned threads) {
    const size_t step = GP_WINDOW_OUTPUT_STEP;
    const size_t most = (threads * GP_WINDOW_CHUNK - problem->window) / step * step;
    const bool aligned = problem->out_align > GP_WINDOW_ALIGN_OUT * sizeof(float);
    const size_t early = aligned ? problem->col_first & GP_WINDOW_ALIGN_OUT : GP_WINDOW_ALIGN_OUT;
    const size_t columns = problem->col_end - problem->col_first + early;
    const size_t tiles = (columns + most - 1) / most;
    const size_t outputs = ((columns + tiles - 1) / tiles + step - 1) / step * step;
    const unsigned chunks = (unsigned)GP_WINDOW_CHUNKS(outputs, problem->window);
    return (gp_window_cut){
        .outputs = (unsigned)outputs, .tiles_a_row = (unsigned)tiles, .chunks = chunks, .rows = threads / chunks};
}

static size_t tile_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)device;
    const size_t most = SIZE_MAX / 8;
    return (problem->window < most ? threads + problem->window - 1 : most) * sizeof(int32_t);
}

static uint64_t tile_blocks(const gp_problem *problem, unsigned threads) {
    const uint64_t tiles_a_row = (problem->col_end - problem->col_first + threads - 1) / threads;
    return problem->rows * tiles_a_row;
}

static uint64_t naive_blocks(const gp_problem *problem, unsigned threads) {
    return (problem->rows * (problem->col_end - problem->col_first) + threads - 1) / threads;
}

static bool avx512_supports(const gp_problem *problem, const gp_device *device) {
    return (device->cpu_isa & GP_ISA_AVX512) != 0 && gp_window_simd_supports(problem);
}

static bool avx2_supports(const gp_problem *problem, const gp_device *device) {
    return (device->cpu_isa & GP_ISA_AVX2) != 0 && gp_window_simd_supports(problem);
}

const gp_kernel gp_window_rows[] = {
    {.name = "window_scan_rows",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_ROWS_THREADS,
     .regs_per_thread = GP_WINDOW_ROWS_REGS,
     .smem = rows_smem,
     .blocks = rows_blocks,
     .supports = rows_supports,
     .launch = GP_GPU(gp_launch_window_scan_rows),
     .about = "window_scan for rows so short that a block takes several"},
    {.name = "window_scan",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_SCAN_THREADS,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .smem = scan_smem,
     .blocks = scan_blocks,
     .supports = scan_supports,
     .launch = GP_GPU(gp_launch_window_scan),
     .about = "prefix sums in shared memory, then sliding: cost independent of the window, up to 128"},
    {.name = "window_scan_mid",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = GP_WINDOW_MID_THREADS,
     .threads_max = GP_WINDOW_MID_THREADS,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .smem = scan_smem,
     .blocks = scan_blocks,
     .supports = mid_supports,
     .launch = GP_GPU(gp_launch_window_scan_mid),
     .about = "the same with larger blocks, for windows up to 512"},
    {.name = "window_scan_wide",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_WIDE_THREADS,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .smem = scan_smem,
     .blocks = scan_blocks,
     .supports = wide_supports,
     .launch = GP_GPU(gp_launch_window_scan_wide),
     .about = "likewise, for windows up to 2048"},
    {.name = "window_scan_huge",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_HUGE_THREADS,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .smem = scan_smem,
     .blocks = scan_blocks,
     .supports = huge_supports,
     .launch = GP_GPU(gp_launch_window_scan_huge),
     .about = "likewise with the largest blocks, for windows up to 8192"},
    {.name = "window_tile",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_THREADS,
     .regs_per_thread = GP_WINDOW_TILE_REGS,
     .smem = tile_smem,
     .blocks = tile_blocks,
     .launch = GP_GPU(gp_launch_window_tile),
     .about =
         "tile and halo in shared memory, every window added up: little shared memory, cost grows with the window"},
    {.name = "window_naive",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_THREADS,
     .regs_per_thread = GP_WINDOW_NAIVE_REGS,
     .blocks = naive_blocks,
     .launch = GP_GPU(gp_launch_window_naive),
     .about = "one thread a pixel from global memory: no shared memory, any window"},
    {.name = "window_avx512",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_window_cpu_parts,
     .supports = avx512_supports,
     .launch = GP_X86(gp_launch_window_avx512),
     .about = "AVX-512, sliding 8 outputs at a time, windows up to 2^30"},
    {.name = "window_avx2",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_window_cpu_parts,
     .supports = avx2_supports,
     .launch = GP_X86(gp_launch_window_avx2),
     .about = "AVX2, sliding 4 outputs at a time, windows up to 2^30"},
    {.name = "window_cpu",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_window_cpu_parts,
     .launch = gp_launch_window_cpu,
     .about = "portable C: the reference that every other kernel is proved against"},
};

const size_t gp_window_row_count = sizeof gp_window_rows / sizeof *gp_window_rows;
