/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window ladder: one thread a pixel; both outputs accumulated in global memory by one loop or by two, or each
 * thread's window copied to shared memory and added up there. Odd windows inside their row.
 *
 * Pixels are converted to float, and terms added in float, in order. So, with u = 2^-24 and w terms, a result is off
 * by at most (w + 1) u times the sum of the terms' magnitudes for sums (a conversion and w - 1 additions) and (w + 3)
 * u for squares (two conversions and a product besides; fused or not), second-order terms included.
 */
#include "../../host/study/ladder.h"
#include "../window/window.cuh"

/* A block makes blockDim.x neighbouring outputs of one row: a thread's window, and where its outputs go, or NULL. */
struct ladder_pixel {
    bool computed;
    const int32_t *first;
    float *sum, *square;
};

__device__ __forceinline__ ladder_pixel ladder_pixel_of(const window_arguments &a, const gp_window_tiles &tiles) {
    const int64_t y = blockIdx.x / tiles.tiles_a_row;
    const int64_t x = a.col_first + (int64_t)(blockIdx.x % tiles.tiles_a_row) * blockDim.x + threadIdx.x;
    const int64_t at = y * a.out_pitch + x;
    return {x < a.col_end, a.image + y * a.in_pitch + x - (int64_t)a.before, a.sum != NULL ? a.sum + at : NULL,
            a.square != NULL ? a.square + at : NULL};
}

/* These loads and stores stay where they are: the compiler would keep a plain accumulator in a register. */
__device__ __forceinline__ void add_in_memory(float *total, float term) {
    __stwb(total, __ldca(total) + term);
}

/* Both outputs, or the one that is not NULL. */
__device__ __forceinline__ void add_window(const int32_t *first, uint64_t window, float *sum, float *square) {
    if (sum != NULL)
        __stwb(sum, 0.0f);
    if (square != NULL)
        __stwb(square, 0.0f);
    for (uint64_t i = 0; i < window; i++) {
        const float value = (float)first[i];
        if (sum != NULL)
            add_in_memory(sum, value);
        if (square != NULL)
            add_in_memory(square, value * value);
    }
}

__global__ void __maxnreg__(GP_LADDER_REGS) window_fused(window_arguments a, gp_window_tiles tiles) {
    const ladder_pixel pixel = ladder_pixel_of(a, tiles);
    if (pixel.computed)
        add_window(pixel.first, a.window, pixel.sum, pixel.square);
}

__global__ void __maxnreg__(GP_LADDER_REGS) window_split(window_arguments a, gp_window_tiles tiles) {
    const ladder_pixel pixel = ladder_pixel_of(a, tiles);
    if (!pixel.computed)
        return;
    if (pixel.sum != NULL)
        add_window(pixel.first, a.window, pixel.sum, NULL);
    if (pixel.square != NULL)
        add_window(pixel.first, a.window, NULL, pixel.square);
}

/*
 * Element i of all threads' windows lie side by side, so that the lanes of a warp hit 32 different banks whatever the
 * window. A thread reads only what it wrote: no barrier.
 */
__global__ void __maxnreg__(GP_LADDER_REGS) window_smem(window_arguments a, gp_window_tiles tiles) {
    extern __shared__ float window_copy[];
    const unsigned window = (unsigned)a.window, threads = blockDim.x;
    float *values = window_copy + threadIdx.x, *squares = values + window * threads;
    const ladder_pixel pixel = ladder_pixel_of(a, tiles);
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
    if (pixel.sum != NULL)
        *pixel.sum = sum;
    if (pixel.square != NULL)
        *pixel.square = square;
}

#define LAUNCHER(row)                                                     \
    GP_DECLARE_LAUNCHER(gp_launch_##row) {                                \
        return launch_windows(context, plan, problem, (const void *)row); \
    }

LAUNCHER(window_fused)
LAUNCHER(window_split)
LAUNCHER(window_smem)
