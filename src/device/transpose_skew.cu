/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes for pitches that put every row at another offset from a 32-byte sector. A sector written in parts costs
 * DRAM a read; so a tile's output rows do not start all at the same row of the input, but each at the sector's start
 * at or before it, up to `halo` rows early. The halo is loaded by two neighbouring tiles, mostly from L2.
 */
#include "gpu.h"
#include "transpose.cuh"

/* Where a tile lies: local row 0 is the halo's first, local rows lowest .. end - 1 are in the matrix. */
struct skewed_tile {
    int64_t row;
    uint64_t col;
    uint32_t lowest, end;
    uint32_t cols; /* inside the matrix */
    bool whole;    /* every row of it and of its halo is in the matrix */
};

__device__ inline skewed_tile skewed_tile_of_block(const transpose_arguments &a) {
    const tile_index at = tile_of_block(a.cut);
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

/* Elements that output row `col` lies past a sector's start, which is how much earlier its segments begin. */
template <int bytes> __device__ inline uint32_t skew_of(const transpose_arguments &a, uint64_t col) {
    const uint32_t first = (uint32_t)((uintptr_t)a.out / bytes), pitch = (uint32_t)(a.out_pitch / bytes);
    return a.cut.halo == 0 ? 0 : (first + (uint32_t)col * pitch) & (a.cut.halo - 1);
}

/* A warp's row of the tile, 32 neighbours `wide` times; `whole`: no row lies outside the matrix. */
template <int bytes, bool whole>
__device__ inline void load_row(const skewed_tile &tile, uint32_t r, const unsigned char *from,
                                typename element_of<bytes>::type *kept) {
    typedef typename element_of<bytes>::type element;
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t j = 0; j < GP_TRANSPOSE_SKEW_COLS(bytes) / 32; j++)
        if (lane + 32 * j < tile.cols && (whole || (r >= tile.lowest && r < tile.end)))
            kept[j] = __ldg((const element *)from + 32 * j);
}

template <int bytes, int threads, bool whole>
__device__ inline void load_skewed(const transpose_arguments &a, const skewed_tile &tile,
                                   typename element_of<bytes>::type *shared) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t each = GP_TRANSPOSE_SKEW_ROWS, cols = GP_TRANSPOSE_SKEW_COLS(bytes), wide = cols / 32;
    constexpr uint32_t warps = threads / 32;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, halo = a.cut.halo;
    const unsigned char *above = a.in + (tile.row + warp) * (int64_t)a.in_pitch + (tile.col + lane) * bytes;
    const unsigned char *from = above + halo * a.in_pitch;
    const uint64_t step = warps * a.in_pitch;
    element kept[each][wide], early[wide];
#pragma unroll
    for (uint32_t i = 0; i < each; i++)
        load_row<bytes, whole>(tile, halo + warp + i * warps, from + i * step, kept[i]);
    for (uint32_t r = warp; r < halo; r += warps, above += step) {
        load_row<bytes, whole>(tile, r, above, early);
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

template <int bytes, int threads>
__global__ void __launch_bounds__(threads, GP_TRANSPOSE_THREADS * 3 / threads) transpose_skew(transpose_arguments a) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t cols = GP_TRANSPOSE_SKEW_COLS(bytes), rows = threads / 32 * GP_TRANSPOSE_SKEW_ROWS;
    element *shared = (element *)transpose_shared;
    const skewed_tile tile = skewed_tile_of_block(a);
    if (tile.whole)
        load_skewed<bytes, threads, true>(a, tile, shared);
    else
        load_skewed<bytes, threads, false>(a, tile, shared);
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

/* 4 / bytes elements from `from` on: two whole words where those lie inside the matrix's memory, else one by one. */
template <int bytes>
__device__ inline uint32_t load_elements(const transpose_arguments &a, const unsigned char *from, uint32_t elements) {
    typedef typename element_of<bytes>::type element;
    const uint32_t past = (uint32_t)(uintptr_t)from & 3;
    const unsigned char *word = from - past, *end = a.in + (a.rows - 1) * a.in_pitch + a.cols * bytes;
    if (word >= a.in && word + 8 <= end)
        return __funnelshift_r(__ldg((const uint32_t *)word), __ldg((const uint32_t *)word + 1), past * 8);
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4 / bytes && i < elements; i++)
        result |= (uint32_t)((const element *)from)[i] << 8 * bytes * i;
    return result;
}

