/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_vector: elements of 1 and 2 bytes in whole, aligned vectors, and of 3 bytes in columns of whole words. A
 * thread loads what lies below each other, turns it in its registers, and keeps it in shared memory in words of
 * columns, where it waits for the rest of the tile's columns.
 */
#include "tile.cuh"

/*
 * 1 and 2 bytes: 4 vectors a thread. Shared memory holds a row of words for each column; room of `pad` words after
 * the columns of one vector keeps its threads' words in different banks.
 */
template <int bytes, int across>
__global__ void __launch_bounds__(GP_TRANSPOSE_VECTOR_THREADS, 8) transpose_vector(transpose_arguments a) {
    gp_grid_dependency_wait();
    constexpr uint32_t threads = GP_TRANSPOSE_VECTOR_THREADS, elems = 16 / bytes, words = threads / across * bytes;
    constexpr uint32_t pad = GP_TRANSPOSE_VECTOR_PAD(across), vectors = words / 4;
    uint32_t *shared = (uint32_t *)transpose_shared;
    const tile_index at = tile_of_block<false>(a.tiles);
    const uint64_t row = (uint64_t)at.row * a.tiles.rows, col = (uint64_t)at.col * a.tiles.cols;
    const uint32_t x = threadIdx.x % across, y = threadIdx.x / across;
    const uint32_t rows = left_of(a.rows, row, a.tiles.rows), cols = left_of(a.cols, col, a.tiles.cols);
    const unsigned char *from = a.in + (row + y * 4) * a.in_pitch + col * bytes + x * 16;
    uint4 quad[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        if (y * 4 + i < rows && x * elems < cols)
            quad[i] = load_once(from + i * a.in_pitch);
    uint32_t *to = shared + x * (elems * words + pad) + y * bytes;
#pragma unroll
    for (int c = 0; c < 4; c++) {
        uint32_t w[4] = {word_of(quad[0], c), word_of(quad[1], c), word_of(quad[2], c), word_of(quad[3], c)};
        if constexpr (bytes == 1) {
            transpose_words<1>(w);
#pragma unroll
            for (int i = 0; i < 4; i++)
                to[(4 * c + i) * words] = w[i];
        } else {
            transpose_words<2>(w);
            transpose_words<2>(w + 2);
            *(uint2 *)(to + 2 * c * words) = make_uint2(w[0], w[2]);
            *(uint2 *)(to + (2 * c + 1) * words) = make_uint2(w[1], w[3]);
        }
    }
    __syncthreads();
    const uint32_t v = threadIdx.x % vectors, first = threadIdx.x / vectors;
    unsigned char *out = a.out + (col + first) * a.out_pitch + row * bytes + v * 16;
    if (v * elems >= rows)
        return;
#pragma unroll
    for (uint32_t c = first; c < across * elems; c += threads / vectors, out += threads / vectors * a.out_pitch)
        if (c < cols)
            __stcs((uint4 *)out, *(const uint4 *)(shared + c * words + c / elems * pad + v * 4));
}

/* A word, of which only what lies in begin .. end - 1 is read if that is checked. */
template <bool checked>
__device__ inline uint32_t load_word(const unsigned char *from, const unsigned char *begin,
                                     const unsigned char *end) {
    if (!checked || (from >= begin && from + 4 <= end))
        return __ldg((const uint32_t *)from);
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (from + i >= begin && from + i < end)
            word |= (uint32_t)from[i] << (8 * i);
    return word;
}

/* 12 bytes, 4 elements of a row. */
template <bool aligned, bool checked>
__device__ inline void load_four(const unsigned char *from, const unsigned char *begin, const unsigned char *end,
                                 uint32_t *w) {
    const uint32_t off = aligned ? 0 : (uint32_t)(uintptr_t)from & 3;
    uint32_t v[4];
#pragma unroll
    for (int i = 0; i < 3; i++)
        v[i] = load_word<checked>(from - off + 4 * i, begin, end);
    v[3] = off > 0 ? load_word<checked>(from - off + 12, begin, end) : 0;
#pragma unroll
    for (int i = 0; i < 3; i++)
        w[i] = aligned ? v[i] : __funnelshift_r(v[i], v[i + 1], 8 * off);
}

/* 4 x 4 elements of 3 bytes: rows of 3 words in, columns out. */
__device__ inline void turn_fours(const uint32_t (*row)[3], uint32_t (*column)[3]) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
        uint32_t e[4];
#pragma unroll
        for (int r = 0; r < 4; r++)
            e[r] = c == 0   ? row[r][0]
                   : c == 1 ? __byte_perm(row[r][0], row[r][1], 0x6543)
                   : c == 2 ? __byte_perm(row[r][1], row[r][2], 0x5432)
                            : row[r][2] >> 8;
        column[c][0] = __byte_perm(e[0], e[1], 0x4210);
        column[c][1] = __byte_perm(e[1], e[2], 0x5421);
        column[c][2] = __byte_perm(e[2], e[3], 0x6542);
    }
}

