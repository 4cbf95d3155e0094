/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What window_scan and window_scan_rows share: finding tiles, and the scan itself. Each thread adds up a chunk of
 * consecutive pixels in shared memory; the totals are scanned over the block, so that a thread finds its first
 * window's sums as the difference of two prefixes and a few single pixels; from there it slides: one pixel enters,
 * one leaves.
 */
#ifndef GP_WINDOW_SCAN_CUH
#define GP_WINDOW_SCAN_CUH

#include "window.h"
#include "window_sums.cuh"

#define CHUNK GP_WINDOW_CHUNK

/* One tile of a row; its pixels are counted from the first aligned one. */
struct tile_frame {
    int64_t column;     /* of pixel 0; may lie outside the row */
    int64_t at;         /* of output 0, in elements from the start of an output array; may lie before the row */
    int32_t skew;       /* output 0's window starts at this pixel */
    int32_t first, end; /* outputs first .. end - 1 are columns to compute */
    int32_t whole,
        whole_end; /* pixels whole .. whole_end - 1 are groups of four inside the row; both multiples of 4 */
};

__device__ __forceinline__ int32_t clamp_to(int64_t value, int32_t most) {
    return (int32_t)max((int64_t)0, min((int64_t)most, value));
}

/*
 * Tiles start early enough for outputs to fill whole 32-byte sectors, and their pixels early enough for 16-byte
 * loads, row by row, as a pitch may be odd.
 */
__device__ __forceinline__ tile_frame find_tile(const window_arguments &a, const gp_window_cut &cut, int64_t y,
                                                uint32_t tile) {
    const float *out = (a.sum != NULL ? a.sum : a.square) + y * a.out_pitch + a.col_first;
    const uint32_t early = ((uintptr_t)out / 4) & GP_WINDOW_ALIGN_OUT;
    const int64_t x = a.col_first - early + (int64_t)tile * cut.outputs;
    const int64_t start = x - (int64_t)a.before;
    tile_frame f;
    f.skew = (int32_t)((uintptr_t)(a.image + y * a.in_pitch + start) / 4 & GP_WINDOW_ALIGN_IN);
    f.column = start - f.skew;
    f.at = y * a.out_pitch + x;
    f.first = clamp_to(a.col_first - x, (int32_t)cut.outputs);
    f.end = clamp_to(a.col_end - x, (int32_t)cut.outputs);
    const int32_t most = (int32_t)(cut.chunks + 1) * CHUNK;
    f.whole = (clamp_to(-f.column, most) + 3) / 4 * 4;
    f.whole_end = max(f.whole, clamp_to(a.cols - f.column, most) / 4 * 4);
    return f;
}

/* Pixels of the tile up to which windows reach. */
__device__ __forceinline__ int32_t pixels_needed(const window_arguments &a, const tile_frame &f) {
    return f.skew + f.end + (int32_t)a.window - 1;
}

/* The bits that the magnitude of a pixel has. */
__device__ __forceinline__ uint32_t magnitude_of(int32_t pixel) {
    return (uint32_t)(pixel ^ pixel >> 31);
}

__device__ __forceinline__ uint32_t magnitude_of(const int4 &four) {
    return magnitude_of(four.x) | magnitude_of(four.y) | magnitude_of(four.z) | magnitude_of(four.w);
}

/* How many of the needed pixels loads by groups of four leave out, before the whole groups and after them. */
__device__ __forceinline__ int32_t left_out_count(const tile_frame &f, int32_t needed) {
    return min(f.whole, needed) + max(0, needed - f.whole_end);
}

/* The `i`th of them. */
__device__ __forceinline__ int32_t left_out(const tile_frame &f, int32_t i) {
    return i < f.whole ? i : i - f.whole + f.whole_end;
}

/* Prefix sums of chunks from the start of their warp, and the warps' totals, which differences add on demand. */
template <typename SUMS> struct block_prefixes {
    SUMS *of_chunk;
    SUMS *of_warp;

    /* Collective; ends with a barrier. */
    __device__ __forceinline__ void fill(const SUMS &total) const {
        const uint32_t lane = threadIdx.x % 32;
        SUMS inclusive = total;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const SUMS below = inclusive.shuffle_up(step);
            if (lane >= step)
                inclusive.plus(below);
        }
        if (lane == 31)
            of_warp[threadIdx.x / 32] = inclusive;
        inclusive.minus(total);
        of_chunk[threadIdx.x] = inclusive;
        __syncthreads();
    }
    /* The sums of chunks from .. to - 1. */
    __device__ __forceinline__ SUMS between(uint32_t from, uint32_t to) const {
        SUMS sums = of_chunk[to];
        sums.minus(of_chunk[from]);
        for (uint32_t warp = from / 32; warp < to / 32; warp++)
            sums.plus(of_warp[warp]);
        return sums;
    }
};

/* Scans all chunks; `own` is this thread's. Returns the sums of its first window if it makes outputs. Collective. */
template <typename SUMS>
__device__ __forceinline__ SUMS first_window(const window_arguments &a, const block_prefixes<SUMS> &prefixes,
                                             const int32_t *own, bool makes) {
    SUMS sums = SUMS::zero();
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        sums.add(own[i]);
    prefixes.fill(sums);
    if (!makes)
        return sums;
    const uint32_t whole = (uint32_t)a.window / CHUNK, rest = (uint32_t)a.window % CHUNK;
    sums = prefixes.between(threadIdx.x, threadIdx.x + whole);
    for (uint32_t i = 0; i < rest; i++)
        sums.add(own[whole * CHUNK + i]);
    return sums;
}

/* Slides over the chunk: the windows' sums go to sum[], their squares' sums to square[]. */
template <typename SUMS>
__device__ __forceinline__ void slide(const window_arguments &a, SUMS sums, const int32_t *own, float *sum,
                                      float square[CHUNK]) {
    const int32_t *entering = own + a.window;
#pragma unroll
    for (int i = 0; i < CHUNK; i++) {
        sum[i] = sums.sum_float();
        square[i] = sums.square_float();
        sums.slide(entering[i], own[i]);
    }
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

/* Calls RUN<SUMS>(...) with the narrowest accumulators that are exact. */
#define GP_WINDOW_BY_CLASS(magnitude, window, RUN, ...)          \
    switch (pick_class(magnitude, (uint32_t)(window))) {         \
    case CLASS_32:                                               \
        return RUN<narrow_sums<int32_t, uint32_t>>(__VA_ARGS__); \
    case CLASS_32_64:                                            \
        return RUN<narrow_sums<int32_t, uint64_t>>(__VA_ARGS__); \
    case CLASS_64:                                               \
        return RUN<narrow_sums<int64_t, uint64_t>>(__VA_ARGS__); \
    case CLASS_WIDE:                                             \
        return RUN<split_sums>(__VA_ARGS__);                     \
    }

#endif
