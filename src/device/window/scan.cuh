/* SPDX-License-Identifier: Apache-2.0 */
/* What window_scan and window_stream share besides sums: four neighbouring outputs a lane, read, stored at once. */
#pragma once

#include "sums.cuh"
#include "tile.cuh"

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

/* By how much the window changes over the four outputs, in all. */
template <typename SUMS> __device__ __forceinline__ SUMS slide_of(const four_pixels &in, const four_pixels &out) {
    SUMS own = SUMS{};
#pragma unroll
    for (int i = 0; i < 4; i++)
        own.slide(in.pixel[i], out.pixel[i]);
    return own;
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

struct four_windows {
    float4 sum, square;
};

/* `sums`: the first of the four, which slide by what enters and what leaves. */
template <typename SUMS>
__device__ __forceinline__ four_windows slide_windows(SUMS sums, const four_pixels &in, const four_pixels &out) {
    float sum[4], square[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        sum[i] = sums.sum_float();
        square[i] = sums.square_float();
        sums.slide(in.pixel[i], out.pixel[i]);
    }
    return {make_float4(sum[0], sum[1], sum[2], sum[3]), make_float4(square[0], square[1], square[2], square[3])};
}

/* `at`: of the first, from the start of an output array; `first` and `end` as in store_four(). */
template <typename SUMS>
__device__ __forceinline__ void store_windows(const window_arguments &a, int64_t at, int32_t first, int32_t end,
                                              const four_windows &windows) {
    if (SUMS::has_sum && a.sum != NULL)
        store_four(a.sum + at, first, end, windows.sum);
    if (SUMS::has_square && a.square != NULL)
        store_four(a.square + at, first, end, windows.square);
}
