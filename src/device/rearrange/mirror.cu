/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_mirror, in place: here 3 to 8, 12, 16 and 24 bytes, any pitch; 1 and 2 in swap.cu and mirror_pick.cu. L2
 * is what limits large matrices (87 % of its peak at 11585 x 11585 of 4 bytes, DRAM 69 %): a row of a tile that
 * begins anywhere reaches into one more sector than it fills. So large matrices take large tiles. Stores are shifted
 * such that none reaches into two lines.
 */
#include "tile.cuh"

/* Architectures 8.0, 9.0 and 10.0 have room for 2048 threads on an SM, others for 1024 or 1536. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
#define SMALL_BLOCKS_OF_4 8
#else
#define SMALL_BLOCKS_OF_4 4
#endif

/* Blocks an SM that registers leave room for. */
#define BLOCKS(bytes, side) \
    ((side) == 32 ? ((bytes) == 4 ? SMALL_BLOCKS_OF_4 : 4) : (bytes) == 16 ? 1 : (bytes) == 8 ? 2 : 3)

/* Elements of some words of a power of two bytes. Rows in shared memory are an element longer, against bank
 * conflicts. */
template <int word_bytes, int words_, int side, int threads> struct mirror_tile {
    typedef typename element_of<word_bytes>::type word;
    static constexpr uint32_t words = words_, bytes = word_bytes * words, across = side * words;
    static constexpr uint32_t lanes = 32, wide = across / lanes; /* loads a row and thread */
    static constexpr uint32_t at_once = threads / lanes, each = side / at_once, pitch = across + words; /* rows */
    static constexpr uint32_t line = GP_LINE / sizeof(word);
    static constexpr bool shifts = words == 1 && across > line;
    static constexpr size_t smem = side * pitch * sizeof(word);
    typedef word held[each][wide];

    const transpose_arguments &a;
    unsigned char *memory;
    uint32_t row, col; /* tiles */

    __device__ static uint32_t lane() {
        return threadIdx.x % lanes;
    }
    __device__ static uint32_t first() {
        return threadIdx.x % threads / lanes;
    }
    __device__ void load(held kept) const {
        const uint64_t top = (uint64_t)row * side, left = (uint64_t)col * side;
        const uint32_t rows = left_of(a.rows, top, side), cols = left_of(a.cols, left, side) * words;
        const unsigned char *from = a.in + (top + first()) * a.in_pitch + left * bytes;
#pragma unroll
        for (uint32_t i = 0; i < each; i++, from += at_once * a.in_pitch)
#pragma unroll
            for (uint32_t j = 0; j < wide; j++)
                if (first() + i * at_once < rows && lane() + j * lanes < cols)
                    kept[i][j] = ((const word *)from)[lane() + j * lanes];
    }
    __device__ void keep(const held kept) const {
        word *to = (word *)memory + first() * pitch + lane();
#pragma unroll
        for (uint32_t i = 0; i < each; i++)
#pragma unroll
            for (uint32_t j = 0; j < wide; j++)
                to[i * at_once * pitch + j * lanes] = kept[i][j];
    }
    /* Words that `to` lies past a line's start. */
    __device__ static uint32_t late(const unsigned char *to) {
        return shifts ? (uint32_t)(uintptr_t)to / sizeof(word) % line : 0;
    }
    __device__ void store_word(unsigned char *to, uint32_t r, uint32_t x) const {
        ((word *)to)[x] = ((const word *)memory)[x / words * pitch + r * words + x % words];
    }
    __device__ void store() const {
        const uint64_t top = (uint64_t)col * side, left = (uint64_t)row * side;
        const uint32_t rows = left_of(a.rows, top, side), cols = left_of(a.cols, left, side) * words;
        unsigned char *const begin = a.out + (top + first()) * a.out_pitch + left * bytes, *to = begin;
#pragma unroll
        for (uint32_t i = 0; i < each; i++, to += at_once * a.out_pitch)
#pragma unroll
            for (uint32_t j = 0; j < wide; j++) {
                const uint32_t r = first() + i * at_once, x = lane() + j * lanes - late(to);
                if (r < rows && x < cols)
                    store_word(to, r, x);
            }
        if (!shifts)
            return;
        /* What the shift left over at the rows' ends: less than a line, of as many rows as lines have room for. */
        const uint32_t other = lane() / line;
#pragma unroll
        for (uint32_t i = 0; i < each; i += lanes / line) {
            const uint32_t r = first() + (i + other) * at_once;
            unsigned char *const late_row = begin + (i + other) * at_once * a.out_pitch;
            const uint32_t past = late(late_row), x = across - past + lane() % line;
            if (i + other < each && lane() % line < past && r < rows && x < cols)
                store_word(late_row, r, x);
        }
    }
};

