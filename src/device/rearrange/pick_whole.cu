/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_pick_whole: elements of 1 and 2 bytes, 193 to 370 bytes of few rows, no padding in the output. A block
 * has all rows of its columns, as many as a multiprocessor's share where that has room for them; its output is one
 * piece of memory, stored in whole sectors.
 */
#include "../gpu.h"
#include "pick.cuh"
#include "piece.cuh"

struct whole_tile {
    const unsigned char *base; /* of the first row's piece */
    unsigned char *out;
    uint32_t rows, cols, inside;   /* inside: bytes of a piece */
    uint32_t chunks;               /* lines that a piece touches, from the sector on that it begins in */
    uint32_t past, lowest, within; /* elements: before `out` in its sector, before the first whole sector, in those */
};

template <int bytes> __device__ inline whole_tile whole_tile_of_block(const transpose_arguments &a) {
    constexpr uint32_t sector = GP_TRANSPOSE_SECTOR;
    const uint64_t col = (uint64_t)blockIdx.x * a.cut.tile_cols;
    whole_tile tile;
    tile.base = a.in + col * bytes;
    tile.out = a.out + col * a.out_pitch;
    tile.rows = (uint32_t)a.rows;
    tile.cols = left_of(a.cols, col, a.cut.tile_cols);
    tile.inside = tile.cols * bytes;
    tile.chunks = (tile.inside + sector - 1 + GP_TRANSPOSE_LINE - 1) / GP_TRANSPOSE_LINE;
    const uint32_t past = (uint32_t)(uintptr_t)tile.out % sector, all = tile.inside * tile.rows;
    const uint32_t lowest = min((sector - past) % sector, all);
    tile.past = past / bytes;
    tile.lowest = lowest / bytes;
    tile.within = (all - lowest) / sector * sector / bytes;
    return tile;
}

/* Where the bytes of row r begin in shared memory; a sector's room before them, for words that begin in none. */
__device__ inline uint32_t whole_row(const transpose_arguments &a, const whole_tile &tile, uint32_t r) {
    return GP_TRANSPOSE_SECTOR + (uint32_t)(uintptr_t)tile.base % GP_TRANSPOSE_SECTOR + r * a.cut.pitch;
}

/* No vector of the tile's reaches over the array's begin or end. */
template <int bytes> __device__ inline bool is_amid(const transpose_arguments &a, const whole_tile &tile) {
    constexpr uint32_t last = GP_TRANSPOSE_SECTOR - 1;
    return tile.base >= a.in + last && tile.base + tile.inside + last <= a.in + a.cols * bytes;
}

/*
 * Else bytes in vectors that are not wholly in the array: before the first row's first whole one, after the last
 * row's last. Loaded before everything else, as they are waited for alone.
 */
template <int bytes> struct whole_edge {
    uint32_t place;
    bool apart;
    unsigned char value;

    __device__ whole_edge(const transpose_arguments &a, const whole_tile &tile, bool amid) : apart(false) {
        if (amid)
            return;
        const unsigned char *stop = tile.base + (tile.rows - 1) * a.in_pitch + tile.inside;
        const unsigned char *end = a.in + (tile.rows - 1) * a.in_pitch + a.cols * bytes;
        const uint32_t i = threadIdx.x % GP_TRANSPOSE_VECTOR, before = 0u - (uint32_t)(uintptr_t)tile.base;
        const uint32_t first = before % GP_TRANSPOSE_VECTOR, last = (uint32_t)(uintptr_t)stop % GP_TRANSPOSE_VECTOR;
        const bool begins = threadIdx.x < GP_TRANSPOSE_VECTOR;
        apart = begins ? tile.base == a.in && i < first
                       : threadIdx.x < 2 * GP_TRANSPOSE_VECTOR && i < last && stop - last + GP_TRANSPOSE_VECTOR > end;
        place = begins ? whole_row(a, tile, 0) + i : whole_row(a, tile, tile.rows - 1) + tile.inside - last + i;
        value = apart ? begins ? tile.base[i] : stop[(int)i - (int)last] : 0;
    }
    __device__ void store() const {
        if (apart)
            transpose_shared[place] = value;
    }
};