/* The rows' words in, the columns' words out. */
template <int bytes> __device__ inline void transpose_words(uint32_t *w) {
    if constexpr (bytes == 1) {
        transpose_bytes(w[0], w[1], w[2], w[3]);
    } else {
        const uint32_t low = __byte_perm(w[0], w[1], 0x5410);
        w[1] = __byte_perm(w[0], w[1], 0x7632);
        w[0] = low;
    }
}

/*
 * Elements of 1 and 2 bytes travel as words of `elems` neighbours: a word of a row is cut out of two aligned words,
 * squares of elems x elems elements are transposed in registers, words of a column are shared memory's. Rows that lie
 * a multiple of `elems` apart are equally far from a word's start, so a thread needs only `elems` addresses and
 * shifts.
 */
template <int bytes> struct word_rows {
    static constexpr uint32_t elems = 4 / bytes;
    const uint32_t *from[elems];
    uint32_t shift[elems];
    __device__ word_rows(const transpose_arguments &a, const skewed_tile &tile, uint32_t row) {
#pragma unroll
        for (uint32_t k = 0; k < elems; k++) {
            const uintptr_t at = (uintptr_t)(a.in + (tile.row + row + k) * (int64_t)a.in_pitch + tile.col * bytes);
            from[k] = (const uint32_t *)(at & ~(uintptr_t)3) + threadIdx.x % 32;
            shift[k] = (uint32_t)(at & 3) * 8;
        }
    }
    __device__ void load(uint64_t words_below, uint32_t *w) const {
#pragma unroll
        for (uint32_t k = 0; k < elems; k++)
            w[k] = __funnelshift_r(__ldg(from[k] + words_below), __ldg(from[k] + words_below + 1), shift[k]);
    }
};

template <int bytes, int threads, int each, bool safe>
__device__ inline void load_shifted(const transpose_arguments &a, const skewed_tile &tile) {
    constexpr uint32_t elems = 4 / bytes, loads = safe ? GP_TRANSPOSE_SHIFT_LOADS : 1, warps = threads / 32;
    constexpr uint32_t stride = GP_TRANSPOSE_SHIFT_WORDS(each * warps, elems);
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t groups = each * warps + a.cut.halo / elems, left = tile.cols - lane * elems;
    if (lane * elems >= tile.cols)
        return;
    uint32_t *to = (uint32_t *)transpose_shared + lane * elems * stride + lane, kept[loads][elems];
    const word_rows<bytes> rows(a, tile, warp * elems);
    const uint64_t step = warps * (a.in_pitch * elems / 4); /* words from a thread's group of rows to its next */
    uint64_t below = 0;
    for (uint32_t first = warp; first < groups; first += loads * warps, below += loads * step) {
#pragma unroll
        for (uint32_t i = 0; i < loads; i++) {
            const uint32_t r = (first + i * warps) * elems;
            if (safe && first + i * warps < groups)
                rows.load(below + i * step, kept[i]);
            for (uint32_t k = 0; !safe && k < elems; k++)
                kept[i][k] = r + k < tile.lowest || r + k >= tile.end
                                 ? 0
                                 : load_elements<bytes>(a,
                                                        a.in + (tile.row + r + k) * (int64_t)a.in_pitch +
                                                            (tile.col + lane * elems) * bytes,
                                                        left);
        }
#pragma unroll
        for (uint32_t i = 0; i < loads; i++) {
            transpose_words<bytes>(kept[i]);
            if (first + i * warps < groups)
#pragma unroll
                for (uint32_t k = 0; k < elems; k++)
                    to[k * stride + first + i * warps] = kept[i][k];
        }
    }
}

/* The two words' worth that a load may reach outside its row lies inside the matrix's memory, for every row. */
template <int bytes> __device__ inline bool words_are_safe(const transpose_arguments &a, const skewed_tile &tile) {
    const uint64_t last = (tile.row + tile.end - 1) * a.in_pitch + (tile.col + tile.cols) * bytes + 8;
    return tile.whole && (uint64_t)tile.row * a.in_pitch + tile.col * bytes >= 3 &&
           last <= (a.rows - 1) * a.in_pitch + a.cols * bytes;
}

