/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_stream: windows that outgrow shared memory, or would leave it little room for outputs. A block takes a tile
 * of a row. All of its threads add up the tile's first window, 16 bytes a load; from there the block goes on by 4
 * outputs a thread, reads what enters and what leaves from global memory, and scans these differences over its
 * threads. Sums are as wide as the data seen so far needs.
 */
#include "scan.cuh"

#define STREAM_LOADS 4 /* 16-byte loads a thread, under way at once */

/* Sums of any pixels, and the bits of their magnitudes. */
struct tile_sums : wide_both {
    uint32_t magnitude;

    __device__ __forceinline__ void add(int32_t pixel) {
        wide_both::add(pixel);
        magnitude |= magnitude_of(pixel);
    }
};

/* One entry a warp. */
struct stream_shared {
    uint4 totals[2][GP_WINDOW_THREADS / 32];
    uint32_t magnitudes[GP_WINDOW_THREADS / 32];
    template <typename SUMS> __device__ __forceinline__ SUMS *totals_of() {
        return (SUMS *)totals[SUMS::has_square];
    }
};

/* This thread's share of the row's columns first .. first + count - 1. */
static __device__ __forceinline__ void add_columns(const int32_t *row, int64_t first, int64_t count,
                                                   tile_sums &sums) {
    const int32_t thread = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    const int64_t head = min(count, (int64_t)(0 - (uintptr_t)(row + first) / 4 & 3)), groups = (count - head) / 4;
    const int32_t tail = (int32_t)(count - head - 4 * groups);
    const int4 *source = (const int4 *)(row + first + head) + thread;
    const int64_t step = STREAM_LOADS * threads;
    for (int64_t round = 0; round < groups; round += step) { /* the whole warp goes round, for __syncwarp() */
        int4 four[STREAM_LOADS];
        const int64_t left = groups - round - thread;
#pragma unroll
        for (int load = 0; load < STREAM_LOADS; load++)
            four[load] = load * threads < left ? source[round + load * threads] : make_int4(0, 0, 0, 0);
        __syncwarp(); /* keeps these loads together: nvcc would put each before its use, to save registers */
#pragma unroll
        for (int load = 0; load < STREAM_LOADS; load++) {
            sums.add(four[load].x);
            sums.add(four[load].y);
            sums.add(four[load].z);
            sums.add(four[load].w);
        }
    }
    if (thread < head)
        sums.add(row[first + thread]);
    if (thread < tail)
        sums.add(row[first + count - tail + thread]);
}

/*
 * This thread's share of the window that starts at x: runs of columns, where the row repeats three a period at most.
 * Whole periods are added up once.
 */
static __device__ __forceinline__ tile_sums add_window(const window_arguments &a, const int32_t *row, int64_t x) {
    const int64_t window = (int64_t)a.window, period = gp_window_period(a.border, a.cols);
    const int64_t before = max((int64_t)0, min(-x, window)), end = max(x + before, min(x + window, a.cols));
    tile_sums sums = {};
    int64_t whole = 0, start = x + before, rest = end - start;
    if (period > 0) {
        whole = window < period ? 0 : window / period;
        start = x >= -period && x < period ? x : x % period;
        start += start < 0 ? period : 0;
        rest = window - whole * period;
    } else if (a.border == GP_BORDER_REPLICATE && threadIdx.x < 2) {
        sums.add(row[threadIdx.x == 0 ? 0 : a.cols - 1]);
        sums.times((uint32_t)(threadIdx.x == 0 ? before : x + window - end));
    }
    for (int pass = whole > 0 ? 0 : 1; pass < 2; pass++) {
        int64_t at = start, run;
        for (int64_t count = pass == 0 ? period : rest; count > 0; count -= run) {
            const bool ahead = at < a.cols;
            const int64_t column = gp_window_source(a.border, a.cols, at);
            run = min(count, (ahead ? a.cols : period) - at);
            add_columns(row, ahead ? column : column - run + 1, run, sums);
            at = at + run == period ? 0 : at + run;
        }
        if (pass == 0)
            sums.times((uint32_t)whole);
    }
    return sums;
}

/* The sums of all threads of the block, in each of them. Collective. */
template <typename SUMS> __device__ __forceinline__ SUMS block_total(SUMS sums, SUMS *totals) {
    const uint32_t lane = threadIdx.x % 32;
    sums = warp_total(sums);
    if (lane == 0)
        totals[threadIdx.x / 32] = sums;
    __syncthreads();
    return warp_total(lane < blockDim.x / 32 ? totals[lane] : SUMS{});
}

/* The extended row's pixels x .. x + 3. */
__device__ __forceinline__ four_pixels extended_four(const window_arguments &a, const int32_t *row, int64_t x) {
    const int32_t shift = (uintptr_t)(row + x) / 4 & 3;
    if (x >= shift && x - shift + 8 <= a.cols)
        return read_four(row + x - shift, 0, shift);
    four_pixels four;
#pragma unroll
    for (int i = 0; i < 4; i++)
        four.pixel[i] = border_pixel(a, row, x + i);
    return four;
}

