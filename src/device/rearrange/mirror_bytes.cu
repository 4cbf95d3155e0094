/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_mirror_bytes, _mid: 1 and 2 bytes in place, small, any pitch, in words. Each row of the matrix is counted
 * from the word that holds its first byte: element c of row r stands at c + skew(r). Tile (i, j) is all elements (r,
 * c) with r + skew(c) in the i-th stretch and c + skew(r) in the j-th: its mirror image is tile (j, i), and what it
 * has of a row are whole words, but for the few rows at a stretch's end that it shares, element by element, with the
 * next tile. No word of another row is written, and no two blocks write one byte; a word may be read while another
 * block writes those of its bytes that are not used here.
 */
#include "../gpu.h"
#include "../warp.cuh"
#include "mirror.cuh"

#define BLOCKS(lanes) (64 / (lanes)) /* an SM, that registers leave room for */

/*
 * A tile of `lanes` words by as many groups of rows, of which it owns all but the last word and the first group: the
 * rows above are where its skewed columns begin. `half` threads, `lanes` of them along a row.
 */
template <int bytes, int lanes, int half> struct byte_tile {
    static constexpr uint32_t threads = half, elems = 4 / bytes, groups = lanes, side = groups * elems;
    static constexpr uint32_t owned = groups - 1, stretch = owned * elems; /* words, elements */
    static constexpr uint32_t beside = 32 / lanes, warps = threads / 32;   /* rows or groups a warp takes at once */
    static constexpr uint32_t each = groups / (warps * beside), pitch = elems * groups + beside; /* words */
    static constexpr size_t smem = 4 * (groups * pitch + 1);
    typedef uint32_t held[each][elems];

    const transpose_arguments &a;
    uint32_t *shared;
    uint32_t row, col; /* tile */
    bool whole;        /* no row or column of it lies outside the matrix */

    __device__ static uint32_t lane() {
        return threadIdx.x % lanes;
    }
    __device__ static uint32_t warp() {
        return threadIdx.x % threads / 32;
    }
    __device__ static int64_t first(uint32_t tile) {
        return (int64_t)tile * stretch - elems;
    }
    /* Bytes that a row starts past a word's start; the same elems rows further down. */
    __device__ uint32_t skew(int64_t r) const {
        return ((uint32_t)(uintptr_t)a.in + (uint32_t)r * (uint32_t)a.in_pitch) & 3;
    }
    __device__ static uint32_t load_inside(const unsigned char *from, const unsigned char *begin,
                                           const unsigned char *end) {
        if (from >= begin && from + 4 <= end)
            return *(const uint32_t *)from;
        uint32_t word = 0;
        for (int i = 0; i < 4; i++)
            if (from + i >= begin && from + i < end)
                word |= (uint32_t)from[i] << 8 * i;
        return word;
    }
    template <bool all> __device__ void load_words(held kept) const {
        constexpr uint32_t step = warps * beside * elems; /* rows */
        const int64_t top = first(row) + threadIdx.x % threads / lanes * elems, left = (int64_t)col * stretch;
        const unsigned char *end = a.in + (a.rows - 1) * a.in_pitch + a.cols * bytes;
#pragma unroll
        for (uint32_t k = 0; k < elems; k++) {
            const uint32_t s = skew(top + k);
            const unsigned char *from = a.in + (top + k) * (int64_t)a.in_pitch - s + left * bytes;
#pragma unroll
            for (uint32_t i = 0; i < each; i++, from += step * a.in_pitch) {
                const uint32_t w = lane();
                const int64_t r = top + k + i * step, c = left + w * elems - s / bytes;
                if (all && w < owned)
                    kept[i][k] = ((const uint32_t *)from)[w];
                else if (w < owned && r >= 0 && r < (int64_t)a.rows && c < (int64_t)a.cols)
                    kept[i][k] = load_inside(from + w * 4, a.in, end);
            }
        }
    }
    __device__ void load(held kept) const {
        if (whole)
            load_words<true>(kept);
        else
            load_words<false>(kept);
    }
    /* Elements of one column are cut out of two neighbouring words; squares of them become words of columns. */
    __device__ void keep(const held kept) const {
        const uint32_t y = threadIdx.x % threads / lanes;
        uint32_t shift[elems];
#pragma unroll
        for (uint32_t k = 0; k < elems; k++)
            shift[k] = skew(first(row) + k) * 8;
#pragma unroll
        for (uint32_t i = 0; i < each; i++) {
            uint32_t square[elems];
#pragma unroll
            for (uint32_t k = 0; k < elems; k++) {
                const uint32_t left = __shfl_sync(GP_FULL_WARP, kept[i][k], (lane() - 1) % lanes, lanes);
                square[k] = __funnelshift_r(left, kept[i][k], shift[k]);
            }
            transpose_words<bytes>(square);
            uint32_t *to = shared + lane() * pitch + y + i * warps * beside;
#pragma unroll
            for (uint32_t k = 0; k < elems; k++)
                to[k * groups] = square[k];
        }
    }
    /* Word w of output row c, those of its elements that are this tile's. */
    __device__ void store_elements(uint32_t c, uint32_t w) const {
        typedef typename element_of<bytes>::type element;
        const int64_t top = first(row), r = first(col) + c, left = (int64_t)a.rows - top;
        if (r < 0 || r >= (int64_t)a.rows || w >= owned)
            return;
        const uint32_t s = skew(r), *column = shared + c / elems * pitch + c % elems * groups + w;
        const uint32_t word = __funnelshift_rc(column[0], column[1], 32 - 8 * s);
        const int32_t at = (int32_t)((w + 1) * elems - s / bytes), low = top < 0 ? (int32_t)-top : 0;
        const int32_t high = left < side ? (int32_t)left : (int32_t)side;
        const uint32_t least = c < elems ? elems - c : 0, most = c > side - elems ? side - c : elems;
        uint32_t *to = (uint32_t *)(a.out + r * (int64_t)a.out_pitch - s + (uint64_t)row * stretch * bytes) + w;
        if (least == 0 && most == elems && at >= low && at + (int32_t)elems <= high) {
            *to = word;
            return;
        }
#pragma unroll
        for (int32_t k = 0; k < (int32_t)elems; k++) {
            const uint32_t across = least == 0 && most == elems ? 0 : skew(top + at + k) / bytes;
            if (at + k >= low && at + k < high && across >= least && across < most)
                ((element *)to)[k] = (element)(word >> 8 * bytes * k);
        }
    }
    /* A whole tile: its rows but for the shared ones, whose skew repeats, and then those. */
    __device__ void store_words() const {
        constexpr uint32_t mine = side / warps, steps = mine / beside, phases = elems > beside ? elems / beside : 1;
        const uint32_t other = threadIdx.x % 32 / lanes;
        const int64_t top = first(col) + warp() * mine + other;
        uint32_t shift[phases];
        unsigned char *to[phases];
#pragma unroll
        for (uint32_t i = 0; i < phases; i++) {
            const uint32_t s = skew(top + i * beside);
            shift[i] = 32 - 8 * s;
            to[i] =
                a.out + (top + i * beside) * (int64_t)a.out_pitch - s + (uint64_t)row * stretch * bytes + lane() * 4;
        }
        const uint32_t *column = shared + warp() * (mine / elems) * pitch + lane();
#pragma unroll
        for (uint32_t i = 0; i < steps; i++) {
            const uint32_t c = i * beside + other, *word = column + c / elems * pitch + c % elems * groups;
            const bool is_shared = (i * beside < elems && warp() == 0 && c < elems) ||
                                   ((i + 1) * beside > mine - elems + 1 && warp() == warps - 1 && c > mine - elems);
            const uint32_t value = __funnelshift_rc(word[0], word[1], shift[i % phases]);
            if (lane() < owned && !is_shared)
                *(uint32_t *)to[i % phases] = value;
            to[i % phases] += phases * beside * a.out_pitch;
        }
#pragma unroll 1
        for (uint32_t i = warp(); i < 2 * elems - 2; i += warps)
            if (other == 0)
                store_elements(i < elems - 1 ? i + 1 : side - 2 * elems + 2 + i, lane());
    }
    __device__ void store() const {
        if (whole)
            return store_words();
#pragma unroll 2
        for (uint32_t c = threadIdx.x % threads / lanes; c < side; c += threads / lanes)
            store_elements(c, lane());
    }
};

