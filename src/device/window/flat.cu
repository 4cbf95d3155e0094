/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_flat: rows that lie one behind the other, without padding, are cut into tiles as if they were one row, so
 * that every tile starts on a line of memory and is as long as the next, however long the rows are. Prefix sums of
 * the tile's pixels, and of those that its windows reach, give every window that lies in its row as the difference
 * of two; a window that leaves its row ends there, and what it sees beyond is another such difference, as those
 * pixels are close by. Sums are as wide as the tile's own data needs.
 */
#include "../../host/window/tiling_flat.h"
#include "../gpu.h"
#include "prefix.cuh"

#define THREADS GP_WINDOW_FLAT_THREADS
#define GROUP 4 /* outputs that a thread has under way */

/* The problem as all blocks take it. */
struct flat_arguments {
    const int32_t *image;
    float *sum, *square; /* may be NULL */
    int64_t pixels;
    uint64_t by_cols;              /* 2^64 / cols + 1 */
    uint32_t by_cols_31, by_edges; /* 2^31 / cols + 1, 2^31 / edges + 1 */
    int32_t outputs;               /* a tile */
    int32_t cols, before, window;
    int32_t edges; /* windows that leave their rows around each start of a row */
    int32_t early; /* outputs that the first tile starts early */
    int32_t lift;  /* a multiple of cols, at least that */
    int32_t apart; /* columns from the row's end to the first that is seen beyond it */
    gp_border border;
};

/* This block's tile. */
struct flat_tile {
    int64_t first;         /* output 0, in elements from the start of an output array; may lie before it */
    int32_t from, to;      /* outputs that exist: all but of the first and the last tile */
    int64_t pixel;         /* pixel 0, in elements from the start of the image, aligned; may lie before it */
    int32_t skew;          /* output 0's window starts at this pixel */
    uint64_t *of_warp;     /* 16 bytes a warp */
    uint32_t *magnitudes;  /* one a warp */
    prefix_array prefixes; /* the halves hold the pixels before that */
};

template <int CHUNK> __device__ __forceinline__ flat_tile find_tile(const flat_arguments &a) {
    extern __shared__ __align__(16) unsigned char bytes[];
    flat_tile t;
    t.first = (int64_t)blockIdx.x * a.outputs - a.early;
    t.from = (int32_t)max((int64_t)0, -t.first);
    t.to = (int32_t)min((int64_t)a.outputs, a.pixels - t.first);
    t.pixel = t.first - a.before;
    t.skew = (int32_t)((uintptr_t)(a.image + t.pixel) / 4 & GP_WINDOW_FLAT_ALIGN);
    t.pixel -= t.skew;
    t.of_warp = (uint64_t *)bytes;
    t.magnitudes = (uint32_t *)(t.of_warp + 2 * (THREADS / 32));
    t.prefixes.words = (uint64_t *)(bytes + GP_WINDOW_FLAT_HEAD);
    t.prefixes.halves = (uint32_t *)(t.prefixes.words + GP_WINDOW_FLAT_WORDS(CHUNK));
    return t;
}

/*
 * The tile's pixels to their places. Returns the magnitudes that this thread saw, as bits. Where the image starts or
 * ends, up to three pixels do not fill four.
 */
template <int CHUNK> __device__ __forceinline__ uint32_t load_tile(const flat_arguments &a, const flat_tile &t) {
    const int32_t *const source = a.image + t.pixel;
    const int32_t vectors = (t.skew + a.outputs + 2 * a.before + 3) / 4;
    int32_t from = 0, to = vectors, single_at = 0, single = 0;
    bool has_single = false;
    if (t.pixel < 0 || t.pixel + 4 * vectors > a.pixels) {
        const int32_t start = (int32_t)max((int64_t)0, -t.pixel), thread = (int32_t)threadIdx.x;
        const int32_t end = (int32_t)min((int64_t)4 * vectors, a.pixels - t.pixel);
        from = (start + 3) / 4;
        to = end / 4;
        const int32_t head = min(4 * from, end) - start, tail = max(4 * to, start);
        single_at = thread < head ? start + thread : tail + thread - head;
        has_single = single_at < end;
        single = has_single ? __ldg(source + single_at) : 0;
    }
    constexpr int loads = (CHUNK + 3) / 4; /* of all threads, four pixels each */
    const int32_t first = from + (int32_t)threadIdx.x;
    uint32_t magnitude = 0;
    int4 four[loads];
#pragma unroll
    for (int load = 0; load < loads; load++)
        if (first + load * THREADS < to)
            four[load] = __ldg((const int4 *)source + first + load * THREADS);
#pragma unroll
    for (int load = 0; load < loads; load++)
        if (first + load * THREADS < to) {
            ((int4 *)t.prefixes.halves)[first + load * THREADS] = four[load];
            magnitude |= magnitude_of(four[load]);
        }
    if (has_single)
        t.prefixes.halves[single_at] = (uint32_t)single;
    return magnitude | magnitude_of(single);
}

