/* SPDX-License-Identifier: Apache-2.0 */
/* The tilings of window_scan, window_stream and window_naive. Pure. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "tiling.h"

static bool rows_are_lines(const gp_problem *problem) {
    return problem->out_align >= GP_WINDOW_LINE * sizeof(float);
}

/*
 * Up to how many columns early, less one, a row's first tile starts. For a warp's 512 bytes only where that
 * differs from row to row in nothing but the line: elsewhere 96 columns more are a fourth round of half the tiles.
 */
static uint32_t early_mask(const gp_problem *problem) {
    return rows_are_lines(problem) ? GP_WINDOW_ALIGN_OUT : GP_WINDOW_LINE - 1;
}

/* Columns to compute, and how many the first tile starts before them. */
static size_t columns_from_line(const gp_problem *problem) {
    const unsigned mask = early_mask(problem);
    return problem->col_end - problem->col_first + (rows_are_lines(problem) ? problem->col_first & mask : mask);
}

/*
 * How wide windows are served by blocks of how many threads: beyond, a tile holds too much halo. Share of the floor's
 * speed at 4096 x 4096 of 8 bits on an H200, with 64 and 128 threads: windows of 501 0.992 and 0.969, of 701 0.966
 * and 0.990.
 */
static const struct {
    size_t window;
    unsigned threads;
} blocks_of[] = {{512, 64}, {1280, 128}, {8192, GP_WINDOW_SCAN_THREADS}};

/* Few outputs: a block's time counts, not its work. */
#define OUTPUTS_FEW ((uint64_t)1 << 19)
#define THREADS_FEW 128u
#define GROUPS 4     /* times 4 outputs a thread, at most: a tile's columns */
#define GROUPS_FEW 2 /* of blocks of THREADS_FEW or less */

static bool is_few(const gp_problem *problem) {
    return problem->rows * (uint64_t)(problem->col_end - problem->col_first) <= OUTPUTS_FEW;
}

/* In tiles of at most that many groups of four outputs a thread. */
static gp_window_tiles cut_row(const gp_problem *problem, unsigned threads, unsigned groups, uint64_t *blocks) {
    const size_t step = GP_WINDOW_OUTPUT_STEP, group = 4 * threads, most = groups * group;
    const size_t columns = columns_from_line(problem), tiles = (columns + most - 1) / most;
    const size_t outputs = ((columns + tiles - 1) / tiles + step - 1) / step * step;
    const unsigned span = gp_to_u32((outputs + group - 1) / group * 4 * 32);
    unsigned shift = 31; /* blocks are fewer than 2^31 */
    while (shift < 62 && (uint64_t)1 << (shift - 31) < tiles)
        shift++;
    *blocks = gp_times(problem->rows, tiles);
    return (gp_window_tiles){.rows = 1,
                             .cols = gp_to_u32(outputs),
                             .tiles_a_row = gp_to_u32(tiles),
                             .tiles_scale = gp_to_u32((((uint64_t)1 << shift) + tiles - 1) / tiles),
                             .tiles_shift = shift,
                             .warps_scale = (65536 + threads / 32 - 1) / (threads / 32),
                             .span = span,
                             .wide_span = span,
                             .early_mask = early_mask(problem),
                             .gaps = problem->col_end - problem->col_first < problem->out_pitch};
}

/*
 * Launches overlap: blocks are placed where those of the call before leave room, and an SM that is done early gets
 * more of them than its share. A grid that fills more than half of the device, but not all of it, is spread evenly by
 * asking for so much memory that an SM holds no more than its share, and no more than that, as what is left is cache.
 * 11 x 131072 pixels of 8 bits, windows of 15, on an H200: 8.3 us without, 6.5 with.
 */
static size_t even_smem(const gp_device *device, unsigned threads, unsigned regs, size_t smem, uint64_t blocks) {
    const unsigned held = gp_occupancy_blocks(device, threads, regs, smem);
    const uint64_t share = gp_divide_up(blocks, device->multiprocessors);
    if (share >= held || 2 * share <= held)
        return smem;
    const size_t granted = (device->smem_per_sm / ((size_t)share + 1) / device->smem_unit + 1) * device->smem_unit;
    const size_t least = granted - device->smem_reserved;
    return gp_least(least, device->smem_per_block_optin);
}

/* Pixels of whole spans, with the halo, the alignment before, and what groups of four reach after. */
static size_t tile_smem(const gp_problem *problem, const gp_window_tiles *tiles, unsigned threads) {
    const size_t spans = (size_t)tiles->span * (threads / 32);
    return (GP_WINDOW_SCAN_WARPS + spans + problem->window + GP_WINDOW_ALIGN_IN + 9) * sizeof(int32_t);
}

/* Of the widest sums first windows take long: half of the warps do all, with half as many, where others fill in. */
bool gp_fit_window_scan(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const bool few = is_few(problem);
    for (size_t i = 0; tiling->threads == 0 && i < sizeof blocks_of / sizeof *blocks_of; i++)
        if (problem->window <= blocks_of[i].window && (!few || blocks_of[i].threads >= THREADS_FEW))
            tiling->threads = blocks_of[i].threads;
    tiling->threads = gp_threads_of_attempt(tiling->threads, 32, attempt);
    if (tiling->threads == 0)
        return false;
    gp_window_tiles tiles = cut_row(problem, tiling->threads,
                                    few && tiling->threads <= THREADS_FEW ? GROUPS_FEW : GROUPS, &tiling->blocks);
    if (problem->window > tiles.span && !few)
        tiles.wide_span = 2 * tiles.span;
    tiling->smem = even_smem(device, tiling->threads, GP_WINDOW_SCAN_REGS,
                             tile_smem(problem, &tiles, tiling->threads), tiling->blocks);
    GP_TILING_PUT(tiling, tiles);
    return true;
}

#define STREAM_WINDOW_MAX ((size_t)1 << 31) /* up to which the widest accumulators are exact */
#define STREAM_TILE_MIN 1024                /* outputs a block, at least: one round of 256 threads */
#define STREAM_TILE_MAX ((size_t)1 << 30)
#define STREAM_TILES_WANTED 384 /* nearly as many as one H200 holds at once, but none longer than the window */

bool gp_fit_window_stream(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    tiling->threads = gp_threads_of_attempt(GP_WINDOW_THREADS, 32, attempt);
    if (tiling->threads == 0 || problem->window > STREAM_WINDOW_MAX)
        return false;
    const size_t columns = columns_from_line(problem), step = GP_WINDOW_OUTPUT_STEP;
    const size_t even = (size_t)(problem->rows * (uint64_t)columns / STREAM_TILES_WANTED);
    const size_t wish = gp_greatest(gp_least(problem->window, even), STREAM_TILE_MIN);
    const size_t some = gp_least(wish, STREAM_TILE_MAX), outputs = gp_round_up(gp_least(some, columns), step);
    const uint64_t tiles_a_row = gp_divide_up(columns, outputs);
    const gp_window_tiles tiles = {.rows = 1,
                                   .cols = gp_to_u32(outputs),
                                   .tiles_a_row = gp_to_u32(tiles_a_row),
                                   .early_mask = early_mask(problem)};
    tiling->blocks = problem->rows * tiles_a_row;
    GP_TILING_PUT(tiling, tiles);
    return true;
}

bool gp_fit_window_naive(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    tiling->threads = gp_threads_of_attempt(GP_WINDOW_THREADS, 32, attempt);
    if (tiling->threads == 0)
        return false;
    const uint64_t pixels = problem->rows * (problem->col_end - problem->col_first);
    tiling->blocks = (pixels + tiling->threads - 1) / tiling->threads;
    return true;
}
