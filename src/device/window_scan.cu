/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_scan: the cost of a pixel does not depend on the window. A block takes a tile of one row, with its halo,
 * into shared memory; from there its warps go on by themselves. A warp adds up its first window, then moves on by 128
 * outputs at a time, 4 a lane: from one output to the next one pixel enters and one leaves, and a scan of these
 * differences over the lanes gives every window. Each lane stores its 4 outputs at once, so that a warp stores 512
 * bytes of neighbours, and pixels are read from shared memory 16 bytes at a time, free of bank conflicts. Sums are as
 * wide as the block's data needs, which it finds out while it loads.
 */
#include "gpu.h"
#include "window_scan.cuh"

struct four_pixels {
    int32_t pixel[4];
};

/* Pixels at + shift .. at + shift + 3; `at` is a multiple of 4, `shift` below 4 and the same for the whole warp. */
__device__ __forceinline__ four_pixels read_four(const int32_t *pixels, int32_t at, int32_t shift) {
    const int4 low = *(const int4 *)(pixels + at), high = *(const int4 *)(pixels + at + 4);
    int32_t a = low.x, b = low.y, c = low.z, d = low.w, e = high.x;
    if (shift & 2) {
        a = low.z;
        b = low.w;
        c = high.x;
        d = high.y;
        e = high.z;
    }
    if (shift & 1) {
        a = b;
        b = c;
        c = d;
        d = e;
    }
    return {{a, b, c, d}};
}

/* The sums of `window` pixels from `start`, by the whole warp, in each lane. */
template <typename SUMS>
__device__ __forceinline__ SUMS sum_window(const int32_t *pixels, int32_t start, int32_t window) {
    const int32_t lane = threadIdx.x % 32, end = start + window, groups = (start + 3) & ~3, groups_end = end & ~3;
    SUMS sums = SUMS::zero();
    for (int32_t i = groups + 4 * lane; i < groups_end; i += 4 * 32) {
        const int4 four = *(const int4 *)(pixels + i);
        sums.add(four.x);
        sums.add(four.y);
        sums.add(four.z);
        sums.add(four.w);
    }
    const int32_t head_end = min(groups, end), tail = max(groups_end, head_end);
    if (lane < head_end - start)
        sums.add(pixels[start + lane]);
    if (lane < end - tail)
        sums.add(pixels[tail + lane]);
    return warp_total(sums);
}

/* The outputs of one warp: cut.span of them. */
template <typename SUMS>
__device__ __forceinline__ void scan_span(const window_arguments &a, const tile_frame &f, const gp_window_cut &cut,
                                          const int32_t *pixels) {
    const int32_t lane = threadIdx.x % 32, from = (int32_t)(threadIdx.x / 32 * cut.span);
    const int32_t to = min(f.end, from + (int32_t)cut.span), enters = f.skew + (int32_t)a.window;
    if (from >= to)
        return;
    SUMS first = sum_window<SUMS>(pixels, f.skew + from, (int32_t)a.window);
#pragma unroll 1
    for (int32_t group = from; group < to; group += 4 * 32) {
        const int32_t output = group + 4 * lane;
        const four_pixels out = read_four(pixels, output, f.skew);
        const four_pixels in = read_four(pixels, (enters & ~3) + output, enters & 3);
        SUMS own = SUMS::zero();
#pragma unroll
        for (int i = 0; i < 4; i++)
            own.slide(in.pixel[i], out.pixel[i]);
        const SUMS inclusive = warp_inclusive(own);
        SUMS sums = first;
        sums.plus(inclusive);
        sums.minus(own);
        first.plus(from_lane(inclusive, 31));
        float sum[4], square[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sum[i] = sums.sum_float();
            square[i] = sums.square_float();
            sums.slide(in.pixel[i], out.pixel[i]);
        }
        if (SUMS::has_sum && a.sum != NULL)
            store_four(a.sum + f.at + output, f.first - output, f.end - output,
                       make_float4(sum[0], sum[1], sum[2], sum[3]));
        if (SUMS::has_square && a.square != NULL)
            store_four(a.square + f.at + output, f.first - output, f.end - output,
                       make_float4(square[0], square[1], square[2], square[3]));
    }
}

__device__ __forceinline__ void scan_block(const window_arguments &a, const gp_window_cut &cut) {
    extern __shared__ __align__(16) int32_t window_shared[];
    uint32_t *magnitudes = (uint32_t *)window_shared;
    int32_t *pixels = window_shared + GP_WINDOW_SCAN_WARPS;
    const uint32_t y = blockIdx.x / cut.tiles_a_row, tile = blockIdx.x - y * cut.tiles_a_row;
    const tile_frame f = find_tile(a, cut, y, tile);
    const int32_t *row = a.image + y * a.in_pitch;
    uint32_t magnitude = load_row(f, row, pixels);
    if (f.row_first > 0 || f.row_end < f.needed) {
        __syncthreads();
        magnitude |= fill_border(a, f, row, pixels);
    }
    switch (pick_class(join_magnitudes(magnitude, magnitudes), (uint32_t)a.window)) {
    case CLASS_32:
        return scan_span<narrow_sums<int32_t, uint32_t>>(a, f, cut, pixels);
    case CLASS_32_64:
        return scan_span<narrow_sums<int32_t, uint64_t>>(a, f, cut, pixels);
    case CLASS_64:
        return scan_span<narrow_sums<int64_t, uint64_t>>(a, f, cut, pixels);
    case CLASS_WIDE:
        scan_span<wide_sum>(a, f, cut, pixels);
        scan_span<wide_square>(a, f, cut, pixels);
    }
}

__global__ void __maxnreg__(GP_WINDOW_SCAN_REGS) window_scan(window_arguments a, gp_window_cut cut) {
    gp_await_earlier_kernels();
    scan_block(a, cut);
}

__global__ void __maxnreg__(GP_WINDOW_SCAN_REGS) window_scan_mid(window_arguments a, gp_window_cut cut) {
    gp_await_earlier_kernels();
    scan_block(a, cut);
}

__global__ void __maxnreg__(GP_WINDOW_SCAN_REGS) window_scan_wide(window_arguments a, gp_window_cut cut) {
    gp_await_earlier_kernels();
    scan_block(a, cut);
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem, const void *kernel) {
    window_arguments arguments = window_arguments_of(problem);
    gp_window_cut cut = gp_window_cut_row(problem, plan->threads);
    void *list[] = {&arguments, &cut};
    return gp_gpu_launch(context, plan, kernel, list);
}

extern "C" gp_status gp_launch_window_scan(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_scan);
}

extern "C" gp_status gp_launch_window_scan_mid(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_scan_mid);
}

extern "C" gp_status gp_launch_window_scan_wide(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_scan_wide);
}
