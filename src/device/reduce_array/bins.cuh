/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's bins of floats, in its column of shared memory. Bin b holds what has exponents 16 b to 16 b + 15, which
 * are multiples of 2^(16 b - 150) below 2^(16 b - 111). Adding to it is exact, whatever the data, up to ADDITIONS
 * times; then bins are carried. The last bin takes what the one before cannot hold.
 */
#pragma once

#include "element.cuh"

#define BIN_COUNT 17
#define BIN_BYTES 8

extern __shared__ __align__(16) double columns[]; /* bins or words; then words of squares */

/* A double has room for 2^12 numbers of 39 bits, beside less than 2^15 units. */
struct bins_of_doubles {
    static const uint32_t ADDITIONS = 4096;
    static __device__ __forceinline__ void add(float x) {
        columns[(__float_as_uint(x) >> 27 & 15) * blockDim.x + threadIdx.x] += (double)x;
    }
    static __device__ __forceinline__ int64_t units(int b, unsigned thread) {
        return __double2ll_rn(columns[b * blockDim.x + thread] * __hiloint2double((1023 + 150 - 16 * b) << 20, 0));
    }
    /* Adding and subtracting 1.5 * 2^52 units of the next rounds to it. */
    static __device__ __noinline__ void carry(bool clears) {
        double *bin = columns + threadIdx.x;
#pragma unroll 1 /* rare */
        for (int b = 0; b < BIN_COUNT - 1 && !clears; b++) {
            const double held = bin[b * blockDim.x],
                         big = __hiloint2double((1023 + 52 - 150 + 16 * (b + 1)) << 20 | 0x80000, 0);
            const double carried = (held + big) - big;
            if (carried - carried != 0)
                break; /* infinite, or no number: the last bin's only */
            bin[(b + 1) * blockDim.x] += carried;
            bin[b * blockDim.x] = held - carried;
        }
#pragma unroll 1 /* rare */
        for (int b = 0; b < BIN_COUNT && clears; b++)
            bin[b * blockDim.x] = 0;
    }
    /* Infinities and NaNs, which are in the bin of the greatest: their sum, in place of which there is 0 then. */
    static __device__ float take_special() {
        double &bin = columns[15 * blockDim.x + threadIdx.x];
        const float special = bin - bin == 0 ? 0 : (float)bin;
        bin = special == 0 ? bin : 0;
        return special;
    }
};

/*
 * Two whole numbers, x 2^20 + y units, for devices with few lanes of FP64. Each is up to 2^19 more for a number
 * added, and stays below 2^31. The greatest bins come first.
 */
struct bins_of_singles {
    static const uint32_t ADDITIONS = 4080;
    static __device__ __forceinline__ int2 *bin(int b) {
        return (int2 *)columns + (BIN_COUNT - 1 - b) * blockDim.x;
    }
    /* x is scaled to below 2^16, with units of 2^-23: rounded to 2^-3, and what is left, above 1.5. */
    static __device__ __forceinline__ void add(float x) {
        const float big = 0x1.8p20f;
        const uint32_t scale = (~__float_as_uint(x) & 0x78000000) | 0x07000000; /* 2^(127 - 16 b) */
        int2 *const at = bin(15) + threadIdx.x + (scale >> 27) * blockDim.x;
        const float n = __fmaf_rn(x, __uint_as_float(scale), big);
        const float m = __fmaf_rn(x, __uint_as_float(scale), (big + 1.5f) - n);
        const int2 held = *at;
        *at = make_int2(held.x + (__float_as_int(n) - __float_as_int(big)),
                        held.y + (__float_as_int(m) - __float_as_int(1.5f)));
    }
    static __device__ __forceinline__ int64_t units(int b, unsigned thread) {
        const int2 held = bin(b)[thread];
        return ((int64_t)held.x << 20) + held.y;
    }
    /* Leaves less than 2^16 units in a bin. */
    static __device__ __noinline__ void carry(bool clears) {
        int64_t carried = 0;
#pragma unroll 1 /* rare */
        for (int b = 0; b < BIN_COUNT; b++) {
            const int64_t held = clears ? 0 : units(b, threadIdx.x) + carried;
            carried = b < BIN_COUNT - 1 ? held >> 16 : 0;
            const int64_t left = held - (carried << 16);
            bin(b)[threadIdx.x] = make_int2((int)(left >> 20), (int)(left & 0xfffff));
        }
    }
};
