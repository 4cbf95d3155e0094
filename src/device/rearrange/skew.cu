/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes for pitches that put every row at another offset from a 32-byte sector. A sector written in parts costs
 * DRAM a read; so a tile's output rows do not start all at the same row of the input, but each at the sector's start
 * at or before it, up to `halo` rows early. The halo is loaded by two neighbouring tiles, mostly from L2.
 */
#include "../gpu.h"
#include "skew.cuh"

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

template <int bytes, int threads, int cols, bool whole, bool hinted>
__device__ inline void load_skewed(const transpose_arguments &a, const skewed_tile &tile,
                                   typename element_of<bytes>::type *shared) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t each = GP_TRANSPOSE_SKEW_ROWS, wide = cols / 32, warps = threads / 32;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, halo = a.cut.halo;
    const unsigned char *above = a.in + (tile.row + warp) * (int64_t)a.in_pitch + (tile.col + lane) * bytes;
    const unsigned char *from = above + halo * a.in_pitch;
    const uint64_t step = warps * a.in_pitch;
    const auto policy = read_policy<hinted>(a.cut);
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

/*
 * much: loads by policy, and columns of tiles in pairs where the cut asks for them. Others are better without either.
 * H200, us, 4 bytes: 45 x 372827 39.7 and 38.5, 91 x 184365 39.7 and 38.9.
 */
template <int bytes, int threads, int cols, bool much>
__global__ void __launch_bounds__(threads, GP_TRANSPOSE_THREADS * 3 / threads) transpose_skew(transpose_arguments a) {
    gp_await_earlier_kernels();
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t rows = threads / 32 * GP_TRANSPOSE_SKEW_ROWS;
    element *shared = (element *)transpose_shared;
    const skewed_tile tile = skewed_tile_of_block<much>(a);
    if (tile.whole)
        load_skewed<bytes, threads, cols, true, much>(a, tile, shared);
    else
        load_skewed<bytes, threads, cols, false, much>(a, tile, shared);
    __syncthreads();
    constexpr uint32_t at_once = threads / rows; /* output rows */
    const uint32_t x = threadIdx.x % rows, y = threadIdx.x / rows;
    unsigned char *to = a.out + (tile.col + y) * a.out_pitch + (tile.row + x) * (int64_t)bytes;
    const uint64_t step = at_once * a.out_pitch;
#pragma unroll
    for (uint32_t i = 0; i < cols / at_once; i++, to += step) {
        const uint32_t c = y + i * at_once, start = a.cut.halo - skew_of<bytes>(a, tile.col + c), r = start + x;
        if (c < tile.cols && (tile.whole || (r >= tile.lowest && r < tile.end)))
            *(element *)(to + start * bytes) = shared[r * (cols + 1) + c];
    }
}

template <int bytes, int cols, bool many = true> static const void *skew_of_threads(unsigned threads, bool much) {
    if constexpr (many)
        if (!much)
            return skew_of_threads<bytes, cols, false>(threads, much);
    return threads == 256   ? (const void *)transpose_skew<bytes, 256, cols, many>
           : threads == 128 ? (const void *)transpose_skew<bytes, 128, cols, many>
                            : (const void *)transpose_skew<bytes, 64, cols, many>;
}

extern "C" gp_status gp_launch_transpose_skew(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const gp_transpose_cut cut = gp_transpose_cut_of(plan);
    transpose_arguments arguments = transpose_arguments_of(problem, cut);
    void *list[] = {&arguments};
    const size_t bytes = problem->elem_bytes;
    const bool wide = cut.tile_cols == 64;
    const bool much = (cut.outlives || cut.apart > 0) && context->gpu->passing.bytes == 0;
    const void *kernel = bytes == 16  ? skew_of_threads<16, 32>(plan->tiling.threads, much)
                         : bytes == 8 ? wide ? skew_of_threads<8, 64>(plan->tiling.threads, much)
                                             : skew_of_threads<8, 32>(plan->tiling.threads, much)
                         : wide ? skew_of_threads<4, 64>(plan->tiling.threads, much)
                                      : skew_of_threads<4, 32>(plan->tiling.threads, much);
    return gp_gpu_launch(context, plan, kernel, list);
}

extern "C" gp_status gp_launch_transpose_narrow(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_launch_transpose_skew(context, plan, problem);
}
