/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_mirror_pick, _wide, _quads: 1, 2 and 4 bytes in place, any pitch. What limits them is the way between the
 * two halves of the L2 cache (ltcfabric2ltc 85 to 93 % of its cycles): half of all sectors go there, and a piece of a
 * row that begins anywhere touches one more sector than it fills. So tiles are large; _wide and _quads spread a pair
 * of tiles over a cluster of two blocks, which leaves an SM more blocks to switch between than one block of both.
 */
#include "gpu.h"
#include "transpose_mirror_pick.cuh"
#include "warp.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CLUSTER_OF_TWO __cluster_dims__(2, 1, 1)
#else
#define CLUSTER_OF_TWO
#endif

/* Blocks an SM that registers leave room for, and threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define BLOCKS(threads) (1536 / (threads))
#else
#define BLOCKS(threads) (1024 / (threads))
#endif

/* Half of the threads each swap one of the two tiles; both are read before either is written. */
template <int bytes, int threads>
__global__ void __launch_bounds__(threads, BLOCKS(threads)) transpose_mirror_pick(transpose_arguments a) {
    typedef picked_tile<bytes, GP_TRANSPOSE_MIRROR_PICK_VECTORS, threads / 2> tile;
    gp_await_earlier_kernels();
    tile_index at;
    if (!pair_of_block(a, blockIdx.x, &at))
        return;
    const bool second = threadIdx.x >= tile::threads, works = !second || at.row != at.col;
    const tile mine = {a, second ? (uint32_t)tile::smem : 0, second ? at.col : at.row, second ? at.row : at.col,
                       threadIdx.x % tile::threads};
    if (works)
        mine.load();
    __syncthreads();
    if (works)
        mine.store();
}

/*
 * All threads of both blocks have read what either block will write. Nothing passes between the blocks, so the
 * barrier need not order their memory: relaxed, 11585 x 11585 of 1 byte takes 88.8 us for 93.2 (H200).
 * __syncthreads() is for the block's own shared memory.
 */
__device__ inline void await_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    __syncthreads();
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
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

template <int bytes, int vectors, int threads>
__global__ void CLUSTER_OF_TWO __launch_bounds__(threads, bytes == 2 ? BLOCKS(threads) : 3)
    transpose_mirror_pick_wide(transpose_arguments a) {
    typedef picked_tile<bytes, vectors, threads> tile;
    gp_await_earlier_kernels();
    tile_index at;
    if (!tile_of_cluster(a, &at))
        return;
    tile mine = {a, 0, at.row, at.col, threadIdx.x};
    if constexpr (tile::keeps) {
        mine.read = policy_last();
        mine.written = policy_normal();
    }
    mine.load();
    await_cluster();
    mine.store();
}

/*
 * Odd pitches of 1 byte: four output rows that follow each other have all four skews, so their words come from seven
 * rows of the tile, of which each lane reads a word for four elements and keeps the last one. H200, 2897 x 2897: 9.8
 * us for 12.3 of bytes picked one by one from the same tiles. The first of the four is the one without skew.
 */
typedef picked_tile<1, GP_TRANSPOSE_MIRROR_QUADS_VECTORS, GP_TRANSPOSE_MIRROR_QUADS_THREADS> quads_tile;

struct quads {
    static constexpr uint32_t rows = 7, times = quads_tile::times;
    uint32_t from[times][rows], low[times][rows], shift[4], pick[4];
    unsigned char *to[4];

    /* Of the output rows from column c of the tile on. */
    __device__ quads(const quads_tile &tile, uint32_t c, uint32_t odd) {
        const transpose_arguments &a = tile.a;
        const int64_t above = (int64_t)tile.col * tile.stretch + c;
#pragma unroll
        for (uint32_t i = 0; i < times; i++)
#pragma unroll
            for (uint32_t k = 0; k < rows; k++) {
                const uint32_t place = tile.place(min(tile.lane() + i * 32, tile.words - 1) * 4 + k) + c;
                from[i][k] = place & ~3u;
                low[i][k] = *(const uint32_t *)(transpose_shared + from[i][k]);
                if (k < 4)
                    shift[k] = (place & 3) * 8;
            }
#pragma unroll
        for (uint32_t s = 0; s < 4; s++) {
            const uint32_t column = s * odd & 3; /* whose skew is s */
            pick[s] = column | (column + 4) << 4;
            to[s] = a.out + (above + column) * (int64_t)a.out_pitch - s + (uint64_t)tile.row * tile.stretch +
                    tile.lane() * 4;
        }
    }
    __device__ void store(const quads_tile &tile, uint64_t step) {
        uint32_t v[times][rows];
#pragma unroll
        for (uint32_t i = 0; i < times; i++)
#pragma unroll
            for (uint32_t k = 0; k < rows; k++) {
                const uint32_t high = *(const uint32_t *)(transpose_shared + (from[i][k] += 4));
                v[i][k] = __funnelshift_r(low[i][k], high, shift[k % 4]);
                low[i][k] = high;
            }
#pragma unroll
        for (uint32_t s = 0; s < 4; s++) {
#pragma unroll
            for (uint32_t i = 0; i < times; i++) {
                const uint32_t word = __byte_perm(__byte_perm(v[i][3 - s], v[i][4 - s], pick[s]),
                                                  __byte_perm(v[i][5 - s], v[i][6 - s], pick[s]), 0x5410);
                if (tile.lane() + i * 32 < tile.words)
                    ((uint32_t *)to[s])[i * 32] = word;
            }
            to[s] += step;
        }
    }
};

