/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes of matrices that consist of whole, aligned 16-byte vectors. A thread loads 16 / bytes vectors below each
 * other, transposes that square in registers and stores vectors to shared memory, where they wait for the block's
 * other squares of the same output rows: global and shared memory move 16 bytes an instruction.
 */
#include "../gpu.h"
#include "../warp.cuh"
#include "transpose.cuh"

constexpr uint32_t log2_of(uint32_t n) {
    return n < 2 ? 0 : 1 + log2_of(n / 2);
}

/*
 * A tile in shared memory: a row of `down` vectors for each column of the matrix, swizzled against bank conflicts. In
 * place it is square.
 */
template <int bytes, int threads, bool in_place> struct vector_tile {
    static constexpr uint32_t elems = 16 / bytes, log2_elems = log2_of(elems);
    static constexpr uint32_t log2_all = log2_of(threads * GP_TRANSPOSE_SQUARES(bytes));
    static constexpr uint32_t log2_across = log2_all / 2; /* squares */
    static constexpr uint32_t log2_down = in_place ? log2_across : log2_all - log2_across;
    static constexpr uint32_t squares = 1u << (log2_down + log2_across);
    static constexpr uint32_t each = (squares + threads - 1) / threads; /* a thread's */
    uint4 *shared;

    /*
     * 8 neighbouring threads hold squares of one row of squares, whose vectors lie elems rows apart: 8 to one bank
     * group, were they not spread by the exclusive or with the square's column.
     */
    __device__ uint32_t place(uint32_t col, uint32_t down) const {
        constexpr uint32_t mask = (log2_down < 3 ? 1u << log2_down : 8) - 1;
        return (col << log2_down) + (down ^ (col / elems & mask));
    }
    /* All squares of the thread. once: the kernel writes nothing that it reads. */
    template <bool once, bool hinted>
    __device__ void load(const transpose_arguments &a, uint64_t row, uint64_t col, uint4 square[each][elems]) const {
        const auto policy = read_policy<hinted>(a.cut);
        constexpr uint32_t step = (threads >> log2_across) * elems; /* rows */
        const uint32_t y = (threadIdx.x >> log2_across) * elems, x = threadIdx.x & ((1u << log2_across) - 1);
        const uint32_t rows = left_of(a.rows, row, 1u << log2_down << log2_elems);
        const unsigned char *from = a.in + (row + y) * a.in_pitch + col * bytes + x * 16;
        const bool inside = col + x * elems < a.cols;
#pragma unroll
        for (uint32_t s = 0; s < each; s++)
#pragma unroll
            for (uint32_t i = 0; i < elems; i++)
                if (inside && y + s * step < rows) {
                    const unsigned char *vector = from + (s * step + i) * a.in_pitch;
                    square[s][i] = once ? load_by((const uint4 *)vector, policy) : *(const uint4 *)vector;
                }
    }
    __device__ void keep(const uint4 square[each][elems]) const {
#pragma unroll
        for (uint32_t s = 0; s < each; s++) {
            const uint32_t index = threadIdx.x + s * threads;
            const uint32_t y = index >> log2_across, x = (index & ((1u << log2_across) - 1)) * elems;
            uint4 turned[elems];
            transpose_square<bytes>(square[s], turned);
#pragma unroll
            for (uint32_t i = 0; i < elems; i++)
                if (index < squares)
                    shared[place(x + i, y)] = turned[i];
        }
    }
    template <bool once> __device__ void store(const transpose_arguments &a, uint64_t row, uint64_t col) const {
        constexpr uint32_t step = threads >> log2_down; /* columns of the matrix */
        const uint32_t x = threadIdx.x >> log2_down, y = threadIdx.x & ((1u << log2_down) - 1);
        const uint32_t cols = left_of(a.cols, col, 1u << log2_across << log2_elems);
        unsigned char *to = a.out + (col + x) * a.out_pitch + row * bytes + y * 16;
        const bool inside = row + y * elems < a.rows;
#pragma unroll
        for (uint32_t i = 0; i < each * elems; i++, to += step * a.out_pitch)
            if (inside && x + i * step < cols)
                store_vector<once>(to, shared[place(x + i * step, y)]);
    }
};