/* Stores those of a word's elements that lie in the matrix; `to` is aligned. */
template <int bytes>
__device__ inline void store_elements(unsigned char *to, uint32_t word, uint32_t first, uint32_t end) {
    typedef typename element_of<bytes>::type element;
    for (uint32_t i = first; i < end; i++)
        ((element *)to)[i] = (element)(word >> 8 * bytes * i);
}

/* A warp an output row: each lane cuts its word out of two of the column's words. `each`: words of a column a warp.
 */
template <int bytes, int threads, int each>
__global__ void __launch_bounds__(threads, GP_TRANSPOSE_THREADS / threads * GP_TRANSPOSE_BLOCKS_2)
    transpose_shift(transpose_arguments a) {
    constexpr uint32_t elems = 4 / bytes, warps = threads / 32, rows = each * warps * elems;
    constexpr uint32_t stride = GP_TRANSPOSE_SHIFT_WORDS(each * warps, elems);
    const skewed_tile tile = skewed_tile_of_block(a);
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (words_are_safe<bytes>(a, tile))
        load_shifted<bytes, threads, each, true>(a, tile);
    else
        load_shifted<bytes, threads, each, false>(a, tile);
    __syncthreads();
    const uint32_t *shared = (const uint32_t *)transpose_shared + lane;
    unsigned char *row = a.out + (tile.col + warp) * a.out_pitch + tile.row * (int64_t)bytes;
#pragma unroll 2
    for (uint32_t c = warp; c < tile.cols; c += warps, row += warps * a.out_pitch) {
        const uint32_t start = a.cut.halo - skew_of<bytes>(a, tile.col + c), shift = start % elems * 8 * bytes;
        const uint32_t *word = shared + c * stride + c / elems + start / elems;
        unsigned char *to = row + start * bytes + lane * 4;
#pragma unroll
        for (uint32_t x = 0; x < rows; x += 32 * elems, word += 32, to += 128) {
            const uint32_t r = start + x + lane * elems;
            if (rows % (32 * elems) != 0 && x + lane * elems >= rows)
                break;
            const uint32_t value = __funnelshift_r(word[0], word[1], shift);
            if (tile.whole || (r >= tile.lowest && r + elems <= tile.end))
                *(uint32_t *)to = value;
            else if (r + elems > tile.lowest && r < tile.end)
                store_elements<bytes>(to, value, r < tile.lowest ? tile.lowest - r : 0, min(elems, tile.end - r));
        }
    }
}

template <int bytes> static const void *skew_of_threads(unsigned threads) {
    return threads == 256   ? (const void *)transpose_skew<bytes, 256>
           : threads == 128 ? (const void *)transpose_skew<bytes, 128>
                            : (const void *)transpose_skew<bytes, 64>;
}

extern "C" gp_status gp_launch_transpose_skew(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_skew(problem, plan->threads));
    void *list[] = {&arguments};
    const size_t bytes = problem->elem_bytes;
    const void *kernel = bytes == 16  ? skew_of_threads<16>(plan->threads)
                         : bytes == 8 ? skew_of_threads<8>(plan->threads)
                                      : skew_of_threads<4>(plan->threads);
    return gp_gpu_launch(context, plan, kernel, list);
}

template <int bytes, int each> static const void *shift_of_threads(unsigned threads) {
    return threads == 256   ? (const void *)transpose_shift<bytes, 256, each>
           : threads == 128 ? (const void *)transpose_shift<bytes, 128, each>
                            : (const void *)transpose_shift<bytes, 64, each>;
}

template <int bytes> static const void *shift_of_tile(const gp_transpose_cut &cut, unsigned threads) {
    return cut.tile_rows == threads / 32 * GP_TRANSPOSE_SHIFT_FEW * (4 / bytes)
               ? shift_of_threads<bytes, GP_TRANSPOSE_SHIFT_FEW>(threads)
               : shift_of_threads<bytes, GP_TRANSPOSE_SHIFT_MANY>(threads);
}

extern "C" gp_status gp_launch_transpose_shift(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_shift(problem, plan->threads));
    void *list[] = {&arguments};
    const void *kernel = problem->elem_bytes == 2 ? shift_of_tile<2>(arguments.cut, plan->threads)
                                                  : shift_of_tile<1>(arguments.cut, plan->threads);
    return gp_gpu_launch(context, plan, kernel, list);
}
