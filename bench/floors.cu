/* SPDX-License-Identifier: Apache-2.0 */
/* The floors: read only, read one and write two, an empty launch. */
#include "floors.h"

static __device__ int32_t mix_of(const int4 &four) {
    return four.x ^ four.y ^ four.z ^ four.w;
}

/* Both say that the 16 bytes will not be read again: to the first-level cache, or to the second too. */
template <bool EVICT_FIRST> static __device__ int4 load(const int4 *address) {
    int4 four;
    if (EVICT_FIRST)
        return __ldcs(address);
    asm("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
        : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
        : "l"(address));
    return four;
}

/* Every thread has LOADS loads under way at once; with 4, 2048 threads have 128 KiB of an SM. */
template <int LOADS, bool EVICT_FIRST>
static __global__ void read_only(const int4 *in, size_t groups, int32_t *sink) {
    const size_t step = (size_t)gridDim.x * blockDim.x * LOADS;
    size_t i = (size_t)blockIdx.x * blockDim.x * LOADS + threadIdx.x;
    int32_t mix = 0;
    for (; i + (size_t)(LOADS - 1) * blockDim.x < groups; i += step) {
        int4 four[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            four[k] = load<EVICT_FIRST>(&in[i + (size_t)k * blockDim.x]);
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            mix ^= mix_of(four[k]);
    }
    for (int k = 0; k < LOADS && i < groups; k++, i += blockDim.x)
        mix ^= mix_of(load<EVICT_FIRST>(&in[i]));
    if (mix == 0x13579bdf) /* true so seldom that it costs nothing, yet the loads must be made */
        *sink = mix;
}

typedef void (*read_kernel)(const int4 *in, size_t groups, int32_t *sink);

static const struct {
    unsigned blocks_per_sm, threads, loads;
    read_kernel kernel;
} read_ways[FLOOR_READ_VARIANTS] = {
    {2, 1024, 4, read_only<4, false>}, {4, 1024, 4, read_only<4, false>}, {8, 1024, 4, read_only<4, false>},
    {8, 512, 4, read_only<4, false>},  {16, 256, 4, read_only<4, false>}, {4, 1024, 2, read_only<2, false>},
    {2, 1024, 4, read_only<4, true>},  {8, 1024, 4, read_only<4, true>},  {32, 256, 4, read_only<4, true>},
};

extern "C" cudaError_t floor_read(const int32_t *in, size_t n, int32_t *sink, unsigned variant,
                                  unsigned multiprocessors, cudaStream_t stream) {
    const size_t groups = (n + 3) / 4;
    const unsigned threads = read_ways[variant].threads, loads = read_ways[variant].loads;
    const size_t most = (size_t)multiprocessors * read_ways[variant].blocks_per_sm;
    const size_t needed = (groups + (size_t)threads * loads - 1) / ((size_t)threads * loads);
    const unsigned grid = (unsigned)(needed < most ? needed : most);
    read_ways[variant].kernel<<<grid, threads, 0, stream>>>((const int4 *)in, groups, sink);
    return cudaGetLastError();
}

/* EACH groups of 4 pixels a thread; OUTPUTS arrays written, with the streaming hint if asked. */
template <int EACH, int OUTPUTS, bool HINT>
static __global__ void read_and_write(const int4 *in, size_t groups, float4 *sum, float4 *square) {
    const size_t first = (size_t)blockIdx.x * blockDim.x * EACH + threadIdx.x;
    int4 four[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (first + (size_t)k * blockDim.x < groups)
            four[k] = __ldcs(&in[first + (size_t)k * blockDim.x]);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const size_t at = first + (size_t)k * blockDim.x;
        if (at >= groups)
            return;
        const float4 made = make_float4((float)four[k].x, (float)four[k].y, (float)four[k].z, (float)four[k].w);
        if (HINT)
            __stcs(&sum[at], made);
        else
            sum[at] = made;
        if (OUTPUTS == 2 && HINT)
            __stcs(&square[at], made);
        else if (OUTPUTS == 2)
            square[at] = made;
    }
}

template <int EACH, bool HINT>
static void launch_window(const int32_t *in, size_t n, float *sum, float *square, unsigned threads,
                          cudaStream_t stream) {
    const size_t groups = (n + 3) / 4, per_block = (size_t)threads * EACH;
    const unsigned grid = (unsigned)((groups + per_block - 1) / per_block);
    if (sum && square)
        read_and_write<EACH, 2, HINT>
            <<<grid, threads, 0, stream>>>((const int4 *)in, groups, (float4 *)sum, (float4 *)square);
    else
        read_and_write<EACH, 1, HINT>
            <<<grid, threads, 0, stream>>>((const int4 *)in, groups, (float4 *)(sum ? sum : square), NULL);
}

extern "C" cudaError_t floor_window(const int32_t *in, size_t n, float *sum, float *square, unsigned variant,
                                    cudaStream_t stream) {
    const unsigned threads = variant % 3 == 0 ? 128 : variant % 3 == 1 ? 256 : 512;
    if (variant < 3)
        launch_window<1, false>(in, n, sum, square, threads, stream);
    else if (variant < 6)
        launch_window<1, true>(in, n, sum, square, threads, stream);
    else
        launch_window<4, true>(in, n, sum, square, threads, stream);
    return cudaGetLastError();
}

/* Rows of 4 * row_groups pixels are read, of which columns first .. end - 1 are written. */
static __global__ void read_and_write_inner(const int4 *in, size_t rows, unsigned row_groups, int first, int end,
                                            float *sum, float *square) {
    const size_t group = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= rows * row_groups)
        return;
    const int4 four = __ldg(&in[group]);
    const int x = (int)(group % row_groups) * 4;
    const float made[4] = {(float)four.x, (float)four.y, (float)four.z, (float)four.w};
    if (x >= first && x + 4 <= end) {
        ((float4 *)sum)[group] = make_float4(made[0], made[1], made[2], made[3]);
        ((float4 *)square)[group] = make_float4(made[0], made[1], made[2], made[3]);
        return;
    }
    for (int i = 0; i < 4; i++)
        if (x + i >= first && x + i < end) {
            sum[4 * group + i] = made[i];
            square[4 * group + i] = made[i];
        }
}

extern "C" cudaError_t floor_window_inner(const int32_t *in, size_t rows, size_t cols, size_t first, size_t end,
                                          float *sum, float *square, cudaStream_t stream) {
    const size_t blocks = (rows * (cols / 4) + 255) / 256;
    read_and_write_inner<<<(unsigned)blocks, 256, 0, stream>>>((const int4 *)in, rows, (unsigned)(cols / 4),
                                                               (int)first, (int)end, sum, square);
    return cudaGetLastError();
}

static __global__ void nothing(const void *, void *, size_t) {}

extern "C" cudaError_t floor_launch(const void *in, void *out, size_t n, cudaStream_t stream) {
    nothing<<<1, 32, 0, stream>>>(in, out, n);
    return cudaGetLastError();
}
