/* SPDX-License-Identifier: Apache-2.0 */
/* What the transpose kernels share: arguments, which tile a block takes, elements and words of them, launches. */
#pragma once

#include "../../host/rearrange/tiling.h"
#include "../gpu.h"
#include "../l2.cuh"
#include "turn.cuh"

struct transpose_arguments {
    const unsigned char *in;
    unsigned char *out;
    uint64_t rows, cols;
    uint64_t in_pitch, out_pitch; /* bytes */
    uint32_t elem_bytes;
    gp_tiles tiles;
};

inline transpose_arguments transpose_arguments_of(const gp_plan *plan, const gp_problem *problem) {
    return {static_cast<const unsigned char *>(problem->in),
            static_cast<unsigned char *>(problem->out),
            problem->rows,
            problem->cols,
            problem->in_pitch * problem->elem_bytes,
            problem->out_pitch * problem->elem_bytes,
            (uint32_t)problem->elem_bytes,
            gp_tiles_of(plan)};
}

struct tile_index {
    uint32_t row, col;
};

/*
 * Blocks walk down the columns of a band of tiles, one or two together: neighbours write neighbouring segments of the
 * same output rows. What is left beside whole groups of pairs is walked one by one. pairs: the tiling may ask for
 * them.
 */
template <bool pairs> __device__ inline tile_index tile_of_block(const gp_tiles &tiles) {
    const uint32_t per_band = tiles.band * tiles.across;
    const uint32_t band = blockIdx.x / per_band, in_band = blockIdx.x - band * per_band, first = band * tiles.band;
    const uint32_t down = min(tiles.band, tiles.down - first);
    const uint32_t paired = pairs && tiles.apart > 0 ? tiles.across & ~(2 * tiles.apart - 1) : 0;
    if (in_band < down * paired) {
        const uint32_t pair = in_band / (2 * down), in_pair = in_band - pair * 2 * down;
        return {first + in_pair / 2, 2 * pair - (pair & (tiles.apart - 1)) + in_pair % 2 * tiles.apart};
    }
    const uint32_t col = in_band / down;
    return {first + in_band - col * down, col};
}

/*
 * In place: tiles on and above the diagonal of a square of n x n tiles. Rows y and n - 1 - y (n even) or y and n - y
 * (n odd) of that triangle fold into one row of n + 1 or n tiles.
 */
__device__ inline tile_index tile_of_triangle(uint32_t n, uint32_t index) {
    const uint32_t even = n % 2 == 0, width = n + even;
    const uint32_t y = index / width, x = index - y * width;
    if (x < n - y)
        return {y, y + x};
    return {n - even - y, x - even};
}

/*
 * False: no pair for this number. Pairs are taken in squares of tiles.band x tiles.band, a power of two. A tile's
 * rows end within sectors that the tiles beside it share; so what lies side by side, in either half of the matrix, is
 * swapped at about the same time, while those sectors are in L2. 11585 x 11585 of 8 bytes on an H200: 725 us row by
 * row, 605 in squares of 4 x 4.
 */
__device__ inline bool pair_of_block(const transpose_arguments &a, uint32_t block, tile_index *at) {
    const uint32_t log2 = 31 - __clz((int)a.tiles.band), in_square = a.tiles.band - 1;
    const tile_index square = tile_of_triangle((a.tiles.down + in_square) >> log2, block >> 2 * log2);
    at->row = (square.row << log2) + (block & in_square);
    at->col = (square.col << log2) + (block >> log2 & in_square);
    return at->row <= at->col && at->col < a.tiles.down;
}

/* Rows or columns from `first` on, at most a tile's. */
__device__ inline uint32_t left_of(uint64_t all, uint64_t first, uint32_t tile) {
    return all - first < tile ? (uint32_t)(all - first) : tile;
}

/*
 * Where a tile with a halo lies: local row 0 is the halo's first, local rows lowest .. end - 1 are in the matrix. Its
 * segments of the output begin at sectors, up to a halo above the row where the tile begins.
 */
struct skewed_tile {
    int64_t row;
    uint64_t col;
    uint32_t lowest, end;
    uint32_t cols; /* inside the matrix */
    bool whole;    /* every row of it and of its halo is in the matrix */
};

__device__ inline skewed_tile skewed_tile_at(const transpose_arguments &a, tile_index at) {
    const uint32_t halo = a.tiles.halo, loaded = a.tiles.rows + halo;
    const int64_t row = (int64_t)at.row * a.tiles.rows - halo;
    const int64_t left = (int64_t)a.rows - row;
    const uint64_t col = (uint64_t)at.col * a.tiles.cols;
    return {row,
            col,
            row < 0 ? (uint32_t)-row : 0,
            left < loaded ? (uint32_t)left : loaded,
            left_of(a.cols, col, a.tiles.cols),
            row >= 0 && left >= loaded};
}

__device__ inline uint32_t word_of(const uint4 &v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/* 4 / bytes elements, one behind the other in memory; they were taken in the order k ^ turn. */
template <int bytes> __device__ inline uint32_t word_of_elements(const uint32_t *e, uint32_t turn = 0) {
    const uint32_t pair = turn & 1 ? 0x0004 : 0x0040;
    if constexpr (bytes == 1)
        return __byte_perm(__byte_perm(e[0], e[1], pair), __byte_perm(e[2], e[3], pair), turn & 2 ? 0x1054 : 0x5410);
    else if constexpr (bytes == 2)
        return __byte_perm(e[0], e[1], turn & 1 ? 0x1054 : 0x5410);
    else
        return e[0];
}

/* Dynamic shared memory. One declaration for all kernels of a file. */
extern __shared__ __align__(16) unsigned char transpose_shared[];

/* The address of dynamic shared memory, for copies and for loads by offset. */
__device__ inline uint32_t shared_address() {
    return (uint32_t)__cvta_generic_to_shared(transpose_shared);
}

typedef void (*transpose_kernel)(transpose_arguments);

inline gp_status launch_tiles(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                              transpose_kernel kernel) {
    transpose_arguments arguments = transpose_arguments_of(plan, problem);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, (const void *)kernel, list);
}

/* Ways of transpose_mirror, in files of their own. */
extern const transpose_kernel transpose_swap_kernels[], transpose_mirror_pick_kernels[];

/* The launcher of a row; of its kernels each is a form. */
#define LAUNCHER(row, kernels)                                                   \
    GP_DECLARE_LAUNCHER(gp_launch_##row) {                                       \
        return launch_tiles(context, plan, problem, kernels[plan->tiling.form]); \
    }