/* All loads of both tiles are under way before the first is waited for. */
template <bool late, typename tile>
__device__ inline void swap_together(const tile &upper, const tile &lower, bool mirrored) {
    typename tile::held above, below;
    upper.load(above);
    if (mirrored)
        lower.load(below);
    upper.keep(above);
    if (mirrored)
        lower.keep(below);
    __syncthreads();
    if (late)
        gp_admit_later_kernels();
    upper.store();
    if (mirrored)
        lower.store();
}

/* Half of the threads each. */
template <typename tile> __device__ inline void swap_by_halves(const tile &mine, bool works) {
    typename tile::held kept;
    if (works) {
        mine.load(kept);
        mine.keep(kept);
    }
    __syncthreads();
    gp_admit_later_kernels();
    if (works)
        mine.store();
}

/*
 * Before it waits for the kernel before it, a block asks for the lines in which pieces of its tiles' rows begin, a
 * thread a line: they are in L2, or on their way there, when waiting ends. No value is read that early. 16 bytes are
 * slower with it. 512 x 512 of 12 bytes on an H200: 3.8 us without, 3.2 with.
 */
template <int bytes, int side, int threads>
__device__ inline void fetch_early(const transpose_arguments &a, const tile_index &at) {
#if __CUDA_ARCH__ >= 900
    constexpr uint32_t lines = side * bytes / GP_LINE;
    static_assert(2 * side * lines <= threads, "a thread has one line at most");
    const uint32_t piece = threadIdx.x % lines * GP_LINE, y = threadIdx.x / lines;
    const bool second = y >= side;
    if (y >= 2 * side || (second && at.row == at.col))
        return;
    const uint64_t row = (uint64_t)(second ? at.col : at.row) * side + y % side;
    const uint64_t past = (uint64_t)(second ? at.row : at.col) * side * bytes + piece;
    if (row < a.rows && past < a.cols * bytes)
        gp_prefetch(a.in + row * a.in_pitch + past);
#endif
}

/*
 * Elements of several words by halves, others together. The next call's blocks: of two calls that share the SMs,
 * blocks come by 5 to some and by 2 to others, so of 12 and 16 bytes they come when all loads are under way. 725 x
 * 725 of 16 bytes on an H200: 7.3 us when they come at once, 6.1 late.
 */
template <int word, int words, int side, int threads>
__global__ void __launch_bounds__(threads, BLOCKS(word *words, side)) transpose_mirror(transpose_arguments a) {
    constexpr int bytes = word * words;
    typedef mirror_tile<word, words, side, (words > 1 ? threads / 2 : threads)> tile;
    constexpr bool late = bytes >= 12 && side == 32;
    tile_index at;
    const bool works = pair_of_block(a, blockIdx.x, &at);
    if constexpr (word >= 4 && bytes <= 12 && side == 32)
        if (works)
            fetch_early<bytes, side, threads>(a, at);
    gp_grid_dependency_wait(gp_admission::later);
    if (!late)
        gp_admit_later_kernels();
    if (!works)
        return;
    const bool mirrored = at.row != at.col;
    if constexpr (words > 1) {
        const bool second = threadIdx.x >= threads / 2;
        const tile mine = {a, transpose_shared + (second ? tile::smem : 0), second ? at.col : at.row,
                           second ? at.row : at.col};
        swap_by_halves(mine, !second || mirrored);
    } else {
        const tile upper = {a, transpose_shared, at.row, at.col},
                   lower = {a, transpose_shared + tile::smem, at.col, at.row};
        swap_together<late>(upper, lower, mirrored);
    }
}

static const transpose_kernel kernels[] = {
    transpose_mirror<4, 1, 32, GP_TRANSPOSE_THREADS>,  transpose_mirror<4, 1, 64, GP_TRANSPOSE_THREADS>,
    transpose_mirror<8, 1, 32, GP_TRANSPOSE_THREADS>,  transpose_mirror<8, 1, 64, GP_TRANSPOSE_THREADS>,
    transpose_mirror<16, 1, 32, GP_TRANSPOSE_THREADS>, transpose_mirror<16, 1, 64, GP_TRANSPOSE_MIRROR_WIDE_THREADS>,
    transpose_mirror<1, 3, 32, GP_TRANSPOSE_THREADS>,  transpose_mirror<2, 3, 32, GP_TRANSPOSE_THREADS>,
    transpose_mirror<4, 3, 32, GP_TRANSPOSE_THREADS>,  transpose_mirror<8, 3, 32, GP_TRANSPOSE_THREADS>,
    transpose_mirror<1, 5, 32, GP_TRANSPOSE_THREADS>,  transpose_mirror<1, 7, 32, GP_TRANSPOSE_THREADS>};

GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror) {
    const unsigned form = plan->tiling.form;
    return launch_tiles(context, plan, problem,
                        form >= GP_MIRROR_PICK_FORM   ? transpose_mirror_pick_kernels[form - GP_MIRROR_PICK_FORM]
                        : form >= GP_MIRROR_SWAP_FORM ? transpose_swap_kernels[form - GP_MIRROR_SWAP_FORM]
                                                      : kernels[form]);
}