/* Half of the threads each swap one of the two tiles; both are read before either is written. */
template <int bytes, int lanes>
__global__ void __launch_bounds__(GP_TRANSPOSE_MIRROR_THREADS(lanes), BLOCKS(lanes))
    transpose_mirror_bytes(transpose_arguments a) {
    typedef byte_tile<bytes, lanes, GP_TRANSPOSE_MIRROR_THREADS(lanes) / 2> tile;
    gp_await_earlier_kernels();
    tile_index at;
    if (!pair_of_block(a, blockIdx.x, &at))
        return;
    const bool second = threadIdx.x >= tile::threads, works = !second || at.row != at.col;
    const tile mine = {a, (uint32_t *)(transpose_shared + (second ? tile::smem : 0)), second ? at.col : at.row,
                       second ? at.row : at.col, at.row > 0 && tile::first(at.col) + tile::side <= (int64_t)a.rows};
    typename tile::held kept;
    if (works) {
        mine.load(kept);
        mine.keep(kept);
    }
    __syncthreads();
    if (works)
        mine.store();
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem, const void *kernel) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_of(plan));
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernel, list);
}

extern "C" gp_status gp_launch_transpose_mirror_bytes(gp_context *context, const gp_plan *plan,
                                                      const gp_problem *problem) {
    return launch(context, plan, problem,
                  problem->elem_bytes == 2 ? (const void *)transpose_mirror_bytes<2, 8>
                                           : (const void *)transpose_mirror_bytes<1, 8>);
}

extern "C" gp_status gp_launch_transpose_mirror_bytes_mid(gp_context *context, const gp_plan *plan,
                                                          const gp_problem *problem) {
    return launch(context, plan, problem,
                  problem->elem_bytes == 2 ? (const void *)transpose_mirror_bytes<2, 16>
                                           : (const void *)transpose_mirror_bytes<1, 16>);
}