/* What enters and what leaves at four outputs. */
struct four_steps {
    four_pixels in, out;
};

__device__ __forceinline__ four_steps read_steps(const window_arguments &a, const int32_t *row, int64_t output,
                                                 int64_t end) {
    four_steps steps = {{{0, 0, 0, 0}}, {{0, 0, 0, 0}}};
    if (output < end) {
        steps.out = extended_four(a, row, output - (int64_t)a.before);
        steps.in = extended_four(a, row, output - (int64_t)a.before + (int64_t)a.window);
    }
    return steps;
}

/* A block's outputs of one round, 4 a thread. `first`: the window of the round's first one, then of the next round's.
 */
template <typename SUMS>
__device__ __forceinline__ SUMS stream_round(const window_arguments &a, int64_t at, int32_t begin, int32_t end,
                                             SUMS first, const four_steps &steps, SUMS *totals) {
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const SUMS own = slide_of<SUMS>(steps.in, steps.out);
    SUMS sums = warp_inclusive(own);
    if (lane == 31)
        totals[warp] = sums;
    __syncthreads();
    const SUMS warps = warp_inclusive(lane < blockDim.x / 32 ? totals[lane] : SUMS{});
    sums.minus(own);
    sums.plus(first);
    if (warp > 0)
        sums.plus(from_lane(warps, (int)warp - 1));
    store_windows<SUMS>(a, at, begin, end, slide_windows(sums, steps.in, steps.out));
    first.plus(from_lane(warps, 31));
    return first;
}

template <typename SUM, typename SQUARE>
__device__ __forceinline__ void narrow_round(const window_arguments &a, int64_t at, int32_t begin, int32_t end,
                                             tile_sums &first, const four_steps &steps, stream_shared &shared) {
    using narrow = narrow_sums<SUM, SQUARE>;
    narrow sums = {(SUM)first.sum.sum, (SQUARE)((uint64_t)first.square.mid << 32 | first.square.low)};
    sums = stream_round(a, at, begin, end, sums, steps, shared.totals_of<narrow>());
    first.sum = {sums.sum};
    first.square = {(uint32_t)sums.square, (uint32_t)((uint64_t)sums.square >> 32), 0};
}

__device__ __forceinline__ void stream_tile(const window_arguments &a, int64_t y, int64_t x, int64_t end,
                                            stream_shared &shared) {
    const int32_t *row = a.image + y * a.in_pitch;
    four_steps steps = read_steps(a, row, x + 4 * threadIdx.x, end); /* on their way while the window is added up */
    tile_sums first = add_window(a, row, x - (int64_t)a.before);
    first.sum = block_total(first.sum, shared.totals_of<wide_sum>());
    first.square = block_total(first.square, shared.totals_of<wide_square>());
    for (; x < end; x += 4 * blockDim.x) {
        const int64_t output = x + 4 * threadIdx.x, at = y * a.out_pitch + output;
        const int32_t begin = (int32_t)max((int64_t)0, min((int64_t)4, a.col_first - output));
        const int32_t stop = (int32_t)max((int64_t)0, min((int64_t)4, end - output));
#pragma unroll
        for (int i = 0; i < 4; i++)
            first.magnitude |= magnitude_of(steps.in.pixel[i]) | magnitude_of(steps.out.pixel[i]);
        first.magnitude = join_magnitudes(first.magnitude, shared.magnitudes, blockDim.x / 32);
        switch (pick_class(first.magnitude, (uint32_t)a.window)) {
        case CLASS_32:
            narrow_round<int32_t, uint32_t>(a, at, begin, stop, first, steps, shared);
            break;
        case CLASS_32_64:
            narrow_round<int32_t, uint64_t>(a, at, begin, stop, first, steps, shared);
            break;
        case CLASS_64:
            narrow_round<int64_t, uint64_t>(a, at, begin, stop, first, steps, shared);
            break;
        case CLASS_WIDE:
            first.sum = stream_round(a, at, begin, stop, first.sum, steps, shared.totals_of<wide_sum>());
            first.square = stream_round(a, at, begin, stop, first.square, steps, shared.totals_of<wide_square>());
        }
        steps = read_steps(a, row, output + 4 * blockDim.x, end);
    }
}

__global__ void __maxnreg__(GP_WINDOW_STREAM_REGS) window_stream(window_arguments a, gp_window_tiles tiles) {
    __shared__ stream_shared shared;
    gp_grid_dependency_wait();
    const uint32_t y = blockIdx.x / tiles.tiles_a_row, tile = blockIdx.x - y * tiles.tiles_a_row;
    const int64_t x = a.col_first - columns_early(a, y, tiles.early_mask) + tile * (int64_t)tiles.cols;
    const int64_t end = min(a.col_end, x + tiles.cols);
    if (x < end)
        stream_tile(a, y, x, end, shared);
}

GP_DECLARE_LAUNCHER(gp_launch_window_stream) {
    return launch_windows(context, plan, problem, (const void *)window_stream);
}
