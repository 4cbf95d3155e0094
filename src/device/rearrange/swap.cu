/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_mirror of 1 and 2 bytes in whole, aligned vectors. A thread loads 16 / bytes vectors below each
 * other, turns that square in its registers and keeps it in shared memory, where it waits for the block's other
 * squares of the same output rows: global and shared memory move 16 bytes an instruction.
 */
#include "tile.cuh"

/* A square of 16 / bytes vectors, transposed. */
template <int bytes> __device__ inline void transpose_square(const uint4 *from, uint4 *to) {
    if constexpr (bytes == 2) {
#pragma unroll
        for (int c = 0; c < 8; c++) {
            uint32_t w[4];
#pragma unroll
            for (int r = 0; r < 4; r++)
                w[r] = __byte_perm(word_of(from[2 * r], c / 2), word_of(from[2 * r + 1], c / 2),
                                   c % 2 == 0 ? 0x5410 : 0x7632);
            to[c] = make_uint4(w[0], w[1], w[2], w[3]);
        }
    } else {
#pragma unroll
        for (int c = 0; c < 4; c++) {
            uint32_t w[4][4];
#pragma unroll
            for (int r = 0; r < 4; r++) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    w[i][r] = word_of(from[4 * r + i], c);
                transpose_bytes(w[0][r], w[1][r], w[2][r], w[3][r]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
                to[4 * c + i] = make_uint4(w[i][0], w[i][1], w[i][2], w[i][3]);
        }
    }
}

/* side x side squares, a thread each. In shared memory a row of `side` vectors for each column of the matrix. */
template <int bytes, int side> struct vector_tile {
    static constexpr uint32_t elems = 16 / bytes, across = side * elems;
    uint4 *shared;

    /*
     * 8 neighbouring threads hold squares of one row of squares, whose vectors lie elems rows apart: 8 to one bank
     * group, were they not spread by the exclusive or with the square's column.
     */
    __device__ static uint32_t place(uint32_t col, uint32_t down) {
        return col * side + (down ^ (col / elems & 7));
    }
    __device__ void load(const transpose_arguments &a, uint64_t row, uint64_t col) const {
        const uint32_t y = threadIdx.x / side, x = threadIdx.x % side * elems;
        const unsigned char *from = a.in + (row + y * elems) * a.in_pitch + (col + x) * bytes;
        const bool inside = col + x < a.cols && row + y * elems < a.rows;
        uint4 square[elems], turned[elems];
#pragma unroll
        for (uint32_t i = 0; i < elems; i++)
            if (inside)
                square[i] = *(const uint4 *)(from + i * a.in_pitch);
        transpose_square<bytes>(square, turned);
#pragma unroll
        for (uint32_t i = 0; i < elems; i++)
            shared[place(x + i, y)] = turned[i];
    }
    __device__ void store(const transpose_arguments &a, uint64_t row, uint64_t col) const {
        const uint32_t x = threadIdx.x / side, y = threadIdx.x % side, cols = left_of(a.cols, col, across);
        unsigned char *to = a.out + (col + x) * a.out_pitch + row * bytes + y * 16;
        const bool inside = row + y * elems < a.rows;
#pragma unroll
        for (uint32_t i = 0; i < elems; i++, to += side * a.out_pitch)
            if (inside && x + i * side < cols)
                *(uint4 *)to = shared[place(x + i * side, y)];
    }
};

template <int bytes, int side>
__global__ void __launch_bounds__(side *side, 512 / (side * side)) transpose_swap(transpose_arguments a) {
    gp_grid_dependency_wait();
    typedef vector_tile<bytes, side> tile;
    const tile_index at = tile_of_triangle(a.tiles.down, blockIdx.x);
    const uint64_t row = (uint64_t)at.row * tile::across, col = (uint64_t)at.col * tile::across;
    const tile upper = {(uint4 *)transpose_shared}, lower = {upper.shared + side * tile::across};
    upper.load(a, row, col);
    if (row != col)
        lower.load(a, col, row);
    __syncthreads();
    upper.store(a, row, col);
    if (row != col)
        lower.store(a, col, row);
}

const transpose_kernel transpose_swap_kernels[] = {transpose_swap<1, 16>, transpose_swap<2, 16>, transpose_swap<1, 8>,
                                                   transpose_swap<2, 8>};
