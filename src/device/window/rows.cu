/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_rows: a block takes whole rows into shared memory, each extended by the pixels that its windows reach on
 * both sides, and makes prefix sums of them all, one row after the other. Every window is then the difference of two
 * prefixes, wherever it lies: the code is the same for all. Zeros beyond the row are not stored; windows end at the
 * row's ends instead. Sums are as wide as the block's own data needs.
 */
#include "rows.cuh"

/* Adds COUNT pixels of a chunk. */
template <int COUNT, typename SUMS>
__device__ __forceinline__ void add_pixels(const prefix_array &own, int32_t first, SUMS &total) {
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        total.add((int32_t)own.halves[first + k]);
}

/* Puts the sums of all before in place of each of them, too. */
template <int COUNT, typename SUMS>
__device__ __forceinline__ void put_prefixes(const prefix_array &own, int32_t first, SUMS &running) {
    int32_t pixels[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        pixels[k] = (int32_t)own.halves[first + k];
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        put_prefix(own, first + k, running);
        running.add(pixels[k]);
    }
}

/* Prefixes in place of the pixels, and behind them the sum of all. */
template <typename SUMS> __device__ __forceinline__ void make_prefixes(const rows_arguments &a, const block_rows &b) {
    const int32_t chunk = (int32_t)a.tiles.chunk;
    const prefix_array own = b.prefixes.from((int32_t)threadIdx.x * chunk);
    SUMS total = SUMS{};
    int32_t i = 1;
    add_pixels<1>(own, 0, total);
#pragma unroll 1
    for (; i + STEP <= chunk; i += STEP)
        add_pixels<STEP>(own, i, total);
    if (i < chunk)
        add_pixels<STEP / 2>(own, i, total);
    SUMS running = sums_before<SUMS>(b.of_warp, total);
    put_prefixes<1>(own, 0, running);
#pragma unroll 1
    for (i = 1; i + STEP <= chunk; i += STEP)
        put_prefixes<STEP>(own, i, running);
    if (i < chunk)
        put_prefixes<STEP / 2>(own, i, running);
    if (threadIdx.x == THREADS - 1)
        put_prefix(own, chunk, running);
    __syncthreads();
}

/* What every window of a row counts besides what is left over of it. */
template <typename SUMS> __device__ __forceinline__ void count_rows(const rows_arguments &a, const block_rows &b) {
    const prefix_array &p = b.prefixes;
    for (int32_t row = (int32_t)threadIdx.x; row < b.rows; row += THREADS) {
        const int32_t first = row * a.tiles.extended + a.tiles.left + b.skew, end = first + a.cols;
        SUMS counted = sums_between<SUMS>(p, first, p, end), ends = sums_between<SUMS>(p, first, p, first + 1);
        ends.plus(sums_between<SUMS>(p, end - 1, p, end));
        counted.times(a.tiles.whole);
        ends.times(a.tiles.ends_minus);
        counted.minus(ends);
        put_prefix(p, THREADS * (int32_t)a.tiles.chunk + 1 + row, counted);
    }
    __syncthreads();
}

/* Where the windows of output 0 starts and ends; with ROWS_ZERO and ROWS_REPLICATE where the first row does. */
struct window_frame {
    prefix_array starts, ends;
    __device__ __forceinline__ window_frame(const rows_arguments &a, const block_rows &b)
        : starts(b.prefixes.from(a.shift + b.skew)), ends(starts.from(a.tiles.window)) {}
};

/* The window of output i, which lies in row `row`. */
template <rows_kind KIND, typename SUMS>
__device__ __forceinline__ SUMS window_sums(const rows_arguments &a, const block_rows &b, const window_frame &f,
                                            int32_t row, int32_t i) {
    const int32_t at = (KIND == ROWS_PERIODIC ? a.direction * i : i) + row * a.row_gap;
    if (KIND == ROWS_ZERO || KIND == ROWS_REPLICATE) {
        const int32_t first = row * a.cols, last = first + a.cols - 1, start = at - a.before, end = at + a.after;
        const prefix_array &p = f.starts;
        SUMS sums = sums_between<SUMS>(p, max(start, first), p, min(end, last + 1));
        if (KIND == ROWS_ZERO)
            return sums;
        SUMS under = sums_between<SUMS>(p, first, p, first + 1), over = sums_between<SUMS>(p, last, p, last + 1);
        under.times((uint32_t)max(first - start, 0));
        over.times((uint32_t)max(end - 1 - last, 0));
        sums.plus(under);
        sums.plus(over);
        return sums;
    }
    SUMS sums = sums_between<SUMS>(f.starts, at, f.ends, at);
    if (KIND == ROWS_EXTENDED)
        return sums;
    SUMS counted;
    get_prefix(b.prefixes, THREADS * (int32_t)a.tiles.chunk + 1 + row, &counted);
    if (a.tiles.minus)
        counted.minus(sums);
    else
        counted.plus(sums);
    return counted;
}

