/* SPDX-License-Identifier: Apache-2.0 */
/* The plain window: a thread makes EACH neighbouring outputs of a row, and adds up what they share only once. */
#include "peers_cuda.h"

#define EACH 4
#define THREADS 256

static __device__ int pixel(const int32_t *row, ptrdiff_t x, ptrdiff_t cols) {
    return x >= 0 && x < cols ? __ldg(&row[x]) : 0;
}

static __global__ void window_plain(const int32_t *image, size_t rows, ptrdiff_t cols, size_t image_pitch,
                                    ptrdiff_t window, float *sum, float *square, size_t out_pitch) {
    const ptrdiff_t groups = (cols + EACH - 1) / EACH;
    const size_t id = (size_t)blockIdx.x * THREADS + threadIdx.x, y = id / (size_t)groups;
    const ptrdiff_t x = (ptrdiff_t)(id % (size_t)groups) * EACH, first = x - window / 2;
    if (y >= rows)
        return;
    const int32_t *row = image + y * image_pitch;
    int total = 0;
    unsigned squares = 0;
    for (ptrdiff_t i = first; i < first + window; i++) {
        const int value = pixel(row, i, cols);
        total += value;
        squares += (unsigned)(value * value);
    }
    for (ptrdiff_t k = 0; k < EACH && x + k < cols; k++) {
        sum[y * out_pitch + (size_t)(x + k)] = (float)total;
        square[y * out_pitch + (size_t)(x + k)] = (float)squares;
        const int in = pixel(row, first + window + k, cols), out = pixel(row, first + k, cols);
        total += in - out;
        squares += (unsigned)(in * in) - (unsigned)(out * out);
    }
}

extern "C" cudaError_t plain_window(const int32_t *image, size_t rows, size_t cols, size_t image_pitch, size_t window,
                                    float *sum, float *square, size_t out_pitch, cudaStream_t stream) {
    const size_t threads = rows * ((cols + EACH - 1) / EACH);
    const unsigned grid = (unsigned)((threads + THREADS - 1) / THREADS);
    window_plain<<<grid, THREADS, 0, stream>>>(image, rows, (ptrdiff_t)cols, image_pitch, (ptrdiff_t)window, sum,
                                               square, out_pitch);
    return cudaGetLastError();
}
