/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for sums and squares in a window, best first. */
#include "../cpu/rows.h"
#include "../../device/launch.h"
#include "../occupancy.h"
#include "tiling.h"
#include "tiling_flat.h"
#include "tiling_rows.h"

GP_DECLARE_LAUNCHER(gp_launch_window_flat);
GP_DECLARE_LAUNCHER(gp_launch_window_flat_wide);
GP_DECLARE_LAUNCHER(gp_launch_window_naive);
GP_DECLARE_LAUNCHER(gp_launch_window_rows);
GP_DECLARE_LAUNCHER(gp_launch_window_scan);
GP_DECLARE_LAUNCHER(gp_launch_window_scan_few);
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
 * One H200, rows of 131072, 8 bits and full int32, us of window_scan_few with 512 threads, with 256, and
 * window_stream:
 *
 *   rows, window   512          256          stream
 *   1    4096      3.86, 4.61   3.31, 3.75   4.84, 5.36
 *   1    8192      4.12, 4.98   3.84, 4.45   5.38, 5.90
 *   1   16384      4.70, 5.76   4.78, 5.66   6.34, 6.85
 *   1   46341      7.46, 9.28   8.09, 10.2   9.59, 10.1
 *   2    4096      4.07, 4.80   3.80, 4.55   6.71, 7.78
 *   2   16384      4.99, 6.06   6.79, 8.88   10.5, 11.5
 *   4    8192      5.70, 7.37   6.33, 8.34   10.5, 12.6
 *
 * window_scan_wide: 4 rows, 2048 4.78, 5.90 (256 threads 4.76, 6.11), 8192 6.43, 8.53.
 */
#define FEW_WINDOW_256 8192 /* beyond, too few of such blocks fit an SM */
/* 128 rows of 131072, us of window_stream (window_scan_wide): 8192 101, 138 (96, 183), 16384 119, 149 (156, 323). */
#define WIDE_WINDOW_MAX 8192
#define ROWS_WINDOW_MAX ((size_t)1 << 30)
#define ROWS_COLS_ONE 1088  /* of which a block takes one row; */
#define ROWS_WINDOW_ONE 128 /* with more beyond the row window_scan is as fast */
#define ROWS_COLS_LIMIT 2173
/* Columns of an extended row. Share with 64 threads, with 256: 2072 columns 0.53, 0.45; 2952: 0.62, 0.78. */
#define ROWS_EXTENDED_SHORT 2400
/*
 * One H200, 2^24 pixels, REFLECT_101, us of window_flat, window_flat_wide, window_rows, window_scan:
 *
 *   window, columns      8 bits                      full int32
 *   15       65          57.0   58.9   57.0   425    86.0   80.1   88.1   544
 *   15       91          54.3   56.8   56.5   304    82.7   74.9   85.8   388
 *   15       725         51.2   53.8   56.0   58.0   71.2   64.4   86.2   77.2
 *   15       1449        51.1   53.6          55.2   70.0   64.1          73.5
 *   15       2897        51.0   53.4          53.3   69.2   63.1          65.1
 *   15       512         51.5   54.1   52.4   60.9   72.8   65.9   69.3   84.8
 *   15       1000        51.2   53.7   54.6   66.3   70.4   64.2   76.1   103
 *   15       1024        51.4   53.8   52.4   51.6   72.4   64.4   69.2   63.0
 *   31       91          59.7   61.9   58.4          95.0   89.1   97.7   389
 *   101      725                55.4   56.1   58.5          79.0   87.5   77.5
 *   201      725                59.3          58.6          89.1          78.8
 */
#define FLAT_COLS_MIN 32
#define FLAT_COLS_VECTORS 528 /* of whole vectors: beyond, window_rows takes one row a block; */
#define FLAT_COLS_LINES 1024  /* of whole lines: from here on window_scan fills its tiles */
#define FLAT_COLS_MAX 2048
#define FLAT_EDGES 6 /* columns for each window that leaves its row, at least, */
#define FLAT_EDGES_WIDE 2
#define ROWS_PIXELS_FEW ((uint64_t)1 << 21) /* of whole lines: 1024 x 1024 pixels 5.3, 7.7 (window_scan 5.7, 7.2) */
#define STREAM_WINDOW_MAX ((size_t)1 << 31) /* up to which the widest accumulators are exact */

