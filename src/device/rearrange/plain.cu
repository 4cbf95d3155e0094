/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plain transposes: transpose_naive, a thread a word, right for every size and alignment; and transpose_tile, for
 * study, a padded square tile in shared memory (G. Ruetsch, P. Micikevicius, "Optimizing matrix transpose in CUDA").
 */
#include "tile.cuh"

/* In 32 bits where that is enough: a division in 64 costs several times as much. */
__device__ inline uint64_t divide(uint64_t a, uint64_t b) {
    return (a | b) >> 32 == 0 ? (uint32_t)a / (uint32_t)b : a / b;
}

/* A thread a word, of the widest type that divides an element's size and every address. */
template <int bytes> __global__ void __launch_bounds__(GP_TRANSPOSE_THREADS) transpose_naive(transpose_arguments a) {
    gp_grid_dependency_wait();
    typedef typename element_of<bytes>::type word;
    const uint64_t index = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const uint64_t words = a.elem_bytes / bytes, element = divide(index, words), i = index - element * words;
    const uint64_t row = divide(element, a.cols), col = element - row * a.cols;
    if (row >= a.rows)
        return;
    const word *from = (const word *)(a.in + row * a.in_pitch) + col * words + i;
    word *to = (word *)(a.out + col * a.out_pitch) + row * words + i;
    if ((const void *)a.in != a.out) {
        *to = *from;
    } else if (row < col) {
        word *mirror = (word *)(a.out + row * a.out_pitch) + col * words + i;
        const word kept = *to;
        *to = *mirror;
        *mirror = kept;
    }
}

static const transpose_kernel naive_kernels[] = {transpose_naive<1>, transpose_naive<2>, transpose_naive<4>,
                                                 transpose_naive<8>, transpose_naive<16>};

LAUNCHER(transpose_naive, naive_kernels)

/* A tile by way of shared memory, whose rows are an element longer. */
template <int bytes> __global__ void __launch_bounds__(GP_TRANSPOSE_THREADS) transpose_tile(transpose_arguments a) {
    gp_grid_dependency_wait();
    typedef typename element_of<bytes>::type element;
    element *const shared = (element *)transpose_shared;
    const uint32_t side = a.tiles.rows, log2_side = 31 - __clz((int)side);
    const tile_index tile = tile_of_block<false>(a.tiles);
    const uint64_t row = (uint64_t)tile.row * side, col = (uint64_t)tile.col * side;
    const uint32_t rows = left_of(a.rows, row, side), cols = left_of(a.cols, col, side);
    const unsigned char *from = a.in + row * a.in_pitch + col * bytes;
    unsigned char *to = a.out + col * a.out_pitch + row * bytes;
    for (uint32_t i = threadIdx.x; i < side * side; i += blockDim.x) {
        const uint32_t r = i >> log2_side, c = i & (side - 1);
        if (r < rows && c < cols)
            shared[r * (side + 1) + c] = ((const element *)(from + r * a.in_pitch))[c];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < side * side; i += blockDim.x) {
        const uint32_t c = i >> log2_side, r = i & (side - 1);
        if (r < rows && c < cols)
            ((element *)(to + c * a.out_pitch))[r] = shared[r * (side + 1) + c];
    }
}

static const transpose_kernel transpose_tile_kernels[] = {transpose_tile<1>, transpose_tile<2>, transpose_tile<4>,
                                                          transpose_tile<8>, transpose_tile<16>};

LAUNCHER(transpose_tile, transpose_tile_kernels)
