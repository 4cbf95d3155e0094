/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tile of one row in shared memory, with the pixels that its windows reach left and right of it: where it lies, how
 * it is loaded, how outputs are stored. Tiles start early enough for outputs to fill whole 128-byte lines, and their
 * pixels early enough for 16-byte loads, row by row, as a pitch may be odd.
 */
#ifndef GP_WINDOW_SCAN_CUH
#define GP_WINDOW_SCAN_CUH

#include "window.h"
#include "window_sums.cuh"

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

__device__ __forceinline__ tile_frame find_tile(const window_arguments &a, const gp_window_cut &cut, int64_t y,
                                                uint32_t tile) {
    const uint32_t early = columns_early(a, y, cut.early_mask);
    const int64_t x = a.col_first - early + (int64_t)tile * cut.outputs;
    const int64_t start = x - (int64_t)a.before;
    tile_frame f;
    f.skew = (int32_t)((uintptr_t)(a.image + y * a.in_pitch + start) / 4 & GP_WINDOW_ALIGN_IN);
    f.column = start - f.skew;
    f.at = y * a.out_pitch + x;
    f.first = clamp_to(a.col_first - x, (int32_t)cut.outputs);
    f.end = clamp_to(a.col_end - x, (int32_t)cut.outputs);
    f.needed = (f.skew + f.end + (int32_t)a.window - 1 + 3) & ~3;
    f.row_first = clamp_to(-f.column, f.needed);
    f.row_end = max(f.row_first, clamp_to(a.cols - f.column, f.needed));
    return f;
}

/* The bits that the magnitude of a pixel has. */
__device__ __forceinline__ uint32_t magnitude_of(int32_t pixel) {
    return (uint32_t)(pixel ^ pixel >> 31);
}

__device__ __forceinline__ uint32_t magnitude_of(const int4 &four) {
    return magnitude_of(four.x) | magnitude_of(four.y) | magnitude_of(four.z) | magnitude_of(four.w);
}

/*
 * The tile's pixels that lie in the row, through the first-level cache: the loads of two warps meet within a line,
 * and without the cache images without a border ran at 0.90 of the floor instead of 0.95 (window.h has the
 * circumstances). WRAPS: all pixels, those outside the row from `cols` further on or back, which wraps_whole()
 * allows. Returns the magnitudes that this thread saw, as bits.
 */
template <bool WRAPS>
__device__ __forceinline__ uint32_t load_row(const tile_frame &f, const int32_t *row, int64_t cols, int32_t *pixels) {
    const int32_t thread = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    const int32_t group_first = WRAPS ? 0 : (f.row_first + 3) / 4;
    const int32_t group_end = WRAPS ? f.needed / 4 : f.row_end / 4;
    const int4 *const source = (const int4 *)(WRAPS ? row : row + f.column);
    const int32_t shift = (int32_t)(f.column / 4), around = (int32_t)(cols / 4); /* WRAPS */
    /* of the row's ends up to 3 single pixels before the groups, and after */
    const int32_t head_end = min(4 * group_first, f.row_end), tail = max(4 * group_end, head_end);
    const int32_t head = head_end - f.row_first;
    const bool has_single = !WRAPS && thread < head + f.row_end - tail;
    const int32_t single_at = thread < head ? f.row_first + thread : tail + thread - head;
    const int32_t single = has_single ? row[f.column + single_at] : 0;
    uint32_t magnitude = 0;
    for (int32_t group = group_first + thread; group < group_end; group += GP_WINDOW_SCAN_LOADS * threads) {
        int4 four[GP_WINDOW_SCAN_LOADS];
#pragma unroll
        for (int load = 0; load < GP_WINDOW_SCAN_LOADS; load++) {
            int32_t at = group + load * threads;
            if (at >= group_end)
                continue;
            if (WRAPS) {
                at += shift;
                at += at < 0 ? around : at >= around ? -around : 0;
            }
            four[load] = __ldg(source + at);
        }
#pragma unroll
        for (int load = 0; load < GP_WINDOW_SCAN_LOADS; load++) {
            if (group + load * threads < group_end) {
                ((int4 *)pixels)[group + load * threads] = four[load];
                magnitude |= magnitude_of(four[load]);
            }
        }
    }
    if (has_single)
        pixels[single_at] = single;
    return magnitude | magnitude_of(single);
}

/* The row starts and ends between groups of four, as the tile does, and shows in it once more at most on each side.
 */
__device__ __forceinline__ bool wraps_whole(const window_arguments &a, const tile_frame &f, const int32_t *row) {
    return a.border == GP_BORDER_WRAP && a.cols % 4 == 0 && (uintptr_t)row % 16 == 0 && a.cols <= INT32_MAX &&
           f.column >= -a.cols && f.column + f.needed <= 2 * a.cols;
}

/* The tile's pixels outside the row where they are zero: nothing to wait for. */
__device__ __forceinline__ void fill_zeros(const tile_frame &f, int32_t *pixels) {
    const int32_t thread = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    for (int32_t at = thread; at < f.row_first; at += threads)
        pixels[at] = 0;
    for (int32_t at = f.row_end + thread; at < f.needed; at += threads)
        pixels[at] = 0;
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

/* Where they are not, as the border has them, most from pixels that are loaded. Returns magnitudes likewise. */
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

/* The bits of all magnitudes of the block. Collective; pixels in shared memory are complete after it. */
__device__ __forceinline__ uint32_t join_magnitudes(uint32_t magnitude, uint32_t *of_warp) {
    magnitude = gp_warp_or(magnitude);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = magnitude;
    __syncthreads();
    for (uint32_t warp = 0; warp < blockDim.x / 32; warp++)
        magnitude |= of_warp[warp];
    return magnitude;
}

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

/* Four outputs, of which those from `first` to `end` - 1 are to be stored. */
__device__ __forceinline__ void store_four(float *address, int32_t first, int32_t end, const float4 &four) {
    if (first <= 0 && end >= 4 && (uintptr_t)address % 16 == 0) {
        __stcs((float4 *)address, four);
        return;
    }
    const float values[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i >= first && i < end)
            address[i] = values[i];
}

/* Four windows, `sums` the first of them, and from there what enters and leaves; `at` as in store_four(). */
template <typename SUMS>
__device__ __forceinline__ void store_windows(const window_arguments &a, int64_t at, int32_t first, int32_t end,
                                              SUMS sums, const four_pixels &in, const four_pixels &out) {
    float sum[4], square[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        sum[i] = sums.sum_float();
        square[i] = sums.square_float();
        sums.slide(in.pixel[i], out.pixel[i]);
    }
    if (SUMS::has_sum && a.sum != NULL)
        store_four(a.sum + at, first, end, make_float4(sum[0], sum[1], sum[2], sum[3]));
    if (SUMS::has_square && a.square != NULL)
        store_four(a.square + at, first, end, make_float4(square[0], square[1], square[2], square[3]));
}

#endif