/*
 * Launches overlap: blocks are placed where those of the call before leave room, and an SM that is done early gets
 * more of them than its share. A grid that fills more than half of the device, but not all of it, is spread evenly by
 * asking for so much memory that an SM holds no more than its share, and no more than that, as what is left is cache.
 * One H200, 8 bits and full int32, us without and with: window_flat, 1024 x 1024, 15: 6.3 and 5.2, 9.6 and 7.6;
 * window_scan, 11 x 131072, 15: 8.3 and 6.5, 11.6 and 8.6, 16 x 131072: 9.5 and 8.4, 12.4 and 10.9; window_scan_mid,
 * 12 x 131072, 725: 8.3 and 7.0, 13.4 and 10.7 (all the memory there is: 7.3, 10.9). Just above half it costs up to 3
 * %: window_scan_wide, 9 x 131072, 2048, 7.2 and 7.4.
 */
static size_t even_smem(const gp_device *device, unsigned threads, unsigned regs, size_t smem, uint64_t blocks) {
    gp_occupancy_info held;
    gp_occupancy_compute(device, threads, regs, smem, &held);
    const uint64_t share = (blocks + device->multiprocessors - 1) / device->multiprocessors;
    if (share >= held.blocks_per_sm || 2 * share <= held.blocks_per_sm)
        return smem;
    const size_t granted = (device->smem_per_sm / ((size_t)share + 1) / device->smem_unit + 1) * device->smem_unit;
    const size_t least = granted - device->smem_reserved;
    return least < device->smem_per_block_optin ? least : device->smem_per_block_optin;
}

/* Pixels of whole spans, with the halo, the alignment before, and what groups of four reach after. */
static size_t tile_smem(const gp_problem *problem, const gp_window_cut *cut, unsigned threads) {
    const size_t spans = (size_t)cut->span * (threads / 32), most = SIZE_MAX / 8;
    const size_t window = problem->window < most ? problem->window : most;
    return (spans + window + GP_WINDOW_ALIGN_IN + 9) * sizeof(int32_t);
}

/* Tiles of a row, halo and all, for blocks of as many threads. */
static bool fit_tiles(const gp_problem *problem, const gp_device *device, unsigned threads, gp_tiling *tiling) {
    if (threads == 0)
        return false;
    const gp_window_cut cut = gp_window_cut_row(problem, threads);
    const size_t smem = GP_WINDOW_SCAN_WARPS * sizeof(int32_t) + tile_smem(problem, &cut, threads);
    tiling->threads = threads;
    tiling->blocks = (uint64_t)problem->rows * cut.tiles_a_row;
    tiling->smem = even_smem(device, threads, GP_WINDOW_SCAN_REGS, smem, tiling->blocks);
    GP_TILING_PUT(tiling, cut);
    return true;
}

static bool fit_scan(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return problem->window <= SCAN_WINDOW_MAX &&
           fit_tiles(problem, device, gp_threads_of_attempt(GP_WINDOW_SCAN_THREADS, 32, attempt), tiling);
}

/* Few outputs too, as its blocks then share a tile among more threads (cut.c has figures). */
static bool fit_mid(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return problem->window <= MID_WINDOW_MAX && (problem->window > SCAN_WINDOW_MAX || gp_window_is_few(problem)) &&
           fit_tiles(problem, device, gp_threads_of_attempt(GP_WINDOW_MID_THREADS, 32, attempt), tiling);
}

static bool fit_wide(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return problem->window <= WIDE_WINDOW_MAX &&
           fit_tiles(problem, device, gp_threads_of_attempt(GP_WINDOW_WIDE_THREADS, 32, attempt), tiling);
}

/* Blocks of the largest size are for the widest windows, smaller ones for all others. */
static bool fit_few(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    const bool widest = problem->window > FEW_WINDOW_256;
    if (!gp_window_is_few(problem) || (widest && attempt > 0))
        return false;
    tiling->threads = gp_threads_of_attempt(GP_WINDOW_FEW_THREADS, 32, attempt + !widest);
    if (tiling->threads == 0)
        return false;
    const gp_window_cut cut = gp_window_cut_few(problem, tiling->threads);
    tiling->blocks = (uint64_t)problem->rows * cut.tiles_a_row;
    tiling->smem = GP_WINDOW_FEW_HEAD + tile_smem(problem, &cut, tiling->threads);
    GP_TILING_PUT(tiling, cut);
    return true;
}

static bool fit_stream(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    const gp_window_pieces pieces = gp_window_cut_pieces(problem);
    tiling->threads = gp_threads_of_attempt(GP_WINDOW_THREADS, 32, attempt);
    tiling->blocks = problem->rows * (uint64_t)pieces.of_row;
    GP_TILING_PUT(tiling, pieces);
    return problem->window <= STREAM_WINDOW_MAX && tiling->threads > 0;
}

