/* SPDX-License-Identifier: Apache-2.0 */
/* What the window kernels share: borders as index maps, launches. */
#pragma once

#include "../../host/window/tiling.h"
#include "../gpu.h"

/* A window problem as kernels take it. */
struct window_arguments {
    const int32_t *image;
    float *sum;    /* may be NULL */
    float *square; /* may be NULL */
    int64_t rows, cols, col_first, col_end;
    int64_t in_pitch, out_pitch;
    uint64_t window, before;
    gp_border border;
};

static inline window_arguments window_arguments_of(const gp_problem *p) {
    return {(const int32_t *)p->in,
            p->sum,
            p->square,
            (int64_t)p->rows,
            (int64_t)p->cols,
            (int64_t)p->col_first,
            (int64_t)p->col_end,
            (int64_t)p->in_pitch,
            (int64_t)p->out_pitch,
            p->window,
            p->window_before,
            p->border};
}

/* A launch of a kernel that takes these arguments and the tiles, or the arguments alone. */
inline gp_status launch_windows(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                                const void *kernel) {
    window_arguments arguments = window_arguments_of(problem);
    gp_window_tiles tiles;
    memcpy(&tiles, plan->tiling.t, sizeof tiles);
    void *list[] = {&arguments, &tiles};
    return gp_gpu_launch(context, plan, kernel, list);
}

/* Elements after which the extended row repeats; 0: it does not. INT is wide enough for twice a row. */
template <typename INT> __device__ __forceinline__ INT border_period(gp_border border, INT cols) {
    switch (border) {
    case GP_BORDER_WRAP:
        return cols;
    case GP_BORDER_REFLECT:
        return 2 * cols;
    case GP_BORDER_REFLECT_101:
        return cols > 1 ? 2 * cols - 2 : 1;
    default:
        return 0;
    }
}

/* The column that position x of the extended row shows, x anywhere; -1: zero. */
template <typename INT> __device__ __forceinline__ INT border_column(gp_border border, INT x, INT cols) {
    if (x >= 0 && x < cols)
        return x;
    const INT period = border_period(border, cols);
    if (period == 0)
        return border != GP_BORDER_REPLICATE ? -1 : x < 0 ? 0 : cols - 1;
    if (x < -period || x >= period) /* a division takes a hundred instructions: only for far positions */
        x %= period;
    if (x < 0)
        x += period;
    if (x < cols)
        return x;
    return border == GP_BORDER_REFLECT ? period - 1 - x : period - x;
}

__device__ inline int32_t border_pixel(const window_arguments &a, const int32_t *row, int64_t x) {
    const int64_t column = border_column(a.border, x, a.cols);
    return column < 0 ? 0 : row[column];
}

/* The bits that the magnitude of a pixel has. */
__device__ __forceinline__ uint32_t magnitude_of(int32_t pixel) {
    return (uint32_t)(pixel ^ pixel >> 31);
}

__device__ __forceinline__ uint32_t magnitude_of(const int4 &four) {
    return magnitude_of(four.x) | magnitude_of(four.y) | magnitude_of(four.z) | magnitude_of(four.w);
}