/*
 * COUNT outputs of this thread, from number `first` on, all of which are the block's. FLAT: they lie one behind the
 * other, and all are stored. Else for those that are not another one of their row is computed, so that there are no
 * conditions between loads.
 */
template <rows_kind KIND, bool FLAT, int COUNT, typename SUMS>
__device__ __forceinline__ void put_group(const rows_arguments &a, const block_rows &b, const window_frame &frame,
                                          int32_t first) {
    float *const sum = b.sum + first, *const square = b.square + first;
    SUMS sums[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        const int32_t i = first + k * THREADS, row = divide(i, a.by_width), start = row * a.width;
        sums[k] = window_sums<KIND, SUMS>(a, b, frame, row, FLAT ? i : min(max(i, start + a.skip), start + a.last));
    }
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        const int32_t i = first + k * THREADS, row = divide(i, a.by_width), x = i - row * a.width;
        const int32_t at = k * THREADS + (FLAT ? 0 : row * a.out_gap);
        const bool stored = FLAT || (x >= a.skip && x <= a.last);
        if (SUMS::has_sum && stored && a.sum != NULL)
            sum[at] = sums[k].sum_float();
        if (SUMS::has_square && stored && a.square != NULL)
            square[at] = sums[k].square_float();
    }
}

/* Each warp stores whole lines where rows lie one behind the other. */
template <rows_kind KIND, bool FLAT, typename SUMS>
__device__ __forceinline__ void put_outputs(const rows_arguments &a, const block_rows &b) {
    const int32_t outputs = b.rows * a.width;
    const int32_t early = a.out_gap == 0 ? (int32_t)((uintptr_t)(a.sum != NULL ? b.sum : b.square) / 4 % 32) : 0;
    const window_frame frame(a, b);
    constexpr int count = KIND == ROWS_REPLICATE ? GROUP / 2 : GROUP; /* as many as registers hold */
    int32_t group = -early;
#pragma unroll 1
    while (group < outputs) {
        const int32_t first = group + (int32_t)threadIdx.x;
        const bool whole = group >= 0 && group + count * THREADS <= outputs;
        if (whole)
            put_group<KIND, FLAT, count, SUMS>(a, b, frame, first);
        else if ((uint32_t)first < (uint32_t)outputs)
            put_group<KIND, FLAT, 1, SUMS>(a, b, frame, first);
        group += whole ? count * THREADS : THREADS;
    }
}

template <rows_kind KIND, bool FLAT, typename SUMS>
__device__ __forceinline__ void take_sums(const rows_arguments &a, const block_rows &b) {
    make_prefixes<SUMS>(a, b);
    if (KIND == ROWS_PERIODIC)
        count_rows<SUMS>(a, b);
    put_outputs<KIND, FLAT, SUMS>(a, b);
}

template <rows_kind KIND, bool FLAT> __global__ void __maxnreg__(GP_WINDOW_ROWS_REGS) window_rows(rows_arguments a) {
    gp_grid_dependency_wait();
    const block_rows b = find_rows(a);
    const uint32_t magnitude = join_magnitudes(load_rows(a, b), b.magnitudes, THREADS / 32);
    if ((KIND == ROWS_EXTENDED || KIND == ROWS_PERIODIC) && a.outside > 0) {
        extend_rows<KIND>(a, b);
        __syncthreads();
    }
    switch (pick_class(magnitude, a.counted)) {
    case CLASS_32:
        return take_sums<KIND, FLAT, sums_32>(a, b);
    case CLASS_32_64:
        return take_sums<KIND, FLAT, sums_32_64>(a, b);
    default:
        if (a.sum != NULL)
            take_sums<KIND, FLAT, wide_sum>(a, b);
        if (a.square != NULL)
            take_sums<KIND, FLAT, wide_square>(a, b);
    }
}