static bool rows_are_lines(const gp_problem *problem) {
    return problem->in_align >= GP_ALIGN_MAX && problem->out_align >= GP_ALIGN_MAX;
}

static bool rows_are_vectors(const gp_problem *problem) {
    return problem->in_align >= 16 && problem->cols % 4 == 0;
}

/*
 * Rows of which window_scan would hold one a block, and too little of it; and longer ones whose windows bring it more
 * halo than pixels. Zeros beyond the row are not counted, so that their windows have no bound here.
 */
static bool rows_are_short(const gp_problem *problem) {
    const bool none = problem->border == GP_BORDER_NONE, zeros = none || problem->border == GP_BORDER_ZERO;
    const size_t much_halo = zeros ? SCAN_WINDOW_MAX : 2 * problem->cols;
    const bool few = problem->rows * (uint64_t)problem->cols <= ROWS_PIXELS_FEW;
    const bool one_a_block = problem->cols <= ROWS_COLS_ONE && !none &&
                             (zeros || problem->window <= ROWS_WINDOW_ONE) &&
                             (few || problem->cols < FLAT_COLS_LINES || !rows_are_lines(problem));
    return (problem->cols <= ROWS_COLS_MAX || one_a_block ||
            (problem->cols <= ROWS_COLS_LIMIT && problem->window > much_halo)) &&
           (zeros || problem->window <= ROWS_WINDOW_MAX);
}

/* There are blocks of two sizes; the larger is for long extended rows. */
static bool fit_rows(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    if (!rows_are_short(problem) || attempt > 1)
        return false;
    gp_window_rows_cut cut = gp_window_cut_rows(problem, GP_WINDOW_ROWS_THREADS_MAX);
    tiling->threads = GP_WINDOW_ROWS_THREADS_MAX;
    if (cut.extended <= ROWS_EXTENDED_SHORT || attempt > 0) {
        if (cut.extended <= ROWS_EXTENDED_SHORT && attempt > 0)
            return false;
        cut = gp_window_cut_rows(problem, GP_WINDOW_ROWS_THREADS);
        tiling->threads = GP_WINDOW_ROWS_THREADS;
    }
    tiling->blocks = (problem->rows + cut.rows - 1) / cut.rows;
    tiling->smem = GP_WINDOW_ROWS_SMEM(tiling->threads, cut.chunk, cut.rows);
    GP_TILING_PUT(tiling, cut);
    return true;
}

/* One behind the other, of lengths that suit neither window_rows nor window_scan. */
static bool rows_are_flat(const gp_problem *problem) {
    const size_t cols = problem->cols;
    return (problem->rows == 1 || (problem->in_pitch == cols && problem->out_pitch == cols)) &&
           cols >= (rows_are_vectors(problem) ? FLAT_COLS_VECTORS : FLAT_COLS_MIN) &&
           cols < (rows_are_lines(problem) ? FLAT_COLS_LINES : FLAT_COLS_MAX) && problem->border != GP_BORDER_NONE &&
           problem->border != GP_BORDER_WRAP;
}

static bool fit_one_tile(const gp_problem *problem, const gp_device *device, unsigned attempt, unsigned regs,
                         gp_tiling *tiling) {
    const gp_window_flat_cut cut = gp_window_cut_flat(problem);
    const unsigned early = problem->out_align >= GP_ALIGN_MAX ? 0 : GP_WINDOW_FLAT_EARLY;
    tiling->threads = GP_WINDOW_FLAT_THREADS;
    tiling->blocks = (problem->rows * (uint64_t)problem->cols + early + cut.outputs - 1) / cut.outputs;
    tiling->smem = even_smem(device, tiling->threads, regs, GP_WINDOW_FLAT_SMEM(cut.chunk), tiling->blocks);
    GP_TILING_PUT(tiling, cut);
    return attempt == 0;
}

static bool fit_flat(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return rows_are_flat(problem) && problem->cols <= GP_WINDOW_FLAT_COLS &&
           problem->window_before <= GP_WINDOW_FLAT_BEFORE && problem->cols >= problem->window &&
           problem->cols >= (problem->window - 1) * FLAT_EDGES &&
           fit_one_tile(problem, device, attempt, GP_WINDOW_FLAT_REGS, tiling);
}

static bool fit_flat_wide(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return rows_are_flat(problem) && problem->window_before <= GP_WINDOW_FLAT_WIDE_BEFORE &&
           (problem->cols > GP_WINDOW_FLAT_COLS || problem->window_before > GP_WINDOW_FLAT_BEFORE) &&
           problem->cols >= problem->window && problem->cols >= (problem->window - 1) * FLAT_EDGES_WIDE &&
           fit_one_tile(problem, device, attempt, GP_WINDOW_FLAT_WIDE_REGS, tiling);
}

