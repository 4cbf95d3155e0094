/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_pick_flow, _wide: elements of 1 and 2 bytes, few rows, no padding in the output, much to do. A block
 * takes its columns tile after tile: while one is picked from shared memory and stored, the next ones are on their
 * way. With all tiles asked for at once the whole GPU first only reads, then only writes.
 *
 * A tile's columns fill whole sectors, so its output is whole sectors too, and repeats after a sector's columns: 8
 * words a row. A thread has the words of `phases` places in that period in every tile; where their elements lie is
 * found once. A warp's words follow each other from a sector's start on: stores alone of 2^24 elements of 1 byte took
 * 7.5 us in 181 rows, where they began anywhere, and 5.1 in 512, where they did not (H200).
 */
#include "../gpu.h"
#include "pick.cuh"

/* A block's share of the columns: whole sectors of a row but at the matrix' end. */
struct flow_share {
    uint64_t col;
    uint32_t cols, tiles;
};

template <int bytes> __device__ inline flow_share share_of_block(const transpose_arguments &a) {
    constexpr uint32_t unit = GP_TRANSPOSE_SECTOR / bytes;
    const uint64_t units = (a.cols + unit - 1) / unit, begin = units * blockIdx.x / gridDim.x * unit,
                   end = units * (blockIdx.x + 1) / gridDim.x * unit;
    const uint32_t cols = (uint32_t)((end < a.cols ? end : a.cols) - begin);
    return {begin, cols, (cols + a.cut.tile_cols - 1) / a.cut.tile_cols};
}

/* Asks for a tile; past the last one for nothing, so that there are always as many groups of copies. */
template <int bytes, int tiles>
__device__ inline void copy_tile(const transpose_arguments &a, const flow_share &share, uint32_t tile,
                                 const raw_rows &raw) {
    const uint32_t lanes = a.cut.lanes, y = threadIdx.x / lanes, x = (threadIdx.x - y * lanes) * 16,
                   step = blockDim.x / lanes, rows = (uint32_t)a.rows;
    constexpr uint32_t last = GP_TRANSPOSE_SECTOR - 1;
    if (tile < share.tiles && y < step) {
        const uint32_t before = tile * a.cut.tile_cols, size = min(share.cols - before, a.cut.tile_cols) * bytes;
        const unsigned char *base = a.in + (share.col + before) * bytes, *row = base + y * a.in_pitch;
        const unsigned char *end = a.in + (rows - 1) * a.in_pitch + a.cols * bytes;
        unsigned char *to = transpose_shared + tile % tiles * a.cut.slice + x;
        if (base >= a.in + last && base + (rows - 1) * a.in_pitch + size + last <= end) {
#pragma unroll 4
            for (uint32_t r = y; r < rows; r += step, row += step * a.in_pitch) {
                const uint32_t off = (uint32_t)(uintptr_t)row & last;
                if (x < off + size)
                    copy_async(to + raw.row(r), row - off + x);
            }
        } else {
#pragma unroll 1
            for (uint32_t r = y; r < rows; r += step, row += step * a.in_pitch) {
                const uint32_t off = (uint32_t)(uintptr_t)row & last;
                if (x < off + size)
                    copy_inside(to + raw.row(r), row - off + x, a.in, end);
            }
        }
    }
    commit_copies();
}

/* Words of a tile, every `period`-th from `begin` on; `steps` of them where it is a whole one. */
template <int bytes, int steps>
__device__ inline void store_words(uint32_t *to, const unsigned char *slice, const uint32_t *start,
                                   const picking<bytes> &pick, uint32_t begin, uint32_t words, uint32_t period) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes;
    const unsigned char *from[elems];
#pragma unroll
    for (uint32_t k = 0; k < elems; k++)
        from[k] = slice + start[k];
    to += begin;
    if (words == steps * period) {
#pragma unroll
        for (uint32_t s = 0; s < steps; s++, to += period) {
            uint32_t e[elems];
#pragma unroll
            for (uint32_t k = 0; k < elems; k++)
                e[k] = *(const element *)(from[k] + s * GP_TRANSPOSE_SECTOR);
            *to = pick.word(e);
        }
        return;
    }