/* Prefixes in place of the pixels, and behind them the sum of all. */
template <typename SUMS, int CHUNK> __device__ __forceinline__ void make_prefixes(const flat_tile &t) {
    const prefix_array own = t.prefixes.from((int32_t)threadIdx.x * CHUNK);
    int32_t pixels[CHUNK];
    SUMS total = SUMS::zero();
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        pixels[i] = (int32_t)own.halves[i];
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        total.add(pixels[i]);
    SUMS running = sums_before<SUMS, THREADS>(t.of_warp, total);
#pragma unroll
    for (int i = 0; i < CHUNK; i++) {
        put_prefix(own, i, running);
        running.add(pixels[i]);
    }
    if (threadIdx.x == THREADS - 1)
        put_prefix(own, CHUNK, running);
    __syncthreads();
}

template <typename SUMS>
__device__ __forceinline__ void put_output(const flat_arguments &a, const flat_tile &t, int32_t i, const SUMS &sums) {
    if (SUMS::has_sum && a.sum != NULL)
        (a.sum + t.first)[i] = sums.sum_float();
    if (SUMS::has_square && a.square != NULL)
        (a.square + t.first)[i] = sums.square_float();
}

/* COUNT outputs of this thread from number `first` on, as if each window lay in its row. */
template <int COUNT, typename SUMS>
__device__ __forceinline__ void put_group(const flat_arguments &a, const flat_tile &t, int32_t first) {
    const prefix_array starts = t.prefixes.from(t.skew), ends = starts.from(a.window);
    SUMS sums[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        sums[k] = sums_between<SUMS>(starts, first + k * THREADS, ends, first + k * THREADS);
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        put_output(a, t, first + k * THREADS, sums[k]);
}

template <typename SUMS> __device__ __forceinline__ void put_outputs(const flat_arguments &a, const flat_tile &t) {
    int32_t group = t.from;
#pragma unroll 1
    while (group < t.to) {
        const int32_t first = group + (int32_t)threadIdx.x;
        const bool whole = group + GROUP * THREADS <= t.to;
        if (whole)
            put_group<GROUP, SUMS>(a, t, first);
        else if (first < t.to)
            put_group<1, SUMS>(a, t, first);
        group += whole ? GROUP * THREADS : THREADS;
    }
}

/* The window of output i, in column x, which leaves its row on one side. `p` is of the tile's first window. */
template <typename SUMS>
__device__ __forceinline__ SUMS edge_sums(const flat_arguments &a, const prefix_array &p, int32_t i, int32_t x) {
    const int32_t start = x - a.before, end = start + a.window;
    const prefix_array row = p.from(i - start);
    SUMS sums = sums_between<SUMS>(row, max(start, 0), row, min(end, a.cols));
    if (a.border == GP_BORDER_ZERO)
        return sums;
    const bool left = start < 0, replicate = a.border == GP_BORDER_REPLICATE;
    const int32_t count = left ? -start : end - a.cols, seen = replicate ? 1 : count;
    const int32_t from = left ? a.apart : a.cols - a.apart - seen;
    SUMS beyond = sums_between<SUMS>(row, from, row, from + seen);
    if (replicate)
        beyond.times((uint32_t)count);
    sums.plus(beyond);
    return sums;
}

/* What put_outputs() stored of windows that leave their rows is stored anew: by neighbouring threads, all of them. */
template <typename SUMS> __device__ __forceinline__ void put_edges(const flat_arguments &a, const flat_tile &t) {
    const prefix_array starts = t.prefixes.from(t.skew);
    const uint64_t place = (uint64_t)(t.first + a.lift);
    const int32_t x = (int32_t)(place - __umul64hi(place, a.by_cols) * (uint32_t)a.cols); /* output 0's column */
    const int32_t behind = a.edges - a.before;            /* windows that leave a row at its end */
    const int32_t start = x < a.before ? -x : a.cols - x; /* of the first row whose edges may be here */
    if (start - behind >= a.outputs)
        return;
    const int32_t edges = (divide(a.outputs - 1 + behind - start, a.by_cols_31) + 1) * a.edges;
#pragma unroll 1
    for (int32_t edge = (int32_t)threadIdx.x; edge < edges; edge += THREADS) {
        const int32_t row = divide(edge, a.by_edges), at = edge - row * a.edges - behind;
        const int32_t i = start + row * a.cols + at;
        if (i >= t.from && i < t.to)
            put_output(a, t, i, edge_sums<SUMS>(a, starts, i, at < 0 ? a.cols + at : at));
    }
}

template <typename SUMS, int CHUNK>
__device__ __forceinline__ void take_sums(const flat_arguments &a, const flat_tile &t) {
    make_prefixes<SUMS, CHUNK>(t);
    put_outputs<SUMS>(a, t);
    __syncthreads();
    put_edges<SUMS>(a, t);
}

template <int CHUNK> __device__ __forceinline__ void flat_block(const flat_arguments &a) {
    const flat_tile t = find_tile<CHUNK>(a);
    if (t.from >= t.to)
        return;
    switch (pick_class(join_magnitudes<THREADS>(t.magnitudes, load_tile<CHUNK>(a, t)), (uint32_t)a.window)) {
    case CLASS_32:
        return take_sums<sums_32, CHUNK>(a, t);
    case CLASS_32_64:
        return take_sums<sums_32_64, CHUNK>(a, t);
    default:
        if (a.sum != NULL)
            take_sums<wide_sum, CHUNK>(a, t);
        if (a.square != NULL)
            take_sums<wide_square, CHUNK>(a, t);
    }
}

template <int CHUNK> __global__ void __maxnreg__(GP_WINDOW_FLAT_REGS) window_flat(flat_arguments a) {
    gp_await_earlier_kernels();
    flat_block<CHUNK>(a);
}

__global__ void __maxnreg__(GP_WINDOW_FLAT_WIDE_REGS) window_flat_wide(flat_arguments a) {
    gp_await_earlier_kernels();
    flat_block<GP_WINDOW_FLAT_WIDE>(a);
}

static uint32_t inverse_of(uint64_t divisor) {
    return (uint32_t)(((uint64_t)1 << 31) / divisor + 1);
}

static flat_arguments flat_arguments_of(const gp_problem *problem, const gp_window_flat_cut &cut) {
    const float *const out = problem->sum != NULL ? problem->sum : problem->square;
    flat_arguments a = {};
    a.image = (const int32_t *)problem->in;
    a.sum = problem->sum;
    a.square = problem->square;
    a.pixels = (int64_t)(problem->rows * (uint64_t)problem->cols);
    a.cols = (int32_t)problem->cols;
    a.before = (int32_t)problem->window_before;
    a.window = (int32_t)problem->window;
    a.edges = a.window - 1;
    a.outputs = (int32_t)cut.outputs;
    a.by_cols = UINT64_MAX / problem->cols + 1;
    a.by_cols_31 = inverse_of(problem->cols);
    a.by_edges = inverse_of(a.edges > 0 ? (uint64_t)a.edges : 1);
    a.early = (int32_t)((uintptr_t)out / sizeof *out & GP_WINDOW_FLAT_EARLY);
    a.lift = (GP_WINDOW_FLAT_EARLY / a.cols + 1) * a.cols;
    a.apart = problem->border == GP_BORDER_REFLECT_101;
    a.border = problem->border;
    return a;
}

static gp_window_flat_cut cut_of(const gp_plan *plan) {
    gp_window_flat_cut cut;
    memcpy(&cut, plan->tiling.t, sizeof cut);
    return cut;
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem, const void *kernel) {
    flat_arguments arguments = flat_arguments_of(problem, cut_of(plan));
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernel, list);
}

extern "C" gp_status gp_launch_window_flat(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const bool is_small = cut_of(plan).chunk == GP_WINDOW_FLAT_SMALL;
    return launch(context, plan, problem,
                  is_small ? (const void *)window_flat<GP_WINDOW_FLAT_SMALL>
                           : (const void *)window_flat<GP_WINDOW_FLAT_MANY>);
}

extern "C" gp_status gp_launch_window_flat_wide(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_flat_wide);
}
