/* SPDX-License-Identifier: Apache-2.0 */
/* Tiled float matrix product: a thread an element of c, both tiles in one dynamic shared array. */
#include "tiled_matmul.h"

/*
 * The array's size comes with the launch, so its division is by hand: Mds first, Nds behind it. A tile's row is read
 * by all threads of a warp at once (Nds: neighbouring words; Mds: one word for all of a row), so neither has a bank
 * conflict.
 */
static __global__ __launch_bounds__(1024) void matmul(const float *__restrict__ a, const float *__restrict__ b,
                                                      float *__restrict__ c, size_t rows, size_t inner, size_t cols,
                                                      unsigned width) {
    extern __shared__ float tiles[];
    float *const Mds = tiles, *const Nds = tiles + width * width;
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const size_t row = (size_t)blockIdx.y * width + y, col = (size_t)blockIdx.x * width + x;
    float sum = 0;
    for (size_t at = 0; at < inner; at += width) {
        Mds[y * width + x] = row < rows && at + x < inner ? a[row * inner + at + x] : 0;
        Nds[y * width + x] = col < cols && at + y < inner ? b[(at + y) * cols + col] : 0;
        __syncthreads();
        for (unsigned k = 0; k < width; ++k)
            sum += Mds[y * width + k] * Nds[k * width + x];
        __syncthreads();
    }
    if (row < rows && col < cols)
        c[row * cols + col] = sum;
}

unsigned matmul_registers(const char **message) {
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, matmul);
    *message = cudaGetErrorString(error);
    return error == cudaSuccess ? (unsigned)attributes.numRegs : 0;
}

const char *matmul_launch(const float *a, const float *b, float *c, size_t rows, size_t inner, size_t cols,
                          unsigned width) {
    const dim3 block(width, width);
    const dim3 grid((unsigned)((cols + width - 1) / width), (unsigned)((rows + width - 1) / width));
    matmul<<<grid, block, 2 * sizeof(float) * width * width>>>(a, b, c, rows, inner, cols, width);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}
