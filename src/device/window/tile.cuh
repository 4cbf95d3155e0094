/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile of one row in shared memory, with the pixels that its windows reach left and right of it: where it lies, and
 * how it is loaded. Tiles start early enough for outputs to fill whole 128-byte lines, and their pixels early enough
 * for 16-byte loads, row by row, as a pitch may be odd. Pixels are those in the row, and those that the border shows
 * outside it, from the same place where the tile holds it.
 */
#pragma once

#include "../../host/window/tiling.h"
#include "../warp.cuh"
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

/* Bits of which the highest is one above the highest that the magnitudes have; one operation a pixel less. */
__device__ __forceinline__ uint32_t spread_of(int32_t pixel) {
    return (uint32_t)pixel ^ (uint32_t)pixel << 1;
}

__device__ __forceinline__ uint32_t spread_of(const int4 &four) {
    return spread_of(four.x) | spread_of(four.y) | spread_of(four.z) | spread_of(four.w);
}

/* Which of the row's pixels in the tile this thread loads: groups of four, and maybe one of up to 3 before or after.
 */
struct loading {
    int32_t from, to; /* groups from, from + 32, .. of the warp's */
    bool has_single;
    int32_t single_at;
};

__device__ __forceinline__ loading find_loading(const tile_frame &f, uint32_t scale) {
    const int32_t thread = (int32_t)threadIdx.x, group_first = (f.row_first + 3) / 4, group_end = f.row_end / 4;
    const uint32_t even = ((uint32_t)max(group_end - group_first, 0) * scale + 0xffff) >> 16;
    const int32_t share = (int32_t)((even + 7) & ~7u);
    const int32_t head_end = min(4 * group_first, f.row_end), tail = max(4 * group_end, head_end);
    const int32_t head = head_end - f.row_first, first = group_first + thread / 32 * share;
    return {first + thread % 32, min(group_end, first + share), thread < head + f.row_end - tail,
            thread < head ? f.row_first + thread : tail + thread - head};
}

/*
 * The tile's pixels that lie in the row, through the first-level cache: the loads of two warps meet within a line,
 * and without the cache images without a border ran at 0.90 of the floor instead of 0.95. Returns the magnitudes that
 * this thread saw, as bits.
 */
__device__ __forceinline__ uint32_t load_row(const tile_frame &f, uint32_t scale, const int32_t *row,
                                             int32_t *pixels) {
    const loading l = find_loading(f, scale);
    const int32_t single = l.has_single ? row[f.column + l.single_at] : 0;
    const int4 *const source = (const int4 *)(row + f.column);
    uint32_t spread = spread_of(single);
    for (int32_t group = l.from; group < l.to; group += GP_WINDOW_SCAN_LOADS * 32) {
        int4 four[GP_WINDOW_SCAN_LOADS];
#pragma unroll
        for (int load = 0; load < GP_WINDOW_SCAN_LOADS; load++) {
            four[load] = make_int4(0, 0, 0, 0);
            if (group + load * 32 < l.to)
                four[load] = __ldg(source + group + load * 32);
        }
#pragma unroll
        for (int load = 0; load < GP_WINDOW_SCAN_LOADS; load++) {
            spread |= spread_of(four[load]);
            if (group + load * 32 < l.to)
                ((int4 *)pixels)[group + load * 32] = four[load];
        }
    }
    if (l.has_single)
        pixels[l.single_at] = single;
    return spread >> 1;
}

/* Pixels first .. end - 1. */
__device__ __forceinline__ void fill_with(int32_t *pixels, int32_t first, int32_t end, int32_t pixel) {
    const int32_t thread = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    const int32_t group_end = end / 4;
#pragma unroll 1
    for (int32_t group = (first + 3) / 4 + thread; group < group_end; group += threads)
        ((int4 *)pixels)[group] = make_int4(pixel, pixel, pixel, pixel);
    const int32_t head_end = min((first + 3) & ~3, end);
    if (thread < head_end - first)
        pixels[first + thread] = pixel;
    if (thread < end - max(4 * group_end, head_end))
        pixels[max(4 * group_end, head_end) + thread] = pixel;
}

/* Pixel `at` outside the row shows the one at base + step * at, if that lies in the row. */
struct border_line {
    int64_t base;
    int32_t step;
};

__device__ __forceinline__ border_line find_border_line(const window_arguments &a, const tile_frame &f, bool left) {
    const int64_t edge = left ? -f.column : a.cols - 1 - f.column; /* the row's pixel next to it */
    switch (a.border) {
    case GP_BORDER_REFLECT:
        return {2 * edge + (left ? -1 : 1), -1};
    case GP_BORDER_REFLECT_101:
        return {2 * edge, -1};
    case GP_BORDER_WRAP:
        return {left ? a.cols : -a.cols, 1};
    default:
        return {edge, 0};
    }
}

/* The pixels outside the row, as the border has them, most from pixels that are loaded. Returns the magnitudes that
 * this thread saw, as bits. */
__device__ __forceinline__ uint32_t fill_border(const window_arguments &a, const tile_frame &f, const int32_t *row,
                                                int32_t *pixels) {
    const int32_t thread = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    uint32_t magnitude = 0;
    for (int side = 0; side < 2; side++) {
        const border_line line = find_border_line(a, f, side == 0);
        const int32_t end = side == 0 ? f.row_first : f.needed;
#pragma unroll 4
        for (int32_t at = (side == 0 ? 0 : f.row_end) + thread; at < end; at += threads) {
            const int64_t from = line.base + line.step * at, column = f.column + from;
            int32_t pixel;
            if (from >= f.row_first && from < f.row_end)
                pixel = pixels[from];
            else if (column >= 0 && column < a.cols)
                pixel = row[column];
            else
                pixel = border_pixel(a, row, f.column + at);
            magnitude |= magnitude_of(pixel);
            pixels[at] = pixel;
        }
    }
    return magnitude;
}

/* All pixels of the tile. Returns the magnitudes that this thread saw, as bits. */
__device__ __forceinline__ uint32_t load_tile(const window_arguments &a, const tile_frame &f, uint32_t warps_scale,
                                              const int32_t *row, int32_t *pixels) {
    const bool inside = f.row_first == 0 && f.row_end == f.needed, replicates = a.border == GP_BORDER_REPLICATE;
    const int32_t left = replicates && !inside ? row[0] : 0, right = replicates && !inside ? row[a.cols - 1] : 0;
    uint32_t magnitude = load_row(f, warps_scale, row, pixels);
    if (inside)
        return magnitude;
    if (replicates || a.border == GP_BORDER_ZERO || a.border == GP_BORDER_NONE) {
        fill_with(pixels, 0, f.row_first, left);
        fill_with(pixels, f.row_end, f.needed, right);
        return magnitude | magnitude_of(left) | magnitude_of(right);
    }
    __syncthreads();
    return magnitude | fill_border(a, f, row, pixels);
}
