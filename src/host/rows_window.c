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
 * One H200, 2^24 pixels, windows of 15, REFLECT_101, share of the floor of window_rows (window_scan), 8 bits and full
 * int32: 640 columns 0.96 (0.84), 0.63 (0.51); 725: 0.87 (0.80), 0.57 (0.47); 1024: 0.98 (0.99), 0.75 (0.66); 1087:
 * 0.78 (0.72), 0.58 (0.44). 1024 x 1024 pixels: 0.94 (0.82), 0.66 (0.58).
 */
#define ROWS_COLS_MAX 640
/*
 * One H200, rows of 131072, 8 bits and full int32, us of window_stream (window_scan_wide): one row, windows of 1449
 * 4.6 and 5.1 (4.8, 7.0), 4096: 4.8, 5.3 (5.4, 8.3); two rows, 8192, 8 bits: 7.9 (7.2); 128 rows, 8192: 101, 138 (96,
 * 183), 16384: 119, 149 (156, 323).
 */
#define WIDE_WINDOW_MAX 8192
#define WIDE_OUTPUTS_MIN ((uint64_t)1 << 18) /* fewer: only windows that smaller blocks take as well */
#define ROWS_WINDOW_MAX ((size_t)1 << 30)
#define ROWS_COLS_ONE 1088  /* of which a block takes one row; */
#define ROWS_WINDOW_ONE 128 /* with more beyond the row window_scan is as fast */
#define ROWS_COLS_LIMIT 2173
/* Columns of an extended row. Share with 64 threads, with 256: 2072 columns 0.53, 0.45; 2952: 0.62, 0.78. */
#define ROWS_EXTENDED_SHORT 2400
#define ROWS_ALIGNED_MIN 16                 /* columns; shorter rows would hold more padding than pixels */
#define ROWS_OFFSET_MAX ((size_t)1 << 30)   /* elements, so that offsets within a block are small */
#define ROWS_BLOCKS_WANTED 264              /* at least, for all of a device to work */
#define STREAM_WINDOW_MAX ((size_t)1 << 31) /* up to which the widest accumulators are exact */
#define PIECE_MIN 1024                      /* outputs a block of window_stream, at least: one round of 256 threads */
#define PIECES_WANTED 384 /* at least, nearly as many as one H200 holds at once, but none longer than the window */

static bool scan_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= SCAN_WINDOW_MAX;
}

static bool mid_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= MID_WINDOW_MAX;
}

/* With few outputs its tiles leave a part of the device without work. */
static bool wide_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    const uint64_t outputs = problem->rows * (uint64_t)(problem->col_end - problem->col_first);
    return problem->window <= (outputs < WIDE_OUTPUTS_MIN ? MID_WINDOW_MAX : WIDE_WINDOW_MAX);
}

static bool stream_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->window <= STREAM_WINDOW_MAX;
}

static bool rows_are_lines(const gp_problem *problem) {
    return problem->out_align >= GP_WINDOW_LINE * sizeof(float);
}

/*
 * Up to how many columns early, less one, a row's first tile or piece starts. For a warp's 512 bytes only where that
 * differs from row to row in nothing but the line: elsewhere 96 columns more are a fourth round of half the tiles, of
 * 1449 columns 62.9 us instead of 59.4.
 */
static unsigned early_mask(const gp_problem *problem) {
    return rows_are_lines(problem) ? GP_WINDOW_ALIGN_OUT : GP_WINDOW_LINE - 1;
}

/* Columns to compute, and how many the first tile or piece starts before them. */
static size_t columns_from_line(const gp_problem *problem) {
    const unsigned mask = early_mask(problem);
    return problem->col_end - problem->col_first + (rows_are_lines(problem) ? problem->col_first & mask : mask);
}

gp_window_cut gp_window_cut_row(const gp_problem *problem, unsigned threads) {
    const size_t step = GP_WINDOW_OUTPUT_STEP, group = 4 * threads, most = GP_WINDOW_SCAN_GROUPS * group;
    const size_t columns = columns_from_line(problem), tiles = (columns + most - 1) / most;
    const size_t outputs = ((columns + tiles - 1) / tiles + step - 1) / step * step;
    return (gp_window_cut){.outputs = (unsigned)outputs,
                           .tiles_a_row = (unsigned)tiles,
                           .span = (unsigned)((outputs + group - 1) / group * 4 * 32),
                           .early_mask = early_mask(problem),
                           .gaps = problem->col_end - problem->col_first < problem->out_pitch};
}

