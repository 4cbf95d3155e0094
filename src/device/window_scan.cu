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
        const four_pixels out = read_four(pixels, (f.skew & ~3) + output, f.skew & 3);
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
        store_windows(a, f.at + output, f.first - output, f.end - output, sums, in, out);
    }
}

/*
 * Where outputs start or end within a sector of memory, the second-level cache must read its other bytes before it
 * can write it back. Fetched early, these reads go along with the image's, instead of coming among the writes one by
 * one (window.h has figures).
 */
__device__ __forceinline__ void fetch_edges(const window_arguments &a, const tile_frame &f) {
    const int32_t thread = threadIdx.x;
    if (thread >= 4 || f.first >= f.end)
        return;
    const bool at_end = thread & 1;
    const float *const array = thread & 2 ? a.square : a.sum, *const edge = array + f.at + (at_end ? f.end : f.first);
    if (array != NULL && (uintptr_t)edge % 32 != 0)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(edge - at_end));
}

__device__ __forceinline__ void scan_block(const window_arguments &a, const gp_window_cut &cut) {
    extern __shared__ __align__(16) int32_t window_shared[];
    uint32_t *magnitudes = (uint32_t *)window_shared;
    int32_t *pixels = window_shared + GP_WINDOW_SCAN_WARPS;
    const uint32_t y = blockIdx.x / cut.tiles_a_row, tile = blockIdx.x - y * cut.tiles_a_row;
    const tile_frame f = find_tile(a, cut, y, tile);
    const int32_t *row = a.image + y * a.in_pitch;
    if (cut.gaps && (tile == 0 || tile + 1 == cut.tiles_a_row))
        fetch_edges(a, f);
    const bool leaves_row = f.row_first > 0 || f.row_end < f.needed;
    const bool is_zero = a.border == GP_BORDER_ZERO || a.border == GP_BORDER_NONE;
    const bool wraps = leaves_row && wraps_whole(a, f, row);
    if (leaves_row && is_zero)
        fill_zeros(f, pixels);
    uint32_t magnitude = wraps ? load_row<true>(f, row, a.cols, pixels) : load_row<false>(f, row, a.cols, pixels);
    if (leaves_row && !is_zero && !wraps) {
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
