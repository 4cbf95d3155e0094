/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_skew: elements of 4, 8 and 16 bytes, for pitches that put every row at another offset from a 32-byte
 * sector. A sector written in parts costs DRAM a read; so a tile's output rows do not start all at the same row of
 * the input, but each at the sector's start at or before it, up to `halo` rows early. The halo is loaded by two
 * neighbouring tiles, mostly from L2.
 */
#include "tile.cuh"

/* A warp's row of the tile, 32 neighbours `wide` times; `whole`: no row lies outside the matrix. */
template <int bytes, int wide, bool whole, typename by>
__device__ inline void load_row(const skewed_tile &tile, uint32_t r, const unsigned char *from, by policy,
                                typename element_of<bytes>::type *kept) {
    typedef typename element_of<bytes>::type element;
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t j = 0; j < wide; j++)
        if (lane + 32 * j < tile.cols && (whole || (r >= tile.lowest && r < tile.end)))
            kept[j] = load_by((const element *)from + 32 * j, policy);
}

template <int bytes, int cols, bool whole, bool hinted>
__device__ inline void load_skewed(const transpose_arguments &a, const skewed_tile &tile,
                                   typename element_of<bytes>::type *shared) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t each = GP_TRANSPOSE_SKEW_ROWS, wide = cols / 32, warps = GP_TRANSPOSE_THREADS / 32;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, halo = a.tiles.halo;
    const unsigned char *above = a.in + (tile.row + warp) * (int64_t)a.in_pitch + (tile.col + lane) * bytes;
    const unsigned char *from = above + halo * a.in_pitch;
    const uint64_t step = warps * a.in_pitch;
    const auto policy = read_policy<hinted>(a.tiles.keep_input);
    element kept[each][wide], early[wide];
#pragma unroll
    for (uint32_t i = 0; i < each; i++)
        load_row<bytes, wide, whole>(tile, halo + warp + i * warps, from + i * step, policy, kept[i]);
    for (uint32_t r = warp; r < halo; r += warps, above += step) {
        load_row<bytes, wide, whole>(tile, r, above, policy, early);
#pragma unroll
        for (uint32_t j = 0; j < wide; j++)
            shared[r * (cols + 1) + lane + 32 * j] = early[j];
    }
    shared += (halo + warp) * (cols + 1) + lane;
#pragma unroll
    for (uint32_t i = 0; i < each; i++)
#pragma unroll
        for (uint32_t j = 0; j < wide; j++)
            shared[i * warps * (cols + 1) + 32 * j] = kept[i][j];
}

/* Elements that output row `col` lies past a sector's start, which is how much earlier its segments begin. */
template <int bytes> __device__ inline uint32_t skew_of(const transpose_arguments &a, uint64_t col) {
    const uint32_t first = (uint32_t)((uintptr_t)a.out / bytes), pitch = (uint32_t)(a.out_pitch / bytes);
    return a.tiles.halo == 0 ? 0 : (first + (uint32_t)col * pitch) & (a.tiles.halo - 1);
}

/*
 * much: loads by policy, and columns of tiles in pairs where the tiling asks for them. Others are better without
 * either: 45 x 372827 of 4 bytes on an H200 39.7 us with, 38.5 without.
 */
template <int bytes, int cols, bool much>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 3) transpose_skew(transpose_arguments a) {
    gp_grid_dependency_wait();
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t rows = GP_TRANSPOSE_THREADS / 32 * GP_TRANSPOSE_SKEW_ROWS;
    element *shared = (element *)transpose_shared;
    const skewed_tile tile = skewed_tile_at(a, tile_of_block<much>(a.tiles));
    if (tile.whole)
        load_skewed<bytes, cols, true, much>(a, tile, shared);
    else
        load_skewed<bytes, cols, false, much>(a, tile, shared);
    __syncthreads();
    constexpr uint32_t at_once = GP_TRANSPOSE_THREADS / rows; /* output rows */
    const uint32_t x = threadIdx.x % rows, y = threadIdx.x / rows;
    unsigned char *to = a.out + (tile.col + y) * a.out_pitch + (tile.row + x) * (int64_t)bytes;
    const uint64_t step = at_once * a.out_pitch;
#pragma unroll
    for (uint32_t i = 0; i < cols / at_once; i++, to += step) {
        const uint32_t c = y + i * at_once, start = a.tiles.halo - skew_of<bytes>(a, tile.col + c), r = start + x;
        if (c < tile.cols && (tile.whole || (r >= tile.lowest && r < tile.end)))
            *(element *)(to + start * bytes) = shared[r * (cols + 1) + c];
    }
}

static const transpose_kernel kernels[][2] = {{transpose_skew<4, 32, false>, transpose_skew<4, 32, true>},
                                              {transpose_skew<4, 64, false>, transpose_skew<4, 64, true>},
                                              {transpose_skew<8, 32, false>, transpose_skew<8, 32, true>},
                                              {transpose_skew<8, 64, false>, transpose_skew<8, 64, true>},
                                              {transpose_skew<16, 32, false>, transpose_skew<16, 32, true>}};

GP_DECLARE_LAUNCHER(gp_launch_transpose_skew) {
    const gp_tiles tiles = gp_tiles_of(plan);
    const bool much = (tiles.keep_input || tiles.apart > 0) && context->gpu->streamed_span.bytes == 0;
    return launch_tiles(context, plan, problem, kernels[plan->tiling.form][much]);
}