/* Lines of all rows from the sector on that they begin in. */
template <int bytes, bool amid>
__device__ inline void copy_chunk(const transpose_arguments &a, const whole_tile &tile, uint32_t chunk) {
    constexpr uint32_t lanes = GP_TRANSPOSE_LINE / GP_TRANSPOSE_VECTOR;
    constexpr uint32_t step = GP_TRANSPOSE_PICK_WHOLE_THREADS(bytes) / lanes, last = GP_TRANSPOSE_SECTOR - 1;
    const unsigned char *stop = a.in + (tile.rows - 1) * a.in_pitch + a.cols * bytes;
    const uint32_t y = threadIdx.x / lanes, x = chunk * GP_TRANSPOSE_LINE + threadIdx.x % lanes * GP_TRANSPOSE_VECTOR;
    const unsigned char *row = tile.base + y * a.in_pitch;
    unsigned char *to = transpose_shared + whole_row(a, tile, y) + x;
#pragma unroll 4
    for (uint32_t r = y; r < tile.rows; r += step, row += step * a.in_pitch, to += step * a.cut.pitch) {
        const uint32_t off = (uint32_t)(uintptr_t)row & last;
        const unsigned char *from = row - off + x;
        if (x < off + tile.inside && (amid || (from >= a.in && from + GP_TRANSPOSE_VECTOR <= stop)))
            copy_async(to - off, from);
    }
}

template <int bytes>
__device__ inline void copy_group(const transpose_arguments &a, const whole_tile &tile, bool amid, uint32_t first,
                                  uint32_t end) {
    for (uint32_t chunk = first; chunk < end; chunk++) {
        if (amid)
            copy_chunk<bytes, true>(a, tile, chunk);
        else
            copy_chunk<bytes, false>(a, tile, chunk);
    }
    commit_copies();
}

/*
 * What a warp stores of the columns that lie a sector of a row apart: in all of them the output begins as far past a
 * sector's start, so that places to pick from only move along. Its words begin at the sector that a column begins in.
 */
template <int bytes, int slots> struct whole_words {
    static constexpr uint32_t elems = 4 / bytes, period = GP_TRANSPOSE_SECTOR / bytes,
                              line = GP_TRANSPOSE_LINE / bytes;
    uint32_t from[slots][elems], place, turn; /* place: of the first word, elements from the first whole sector on */
    bool active;                              /* a word in the last slot; in the others every lane has one */

    __device__ whole_words(const transpose_arguments &a, const whole_tile &tile) {
        const uint32_t lane = threadIdx.x % 32, c = threadIdx.x / 32, rows = tile.rows;
        const uint32_t pitch = (uint32_t)(a.in_pitch / bytes), even = pitch % 2 == 1      ? 0
                                                                      : pitch % elems > 0 ? 1
                                                                                          : elems / 2;
        const uint32_t skew = (tile.past + c * rows) % period, end = rows - (tile.past + c * rows + rows) % period;
        turn = (lane >> (5 - even)) * (elems >> even);
        place = c * rows + lane * elems - skew - tile.lowest;
        active = lane * elems + (slots - 1) * line < end + skew;
#pragma unroll
        for (uint32_t i = 0; i < slots; i++)
#pragma unroll
            for (uint32_t k = 0; k < elems; k++) {
                /* lanes without a word read what others do, from their own banks */
                const uint32_t slot = i + 1 < slots || active ? i : slots > 1 ? slots - 2 : 0;
                const uint32_t row = slots > 1 || active ? lane * elems + slot * line + (k ^ turn) - skew : 0;
                const bool before = (int32_t)row < 0; /* in the column before */
                from[i][k] = whole_row(a, tile, before ? row + rows : row) + c * bytes - (before ? bytes : 0);
                keep(from[i][k]);
            }
    }

    /* Of columns first, first + 1, ... sectors further; end - 1 is the last. */
    __device__ void store(const whole_tile &tile, uint32_t first, uint32_t end) const {
        uint32_t now = place + first * period * tile.rows;
        unsigned char *to = tile.out + (int32_t)((tile.lowest + now) * bytes);
#pragma unroll 1
        for (uint32_t m = first; m < end; m++, now += period * tile.rows, to += GP_TRANSPOSE_SECTOR * tile.rows) {
            typedef typename element_of<bytes>::type element;
            uint32_t e[slots][elems];
#pragma unroll
            for (uint32_t i = 0; i < slots; i++)
#pragma unroll
                for (uint32_t k = 0; k < elems; k++)
                    e[i][k] = *(const element *)(transpose_shared + m * GP_TRANSPOSE_SECTOR + from[i][k]);
#pragma unroll
            for (uint32_t i = 0; i < slots; i++)
                store_if((i + 1 < slots || active) && now + i * line < tile.within, to + i * GP_TRANSPOSE_LINE,
                         turned_word<bytes>(e[i], turn));
        }
    }
};

