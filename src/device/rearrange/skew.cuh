/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles whose output rows do not start all at the same row of the input: see transpose_skew.cu. */
#ifndef GP_TRANSPOSE_SKEW_CUH
#define GP_TRANSPOSE_SKEW_CUH

#include "transpose.cuh"

/* Where a tile lies: local row 0 is the halo's first, local rows lowest .. end - 1 are in the matrix. */
struct skewed_tile {
    int64_t row;
    uint64_t col;
    uint32_t lowest, end;
    uint32_t cols; /* inside the matrix */
    bool whole;    /* every row of it and of its halo is in the matrix */
};

__device__ inline skewed_tile skewed_tile_at(const transpose_arguments &a, tile_index at) {
    const uint32_t halo = a.cut.halo, loaded = a.cut.tile_rows + halo;
    const int64_t row = (int64_t)at.row * a.cut.tile_rows - halo;
    const int64_t left = (int64_t)a.rows - row;
    const uint64_t col = (uint64_t)at.col * a.cut.tile_cols;
    return {row,
            col,
            row < 0 ? (uint32_t)-row : 0,
            left < loaded ? (uint32_t)left : loaded,
            left_of(a.cols, col, a.cut.tile_cols),
            row >= 0 && left >= loaded};
}

template <bool pairs = true> __device__ inline skewed_tile skewed_tile_of_block(const transpose_arguments &a) {
    return skewed_tile_at(a, tile_of_block<pairs>(a.cut));
}

/* Elements that output row `col` lies past a sector's start, which is how much earlier its segments begin. */
template <int bytes> __device__ inline uint32_t skew_of(const transpose_arguments &a, uint64_t col) {
    const uint32_t first = (uint32_t)((uintptr_t)a.out / bytes), pitch = (uint32_t)(a.out_pitch / bytes);
    return a.cut.halo == 0 ? 0 : (first + (uint32_t)col * pitch) & (a.cut.halo - 1);
}

#endif
