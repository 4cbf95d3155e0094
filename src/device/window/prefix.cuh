/* SPDX-License-Identifier: Apache-2.0 */
/* Prefix sums of a block's pixels in shared memory, of each width; every window is the difference of two. */
#pragma once

#include "../../host/window/tiling.h"
#include "sums.cuh"

#define THREADS GP_WINDOW_ROWS_THREADS /* a block */

typedef narrow_sums<uint32_t, uint32_t> sums_32;
typedef narrow_sums<uint32_t, uint64_t> sums_32_64;

/* dividend / divisor, dividend * divisor < 2^30 */
__device__ __forceinline__ int32_t divide(int32_t dividend, uint32_t inverse) {
    return (int32_t)__umulhi((uint32_t)(2 * dividend + 1), inverse);
}

/* Prefixes: of the words' 8 bytes, of the halves 4. */
struct prefix_array {
    uint64_t *words;
    uint32_t *halves;
    __device__ __forceinline__ prefix_array from(int32_t first) const {
        return {words + first, halves + first};
    }
};

__device__ __forceinline__ void put_prefix(const prefix_array &p, int32_t at, const sums_32 &sums) {
    ((uint2 *)p.words)[at] = make_uint2(sums.sum, sums.square);
}

__device__ __forceinline__ void put_prefix(const prefix_array &p, int32_t at, const sums_32_64 &sums) {
    p.words[at] = sums.square;
    p.halves[at] = sums.sum;
}

__device__ __forceinline__ void put_prefix(const prefix_array &p, int32_t at, const wide_sum &sums) {
    p.words[at] = (uint64_t)sums.sum;
}

__device__ __forceinline__ void put_prefix(const prefix_array &p, int32_t at, const wide_square &sums) {
    ((uint2 *)p.words)[at] = make_uint2(sums.low, sums.mid);
    p.halves[at] = sums.high;
}

__device__ __forceinline__ void get_prefix(const prefix_array &p, int32_t at, sums_32 *sums) {
    const uint2 both = ((const uint2 *)p.words)[at];
    *sums = {both.x, both.y};
}

__device__ __forceinline__ void get_prefix(const prefix_array &p, int32_t at, sums_32_64 *sums) {
    *sums = {p.halves[at], p.words[at]};
}

__device__ __forceinline__ void get_prefix(const prefix_array &p, int32_t at, wide_sum *sums) {
    *sums = {(int64_t)p.words[at]};
}

__device__ __forceinline__ void get_prefix(const prefix_array &p, int32_t at, wide_square *sums) {
    const uint2 words = ((const uint2 *)p.words)[at];
    *sums = {words.x, words.y, p.halves[at]};
}

/* The sums of pixels start .. end - 1. */
template <typename SUMS>
__device__ __forceinline__ SUMS sums_between(const prefix_array &starts, int32_t start, const prefix_array &ends,
                                             int32_t end) {
    SUMS sums, before;
    get_prefix(ends, end, &sums);
    get_prefix(starts, start, &before);
    sums.minus(before);
    return sums;
}

/* The sums of all threads before this one. */
template <typename SUMS> __device__ __forceinline__ SUMS sums_before(uint64_t *warps, const SUMS &own) {
    SUMS *of_warp = (SUMS *)warps, running = warp_inclusive(own);
    if (threadIdx.x % 32 == 31)
        of_warp[threadIdx.x / 32] = running;
    __syncthreads();
    running.minus(own);
#pragma unroll
    for (uint32_t warp = 0; warp < THREADS / 32 - 1; warp++)
        if (warp < threadIdx.x / 32)
            running.plus(of_warp[warp]);
    return running;
}
