/* SPDX-License-Identifier: Apache-2.0 */
/* Checks on the device, written from the definitions and with none of the library's code. */
#include "check.h"

#include <stdint.h>

#define THREADS 256
#define SEGMENT 256 /* outputs of one thread of check_window: the first costs `window` loads, each other two */

template <typename T> static __device__ bool differ(const T &a, const T &b) {
    return a != b;
}

template <> __device__ bool differ<ulonglong2>(const ulonglong2 &a, const ulonglong2 &b) {
    return a.x != b.x || a.y != b.y;
}

struct twelve {
    uint32_t part[3];
};

template <> __device__ bool differ<twelve>(const twelve &a, const twelve &b) {
    return a.part[0] != b.part[0] || a.part[1] != b.part[1] || a.part[2] != b.part[2];
}

template <typename T>
static __global__ void compare_transposed(const T *in, size_t rows, size_t cols, size_t in_pitch, const T *out,
                                          size_t out_pitch, unsigned long long *wrong) {
    const size_t step = (size_t)gridDim.x * THREADS;
    unsigned long long count = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < rows * cols; i += step) {
        const size_t r = i / cols, c = i % cols;
        count += differ(in[r * in_pitch + c], out[c * out_pitch + r]);
    }
    if (count)
        atomicAdd(wrong, count);
}

template <typename T>
static cudaError_t compare(const void *in, size_t rows, size_t cols, size_t in_pitch, const void *out,
                           size_t out_pitch, unsigned long long *wrong, cudaStream_t stream) {
    compare_transposed<T>
        <<<8192, THREADS, 0, stream>>>((const T *)in, rows, cols, in_pitch, (const T *)out, out_pitch, wrong);
    return cudaGetLastError();
}

extern "C" cudaError_t check_transpose(size_t elem_bytes, const void *in, size_t rows, size_t cols, size_t in_pitch,
                                       const void *out, size_t out_pitch, unsigned long long *wrong,
                                       cudaStream_t stream) {
    switch (elem_bytes) {
    case 1:
        return compare<uint8_t>(in, rows, cols, in_pitch, out, out_pitch, wrong, stream);
    case 2:
        return compare<uint16_t>(in, rows, cols, in_pitch, out, out_pitch, wrong, stream);
    case 4:
        return compare<uint32_t>(in, rows, cols, in_pitch, out, out_pitch, wrong, stream);
    case 8:
        return compare<uint64_t>(in, rows, cols, in_pitch, out, out_pitch, wrong, stream);
    case 12:
        return compare<twelve>(in, rows, cols, in_pitch, out, out_pitch, wrong, stream);
    case 16:
        return compare<ulonglong2>(in, rows, cols, in_pitch, out, out_pitch, wrong, stream);
    default:
        return cudaErrorInvalidValue;
    }
}

static __device__ int64_t modulo(int64_t a, int64_t b) {
    const int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

/* The pixel that a window sees at column x, inside the row or not. */
static __device__ int64_t seen(const int32_t *row, int64_t x, int64_t cols, gp_border border) {
    if (x >= 0 && x < cols)
        return row[x];
    switch (border) {
    case GP_BORDER_REPLICATE:
        return row[x < 0 ? 0 : cols - 1];
    case GP_BORDER_REFLECT: {
        const int64_t at = modulo(x, 2 * cols);
        return row[at < cols ? at : 2 * cols - 1 - at];
    }
    case GP_BORDER_REFLECT_101: {
        const int64_t period = cols > 1 ? 2 * cols - 2 : 1, at = modulo(x, period);
        return row[at < cols ? at : period - at];
    }
    case GP_BORDER_WRAP:
        return row[modulo(x, cols)];
    default:
        return 0;
    }
}

/* Nearest, ties to even: the low bits that do not fit 64 are kept as one sticky bit. */
static __device__ float round_once(unsigned __int128 value) {
    const uint64_t high = (uint64_t)(value >> 64);
    if (high == 0)
        return __ull2float_rn((uint64_t)value);
    const int shift = 64 - __clzll((long long)high);
    const unsigned __int128 lost = value & (((unsigned __int128)1 << shift) - 1);
    return ldexpf(__ull2float_rn((uint64_t)(value >> shift) | (lost != 0)), shift);
}

struct window_check {
    const int32_t *image;
    size_t rows, image_pitch, out_pitch;
    int64_t cols, window, first, end; /* columns [first, end) are computed */
    gp_border border;
    const float *sum, *square;
};

static __device__ unsigned wrong_at(const window_check &c, size_t at, bool computed, float sum, float square) {
    const uint32_t poison = 0x01010101u * CHECK_POISON;
    const uint32_t want_sum = computed ? __float_as_uint(sum) : poison;
    const uint32_t want_square = computed ? __float_as_uint(square) : poison;
    return (c.sum && __float_as_uint(c.sum[at]) != want_sum) +
           (c.square && __float_as_uint(c.square[at]) != want_square);
}

static __global__ void compare_window(window_check c, unsigned long long *wrong) {
    const int64_t segments = (c.cols + SEGMENT - 1) / SEGMENT;
    const size_t id = (size_t)blockIdx.x * THREADS + threadIdx.x, y = id / (size_t)segments;
    if (y >= c.rows)
        return;
    const int64_t begin = (int64_t)(id % (size_t)segments) * SEGMENT;
    const int64_t end = begin + SEGMENT < c.cols ? begin + SEGMENT : c.cols;
    const int32_t *row = c.image + y * c.image_pitch;
    int64_t sum = 0, x = begin - c.window / 2;
    unsigned __int128 square = 0;
    for (int64_t i = x; i < x + c.window; i++) {
        const int64_t value = seen(row, i, c.cols, c.border);
        sum += value;
        square += (uint64_t)(value * value);
    }
    unsigned long long count = 0;
    for (int64_t at = begin; at < end; at++, x++) {
        count += wrong_at(c, y * c.out_pitch + (size_t)at, at >= c.first && at < c.end, __ll2float_rn(sum),
                          round_once(square));
        const int64_t in = seen(row, x + c.window, c.cols, c.border), out = seen(row, x, c.cols, c.border);
        sum += in - out;
        square += (uint64_t)(in * in);
        square -= (uint64_t)(out * out);
    }
    if (count)
        atomicAdd(wrong, count);
}

extern "C" cudaError_t check_window(const int32_t *image, size_t rows, size_t cols, size_t image_pitch, size_t window,
                                    gp_border border, const float *sum, const float *square, size_t out_pitch,
                                    unsigned long long *wrong, cudaStream_t stream) {
    const int64_t before = (int64_t)(window / 2), after = (int64_t)(window - window / 2) - 1;
    const bool none = border == GP_BORDER_NONE;
    const window_check c = {image,
                            rows,
                            image_pitch,
                            out_pitch,
                            (int64_t)cols,
                            (int64_t)window,
                            none ? before : 0,
                            (int64_t)cols - (none ? after : 0),
                            border,
                            sum,
                            square};
    const size_t threads = rows * ((cols + SEGMENT - 1) / SEGMENT);
    const unsigned grid = (unsigned)((threads + THREADS - 1) / THREADS);
    compare_window<<<grid, THREADS, 0, stream>>>(c, wrong);
    return cudaGetLastError();
}
