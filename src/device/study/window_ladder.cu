/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window ladder: one thread a pixel; both outputs accumulated in global memory by one loop or by two, or each
 * thread's window copied to shared memory and added up there. Odd windows inside their row.
 *
 * Pixels are converted to float, and terms added in float, in order. So, with u = 2^-24 and w terms, a result is off
 * by at most (w + 1) u times the sum of the terms' magnitudes for sums (a conversion and w - 1 additions) and (w + 3)
 * u for squares (two conversions and a product besides; fused or not), second-order terms included.
 */
#include "../../host/study/window_ladder.h"
#include "../gpu.h"
#include "../window/window.cuh"

struct ladder_pixel {
    bool computed;
    const int32_t *first; /* of its window */
    int64_t at;           /* where its outputs are */
};

/* A block makes blockDim.x neighbouring outputs of one row. */
__device__ __forceinline__ ladder_pixel ladder_pixel_of(const window_arguments &a, unsigned tiles_a_row) {
    const int64_t y = blockIdx.x / tiles_a_row;
    const int64_t x = a.col_first + (int64_t)(blockIdx.x % tiles_a_row) * blockDim.x + threadIdx.x;
    return {x < a.col_end, a.image + y * a.in_pitch + x - (int64_t)a.before, y * a.out_pitch + x};
}

/* These loads and stores stay where they are: the compiler would keep a plain accumulator in a register. */
__device__ __forceinline__ void add_in_memory(float *total, float term) {
    __stwb(total, __ldca(total) + term);
}

__global__ void __maxnreg__(GP_WINDOW_LADDER_REGS) window_fused(window_arguments a, unsigned tiles_a_row) {
    const ladder_pixel pixel = ladder_pixel_of(a, tiles_a_row);
    if (!pixel.computed)
        return;
    if (a.sum != NULL)
        __stwb(&a.sum[pixel.at], 0.0f);
    if (a.square != NULL)
        __stwb(&a.square[pixel.at], 0.0f);
    for (uint64_t i = 0; i < a.window; i++) {
        const float value = (float)pixel.first[i];
        if (a.sum != NULL)
            add_in_memory(&a.sum[pixel.at], value);
        if (a.square != NULL)
            add_in_memory(&a.square[pixel.at], value * value);
    }
}

__global__ void __maxnreg__(GP_WINDOW_LADDER_REGS) window_split(window_arguments a, unsigned tiles_a_row) {
    const ladder_pixel pixel = ladder_pixel_of(a, tiles_a_row);
    if (!pixel.computed)
        return;
    if (a.sum != NULL) {
        __stwb(&a.sum[pixel.at], 0.0f);
        for (uint64_t i = 0; i < a.window; i++)
            add_in_memory(&a.sum[pixel.at], (float)pixel.first[i]);
    }
    if (a.square != NULL) {
        __stwb(&a.square[pixel.at], 0.0f);
        for (uint64_t i = 0; i < a.window; i++) {
            const float value = (float)pixel.first[i];
            add_in_memory(&a.square[pixel.at], value * value);
        }
    }
}

/*
 * Element i of all threads' windows lie side by side, so that the lanes of a warp hit 32 different banks whatever the
 * window. A thread reads only what it wrote: no barrier.
 */
__global__ void __maxnreg__(GP_WINDOW_LADDER_REGS) window_smem(window_arguments a, unsigned tiles_a_row) {
    extern __shared__ float window_copy[];
    const unsigned window = (unsigned)a.window, threads = blockDim.x;
    float *values = window_copy + threadIdx.x, *squares = values + window * threads;
    const ladder_pixel pixel = ladder_pixel_of(a, tiles_a_row);
    if (!pixel.computed)
        return;
    for (unsigned i = 0; i < window; i++) {
        const float value = (float)pixel.first[i];
        values[i * threads] = value;
        squares[i * threads] = value * value;
    }
    float sum = 0, square = 0;
    for (unsigned i = 0; i < window; i++) {
        sum += values[i * threads];
        square += squares[i * threads];
    }
    if (a.sum != NULL)
        a.sum[pixel.at] = sum;
    if (a.square != NULL)
        a.square[pixel.at] = square;
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem, const void *kernel) {
    window_arguments arguments = window_arguments_of(problem);
    /* of 32 bits, as the grid is */
    unsigned tiles_a_row =
        (unsigned)((problem->col_end - problem->col_first + plan->tiling.threads - 1) / plan->tiling.threads);
    void *list[] = {&arguments, &tiles_a_row};
    return gp_gpu_launch(context, plan, kernel, list);
}

extern "C" gp_status gp_launch_window_fused(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_fused);
}

extern "C" gp_status gp_launch_window_split(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_split);
}

extern "C" gp_status gp_launch_window_smem(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_smem);
}
