/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile of one row in shared memory, with the pixels that its windows reach left and right of it: where it lies.
 * Tiles start early enough for outputs to fill whole 128-byte lines, and their pixels early enough for 16-byte loads,
 * row by row, as a pitch may be odd.
 */
#pragma once

#include "../../host/window/tiling.h"
#include "window.cuh"

/* One tile of a row; its pixels are counted from the first aligned one. */
struct tile_frame {
    int64_t column;     /* of pixel 0; may lie outside the row */
    int64_t at;         /* of output 0, in elements from the start of an output array; may lie before the row */
    int32_t skew;       /* output 0's window starts at this pixel */
    int32_t first, end; /* outputs first .. end - 1 are columns to compute */
    int32_t needed;     /* pixels, up to the end of the last window, in whole groups of four */
    int32_t row_first, row_end; /* those that lie in the row */
};

__device__ __forceinline__ int32_t clamp_to(int64_t value, int32_t most) {
    return (int32_t)max((int64_t)0, min((int64_t)most, value));
}

/* How many columns before the first one to compute a row's first tile starts. */
__device__ __forceinline__ uint32_t columns_early(const window_arguments &a, int64_t y, uint32_t mask) {
    const float *out = (a.sum != NULL ? a.sum : a.square) + y * a.out_pitch;
    return ((uint32_t)((uintptr_t)out / 4 % GP_WINDOW_LINE) + (uint32_t)a.col_first) & mask;
}

__device__ __forceinline__ tile_frame find_tile(const window_arguments &a, const gp_window_tiles &tiles, int64_t y,
                                                uint32_t tile) {
    const uint32_t early = columns_early(a, y, tiles.early_mask);
    const int64_t x = a.col_first - early + (int64_t)tile * tiles.cols;
    const int64_t start = x - (int64_t)a.before;
    tile_frame f;
    f.skew = (int32_t)((uintptr_t)(a.image + y * a.in_pitch + start) / 4 & GP_WINDOW_ALIGN_IN);
    f.column = start - f.skew;
    f.at = y * a.out_pitch + x;
    f.first = clamp_to(a.col_first - x, (int32_t)tiles.cols);
    f.end = clamp_to(a.col_end - x, (int32_t)tiles.cols);
    f.needed = (f.skew + f.end + (int32_t)a.window - 1 + 3) & ~3;
    f.row_first = clamp_to(-f.column, f.needed);
    f.row_end = max(f.row_first, clamp_to(a.cols - f.column, f.needed));
    return f;
}
