/* SPDX-License-Identifier: Apache-2.0 */
/* window_naive: one thread a pixel straight from global memory, right for every window. */
#include "../warp.cuh"
#include "window.cuh"

/* Exact for every window. */
struct pixel_sums {
    __int128 sum;
    unsigned __int128 square;
    __device__ void add(int32_t pixel, unsigned __int128 times) {
        const uint64_t one = (uint64_t)((int64_t)pixel * pixel);
        sum += (__int128)times * pixel;
        square += times * one;
    }
    template <typename INT>
    __device__ void add_range(const window_arguments &a, const int32_t *row, INT from, INT to,
                              unsigned __int128 times) {
        for (INT x = from; x < to; x++)
            add(border_pixel(a, row, (int64_t)x), times);
    }
};

/*
 * A window beyond its row: whole periods of the extended row count as often as they fit, a replicated edge as often
 * as it is seen, so that the work is bounded by two rows.
 */
__device__ pixel_sums sum_far(const window_arguments &a, const int32_t *row, int64_t x) {
    pixel_sums total = {0, 0};
    const __int128 start = (__int128)x - a.before, end = start + a.window;
    const int64_t period = gp_window_period(a.border, a.cols);
    if (period > 0) {
        int64_t phase = (int64_t)(start % period);
        total.add_range<int64_t>(a, row, 0, period, a.window / (uint64_t)period);
        total.add_range<int64_t>(a, row, phase, phase + (int64_t)(a.window % (uint64_t)period), 1);
        return total;
    }
    const __int128 first = start > 0 ? start : 0, last = end < a.cols ? end : a.cols;
    total.add_range(a, row, first, last, 1);
    if (a.border == GP_BORDER_REPLICATE) {
        if (start < 0)
            total.add(row[0], (unsigned __int128)((end < 0 ? end : 0) - start));
        if (end > a.cols)
            total.add(row[a.cols - 1], (unsigned __int128)(end - (start > a.cols ? start : a.cols)));
    }
    return total;
}

__global__ void __maxnreg__(GP_WINDOW_NAIVE_REGS) window_naive(window_arguments a) {
    gp_grid_dependency_wait();
    const int64_t computed = a.col_end - a.col_first;
    const int64_t index = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (index >= a.rows * computed)
        return;
    const int64_t y = index / computed, x = a.col_first + index % computed;
    const int32_t *row = a.image + y * a.in_pitch;
    const int64_t start = x - (int64_t)a.before, at = y * a.out_pitch + x;
    pixel_sums total = {0, 0};
    if (a.window > (uint64_t)a.cols)
        total = sum_far(a, row, x);
    else
        total.add_range(a, row, start, start + (int64_t)a.window, 1);
    if (a.sum != NULL)
        a.sum[at] = (float)total.sum;
    if (a.square != NULL)
        a.square[at] = (float)total.square;
}

GP_DECLARE_LAUNCHER(gp_launch_window_naive) {
    return launch_windows(context, plan, problem, (const void *)window_naive);
}
