/* SPDX-License-Identifier: Apache-2.0 */
/* What the window kernels share: arguments, pixels beyond the row, launches. */
#pragma once

#include "../../host/window/tiling.h"
#include "../../host/window_array/box.h"
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
            p->border == GP_BORDER_REFLECT_101 && p->cols == 1 ? GP_BORDER_REPLICATE : p->border};
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

__device__ inline int32_t border_pixel(const window_arguments &a, const int32_t *row, int64_t x) {
    const int64_t column = gp_window_source(a.border, a.cols, x);
    return column < 0 ? 0 : row[column];
}

/* The bits that the magnitude of a pixel has. */
__device__ __forceinline__ uint32_t magnitude_of(int32_t pixel) {
    return (uint32_t)(pixel ^ pixel >> 31);
}

__device__ __forceinline__ uint32_t magnitude_of(const int4 &four) {
    return magnitude_of(four.x) | magnitude_of(four.y) | magnitude_of(four.z) | magnitude_of(four.w);
}