static uint32_t inverse_of(uint64_t divisor) {
    return (uint32_t)(((uint64_t)1 << 31) / divisor + 1);
}

/* Where columns beyond the row are found. */
static void describe_border(rows_arguments &a, gp_border border) {
    const bool replicate = border == GP_BORDER_REPLICATE, wrap = border == GP_BORDER_WRAP;
    const int32_t apart = border == GP_BORDER_REFLECT_101 && a.cols > 1;
    a.step = replicate ? 0 : wrap ? 1 : -1;
    a.left_base = replicate ? 0 : wrap ? a.cols : apart - 1;
    a.right_base = replicate ? a.cols - 1 : wrap ? -a.cols : 2 * a.cols - 1 - apart;
    a.period = wrap ? a.cols : 2 * (a.cols - apart);
}

static rows_arguments rows_arguments_of(const gp_problem *problem, const gp_tiling *tiling) {
    const uint64_t cols = problem->cols, after = problem->window - problem->window_before;
    const bool zero = problem->border == GP_BORDER_ZERO;
    const uint64_t stored = problem->col_end - problem->col_first;
    rows_arguments a = {};
    memcpy(&a.tiles, tiling->t, sizeof a.tiles);
    /* padding is counted, not stored */
    const bool padded = a.tiles.rows > 1 && problem->out_pitch - cols <= cols / 4;
    a.image = (const int32_t *)problem->in;
    a.rows = (int64_t)problem->rows;
    a.in_block = (int64_t)(a.tiles.rows * problem->in_pitch);
    a.out_block = (int64_t)(a.tiles.rows * problem->out_pitch);
    a.cols = (int32_t)cols;
    a.width = (int32_t)(padded ? problem->out_pitch : stored);
    a.skip = padded ? (int32_t)problem->col_first : 0;
    a.last = a.skip + (int32_t)stored - 1;
    const uint64_t first = padded ? 0 : problem->col_first;
    a.sum = problem->sum != NULL ? problem->sum + first : NULL;
    a.square = problem->square != NULL ? problem->square + first : NULL;
    a.in_gap = a.tiles.rows == 1 ? 0 : (int32_t)(problem->in_pitch - cols);
    a.out_gap = a.tiles.rows == 1 || padded ? 0 : (int32_t)(problem->out_pitch - stored);
    a.before = (int32_t)(zero && problem->window_before > cols ? cols : problem->window_before);
    a.after = (int32_t)(zero && after > cols ? cols : after);
    a.halo = a.tiles.extended - a.cols;
    a.direction = a.tiles.mirrored ? -1 : 1;
    a.row_gap = a.tiles.mirrored ? a.tiles.extended + a.width : a.tiles.extended - a.width;
    a.shift = a.tiles.left + a.tiles.start + (a.tiles.mirrored ? -(int32_t)first : (int32_t)first);
    a.outside = a.halo == 0 ? 0 : a.tiles.under + a.tiles.over;
    a.by_cols = inverse_of(cols);
    a.by_width = inverse_of((uint64_t)a.width);
    a.by_outside = inverse_of(a.outside > 0 ? (uint64_t)a.outside : 1);
    a.counted = (uint32_t)(zero && problem->window > cols ? cols : problem->window);
    describe_border(a, problem->border);
    return a;
}

static const void *const kernels[] = {
    (const void *)window_rows<ROWS_ZERO, false>,      (const void *)window_rows<ROWS_ZERO, true>,
    (const void *)window_rows<ROWS_EXTENDED, false>,  (const void *)window_rows<ROWS_EXTENDED, true>,
    (const void *)window_rows<ROWS_PERIODIC, false>,  (const void *)window_rows<ROWS_PERIODIC, true>,
    (const void *)window_rows<ROWS_REPLICATE, false>, (const void *)window_rows<ROWS_REPLICATE, true>};

GP_DECLARE_LAUNCHER(gp_launch_window_rows) {
    rows_arguments arguments = rows_arguments_of(problem, &plan->tiling);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernels[plan->tiling.form], list);
}
