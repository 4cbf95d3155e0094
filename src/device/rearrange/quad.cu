/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_quad: elements of 1 and 2 bytes in whole, aligned vectors, few of them or on one side few: a thread loads
 * 4 vectors below each other, so that there are threads enough for every multiprocessor. Shared memory holds a row of
 * words for each column; room of `pad` words after the columns of one vector keeps its threads' words in different
 * banks.
 */
#include "../gpu.h"
#include "../warp.cuh"
#include "transpose.cuh"

template <int bytes, int across>
__global__ void __launch_bounds__(GP_TRANSPOSE_QUAD_THREADS, 8) transpose_quad(transpose_arguments a) {
    gp_await_earlier_kernels();
    constexpr uint32_t threads = GP_TRANSPOSE_QUAD_THREADS, elems = 16 / bytes, words = threads / across * bytes;
    constexpr uint32_t pad = GP_TRANSPOSE_QUAD_PAD(across), vectors = words / 4;
    uint32_t *shared = (uint32_t *)transpose_shared;
    const tile_index at = tile_of_block(a.cut);
    const uint64_t row = (uint64_t)at.row * a.cut.tile_rows, col = (uint64_t)at.col * a.cut.tile_cols;
    const uint32_t x = threadIdx.x % across, y = threadIdx.x / across;
    const uint32_t rows = left_of(a.rows, row, a.cut.tile_rows), cols = left_of(a.cols, col, a.cut.tile_cols);
    const unsigned char *from = a.in + (row + y * 4) * a.in_pitch + col * bytes + x * 16;
    uint4 quad[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        if (y * 4 + i < rows && x * elems < cols)
            quad[i] = load_once(from + i * a.in_pitch);
    uint32_t *to = shared + x * (elems * words + pad) + y * bytes;
#pragma unroll
    for (int c = 0; c < 4; c++) {
        uint32_t w[4] = {word_of(quad[0], c), word_of(quad[1], c), word_of(quad[2], c), word_of(quad[3], c)};
        if constexpr (bytes == 1) {
            transpose_words<1>(w);
#pragma unroll
            for (int i = 0; i < 4; i++)
                to[(4 * c + i) * words] = w[i];
        } else {
            transpose_words<2>(w);
            transpose_words<2>(w + 2);
            *(uint2 *)(to + 2 * c * words) = make_uint2(w[0], w[2]);
            *(uint2 *)(to + (2 * c + 1) * words) = make_uint2(w[1], w[3]);
        }
    }
    __syncthreads();
    const uint32_t v = threadIdx.x % vectors, first = threadIdx.x / vectors;
    unsigned char *out = a.out + (col + first) * a.out_pitch + row * bytes + v * 16;
    if (v * elems >= rows)
        return;
#pragma unroll
    for (uint32_t c = first; c < across * elems; c += threads / vectors, out += threads / vectors * a.out_pitch)
        if (c < cols)
            store_vector<true>(out, *(const uint4 *)(shared + c * words + c / elems * pad + v * 4));
}

template <int bytes> static const void *quad_of_width(uint32_t across) {
    return across == 2   ? (const void *)transpose_quad<bytes, 2>
           : across == 8 ? (const void *)transpose_quad<bytes, 8>
                         : (const void *)transpose_quad<bytes, 16>;
}

extern "C" gp_status gp_launch_transpose_quad(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_of(plan));
    void *list[] = {&arguments};
    const uint32_t across = arguments.cut.tile_cols * (uint32_t)problem->elem_bytes / GP_TRANSPOSE_VECTOR;
    return gp_gpu_launch(context, plan,
                         problem->elem_bytes == 2 ? quad_of_width<2>(across) : quad_of_width<1>(across), list);
}