/* Pixels of whole spans, with the halo, the alignment before, and what groups of four reach after. */
static size_t scan_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)device;
    const size_t spans = (size_t)gp_window_cut_row(problem, threads).span * (threads / 32), most = SIZE_MAX / 8;
    const size_t window = problem->window < most ? problem->window : most;
    return (GP_WINDOW_SCAN_WARPS + spans + window + GP_WINDOW_ALIGN_IN + 9) * sizeof(int32_t);
}

static uint64_t scan_blocks(const gp_problem *problem, unsigned threads) {
    return (uint64_t)problem->rows * gp_window_cut_row(problem, threads).tiles_a_row;
}

gp_window_pieces gp_window_cut_pieces(const gp_problem *problem) {
    const size_t columns = columns_from_line(problem), step = GP_WINDOW_OUTPUT_STEP;
    const size_t even = (size_t)(problem->rows * (uint64_t)columns / PIECES_WANTED);
    const size_t wish = problem->window < even ? problem->window : even, some = wish > PIECE_MIN ? wish : PIECE_MIN;
    const size_t outputs = ((some < columns ? some : columns) + step - 1) / step * step;
    return (gp_window_pieces){.outputs = (int64_t)outputs,
                              .of_row = (int64_t)((columns + outputs - 1) / outputs),
                              .early_mask = early_mask(problem)};
}

static uint64_t stream_blocks(const gp_problem *problem, unsigned threads) {
    (void)threads;
    return problem->rows * (uint64_t)gp_window_cut_pieces(problem).of_row;
}

/* Of a window that is wider than the extended row's period, what is left over, and the whole rows besides. */
static void cut_periods(gp_window_rows_cut *cut, const gp_problem *problem) {
    const int64_t cols = (int64_t)problem->cols, window = (int64_t)problem->window;
    const bool apart = problem->border == GP_BORDER_REFLECT_101 && cols > 1; /* leaves the outermost pixel out */
    const bool wrap = problem->border == GP_BORDER_WRAP || cols == 1;
    const int64_t period = wrap ? cols : 2 * cols - (apart ? 2 : 0);
    int64_t periods = window / period, rest = window % period, before = (int64_t)problem->window_before;
    if (rest > cols) { /* the rest of one period more is shorter */
        cut->minus = true;
        periods++;
        before -= window;
        rest = period - rest;
    }
    before = rest == 0 ? 0 : (before % period + period) % period;
    if ((before > rest - 1 ? before : rest - 1) > rest - before + period - 1)
        before -= period;
    cut->before = (int)before;
    cut->window = (int)rest;
    cut->whole = (unsigned)(wrap ? periods : 2 * periods);
    cut->ends_minus = apart ? (unsigned)periods : 0;
}

static int columns_before(const gp_window_rows_cut *cut) {
    return cut->before > 0 ? cut->before : 0;
}

static int columns_behind(const gp_window_rows_cut *cut) {
    return cut->window > cut->before ? cut->window - cut->before - 1 : 0;
}

/* The whole window, unless a row extended for that is much longer. */
static void cut_window(gp_window_rows_cut *cut, const gp_problem *problem) {
    const size_t cols = problem->cols, before = problem->window_before, behind = problem->window - before - 1;
    if (before < cols && behind < cols) {
        cut->before = (int)before;
        cut->window = (int)problem->window;
        if (problem->window <= cols)
            return;
    }
    gp_window_rows_cut rest = {0};
    cut_periods(&rest, problem);
    const int least = (int)cols + columns_before(&rest) + columns_behind(&rest);
    if (cut->window == 0 || 8 * (cols + before + behind) > 9 * (size_t)least)
        *cut = rest;
}