#pragma unroll 1
    for (uint32_t i = begin; i < words; i += period, to += period) {
        uint32_t e[elems];
#pragma unroll
        for (uint32_t k = 0; k < elems; k++, from[k - 1] += GP_TRANSPOSE_SECTOR)
            e[k] = *(const element *)from[k];
        *to = pick.word(e);
    }
}

template <int bytes, int phases, int tiles, int threads>
__global__ void __launch_bounds__(threads, 2) transpose_pick_flow(transpose_arguments a) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes, steps = GP_TRANSPOSE_PICK_FLOW_BYTES(phases) / GP_TRANSPOSE_SECTOR;
    const flow_share share = share_of_block<bytes>(a);
    const uint32_t rows = (uint32_t)a.rows, period = rows * GP_TRANSPOSE_PICK_WORDS;
    const raw_rows raw = {a.cut.lanes * 16, a.cut.room, a.cut.slot, (uint32_t)((uintptr_t)a.in + share.col * bytes),
                          (uint32_t)a.in_pitch};
    const picking<bytes> pick(a.in_pitch);
    const auto place = [&](uint32_t i) -> uint32_t { /* of element i of a tile's output */
                                                     const uint32_t c = i / rows, r = i - c * rows;
                                                     return raw.first(r) + c * bytes;
    };
    element *to = (element *)(a.out + share.col * a.out_pitch);
    const uint32_t head = (0u - (uint32_t)(uintptr_t)to & 3) / bytes;
    gp_await_earlier_kernels();
#pragma unroll
    for (uint32_t tile = 0; tile + 1 < tiles; tile++)
        copy_tile<bytes, tiles>(a, share, tile, raw);
    uint32_t start[phases][elems];
#pragma unroll
    for (uint32_t p = 0; p < phases; p++)
#pragma unroll
        for (uint32_t k = 0; k < elems; k++)
            start[p][k] = place(head + (threadIdx.x + p * blockDim.x) * elems + pick.turn(k));
#pragma unroll 1
    for (uint32_t tile = 0; tile < share.tiles; tile++, to += (uint64_t)a.cut.tile_cols * rows) {
        copy_tile<bytes, tiles>(a, share, tile + tiles - 1, raw);
        await_tile<tiles - 1>();
        __syncthreads();
        const uint32_t n = min(share.cols - tile * a.cut.tile_cols, a.cut.tile_cols) * rows,
                       words = (n - min(n, head)) / elems;
        const unsigned char *slice = transpose_shared + tile % tiles * a.cut.slice;
#pragma unroll
        for (uint32_t p = 0; p < phases; p++)
            if (threadIdx.x + p * blockDim.x < period)
                store_words<bytes, steps>((uint32_t *)(to + head), slice, start[p], pick,
                                          threadIdx.x + p * blockDim.x, words, period);
        const uint32_t rest = n - words * elems, i = threadIdx.x < head ? threadIdx.x : threadIdx.x + words * elems;
        if (threadIdx.x < rest)
            to[i] = *(const element *)(slice + place(i));
        __syncthreads();
    }
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                        const gp_transpose_cut &cut, const void *kernel) {
    transpose_arguments arguments = transpose_arguments_of(problem, cut);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernel, list);
}

template <int bytes, int phases> static const void *flow_of() {
    return (
        const void *)transpose_pick_flow<bytes, phases, GP_TRANSPOSE_PICK_FLOW_TILES, GP_TRANSPOSE_PICK_FLOW_THREADS>;
}

extern "C" gp_status gp_launch_transpose_pick_flow(gp_context *context, const gp_plan *plan,
                                                   const gp_problem *problem) {
    const gp_transpose_cut cut = gp_transpose_cut_of(plan);
    const void *of_1 = cut.turns == 1 ? flow_of<1, 1>() : flow_of<1, 2>(),
               *of_2 = cut.turns == 1 ? flow_of<2, 1>() : flow_of<2, 2>();
    return launch(context, plan, problem, cut, problem->elem_bytes == 2 ? of_2 : of_1);
}

extern "C" gp_status gp_launch_transpose_pick_flow_wide(gp_context *context, const gp_plan *plan,
                                                        const gp_problem *problem) {
    return launch(context, plan, problem, gp_transpose_cut_of(plan),
                  (const void *)transpose_pick_flow<1, 3, 2, GP_TRANSPOSE_PICK_FLOW_WIDE_THREADS>);
}