static bool fit_naive(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    tiling->threads = gp_threads_of_attempt(GP_WINDOW_THREADS, 32, attempt);
    if (tiling->threads == 0)
        return false;
    const uint64_t pixels = problem->rows * (problem->col_end - problem->col_first);
    tiling->blocks = (pixels + tiling->threads - 1) / tiling->threads;
    return true;
}

#define FIT_PROCESSOR(name, isa)                                                                 \
    static bool fit_##name(const gp_problem *problem, const gp_device *device, unsigned attempt, \
                           gp_tiling *tiling) {                                                  \
        return gp_window_simd_supports(problem) &&                                               \
               gp_fit_processor(device, isa, gp_window_cpu_parts(problem), attempt, tiling);     \
    }

FIT_PROCESSOR(avx512, GP_ISA_AVX512)
FIT_PROCESSOR(avx2, GP_ISA_AVX2)
FIT_PROCESSOR(neon, GP_ISA_NEON)

static bool fit_cpu(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return gp_fit_processor(device, 0, gp_window_cpu_parts(problem), attempt, tiling);
}

const gp_kernel gp_window_rows[] = {
    {.name = "window_flat",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_FLAT_REGS,
     .overlaps = true,
     .fit = fit_flat,
     .launch = GP_GPU(gp_launch_window_flat),
     .about = "rows of odd lengths without gaps, in tiles that do not regard where rows end, by prefix sums"},
    {.name = "window_flat_wide",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_FLAT_WIDE_REGS,
     .overlaps = true,
     .fit = fit_flat_wide,
     .launch = GP_GPU(gp_launch_window_flat_wide),
     .about = "the same in larger tiles, for longer rows and wider windows"},
    {.name = "window_rows",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_ROWS_REGS,
     .overlaps = true,
     .fit = fit_rows,
     .launch = GP_GPU(gp_launch_window_rows),
     .about = "short rows, several a block: windows as differences of prefix sums, of any width, without halo"},
    {.name = "window_scan_mid",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .overlaps = true,
     .fit = fit_mid,
     .launch = GP_GPU(gp_launch_window_scan_mid),
     .about = "window_scan in larger blocks, for few outputs, and as wider windows bring more halo"},
    {.name = "window_scan",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .overlaps = true,
     .fit = fit_scan,
     .launch = GP_GPU(gp_launch_window_scan),
     .about = "a tile of a row in shared memory, windows by scanning differences: cost independent of the window"},
    {.name = "window_scan_few",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_FEW_REGS,
     .overlaps = true,
     .fit = fit_few,
     .launch = GP_GPU(gp_launch_window_scan_few),
     .about = "likewise for few outputs and wider windows: a block's threads add up its first window together"},
    {.name = "window_scan_wide",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_SCAN_REGS,
     .overlaps = true,
     .fit = fit_wide,
     .launch = GP_GPU(gp_launch_window_scan_wide),
     .about = "likewise with the largest blocks, for wider windows"},
    {.name = "window_stream",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_STREAM_REGS,
     .smem_static = GP_WINDOW_STREAM_STATIC_SMEM,
     .overlaps = true,
     .fit = fit_stream,
     .launch = GP_GPU(gp_launch_window_stream),
     .about = "the same straight from global memory, for windows that leave shared memory little room or none"},
    {.name = "window_naive",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_WINDOW_NAIVE_REGS,
     .overlaps = true,
     .fit = fit_naive,
     .launch = GP_GPU(gp_launch_window_naive),
     .about = "one thread a pixel, every window added up: any window, cost grows with it"},
    {.name = "window_avx512",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_avx512,
     .launch = GP_X86(gp_launch_window_avx512),
     .about = "AVX-512, sliding 8 outputs at a time, windows up to 2^30"},
    {.name = "window_avx2",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_avx2,
     .launch = GP_X86(gp_launch_window_avx2),
     .about = "AVX2, sliding 4 outputs at a time, windows up to 2^30"},
    {.name = "window_neon",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_neon,
     .launch = GP_ARM64(gp_launch_window_neon),
     .about = "NEON, sliding 4 outputs at a time, windows up to 2^30"},
    {.name = "window_cpu",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_cpu,
     .launch = gp_launch_window_cpu,
     .about = "portable C: the reference that every other kernel is proved against"},
};

const size_t gp_window_row_count = sizeof gp_window_rows / sizeof *gp_window_rows;
