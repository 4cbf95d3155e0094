/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_pick_tall, _flat: elements of 1 and 2 bytes, one side of the matrix short and its rows without padding,
 * any length and alignment. A block has all of the short side: what it reads or what it writes is then one piece of
 * memory.
 */
#include "../gpu.h"
#include "pick.cuh"

/* Many rows: the rows of a tile and its halo, as they follow each other in memory. */
template <int threads>
__device__ inline void copy_piece(const transpose_arguments &a, const skewed_tile &tile, const unsigned char *base) {
    const uint32_t pitch = (uint32_t)a.in_pitch, past = (uint32_t)(uintptr_t)base & (GP_TRANSPOSE_SECTOR - 1),
                   inside = past + tile.end * pitch;
    const unsigned char *end = a.in + a.rows * a.in_pitch;
    if (base - past >= a.in && base + tile.end * pitch + 15 <= end) {
#pragma unroll 4
        for (uint32_t i = threadIdx.x * 16; i < inside; i += threads * 16)
            copy_async(transpose_shared + i, base - past + i);
    } else {
#pragma unroll 1
        for (uint32_t i = tile.lowest * pitch / 16 * 16 + threadIdx.x * 16; i < inside; i += threads * 16)
            copy_inside(transpose_shared + i, base - past + i, a.in, end);
    }
}

template <int bytes, int high>
__global__ void __launch_bounds__(GP_TRANSPOSE_PICK_TALL_THREADS, GP_TRANSPOSE_PICK_LONG_BLOCKS)
    transpose_pick_tall(transpose_arguments a) {
    const skewed_tile tile = skewed_tile_at(a, {blockIdx.x, 0});
    const unsigned char *base = a.in + tile.row * (int64_t)a.in_pitch;
    const uint32_t past = (uint32_t)(uintptr_t)base & (GP_TRANSPOSE_SECTOR - 1), pitch = (uint32_t)a.in_pitch;
    gp_await_earlier_kernels();
    copy_piece<GP_TRANSPOSE_PICK_TALL_THREADS>(a, tile, base);
    await_copies();
    __syncthreads();
    store_tile<bytes, GP_TRANSPOSE_PICK_TALL_THREADS, high>(a, tile, 128 / bytes * pitch,
                                                            [=](uint32_t r) { return past + r * pitch; });
}

/* Few rows: a piece of each, `cols` elements from `base` on. */
template <int bytes>
__device__ inline void copy_columns(const transpose_arguments &a, const unsigned char *base, uint32_t cols,
                                    const raw_rows &raw) {
    const uint32_t lanes = raw.pitch / 16, log2_lanes = 31 - __clz((int)lanes), step = blockDim.x >> log2_lanes;
    const uint32_t y = threadIdx.x >> log2_lanes, x = (threadIdx.x & (lanes - 1)) * 16, rows = (uint32_t)a.rows;
    const unsigned char *end = a.in + (rows - 1) * a.in_pitch + a.cols * bytes, *row = base + y * a.in_pitch;
    constexpr uint32_t last = GP_TRANSPOSE_SECTOR - 1;
    if (base >= a.in + last && base + (rows - 1) * a.in_pitch + cols * bytes + last <= end) {
#pragma unroll 4
        for (uint32_t r = y; r < rows; r += step, row += step * a.in_pitch) {
            const uint32_t off = (uint32_t)(uintptr_t)row & last;
            if (x < off + cols * bytes)
                copy_async(transpose_shared + raw.row(r) + x, row - off + x);
        }
    } else {
#pragma unroll 1
        for (uint32_t r = y; r < rows; r += step, row += step * a.in_pitch) {
            const uint32_t off = (uint32_t)(uintptr_t)row & last;
            if (x < off + cols * bytes)
                copy_inside(transpose_shared + raw.row(r) + x, row - off + x, a.in, end);
        }
    }
}

/*
 * The output is one piece of memory. A thread's words lie a multiple of `rows` words apart: their elements come from
 * the same rows, so that the places to pick from only move along. `turns` threads share the words of one start.
 */
template <int bytes>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_pick_flat(transpose_arguments a) {
    typedef typename element_of<bytes>::type element;
    constexpr uint32_t elems = 4 / bytes;
    const uint64_t col = (uint64_t)blockIdx.x * a.cut.tile_cols;
    const uint32_t rows = (uint32_t)a.rows, cols = left_of(a.cols, col, a.cut.tile_cols), turns = a.cut.turns;
    const unsigned char *base = a.in + col * bytes;
    const raw_rows raw = {a.cut.lanes * 16, a.cut.room, a.cut.slot, (uint32_t)(uintptr_t)base, (uint32_t)a.in_pitch};
    gp_await_earlier_kernels();
    copy_columns<bytes>(a, base, cols, raw);
    await_copies();
    __syncthreads();
    const auto place = [&](uint32_t i) { /* of element i of the output */
                                         const uint32_t c = i / rows, r = i - c * rows;
                                         return (const element *)(transpose_shared + raw.first(r) + c * bytes);
    };
    element *to = (element *)(a.out + col * a.out_pitch);
    const uint32_t n = cols * rows, head = min(n, (0u - (uint32_t)(uintptr_t)to & 3) / bytes),
                   words = (n - head) / elems;
    const picking<bytes> pick(a.in_pitch);
#pragma unroll 1
    for (uint32_t begin = threadIdx.x; begin < rows * turns && begin < words; begin += blockDim.x) {
        const element *from[elems];
#pragma unroll
        for (uint32_t k = 0; k < elems; k++)
            from[k] = place(head + begin * elems + pick.turn(k));
#pragma unroll 4
        for (uint32_t i = begin; i < words; i += rows * turns) {
            uint32_t e[elems];
#pragma unroll
            for (uint32_t k = 0; k < elems; k++, from[k - 1] += turns * elems)
                e[k] = *from[k];
            ((uint32_t *)(to + head))[i] = pick.word(e);
        }
    }
    const uint32_t rest = n - words * elems, i = threadIdx.x < head ? threadIdx.x : threadIdx.x + words * elems;
    if (threadIdx.x < rest)
        to[i] = *place(i);
}

extern "C" gp_status gp_launch_transpose_pick_tall(gp_context *context, const gp_plan *plan,
                                                   const gp_problem *problem) {
    const gp_transpose_cut cut = gp_transpose_cut_of(plan);
    transpose_arguments arguments = transpose_arguments_of(problem, cut);
    void *list[] = {&arguments};
    const bool high = cut.tile_rows * problem->elem_bytes == GP_TRANSPOSE_PICK_WIDE_HIGH;
    return gp_gpu_launch(context, plan,
                         problem->elem_bytes == 1 ? (const void *)transpose_pick_tall<1, GP_TRANSPOSE_PICK_HIGH>
                         : high                   ? (const void *)transpose_pick_tall<2, GP_TRANSPOSE_PICK_WIDE_HIGH>
                                                  : (const void *)transpose_pick_tall<2, GP_TRANSPOSE_PICK_HIGH>,
                         list);
}

extern "C" gp_status gp_launch_transpose_pick_flat(gp_context *context, const gp_plan *plan,
                                                   const gp_problem *problem) {
    transpose_arguments arguments = transpose_arguments_of(problem, gp_transpose_cut_of(plan));
    void *list[] = {&arguments};
    return gp_gpu_launch(
        context, plan,
        problem->elem_bytes == 2 ? (const void *)transpose_pick_flat<2> : (const void *)transpose_pick_flat<1>, list);
}