/* Block `index` of 4 rows and 4 columns of a tile. 8 x 4 neighbours at a time: their words are in different banks. */
__device__ inline tile_index block_of_tile(const transpose_arguments &a, uint32_t index) {
    const uint32_t across = (a.tiles.cols + 3) / 4;
    if (across % 8 > 0)
        return {index / across * 4, index % across * 4};
    const uint32_t group = index / 32, y = group / (across / 8);
    return {(y * 4 + index % 32 / 8) * 4, ((group - y * (across / 8)) * 8 + index % 8) * 4};
}

template <bool aligned, bool checked>
__device__ inline void load_threes(const transpose_arguments &a, const skewed_tile &tile) {
    const unsigned char *const end = a.in + (a.rows - 1) * a.in_pitch + a.cols * 3;
    const uint32_t blocks = (a.tiles.cols + 3) / 4 * ((a.tiles.rows + a.tiles.halo + 15) / 16 * 4);
#pragma unroll 1
    for (uint32_t index = threadIdx.x; index < blocks; index += GP_TRANSPOSE_THREADS) {
        const tile_index at = block_of_tile(a, index);
        if (at.row < tile.lowest || at.row >= tile.end || at.col >= tile.cols)
            continue;
        const unsigned char *from = a.in + (tile.row + at.row) * (int64_t)a.in_pitch + (tile.col + at.col) * 3;
        uint32_t row[4][3], column[4][3];
#pragma unroll
        for (int i = 0; i < 4; i++)
            load_four<aligned, checked>(from + i * a.in_pitch, a.in, end, row[i]);
        turn_fours(row, column);
        uint32_t *to = (uint32_t *)transpose_shared + at.col * a.tiles.pitch + at.row * 3 / 4;
#pragma unroll
        for (int i = 0; i < 4; i++, to += a.tiles.pitch)
#pragma unroll
            for (int j = 0; j < 3; j++)
                to[j] = column[i][j];
    }
}

template <bool aligned>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, BLOCKS_OF(GP_TRANSPOSE_THREADS, 6))
    transpose_vector_of_3(transpose_arguments a) {
    gp_grid_dependency_wait();
    const skewed_tile tile = skewed_tile_at(a, tile_of_block<false>(a.tiles));
    if (tile.row > 0 && tile.row + tile.end < (int64_t)a.rows)
        load_threes<aligned, false>(a, tile);
    else
        load_threes<aligned, true>(a, tile);
    __syncthreads();
    const uint32_t lowest = tile.lowest * 3 / 4, end = tile.end * 3 / 4; /* words of a column */
    const uint32_t high = a.tiles.halo > 0 ? a.tiles.rows * 3 / 4 : end;
#pragma unroll 2
    for (uint32_t c = threadIdx.x / 32; c < tile.cols; c += GP_TRANSPOSE_THREADS / 32) {
        unsigned char *const column = a.out + (tile.col + c) * a.out_pitch;
        const uint32_t skew = a.tiles.halo > 0 ? (uint32_t)(uintptr_t)column % GP_SECTOR / 4 : 0;
        const uint32_t first = a.tiles.halo * 3 / 4 - skew;
        const uint32_t *const from = (const uint32_t *)transpose_shared + c * a.tiles.pitch;
        uint32_t *const to = (uint32_t *)(column + tile.row * 3);
        for (uint32_t w = first + threadIdx.x % 32; w < first + high; w += 32)
            if (w >= lowest && w < end)
                to[w] = from[w];
    }
}

static const transpose_kernel kernels[] = {
    transpose_vector<1, 2>,  transpose_vector<1, 8>,       transpose_vector<1, 16>,    transpose_vector<2, 8>,
    transpose_vector<2, 16>, transpose_vector_of_3<false>, transpose_vector_of_3<true>};

LAUNCHER(transpose_vector, kernels)