template <int bytes, int threads, bool hinted>
__global__ void __launch_bounds__(threads, GP_TRANSPOSE_THREADS / threads *
                                               (bytes >= 4   ? GP_TRANSPOSE_BLOCKS_4
                                                : bytes == 2 ? GP_TRANSPOSE_BLOCKS_2
                                                             : 2)) transpose_vector(transpose_arguments a) {
    gp_await_earlier_kernels();
    const vector_tile<bytes, threads, false> tile = {(uint4 *)transpose_shared};
    const tile_index at = tile_of_block<(bytes >= 4)>(a.cut);
    const uint64_t row = (uint64_t)at.row * a.cut.tile_rows, col = (uint64_t)at.col * a.cut.tile_cols;
    uint4 square[tile.each][tile.elems];
    tile.template load<true, hinted>(a, row, col, square);
    tile.keep(square);
    __syncthreads();
    tile.template store<true>(a, row, col);
}

/* In place: a tile above the diagonal and its mirror image, both in shared memory before either is written. */
template <int bytes, int threads>
__global__ void __launch_bounds__(threads, GP_TRANSPOSE_THREADS * 2 / threads) transpose_swap(transpose_arguments a) {
    gp_await_earlier_kernels();
    typedef vector_tile<bytes, threads, true> tile_type;
    const tile_index at = tile_of_triangle(a.cut.down, blockIdx.x);
    const uint64_t row = (uint64_t)at.row * a.cut.tile_rows, col = (uint64_t)at.col * a.cut.tile_rows;
    const tile_type upper = {(uint4 *)transpose_shared},
                    lower = {upper.shared + tile_type::squares * tile_type::elems};
    uint4 square[tile_type::each][tile_type::elems];
    upper.template load<false, false>(a, row, col, square);
    upper.keep(square);
    if (row != col) {
        lower.template load<false, false>(a, col, row, square);
        lower.keep(square);
    }
    __syncthreads();
    upper.template store<false>(a, row, col);
    if (row != col)
        lower.template store<false>(a, col, row);
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem, const void *kernel) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_of(plan));
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernel, list);
}

template <int bytes, bool hinted = (bytes > 1)>
static const void *vector_of_threads(unsigned threads, const gp_gpu *gpu) {
    if constexpr (hinted)
        if (gpu->passing.bytes > 0)
            return vector_of_threads<bytes, false>(threads, gpu);
    return threads == 256   ? (const void *)transpose_vector<bytes, 256, hinted>
           : threads == 128 ? (const void *)transpose_vector<bytes, 128, hinted>
                            : (const void *)transpose_vector<bytes, 64, hinted>;
}

extern "C" gp_status gp_launch_transpose_vector(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem,
                  problem->elem_bytes == 8 ? vector_of_threads<8>(plan->tiling.threads, context->gpu)
                                           : vector_of_threads<4>(plan->tiling.threads, context->gpu));
}

extern "C" gp_status gp_launch_transpose_pack(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem,
                  problem->elem_bytes == 2 ? vector_of_threads<2>(plan->tiling.threads, context->gpu)
                                           : vector_of_threads<1>(plan->tiling.threads, context->gpu));
}

template <int bytes> static const void *swap_of_threads(unsigned threads) {
    return threads == 256   ? (const void *)transpose_swap<bytes, 256>
           : threads == 128 ? (const void *)transpose_swap<bytes, 128>
                            : (const void *)transpose_swap<bytes, 64>;
}

extern "C" gp_status gp_launch_transpose_swap(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const size_t bytes = problem->elem_bytes;
    return launch(context, plan, problem,
                  bytes == 16  ? swap_of_threads<16>(plan->tiling.threads)
                  : bytes == 8 ? swap_of_threads<8>(plan->tiling.threads)
                  : bytes == 4 ? swap_of_threads<4>(plan->tiling.threads)
                  : bytes == 2 ? swap_of_threads<2>(plan->tiling.threads)
                               : swap_of_threads<1>(plan->tiling.threads));
}
