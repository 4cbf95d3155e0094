/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large matrices that consist of whole, aligned 16-byte vectors. Squares are transposed in registers as in
 * transpose_vector.cu, but a tile's columns lie in shared memory as they are to lie in the output, and one
 * instruction writes each: a bulk copy (compute capability 9.0). H200, us, 32768 x 32768 of 16 bytes: tiles of 64 x
 * 32 stored by threads 8209, of 64 x 16 by 256 threads 8193, by 512 8173, with bulk copies 8147 and 8122; loaded by
 * bulk copies 8271 (8205 by threads), by tensor copies 8305. A copy that reads and writes in order takes 7893,
 * cudaMemcpyAsync 8054.
 */
#include "../gpu.h"
#include "../warp.cuh"
#include "transpose.cuh"

template <int bytes, int threads> struct bulk_tile {
    static constexpr uint32_t elems = 16 / bytes, across = GP_TRANSPOSE_BULK_ACROSS; /* squares */
    static constexpr uint32_t down = GP_TRANSPOSE_BULK_DOWN(bytes, threads), each = across * down / threads;
    static constexpr uint32_t rows = down * elems, cols = across * elems;
    static constexpr uint32_t step = threads / across; /* squares between two of a thread's */

    __device__ static uint32_t x() {
        return threadIdx.x % across;
    }
    __device__ static uint32_t y() {
        return threadIdx.x / across;
    }
    /*
     * In shared memory: threads beside each other store to different banks. Columns on whole lines, so that L2 is
     * asked for whole lines too, are slower: 8170 us instead of 8122 for 32768 x 32768 of 16 bytes.
     */
    __device__ static uint32_t column(uint32_t c) {
        return c * down + c / elems;
    }
};

template <int bytes, typename tile, bool hinted>
__device__ inline void load_squares(const transpose_arguments &a, uint64_t row, uint64_t col,
                                    uint4 square[tile::each][tile::elems]) {
    const auto policy = read_policy<hinted>(a.cut);
    const uint32_t first = tile::y() * tile::elems, rows = left_of(a.rows, row, tile::rows);
    const unsigned char *from = a.in + (row + first) * a.in_pitch + col * bytes + tile::x() * 16;
    const bool inside = col + tile::x() * tile::elems < a.cols;
#pragma unroll
    for (uint32_t s = 0; s < tile::each; s++)
#pragma unroll
        for (uint32_t i = 0; i < tile::elems; i++)
            if (inside && first + s * tile::step * tile::elems < rows)
                square[s][i] =
                    load_by((const uint4 *)(from + (s * tile::step * tile::elems + i) * a.in_pitch), policy);
}

/* The tile's column threadIdx.x, from shared memory. The block's memory must last until it has been read. */
template <int bytes, typename tile>
__device__ inline void send_column(const transpose_arguments &a, uint64_t row, uint64_t col) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x >= tile::cols || col + threadIdx.x >= a.cols)
        return;
    const uint32_t from = (uint32_t)__cvta_generic_to_shared(transpose_shared) + tile::column(threadIdx.x) * 16;
    unsigned char *to = a.out + (col + threadIdx.x) * a.out_pitch + row * bytes;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
                 "r"(left_of(a.rows, row, tile::rows) * bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/* What generic stores have written to shared memory is to be seen by the bulk copies. */
__device__ inline void publish_to_bulk_copies() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/*
 * Threads an SM that registers leave room for. H200, 16 bytes: 1536 instead of 2048 cost 6 % at 32768 x 32768. A
 * square of 4 bytes does not fit into 32 registers and elsewhere the compiler wants more.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
#define BULK_RESIDENT(bytes) ((bytes) == 4 ? 1536 : 2048)
#else
#define BULK_RESIDENT(bytes) 1024
#endif

template <int bytes, int threads, bool hinted>
__global__ void __launch_bounds__(threads, BULK_RESIDENT(bytes) / threads) transpose_bulk(transpose_arguments a) {
    gp_await_earlier_kernels();
    typedef bulk_tile<bytes, threads> tile;
    uint4 *const shared = (uint4 *)transpose_shared;
    const tile_index at = tile_of_block(a.cut);
    const uint64_t row = (uint64_t)at.row * tile::rows, col = (uint64_t)at.col * tile::cols;
    uint4 square[tile::each][tile::elems], turned[tile::elems];
    load_squares<bytes, tile, hinted>(a, row, col, square);
#pragma unroll
    for (uint32_t s = 0; s < tile::each; s++) {
        transpose_square<bytes>(square[s], turned);
#pragma unroll
        for (uint32_t i = 0; i < tile::elems; i++)
            shared[tile::column(tile::x() * tile::elems + i) + tile::y() + s * tile::step] = turned[i];
    }
    publish_to_bulk_copies();
    __syncthreads();
    send_column<bytes, tile>(a, row, col);
}

template <int bytes, bool hinted = true> static const void *bulk_of_threads(unsigned threads, const gp_gpu *gpu) {
    if constexpr (hinted)
        if (gpu->passing.bytes > 0)
            return bulk_of_threads<bytes, false>(threads, gpu);
    return threads == 512   ? (const void *)transpose_bulk<bytes, 512, hinted>
           : threads == 256 ? (const void *)transpose_bulk<bytes, 256, hinted>
           : threads == 128 ? (const void *)transpose_bulk<bytes, 128, hinted>
                            : (const void *)transpose_bulk<bytes, 64, hinted>;
}

extern "C" gp_status gp_launch_transpose_bulk(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_of(plan));
    void *list[] = {&arguments};
    const size_t bytes = problem->elem_bytes;
    return gp_gpu_launch(context, plan,
                         bytes == 16  ? bulk_of_threads<16>(plan->tiling.threads, context->gpu)
                         : bytes == 8 ? bulk_of_threads<8>(plan->tiling.threads, context->gpu)
                                      : bulk_of_threads<4>(plan->tiling.threads, context->gpu),
                         list);
}
