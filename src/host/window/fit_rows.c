/* SPDX-License-Identifier: Apache-2.0 */
/* The tiling of window_rows: whole rows a block, extended by what their windows reach. Pure. */
#include "../arithmetic.h"
#include "tiling.h"

#define ALIGNED_MIN 16                 /* columns; shorter rows would hold more padding than pixels */
#define OFFSET_MAX ((size_t)1 << 30)   /* elements, so that offsets within a block are small */
#define BLOCKS_WANTED 264              /* at least, for all of a device to work */
#define WINDOW_MAX ((size_t)1 << 30)   /* of borders other than zeros */
#define PIXELS_FEW ((uint64_t)1 << 21) /* up to which whole lines are taken too */
#define COLS_LINES 1024u               /* whole lines: from here on window_scan fills its tiles */
/* Of other rows window_scan holds too little at once. 2^24 pixels of 8 bits, windows of 15, 640 columns: 0.96 of the
 * floor's speed, window_scan 0.84; 1024 columns 0.98 and 0.99. */
#define COLS_MAX 640u
#define COLS_ONE 1088u  /* of which a block takes one row; */
#define WINDOW_ONE 384u /* with more beyond the row, window_scan is as fast */
#define COLS_LIMIT 2173u
#define MUCH_HALO 512u /* columns */

static bool rows_are_lines(const gp_problem *problem) {
    return problem->in_align >= GP_ALIGN_MAX && problem->out_align >= GP_ALIGN_MAX;
}

/*
 * Rows of which window_scan would hold one a block, and too little of it; and longer ones whose windows bring it more
 * halo than pixels. Zeros beyond the row are not counted, so that their windows have no bound here.
 */
static bool rows_are_short(const gp_problem *problem) {
    const bool none = problem->border == GP_BORDER_NONE, zeros = none || problem->border == GP_BORDER_ZERO;
    const size_t much_halo = zeros ? MUCH_HALO : 2 * problem->cols;
    const bool few = problem->rows * (uint64_t)problem->cols <= PIXELS_FEW;
    const bool vectors = problem->in_align >= 16 && (problem->cols < COLS_LINES || !rows_are_lines(problem));
    const bool one_a_block =
        problem->cols <= COLS_ONE && !none && (zeros || problem->window <= WINDOW_ONE) && (few || vectors);
    return (problem->cols <= COLS_MAX || one_a_block ||
            (problem->cols <= COLS_LIMIT && problem->window > much_halo)) &&
           (zeros || problem->window <= WINDOW_MAX);
}

static int at_least_none(int64_t columns) {
    return columns > 0 ? gp_to_s32(columns) : 0;
}

/* The window of column 0 starts there, that of x as many columns further on. */
static void start_window(gp_window_rows_tiles *tiles, int64_t start, int64_t window) {
    tiles->start = gp_to_s32(start);
    tiles->window = gp_to_s32(window);
    tiles->under = at_least_none(-start);
    tiles->over = at_least_none(start + window - 1);
}

/*
 * What a border mirrors shows the same columns from right to left: the window of x then starts x columns before that
 * of column 0. Taken where fewer columns beyond the row are reached so. 2^24 pixels of 8 bits in 7 columns, windows
 * of 15, REFLECT_101, on an H200: 99 us before, 67 after.
 */
static void mirror_window(gp_window_rows_tiles *tiles, int64_t cols, int64_t period, bool apart) {
    const int64_t start = ((apart ? 1 : 0) - tiles->start - tiles->window + 2 * period) % period;
    const int under = at_least_none(cols - 1 - start), over = at_least_none(start + tiles->window - cols);
    if (under + over >= tiles->under + tiles->over)
        return;
    tiles->mirrored = true;
    tiles->start = gp_to_s32(start);
    tiles->under = under;
    tiles->over = over;
}

/* Of a window that is wider than the extended row's period, what is left over, and the whole rows besides. */
static void cut_periods(gp_window_rows_tiles *tiles, const gp_problem *problem) {
    const int64_t cols = (int64_t)problem->cols, window = (int64_t)problem->window;
    const bool apart = problem->border == GP_BORDER_REFLECT_101 && cols > 1; /* leaves the outermost pixel out */
    const bool wrap = problem->border == GP_BORDER_WRAP || cols == 1;
    const int64_t period = wrap ? cols : 2 * cols - (apart ? 2 : 0);
    int64_t periods = window / period, rest = window % period, before = (int64_t)problem->window_before;
    if (rest > cols) { /* the rest of one period more is shorter */
        tiles->minus = true;
        periods++;
        before -= window;
        rest = period - rest;
    }
    before = rest == 0 ? 0 : (before % period + period) % period;
    if ((before > rest - 1 ? before : rest - 1) > rest - before + period - 1)
        before -= period;
    start_window(tiles, -before, rest);
    if (!wrap && periods > 0 && rest > 0)
        mirror_window(tiles, cols, period, apart);
    tiles->whole = gp_to_u32((uint64_t)(wrap ? periods : 2 * periods));
    tiles->ends_minus = apart ? gp_to_u32((uint64_t)periods) : 0;
}

