/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_stream: windows that no block's shared memory holds. A warp goes along a piece of a row, 32 outputs at a
 * time, and reads what enters and what leaves from global memory; pieces are long enough for their first windows to
 * cost a few reads an output. Sum and squares are taken one after the other, in the widest accumulators: the data's
 * width is not known before it is read.
 */
#include "gpu.h"
#include "window.h"
#include "window_sums.cuh"

/* The sums of pixels x .. x + count - 1 of the extended row, spread over the lanes. */
template <typename SUMS>
__device__ SUMS sum_of_lane(const window_arguments &a, const int32_t *row, int64_t x, int64_t count) {
    SUMS sums = SUMS::zero();
    for (int64_t i = threadIdx.x % 32; i < count; i += 32)
        sums.add(border_pixel(a, row, x + i));
    return sums;
}

/* The first window, from x, in every lane: at most two passes over the row, however often the window repeats it. */
template <typename SUMS> __device__ SUMS sum_extended(const window_arguments &a, const int32_t *row, int64_t x) {
    const int64_t window = (int64_t)a.window, period = border_period(a.border, a.cols);
    if (period > 0) {
        SUMS sums = sum_of_lane<SUMS>(a, row, x, min(window, period));
        sums.times(window < period ? 1 : (uint32_t)(window / period));
        if (window > period)
            sums.plus(sum_of_lane<SUMS>(a, row, x, window % period));
        return warp_total(sums);
    }
    const int64_t before = max((int64_t)0, min(-x, window)), end = min(x + window, a.cols);
    SUMS sums = sum_of_lane<SUMS>(a, row, x + before, max((int64_t)0, end - (x + before)));
    if (a.border == GP_BORDER_REPLICATE && threadIdx.x % 32 == 0) {
        SUMS edge = SUMS::zero();
        edge.add(row[0]);
        edge.times((uint32_t)before);
        sums.plus(edge);
        edge = SUMS::zero();
        edge.add(row[a.cols - 1]);
        edge.times((uint32_t)(window - before - max((int64_t)0, end - (x + before))));
        sums.plus(edge);
    }
    return warp_total(sums);
}

template <typename SUMS> __device__ void stream_piece(const window_arguments &a, int64_t y, int64_t x, int64_t end) {
    const int32_t *row = a.image + y * a.in_pitch;
    const int64_t before = (int64_t)a.before, window = (int64_t)a.window;
    SUMS first = sum_extended<SUMS>(a, row, x - before);
    for (; x < end; x += 32) {
        const int64_t output = x + threadIdx.x % 32, leaves = output - before;
        SUMS own = SUMS::zero();
        if (output < end)
            own.slide(border_pixel(a, row, leaves + window), border_pixel(a, row, leaves));
        const SUMS inclusive = warp_inclusive(own);
        SUMS sums = first;
        sums.plus(inclusive);
        sums.minus(own);
        first.plus(from_lane(inclusive, 31));
        if (output < end && SUMS::has_sum)
            a.sum[y * a.out_pitch + output] = sums.sum_float();
        if (output < end && SUMS::has_square)
            a.square[y * a.out_pitch + output] = sums.square_float();
    }
}

__global__ void __maxnreg__(GP_WINDOW_STREAM_REGS) window_stream(window_arguments a, gp_window_pieces pieces) {
    gp_await_earlier_kernels();
    const int64_t piece = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32, y = piece / pieces.of_row;
    if (y >= a.rows)
        return;
    const int64_t x = a.col_first + (piece - y * pieces.of_row) * pieces.outputs;
    const int64_t end = min(a.col_end, x + pieces.outputs);
    if (a.sum != NULL)
        stream_piece<wide_sum>(a, y, x, end);
    if (a.square != NULL)
        stream_piece<wide_square>(a, y, x, end);
}

extern "C" gp_status gp_launch_window_stream(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    window_arguments arguments = window_arguments_of(problem);
    gp_window_pieces pieces = gp_window_cut_pieces(problem);
    void *list[] = {&arguments, &pieces};
    return gp_gpu_launch(context, plan, (const void *)window_stream, list);
}
