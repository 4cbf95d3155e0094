/* SPDX-License-Identifier: Apache-2.0 */
/* CUB's reductions; alone in its file because CUB is slow to compile. */
#include "peers_cuda.h"

#include <cub/device/device_reduce.cuh>

static void *temporary;
static size_t temporary_bytes;
static int64_t *pinned;

/* The minimum is an int32 that is written as int64, as the library's is. */
static cudaError_t reduce(void *memory, size_t &bytes, gp_reduce_op op, const int32_t *in, size_t n, int64_t *out,
                          cudaStream_t stream) {
    if (op == GP_REDUCE_SUM)
        return cub::DeviceReduce::Sum(memory, bytes, in, out, (int)n, stream);
    return cub::DeviceReduce::Min(memory, bytes, in, out, (int)n, stream);
}

static cudaError_t sum_floats(void *memory, size_t &bytes, const float *in, size_t n, float *out,
                              cudaStream_t stream) {
    return cub::DeviceReduce::Sum(memory, bytes, in, out, (int)n, stream);
}

extern "C" cudaError_t cub_prepare(gp_reduce_op op, size_t n) {
    size_t needed = 0, of_floats = 0;
    cudaError_t error = reduce(NULL, needed, op, NULL, n, NULL, 0);
    if (error == cudaSuccess)
        error = sum_floats(NULL, of_floats, NULL, n, NULL, 0);
    needed = needed < of_floats ? of_floats : needed;
    if (error == cudaSuccess && pinned == NULL)
        error = cudaMallocHost((void **)&pinned, sizeof *pinned);
    if (error != cudaSuccess || needed <= temporary_bytes)
        return error;
    error = cudaFree(temporary);
    temporary = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc(&temporary, needed);
    temporary_bytes = error == cudaSuccess ? needed : 0;
    return error;
}

extern "C" cudaError_t cub_reduce(gp_reduce_op op, const int32_t *in, size_t n, int64_t *out, cudaStream_t stream) {
    size_t bytes = temporary_bytes;
    return reduce(temporary, bytes, op, in, n, out, stream);
}

extern "C" cudaError_t cub_sum_floats(const float *in, size_t n, float *out, cudaStream_t stream) {
    size_t bytes = temporary_bytes;
    return sum_floats(temporary, bytes, in, n, out, stream);
}

extern "C" int64_t *cub_pinned(void) {
    return pinned;
}
