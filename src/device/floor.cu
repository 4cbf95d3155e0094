/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that move bytes and do nothing else: what the memory allows a primitive, and what empties the caches. */
#include "gpu.h"
#include "measure.h"

#define NEVER 0x13579bdf /* what the exclusive or of the input is so seldom that the store costs nothing */

/* Every thread has LOADS loads of 16 bytes under way; the grid strides over the input. */
template <int LOADS, bool STREAM>
static __global__ void floor_read_kernel(const int4 *in, size_t groups, int32_t *sink) {
    const size_t step = (size_t)gridDim.x * blockDim.x * LOADS;
    int32_t mix = 0;
    for (size_t first = (size_t)blockIdx.x * blockDim.x * LOADS + threadIdx.x; first < groups; first += step) {
        int4 value[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const size_t at = first + (size_t)k * blockDim.x;
            value[k] = at >= groups ? make_int4(0, 0, 0, 0) : STREAM ? __ldcs(&in[at]) : __ldca(&in[at]);
        }
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            mix ^= value[k].x ^ value[k].y ^ value[k].z ^ value[k].w;
    }
    if (mix == NEVER)
        *sink = mix;
}

/* A block a piece of work: a grid that strides costs a third of a copy on Hopper. */
template <int EACH>
static __global__ void floor_write_kernel(const int4 *in, size_t groups, int4 *first, int4 *second) {
    const size_t begin = (size_t)blockIdx.x * blockDim.x * EACH + threadIdx.x;
    int4 value[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (begin + (size_t)k * blockDim.x < groups)
            value[k] = __ldcs(&in[begin + (size_t)k * blockDim.x]);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const size_t at = begin + (size_t)k * blockDim.x;
        if (at >= groups)
            return;
        __stcs(&first[at], value[k]);
        if (second != NULL)
            __stcs(&second[at], value[k]);
    }
}

static const struct {
    unsigned blocks_per_sm, threads, loads;
} read_ways[GP_FLOOR_WAYS] = {{2, 1024, 4}, {4, 512, 4}, {8, 256, 4}, {4, 512, 8}, {8, 256, 8}, {16, 128, 8}};

static const struct {
    unsigned threads, each;
} write_ways[GP_FLOOR_WAYS] = {{128, 1}, {256, 1}, {512, 1}, {128, 4}, {256, 4}, {512, 4}};

static size_t divide_up(size_t a, size_t b) {
    return a / b + (a % b != 0);
}

static unsigned read_grid(const gp_context *context, size_t groups, unsigned per_block, unsigned blocks_per_sm) {
    const size_t most = (size_t)context->device.multiprocessors * blocks_per_sm,
                 needed = divide_up(groups, per_block);
    return (unsigned)(needed < most ? needed : most);
}

static cudaError_t read_by(gp_context *context, unsigned way, const int4 *in, size_t groups, int32_t *sink) {
    const unsigned threads = read_ways[way].threads, loads = read_ways[way].loads;
    const unsigned grid = read_grid(context, groups, threads * loads, read_ways[way].blocks_per_sm);
    if (loads == 4)
        floor_read_kernel<4, true><<<grid, threads, 0, context->gpu->stream>>>(in, groups, sink);
    else
        floor_read_kernel<8, true><<<grid, threads, 0, context->gpu->stream>>>(in, groups, sink);
    return cudaGetLastError();
}

static cudaError_t write_by(gp_context *context, unsigned way, const int4 *in, size_t groups, int4 *first,
                            int4 *second) {
    const unsigned threads = write_ways[way].threads, each = write_ways[way].each;
    const unsigned grid = (unsigned)divide_up(groups, (size_t)threads * each);
    if (each == 1)
        floor_write_kernel<1><<<grid, threads, 0, context->gpu->stream>>>(in, groups, first, second);
    else
        floor_write_kernel<4><<<grid, threads, 0, context->gpu->stream>>>(in, groups, first, second);
    return cudaGetLastError();
}

static cudaError_t flush_by(gp_context *context, const int4 *in, size_t groups, int32_t *sink) {
    const unsigned grid = read_grid(context, groups, 256 * 4, 8);
    floor_read_kernel<4, false><<<grid, 256, 0, context->gpu->stream>>>(in, groups, sink);
    return cudaGetLastError();
}

/* On the context's device, with a launch's failure in words. */
template <typename Launch> static gp_status on_device(gp_context *context, const char *name, Launch launch) {
    int found;
    GP_TRY(gp_device_set(context->gpu->ordinal, &found));
    const cudaError_t error = launch();
    gp_device_restore(context->gpu->ordinal, found);
    return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, name);
}

extern "C" gp_status gp_floor_read(gp_context *context, unsigned way, const int32_t *in, size_t n, int32_t *sink) {
    return on_device(context, "floor_read",
                     [=] { return read_by(context, way, (const int4 *)in, divide_up(n, 4), sink); });
}

extern "C" gp_status gp_floor_write(gp_context *context, unsigned way, const int32_t *in, size_t n, void *first,
                                    void *second) {
    return on_device(context, "floor_write", [=] {
        return write_by(context, way, (const int4 *)in, divide_up(n, 4), (int4 *)first, (int4 *)second);
    });
}

extern "C" gp_status gp_flush_caches(gp_context *context, const int32_t *in, size_t n, int32_t *sink) {
    return on_device(context, "flush_caches",
                     [=] { return flush_by(context, (const int4 *)in, divide_up(n, 4), sink); });
}