__device__ inline void store_quads(const quads_tile &tile) {
    constexpr uint32_t whole = quads_tile::stretch - 3, each = (whole / 4 + quads_tile::warps) / quads_tile::warps;
    const uint32_t odd = (uint32_t)tile.a.in_pitch & 3;
    const uint32_t early =
        (0u - tile.skew((int64_t)tile.col * tile.stretch) * odd) & 3; /* columns before the first */
    const uint32_t groups = (whole - early) / 4, begin = tile.warp() * each;
    quads q(tile, early + min(begin, groups - 1) * 4, odd);
    const uint32_t end = min(begin + each, groups);
#pragma unroll 1
    for (uint32_t i = begin; i < end; i++)
        q.store(tile, 4 * tile.a.out_pitch);
    const uint32_t late = early + groups * 4;
#pragma unroll 1
    for (uint32_t i = tile.warp(); i < early + whole - late; i += tile.warps)
        tile.store_row((int32_t)(i < early ? i : late + i - early));
    tile.store_shared_rows();
}

__global__ void CLUSTER_OF_TWO __launch_bounds__(GP_TRANSPOSE_MIRROR_QUADS_THREADS, 2)
    transpose_mirror_pick_quads(transpose_arguments a) {
    gp_await_earlier_kernels();
    tile_index at;
    if (!tile_of_cluster(a, &at))
        return;
    const quads_tile mine = {a, 0, at.row, at.col, threadIdx.x};
    mine.load();
    await_cluster();
    const bool whole = mine.row > 0 && mine.is_inside(); /* no word of it reaches out of the matrix */
    if (whole && a.in_pitch % 2 == 1)
        store_quads(mine);
    else
        mine.store();
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                        const gp_transpose_cut &cut, const void *kernel) {
    transpose_arguments arguments = transpose_arguments_of(problem, cut);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernel, list);
}

extern "C" gp_status gp_launch_transpose_mirror_pick(gp_context *context, const gp_plan *plan,
                                                     const gp_problem *problem) {
    return launch(context, plan, problem, gp_transpose_cut_mirror_pick(problem, plan->threads),
                  problem->elem_bytes == 1
                      ? (const void *)transpose_mirror_pick<1, GP_TRANSPOSE_MIRROR_PICK_THREADS(1)>
                      : (const void *)transpose_mirror_pick<2, GP_TRANSPOSE_MIRROR_PICK_THREADS(2)>);
}

extern "C" gp_status gp_launch_transpose_mirror_pick_wide(gp_context *context, const gp_plan *plan,
                                                          const gp_problem *problem) {
    const void *two = (const void *)transpose_mirror_pick_wide<2, GP_TRANSPOSE_MIRROR_PICK_WIDE_VECTORS(2),
                                                               GP_TRANSPOSE_MIRROR_PICK_WIDE_THREADS(2)>;
    const void *four = (const void *)transpose_mirror_pick_wide<4, GP_TRANSPOSE_MIRROR_PICK_WIDE_VECTORS(4),
                                                                GP_TRANSPOSE_MIRROR_PICK_WIDE_THREADS(4)>;
    return launch(context, plan, problem, gp_transpose_cut_mirror_pick_wide(problem, plan->threads),
                  problem->elem_bytes == 2 ? two : four);
}

extern "C" gp_status gp_launch_transpose_mirror_pick_quads(gp_context *context, const gp_plan *plan,
                                                           const gp_problem *problem) {
    return launch(context, plan, problem, gp_transpose_cut_mirror_pick_quads(problem, plan->threads),
                  (const void *)transpose_mirror_pick_quads);
}
