/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_mirror of 1, 2 and 4 bytes at any pitch. What limits them is the way between the two
 * halves of the L2 cache (ltcfabric2ltc 85 to 93 % of its cycles): half of all sectors go there, and a piece of a row
 * that begins anywhere touches one more sector than it fills. So tiles are large; of large matrices, a pair of them
 * is spread over a cluster of two blocks, which leaves an SM more blocks to switch between than one block of both.
 */
#include "mirror_pick.cuh"

/* Half of the threads each swap one of the two tiles; both are read before either is written. */
template <int bytes, int vectors, int threads>
__global__ void __launch_bounds__(threads, SM_THREADS / threads) transpose_mirror_pick(transpose_arguments a) {
    typedef picked_tile<bytes, vectors, threads / 2> tile;
    tile_index at;
    const bool pair = pair_of_block(a, blockIdx.x, &at), second = threadIdx.x >= tile::threads;
    const bool works = pair && (!second || at.row != at.col);
    const tile mine = {a, second ? (uint32_t)tile::smem : 0, second ? at.col : at.row, second ? at.row : at.col,
                       threadIdx.x % tile::threads};
    if (works)
        mine.prefetch();
    gp_grid_dependency_wait();
    if (works)
        mine.load();
    __syncthreads();
    if (works)
        mine.store();
}

/* The tile of this block, one of two that swap a pair. False: none. */
__device__ inline bool tile_of_cluster(const transpose_arguments &a, tile_index *mine) {
    tile_index at;
    if (!pair_of_block(a, blockIdx.x / 2, &at))
        return false;
    const bool second = blockIdx.x % 2 == 1;
    *mine = second ? tile_index{at.col, at.row} : at;
    return !second || at.row != at.col;
}

template <int bytes>
__global__ void CLUSTER_OF_TWO __launch_bounds__(GP_MIRROR_PICK_WIDE_THREADS(bytes),
                                                 BLOCKS_OF(GP_MIRROR_PICK_WIDE_THREADS(bytes), 3))
    transpose_mirror_pick_wide(transpose_arguments a) {
    typedef picked_tile<bytes, GP_MIRROR_PICK_WIDE_VECTORS(bytes), GP_MIRROR_PICK_WIDE_THREADS(bytes)> tile;
    gp_grid_dependency_wait();
    tile_index at;
    if (!tile_of_cluster(a, &at))
        return;
    const tile mine = {a, 0, at.row, at.col, threadIdx.x};
    mine.load();
    await_cluster();
    mine.store();
}

const transpose_kernel transpose_mirror_pick_kernels[] = {
    transpose_mirror_pick<1, GP_MIRROR_PICK_SMALL_VECTORS, GP_MIRROR_PICK_SMALL_THREADS>,
    transpose_mirror_pick<2, GP_MIRROR_PICK_SMALL_VECTORS, GP_MIRROR_PICK_SMALL_THREADS>,
    transpose_mirror_pick<1, GP_MIRROR_PICK_VECTORS, GP_MIRROR_PICK_THREADS(1)>,
    transpose_mirror_pick<2, GP_MIRROR_PICK_VECTORS, GP_MIRROR_PICK_THREADS(2)>,
    transpose_mirror_pick_wide<1>,
    transpose_mirror_pick_wide<2>,
    transpose_mirror_pick_wide<4>};