gp_window_rows_cut gp_window_cut_rows(const gp_problem *problem, unsigned threads) {
    const size_t cols = problem->cols, window = problem->window;
    const size_t pitch = problem->in_pitch > problem->out_pitch ? problem->in_pitch : problem->out_pitch;
    const gp_border border = problem->border;
    const bool aligned = problem->in_align >= 16 && cols % 4 == 0 && cols >= ROWS_ALIGNED_MIN;
    gp_window_rows_cut cut = {0};
    if (border != GP_BORDER_ZERO && (window <= cols || border != GP_BORDER_REPLICATE))
        cut_window(&cut, problem);
    int right = 0;
    if (border != GP_BORDER_NONE) {
        const int step = aligned ? 4 : 1;
        cut.left = (columns_before(&cut) + step - 1) / step * step;
        right = (columns_behind(&cut) + step - 1) / step * step;
    }
    cut.extended = cut.left + (int)cols + right;
    cut.vectors = aligned || (cut.extended == (int)cols && (problem->rows == 1 || problem->in_pitch == cols));
    const size_t most = (size_t)threads * GP_WINDOW_ROWS_CHUNK - GP_WINDOW_ROWS_ALIGN;
    size_t rows = most / (size_t)cut.extended;
    if (rows > ROWS_OFFSET_MAX / pitch)
        rows = ROWS_OFFSET_MAX / pitch;
    if (rows > problem->rows / ROWS_BLOCKS_WANTED)
        rows = problem->rows / ROWS_BLOCKS_WANTED;
    cut.rows = rows > 1 ? (unsigned)rows : 1;
    const size_t entries = cut.rows * (size_t)cut.extended + GP_WINDOW_ROWS_ALIGN;
    const size_t chunk = (entries + threads - 1) / threads;
    cut.chunk =
        (unsigned)((chunk + 2) / 4 * 4 + 1); /* odd, and one more than a multiple of 4, as the kernel takes it */
    return cut;
}

/*
 * Rows of which window_scan would hold one a block, and too little of it; and longer ones whose windows bring it more
 * halo than pixels. Zeros beyond the row are not counted, so that their windows have no bound here.
 */
static bool rows_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    const bool none = problem->border == GP_BORDER_NONE, zeros = none || problem->border == GP_BORDER_ZERO;
    const size_t much_halo = zeros ? SCAN_WINDOW_MAX : 2 * problem->cols;
    const bool one_a_block = problem->cols <= ROWS_COLS_ONE && !none && (zeros || problem->window <= ROWS_WINDOW_ONE);
    return (problem->cols <= ROWS_COLS_MAX || one_a_block ||
            (problem->cols <= ROWS_COLS_LIMIT && problem->window > much_halo)) &&
           (zeros || problem->window <= ROWS_WINDOW_MAX);
}

/* There are blocks of two sizes; the larger is refused where it is no use. */
static size_t rows_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)device;
    const gp_window_rows_cut cut = gp_window_cut_rows(problem, threads);
    const bool large = threads == GP_WINDOW_ROWS_THREADS_MAX && cut.extended > ROWS_EXTENDED_SHORT;
    return large || threads == GP_WINDOW_ROWS_THREADS ? GP_WINDOW_ROWS_SMEM(threads, cut.chunk, cut.rows)
                                                      : GP_SMEM_OTHER_THREADS;
}

static uint64_t rows_blocks(const gp_problem *problem, unsigned threads) {
    const unsigned rows = gp_window_cut_rows(problem, threads).rows;
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
     .threads_max = GP_WINDOW_ROWS_THREADS_MAX,
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
     .supports = wide_supports,
     .launch = GP_GPU(gp_launch_window_scan_wide),
     .about = "likewise with the largest blocks, for wider windows"},
    {.name = "window_stream",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_WINDOW_THREADS,
     .regs_per_thread = GP_WINDOW_STREAM_REGS,
     .smem_static = GP_WINDOW_STREAM_STATIC_SMEM,
     .overlaps = true,
     .blocks = stream_blocks,
     .supports = stream_supports,
     .launch = GP_GPU(gp_launch_window_stream),
     .about = "the same straight from global memory, for windows that leave shared memory little room or none"},
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
