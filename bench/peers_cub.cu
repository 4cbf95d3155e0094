/* SPDX-License-Identifier: Apache-2.0 */
/* CUB's reductions; alone in its file because CUB is slow to compile. */
#include "peers.h"

#include <cub/device/device_reduce.cuh>

static void *temporary;
static size_t temporary_bytes;

extern "C" cudaError_t peer_cub_prepare(size_t n) {
    size_t for_sum = 0, for_min = 0;
    cudaError_t error =
        cub::DeviceReduce::Sum(NULL, for_sum, (const int32_t *)NULL, (int64_t *)NULL, (int)n, (cudaStream_t)0);
    if (error == cudaSuccess)
        error =
            cub::DeviceReduce::Min(NULL, for_min, (const int32_t *)NULL, (int32_t *)NULL, (int)n, (cudaStream_t)0);
    const size_t needed = for_sum > for_min ? for_sum : for_min;
    if (error != cudaSuccess || needed <= temporary_bytes)
        return error;
    error = cudaFree(temporary);
    temporary = NULL;
    temporary_bytes = 0;
    if (error == cudaSuccess)
        error = cudaMalloc(&temporary, needed);
    if (error == cudaSuccess)
        temporary_bytes = needed;
    return error;
}

extern "C" cudaError_t peer_cub_sum(const int32_t *in, size_t n, int64_t *out, cudaStream_t stream) {
    size_t bytes = temporary_bytes;
    return cub::DeviceReduce::Sum(temporary, bytes, in, out, (int)n, stream);
}

extern "C" cudaError_t peer_cub_min(const int32_t *in, size_t n, int32_t *out, cudaStream_t stream) {
    size_t bytes = temporary_bytes;
    return cub::DeviceReduce::Min(temporary, bytes, in, out, (int)n, stream);
}
