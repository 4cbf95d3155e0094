/* SPDX-License-Identifier: Apache-2.0 */
/* How each window kernel cuts an image: into tiles, pieces or groups of rows. Pure. */
#include "tiling.h"
#include "tiling_flat.h"
#include "tiling_rows.h"

#define ROWS_ALIGNED_MIN 16                  /* columns; shorter rows would hold more padding than pixels */
#define ROWS_OFFSET_MAX ((size_t)1 << 30)    /* elements, so that offsets within a block are small */
#define ROWS_BLOCKS_WANTED 264               /* at least, for all of a device to work */
#define FLAT_PIXELS_MANY ((uint64_t)1 << 17) /* window_flat.h has figures */
/*
 * Few outputs: a block's time counts, not its work. One H200, rows of 131072, 8 bits and full int32, us of what was
 * chosen before (window_scan, from windows of 513 on window_scan_mid with four groups a thread and half of its warps
 * for the widest sums) and of window_scan_mid with two groups and all of its warps:
 *
 *   rows, window   before       after
 *   1     15       3.36, 3.99   3.09, 3.44
 *   1    725       3.53, 5.50   3.13, 3.62
 *   2    725       3.84, 5.82   3.48, 4.16
 *   4     15       4.31, 5.13   4.11, 4.96
 *   4    725       4.47, 6.96   4.27, 5.43
 *   8    725             7.96         9.42
 */
#define OUTPUTS_FEW ((uint64_t)1 << 19)
#define GROUPS_FEW 2      /* of blocks of GP_WINDOW_MID_THREADS or less */
#define PIECE_MIN 1024    /* outputs a block of window_stream, at least: one round of 256 threads */
#define PIECES_WANTED 384 /* at least, nearly as many as one H200 holds at once, but none longer than the window */

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

/* In tiles of at most that many groups of four outputs a thread. */
static gp_window_cut cut_row(const gp_problem *problem, unsigned threads, unsigned groups) {
    const size_t step = GP_WINDOW_OUTPUT_STEP, group = 4 * threads, most = groups * group;
    const size_t columns = columns_from_line(problem), tiles = (columns + most - 1) / most;
    const size_t outputs = ((columns + tiles - 1) / tiles + step - 1) / step * step;
    const unsigned span = (unsigned)((outputs + group - 1) / group * 4 * 32);
    unsigned shift = 31; /* blocks are fewer than 2^31 */
    while (shift < 62 && (uint64_t)1 << (shift - 31) < tiles)
        shift++;
    return (gp_window_cut){.outputs = (unsigned)outputs,
                           .tiles_a_row = (unsigned)tiles,
                           .tiles_scale = (unsigned)((((uint64_t)1 << shift) + tiles - 1) / tiles),
                           .tiles_shift = shift,
                           .warps_scale = (65536 + threads / 32 - 1) / (threads / 32),
                           .span = span,
                           .wide_span = span,
                           .early_mask = early_mask(problem),
                           .gaps = problem->col_end - problem->col_first < problem->out_pitch};
}

bool gp_window_is_few(const gp_problem *problem) {
    return problem->rows * (uint64_t)(problem->col_end - problem->col_first) <= OUTPUTS_FEW;
}

/* Of the widest sums first windows take long: half of the warps do all, with half as many, where others fill in. */
gp_window_cut gp_window_cut_row(const gp_problem *problem, unsigned threads) {
    const bool few = gp_window_is_few(problem);
    gp_window_cut cut =
        cut_row(problem, threads, few && threads <= GP_WINDOW_MID_THREADS ? GROUPS_FEW : GP_WINDOW_SCAN_GROUPS);
    if (problem->window > cut.span && !few)
        cut.wide_span = 2 * cut.span;
    return cut;
}

