/* SPDX-License-Identifier: Apache-2.0 */
/* Halving steps that the kernels of the reduction ladder share, in global and in shared memory alike. */
#ifndef GP_REDUCE_LADDER_CUH
#define GP_REDUCE_LADDER_CUH

#include "../../host/study/reduce_ladder.h"

/*
 * 64 elements down to data[0] by the first warp alone. Its lanes no longer run in lock step (since Volta): each step
 * ends with a barrier of the warp, and only lanes that still count write, so that none is read while it changes.
 */
__device__ __forceinline__ void ladder_last_warp(uint32_t *data) {
    if (threadIdx.x < 32) {
#pragma unroll
        for (unsigned stride = 32; stride > 0; stride /= 2) {
            if (threadIdx.x < stride)
                data[threadIdx.x] += data[threadIdx.x + stride];
            __syncwarp();
        }
    }
}

/* The first half of the 2 * STRIDE elements left receives the second, if the block is that large. */
template <unsigned STRIDE> __device__ __forceinline__ void ladder_halve(uint32_t *data, unsigned threads) {
    if (threads >= 2 * STRIDE) {
        if (threadIdx.x < STRIDE)
            data[threadIdx.x] += data[threadIdx.x + STRIDE];
        __syncthreads();
    }
}

/* `threads` elements, 64 to 1024, down to data[0], without a loop. With a constant `threads` no test is left either.
 */
__device__ __forceinline__ void ladder_unrolled(uint32_t *data, unsigned threads) {
    ladder_halve<512>(data, threads);
    ladder_halve<256>(data, threads);
    ladder_halve<128>(data, threads);
    ladder_halve<64>(data, threads);
    ladder_last_warp(data);
}

__device__ __forceinline__ void ladder_store(const gp_ladder_arguments &a, const uint32_t *data) {
    if (threadIdx.x == 0)
        a.partial[blockIdx.x] = data[0];
}

#endif