/* The whole window, unless a row extended for that is much longer. */
static void cut_window(gp_window_rows_tiles *tiles, const gp_problem *problem) {
    const size_t cols = problem->cols, before = problem->window_before, behind = problem->window - before - 1;
    if (before < cols && behind < cols) {
        start_window(tiles, -(int64_t)before, (int64_t)problem->window);
        if (problem->window <= cols)
            return;
    }
    gp_window_rows_tiles rest = {0};
    cut_periods(&rest, problem);
    const int least = gp_to_s32((int64_t)cols) + rest.under + rest.over;
    if (tiles->window == 0 || 8 * (cols + before + behind) > 9 * (size_t)least)
        *tiles = rest;
}

static gp_window_rows_tiles cut_rows(const gp_problem *problem) {
    const size_t cols = problem->cols, window = problem->window;
    const size_t pitch = gp_greatest(problem->in_pitch, problem->out_pitch);
    const gp_border border = problem->border;
    const size_t most = (size_t)GP_WINDOW_ROWS_THREADS * GP_WINDOW_ROWS_CHUNK - GP_WINDOW_ROWS_ALIGN;
    const bool aligned = problem->in_align >= 16 && cols % 4 == 0;
    const bool together = problem->in_pitch == cols || problem->rows < 2 * BLOCKS_WANTED || 2 * cols > most;
    const bool vectors = cols >= ALIGNED_MIN && (aligned || together);
    gp_window_rows_tiles tiles = {0};
    if (border != GP_BORDER_ZERO && (window <= cols || border != GP_BORDER_REPLICATE))
        cut_window(&tiles, problem);
    int right = 0;
    if (border != GP_BORDER_NONE) {
        const int step = vectors ? 4 : 1;
        tiles.left = (tiles.under + step - 1) / step * step;
        right = (tiles.over + step - 1) / step * step;
    }
    tiles.extended = tiles.left + gp_to_s32((int64_t)cols) + right;
    tiles.across = vectors && !aligned && tiles.extended > gp_to_s32((int64_t)cols);
    tiles.vectors =
        vectors || (tiles.extended == gp_to_s32((int64_t)cols) && (problem->rows == 1 || problem->in_pitch == cols));
    const size_t rows =
        gp_least(gp_least(most / (size_t)tiles.extended, OFFSET_MAX / pitch), problem->rows / BLOCKS_WANTED);
    tiles.rows = gp_to_u32(gp_at_least_one(rows));
    tiles.cols = gp_to_u32(cols);
    const size_t entries = tiles.rows * (size_t)tiles.extended + GP_WINDOW_ROWS_ALIGN;
    const size_t chunk = (entries + GP_WINDOW_ROWS_THREADS - 1) / GP_WINDOW_ROWS_THREADS;
    tiles.chunk =
        gp_to_u32((chunk + 2) / 4 * 4 + 1); /* odd, and one more than a multiple of 4, as the kernel takes it */
    return tiles;
}

/* Outputs lie one behind the other, and all are stored. */
static bool is_flat(const gp_problem *problem, const gp_window_rows_tiles *tiles) {
    return tiles->rows == 1 || (problem->col_end - problem->col_first == problem->out_pitch);
}

static unsigned kind_of(const gp_problem *problem, const gp_window_rows_tiles *tiles) {
    if (problem->border == GP_BORDER_ZERO)
        return ROWS_ZERO;
    if (problem->border == GP_BORDER_REPLICATE && problem->window > problem->cols)
        return ROWS_REPLICATE;
    return tiles->whole > 0 ? ROWS_PERIODIC : ROWS_EXTENDED;
}

bool gp_fit_window_rows(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    if (!rows_are_short(problem) || attempt > 0)
        return false;
    const gp_window_rows_tiles tiles = cut_rows(problem);
    tiling->threads = GP_WINDOW_ROWS_THREADS;
    tiling->form = 2 * kind_of(problem, &tiles) + is_flat(problem, &tiles);
    tiling->blocks = (problem->rows + tiles.rows - 1) / tiles.rows;
    tiling->smem = GP_WINDOW_ROWS_SMEM(tiling->threads, tiles.chunk, tiles.rows);
    GP_TILING_PUT(tiling, tiles);
    return true;
}