gp_window_cut gp_window_cut_few(const gp_problem *problem, unsigned threads) {
    return cut_row(problem, threads, 1);
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

static int at_least_none(int64_t columns) {
    return columns > 0 ? (int)columns : 0;
}

/* The window of column 0 starts there, that of x as many columns further on. */
static void start_window(gp_window_rows_cut *cut, int64_t start, int64_t window) {
    cut->start = (int)start;
    cut->window = (int)window;
    cut->under = at_least_none(-start);
    cut->over = at_least_none(start + window - 1);
}

/*
 * What a border mirrors shows the same columns from right to left: the window of x then starts x columns before that
 * of column 0. Taken where fewer columns beyond the row are reached so. One H200, 2^24 pixels, windows of 15,
 * REFLECT_101, us before and after, 8 bits and full int32: 7 columns 99.3, 67.2 and 179, 121; 8: 85.5, 66.3 and 156,
 * 124; 11: 84.2, 72.1 and 141, 132.
 */
static void mirror_window(gp_window_rows_cut *cut, int64_t cols, int64_t period, bool apart) {
    const int64_t start = ((apart ? 1 : 0) - cut->start - cut->window + 2 * period) % period;
    const int under = at_least_none(cols - 1 - start), over = at_least_none(start + cut->window - cols);
    if (under + over >= cut->under + cut->over)
        return;
    cut->mirrored = true;
    cut->start = (int)start;
    cut->under = under;
    cut->over = over;
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
    start_window(cut, -before, rest);
    if (!wrap && periods > 0 && rest > 0)
        mirror_window(cut, cols, period, apart);
    cut->whole = (unsigned)(wrap ? periods : 2 * periods);
    cut->ends_minus = apart ? (unsigned)periods : 0;
}

/* The whole window, unless a row extended for that is much longer. */
static void cut_window(gp_window_rows_cut *cut, const gp_problem *problem) {
    const size_t cols = problem->cols, before = problem->window_before, behind = problem->window - before - 1;
    if (before < cols && behind < cols) {
        start_window(cut, -(int64_t)before, (int64_t)problem->window);
        if (problem->window <= cols)
            return;
    }
    gp_window_rows_cut rest = {0};
    cut_periods(&rest, problem);
    const int least = (int)cols + rest.under + rest.over;
    if (cut->window == 0 || 8 * (cols + before + behind) > 9 * (size_t)least)
        *cut = rest;
}

gp_window_rows_cut gp_window_cut_rows(const gp_problem *problem, unsigned threads) {
    const size_t cols = problem->cols, window = problem->window;
    const size_t pitch = problem->in_pitch > problem->out_pitch ? problem->in_pitch : problem->out_pitch;
    const gp_border border = problem->border;
    const size_t most = (size_t)threads * GP_WINDOW_ROWS_CHUNK - GP_WINDOW_ROWS_ALIGN;
    const bool aligned = problem->in_align >= 16 && cols % 4 == 0;
    const bool together = problem->in_pitch == cols || problem->rows < 2 * ROWS_BLOCKS_WANTED || 2 * cols > most;
    /* 65 columns, as above: single pixels 59.5 and 90.1 us, vectors that may lie in two rows 56.3 and 87.5 */
    const bool vectors = cols >= ROWS_ALIGNED_MIN && (aligned || together);
    gp_window_rows_cut cut = {0};
    if (border != GP_BORDER_ZERO && (window <= cols || border != GP_BORDER_REPLICATE))
        cut_window(&cut, problem);
    int right = 0;
    if (border != GP_BORDER_NONE) {
        const int step = vectors ? 4 : 1;
        cut.left = (cut.under + step - 1) / step * step;
        right = (cut.over + step - 1) / step * step;
    }
    cut.extended = cut.left + (int)cols + right;
    cut.across = vectors && !aligned && cut.extended > (int)cols;
    cut.vectors = vectors || (cut.extended == (int)cols && (problem->rows == 1 || problem->in_pitch == cols));
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

gp_window_flat_cut gp_window_cut_flat(const gp_problem *problem) {
    const size_t step = GP_WINDOW_FLAT_STEP, around = 2 * problem->window_before + GP_WINDOW_FLAT_ALIGN;
    const bool wide = problem->window_before > GP_WINDOW_FLAT_BEFORE || problem->cols > GP_WINDOW_FLAT_COLS;
    const unsigned chunk = wide                                                         ? GP_WINDOW_FLAT_WIDE
                           : problem->rows * (uint64_t)problem->cols < FLAT_PIXELS_MANY ? GP_WINDOW_FLAT_SMALL
                                                                                        : GP_WINDOW_FLAT_MANY;
    return (gp_window_flat_cut){.chunk = chunk,
                                .outputs = (unsigned)((GP_WINDOW_FLAT_THREADS * chunk - around) / step * step)};
}
