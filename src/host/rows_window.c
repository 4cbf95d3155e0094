/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for sums and squares in a window, best first. */
#include "../device/launch.h"
#include "../device/window.h"
#include "../device/window_rows.h"
#include "cpu/rows.h"

GP_DECLARE_LAUNCHER(gp_launch_window_naive);
GP_DECLARE_LAUNCHER(gp_launch_window_rows);
GP_DECLARE_LAUNCHER(gp_launch_window_scan);
GP_DECLARE_LAUNCHER(gp_launch_window_scan_mid);
GP_DECLARE_LAUNCHER(gp_launch_window_scan_wide);
GP_DECLARE_LAUNCHER(gp_launch_window_stream);

#define SCAN_WINDOW_MAX 512 /* beyond these, a tile of so few threads holds too much halo (window.h has figures) */
#define MID_WINDOW_MAX 1280
/*
 * One H200, 2^24 pixels of 8 bits, windows of 15, REFLECT_101, share of the floor: 512 columns 0.86 (window_scan
 * 0.81), 725: 0.80 (0.87). 2^26 pixels, zeros, windows of 1001: 1024 columns 0.98 (0.57), 2045: 0.98 (0.64).
 */
#define ROWS_COLS_MAX 640
#define ROWS_WINDOW_MAX ((size_t)1 << 30)
#define STREAM_WINDOW_MAX ((size_t)1 << 31) /* up to which the widest accumulators are exact */
#define PIECE_MIN 512                       /* outputs a warp of window_stream, at least */
#define PIECE_SHARE 4      /* and this part of the window: the first window costs 4 reads an output */
#define PIECES_WANTED 4096 /* but in few long rows rather this many pieces, for all of a device to work */

static bool scan_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= SCAN_WINDOW_MAX;
}

static bool mid_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= MID_WINDOW_MAX;
}

static bool stream_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= STREAM_WINDOW_MAX;
}

gp_window_cut gp_window_cut_row(const gp_problem *problem, unsigned threads) {
    const size_t step = GP_WINDOW_OUTPUT_STEP, group = 4 * threads, most = GP_WINDOW_SCAN_GROUPS * group;
    const bool aligned = problem->out_align > GP_WINDOW_ALIGN_OUT * sizeof(float);
    const size_t early = aligned ? problem->col_first & GP_WINDOW_ALIGN_OUT : GP_WINDOW_ALIGN_OUT;
    const size_t columns = problem->col_end - problem->col_first + early;
    const size_t tiles = (columns + most - 1) / most;
    const size_t outputs = ((columns + tiles - 1) / tiles + step - 1) / step * step;
    return (gp_window_cut){.outputs = (unsigned)outputs,
                           .tiles_a_row = (unsigned)tiles,
                           .span = (unsigned)((outputs + group - 1) / group * 4 * 32)};
}

/* Pixels of whole spans, with the halo, and what groups of four reach before and after. */
static size_t scan_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)device;
    const size_t spans = (size_t)gp_window_cut_row(problem, threads).span * (threads / 32), most = SIZE_MAX / 8;
    const size_t window = problem->window < most ? problem->window : most;
    return (GP_WINDOW_SCAN_WARPS + spans + window + 4 * GP_WINDOW_ALIGN_IN) * sizeof(int32_t);
}

static uint64_t scan_blocks(const gp_problem *problem, unsigned threads) {
    return (uint64_t)problem->rows * gp_window_cut_row(problem, threads).tiles_a_row;
}

gp_window_pieces gp_window_cut_pieces(const gp_problem *problem) {
    const size_t columns = problem->col_end - problem->col_first, share = problem->window / PIECE_SHARE;
    const size_t most = (size_t)(problem->rows * (uint64_t)columns / PIECES_WANTED);
    const size_t wish = share < most ? share : most, outputs = wish > PIECE_MIN ? wish : PIECE_MIN;
    return (gp_window_pieces){.outputs = (int64_t)outputs, .of_row = (int64_t)((columns + outputs - 1) / outputs)};
}

static uint64_t stream_blocks(const gp_problem *problem, unsigned threads) {
    const uint64_t pieces = problem->rows * (uint64_t)gp_window_cut_pieces(problem).of_row;
    return (pieces + threads / 32 - 1) / (threads / 32);
}