/* What lies before and after the whole sectors of a block's output. */
template <int bytes> __device__ inline void store_rest(const transpose_arguments &a, const whole_tile &tile) {
    typedef typename element_of<bytes>::type element;
    const uint32_t half = threadIdx.x / 32, i = threadIdx.x % 32 + (half > 0 ? tile.lowest + tile.within : 0);
    if (half < 2 && i < (half > 0 ? tile.cols * tile.rows : tile.lowest)) {
        const uint32_t c = i / tile.rows, r = i - c * tile.rows;
        ((element *)tile.out)[i] = *(const element *)(transpose_shared + whole_row(a, tile, r) + c * bytes);
    }
}

/*
 * All columns are asked for at once, in two groups, and picked as they arrive. Sectors prefetched, H200, us, a trial
 * for 363 x 46218 of 1 byte: none 11.28, one of every 8th row 10.88, one of each row 9.92, two 10.16, three 10.65.
 */
template <int bytes, int slots>
__global__ void __launch_bounds__(GP_TRANSPOSE_PICK_WHOLE_THREADS(bytes),
                                  1024 / GP_TRANSPOSE_PICK_WHOLE_THREADS(bytes))
    transpose_pick_whole(transpose_arguments a) {
    constexpr uint32_t sectors = GP_TRANSPOSE_LINE / GP_TRANSPOSE_SECTOR; /* of a chunk */
    const whole_tile tile = whole_tile_of_block<bytes>(a);
    const uint32_t early = tile.chunks / 2;
    const bool amid = is_amid<bytes>(a, tile);
    if (threadIdx.x < tile.rows)
        gp_prefetch(tile.base + threadIdx.x * a.in_pitch);
    gp_await_earlier_kernels();
    const whole_edge<bytes> edge(a, tile, amid);
    copy_group<bytes>(a, tile, amid, 0, early);
    copy_group<bytes>(a, tile, amid, early, tile.chunks);
    const whole_words<bytes, slots> words(a, tile);
    edge.store();
    await_tile<1>();
    __syncthreads();
    /* of the chunks that are there, the last sector's columns are not in every row */
    const uint32_t there = early > 0 ? early * sectors - 1 : 0;
    words.store(tile, 0, there);
    await_tile<0>();
    __syncthreads();
    words.store(tile, there, (tile.inside + GP_TRANSPOSE_SECTOR - 1) / GP_TRANSPOSE_SECTOR);
    store_rest<bytes>(a, tile);
}

extern "C" gp_status gp_launch_transpose_pick_whole(gp_context *context, const gp_plan *plan,
                                                    const gp_problem *problem) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_of(plan));
    void *list[] = {&arguments};
    const bool low = problem->rows * problem->elem_bytes <= 2 * GP_TRANSPOSE_LINE;
    return gp_gpu_launch(context, plan,
                         problem->elem_bytes == 1 ? (const void *)transpose_pick_whole<1, 3>
                         : low                    ? (const void *)transpose_pick_whole<2, 2>
                                                  : (const void *)transpose_pick_whole<2, 3>,
                         list);
}
