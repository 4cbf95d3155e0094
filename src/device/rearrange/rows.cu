/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_rows: elements of 4 bytes and more, short rows of odd length without padding. Whole rows are one piece of
 * memory, copied to shared memory as it lies; each thread then walks along a row, so that neighbours store
 * neighbours.
 */
#include "../gpu.h"
#include "skew.cuh"

template <int bytes, bool hinted>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_rows(transpose_arguments a) {
    gp_await_earlier_kernels();
    typedef typename element_of<bytes>::type element;
    const skewed_tile tile = skewed_tile_at(a, {blockIdx.x, 0});
    const uint32_t height = a.cut.tile_rows + a.cut.halo, pitch = (uint32_t)a.in_pitch;
    const unsigned char *base = a.in + tile.row * (int64_t)a.in_pitch, *end = a.in + a.rows * a.in_pitch;
    const uint32_t past = (uint32_t)(uintptr_t)base & 15, inside = past + height * pitch;
    const auto policy = read_policy<hinted>(a.cut);
    if (base - past >= a.in && base + height * pitch + 15 <= end) {
#pragma unroll 4
        for (uint32_t i = threadIdx.x * 16; i < inside; i += blockDim.x * 16)
            copy_async(transpose_shared + i, base - past + i, policy);
    } else {
        for (uint32_t i = threadIdx.x * 16; i < inside; i += blockDim.x * 16)
            copy_inside(transpose_shared + i, base - past + i, a.in, end);
    }
    const uint32_t x = threadIdx.x & (a.cut.tile_rows - 1), at_once = blockDim.x / a.cut.tile_rows;
    uint32_t c = threadIdx.x / a.cut.tile_rows;
    const unsigned char *from = transpose_shared + past + x * pitch + c * bytes;
    unsigned char *to = a.out + c * a.out_pitch + (tile.row + x) * (int64_t)bytes;
    await_copies();
    __syncthreads();
#pragma unroll 4
    for (; c < a.cols; c += at_once, from += at_once * bytes, to += at_once * a.out_pitch) {
        const uint32_t start = a.cut.halo - skew_of<bytes>(a, c);
        if (tile.whole || (start + x >= tile.lowest && start + x < tile.end))
            *(element *)(to + start * bytes) = *(const element *)(from + start * pitch);
    }
}

template <int bytes> static const void *rows_of(bool hinted) {
    return hinted ? (const void *)transpose_rows<bytes, true> : (const void *)transpose_rows<bytes, false>;
}

/*
 * A policy where there is much. H200, us, 4 bytes, tiles found by dividing and loads by policy, or neither: 2396745 x
 * 7 39.5 and 36.4, 372827 x 45 37.7 and 36.3.
 */
extern "C" gp_status gp_launch_transpose_rows(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_of(plan));
    void *list[] = {&arguments};
    const size_t bytes = problem->elem_bytes;
    const bool hinted = arguments.cut.outlives && context->gpu->passing.bytes == 0;
    const void *kernel = bytes == 16 ? rows_of<16>(hinted) : bytes == 8 ? rows_of<8>(hinted) : rows_of<4>(hinted);
    return gp_gpu_launch(context, plan, kernel, list);
}