unsigned gp_window_rows_edges(const gp_problem *problem) {
    if (problem->border == GP_BORDER_NONE || problem->border == GP_BORDER_ZERO)
        return 0;
    const size_t edges = problem->window <= problem->cols ? problem->window - 1 : problem->cols;
    return edges <= GP_WINDOW_ROWS_EDGES ? (unsigned)edges : 0;
}

unsigned gp_window_rows_of_block(const gp_problem *problem) {
    const size_t fit = GP_WINDOW_ROWS_COLS / problem->cols;
    return (unsigned)(fit < problem->rows ? fit : problem->rows);
}

/*
 * Rows of which window_scan would hold one a block, and too little of it; and longer ones whose windows bring it more
 * halo than pixels. Zeros beyond the row are not counted, so that their windows have no bound here.
 */
static bool rows_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    const bool zeros = problem->border == GP_BORDER_NONE || problem->border == GP_BORDER_ZERO;
    const size_t much_halo = zeros ? SCAN_WINDOW_MAX : 2 * problem->cols;
    return (problem->cols <= ROWS_COLS_MAX ||
            (problem->cols <= GP_WINDOW_ROWS_COLS && problem->window > much_halo)) &&
           (zeros || problem->window <= ROWS_WINDOW_MAX);
}

static size_t rows_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)device;
    (void)threads;
    return GP_WINDOW_ROWS_SMEM(gp_window_rows_edges(problem));
}

static uint64_t rows_blocks(const gp_problem *problem, unsigned threads) {
    (void)threads;
    const unsigned rows = gp_window_rows_of_block(problem);
    return (problem->rows + rows - 1) / rows;
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

static bool neon_supports(const gp_problem *problem, const gp_device *device) {
    return (device->cpu_isa & GP_ISA_NEON) != 0 && gp_window_simd_supports(problem);
}

const gp_kernel gp_window_rows[] = {
    {.name = "window_rows",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = GP_WINDOW_ROWS_THREADS,
     .threads_max = GP_WINDOW_ROWS_THREADS,
     .regs_per_thread = GP_WINDOW_ROWS_REGS,
     .overlaps = true,
     .smem = rows_smem,
     .blocks = rows_blocks,
     .supports = rows_supports,
     .launch = GP_GPU(gp_launch_window_rows),
     .about = "short rows, several a block: windows as differences of prefix sums, of any width, without halo"},
    {.name = "window_scan",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_SCAN_THREADS,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .overlaps = true,
     .smem = scan_smem,
     .blocks = scan_blocks,
     .supports = scan_supports,
     .launch = GP_GPU(gp_launch_window_scan),
     .about = "a tile of a row in shared memory, windows by scanning differences: cost independent of the window"},
    {.name = "window_scan_mid",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_MID_THREADS,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .overlaps = true,
     .smem = scan_smem,
     .blocks = scan_blocks,
     .supports = mid_supports,
     .launch = GP_GPU(gp_launch_window_scan_mid),
     .about = "the same with larger blocks, as wider windows bring more halo"},
    {.name = "window_scan_wide",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_WIDE_THREADS,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .overlaps = true,
     .smem = scan_smem,
     .blocks = scan_blocks,
     .launch = GP_GPU(gp_launch_window_scan_wide),
     .about = "likewise with the largest blocks, for windows up to what shared memory holds"},
    {.name = "window_stream",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_THREADS,
     .regs_per_thread = GP_WINDOW_STREAM_REGS,
     .overlaps = true,
     .blocks = stream_blocks,
     .supports = stream_supports,
     .launch = GP_GPU(gp_launch_window_stream),
     .about = "the same without shared memory, for windows that it does not hold"},
    {.name = "window_naive",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_THREADS,
     .regs_per_thread = GP_WINDOW_NAIVE_REGS,
     .overlaps = true,
     .blocks = naive_blocks,
     .launch = GP_GPU(gp_launch_window_naive),
     .about = "one thread a pixel, every window added up: any window, cost grows with it"},
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
    {.name = "window_neon",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_window_cpu_parts,
     .supports = neon_supports,
     .launch = GP_ARM64(gp_launch_window_neon),
     .about = "NEON, sliding 4 outputs at a time, windows up to 2^30"},
    {.name = "window_cpu",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_window_cpu_parts,
     .launch = gp_launch_window_cpu,
     .about = "portable C: the reference that every other kernel is proved against"},
};

const size_t gp_window_row_count = sizeof gp_window_rows / sizeof *gp_window_rows;
