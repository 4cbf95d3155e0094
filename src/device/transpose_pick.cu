/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_pick, _wide, _few: elements of 1 and 2 bytes, any pitch. The vectors that a tile's pieces of rows
 * touch are copied to shared memory as they lie; elements are picked from there one by one and stored as words. Tiles
 * are as wide as gives all multiprocessors equally much: transpose_cut_pick.c.
 */
#include "gpu.h"
#include "transpose_pick.cuh"

/* A thread copies vectors of every (threads / lanes)-th row; `all`: rows of a tile and its halo at most. */
template <int bytes, int threads, int lanes, int all>
__device__ inline void copy_pieces(const transpose_arguments &a, const skewed_tile &tile, const unsigned char *base,
                                   const raw_rows &raw) {
    constexpr uint32_t step = threads / lanes;
    const uint32_t y = threadIdx.x / lanes, x = threadIdx.x % lanes * 16, height = a.cut.tile_rows + a.cut.halo;
    const unsigned char *end = a.in + (a.rows - 1) * a.in_pitch + a.cols * bytes;
    const unsigned char *row = base + y * (int64_t)a.in_pitch;
    unsigned char *to = transpose_shared + x;
    constexpr uint32_t last = GP_TRANSPOSE_SECTOR - 1;
    if (tile.whole && base >= a.in + last && base + (height - 1) * a.in_pitch + tile.cols * bytes + last <= end) {
#pragma unroll
        for (uint32_t i = 0; i < (all + step - 1) / step; i++, row += step * a.in_pitch) {
            const uint32_t r = y + i * step, off = (uint32_t)(uintptr_t)row & last;
            if (r < height && x < off + tile.cols * bytes)
                copy_async(to + raw.row(r), row - off + x);
        }
    } else {
#pragma unroll 1
        for (uint32_t r = y; r < tile.end; r += step, row += step * a.in_pitch) {
            const uint32_t off = (uint32_t)(uintptr_t)row & last;
            if (r >= tile.lowest && x < off + tile.cols * bytes)
                copy_inside(to + raw.row(r), row - off + x, a.in, end);
        }
    }
}

/* lanes: vectors of a row's piece; high: bytes of a column; unit: what output segments are aligned to. */
template <int bytes, int threads, int lanes, int high, int unit>
__device__ inline void pick_tile(const transpose_arguments &a) {
    const skewed_tile tile = skewed_tile_of_block(a);
    const unsigned char *base = a.in + tile.row * (int64_t)a.in_pitch + tile.col * bytes;
    const raw_rows raw = {lanes * 16, a.cut.room, a.cut.slot, (uint32_t)(uintptr_t)base, (uint32_t)a.in_pitch};
    copy_pieces<bytes, threads, lanes, (high + unit) / bytes>(a, tile, base, raw);
    await_copies();
    __syncthreads();
    store_tile<bytes, threads, high>(a, tile, raw.row(128 / bytes), [&](uint32_t r) { return raw.first(r); });
}

template <int bytes>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, GP_TRANSPOSE_PICK_BLOCKS)
    transpose_pick(transpose_arguments a) {
    gp_await_earlier_kernels();
    pick_tile<bytes, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_PICK_LANES, GP_TRANSPOSE_PICK_HIGH, GP_TRANSPOSE_SECTOR>(a);
}

template <int bytes>
__global__ void __launch_bounds__(GP_TRANSPOSE_PICK_WIDE_THREADS, GP_TRANSPOSE_PICK_WIDE_BLOCKS)
    transpose_pick_wide(transpose_arguments a) {
    gp_await_earlier_kernels();
    pick_tile<bytes, GP_TRANSPOSE_PICK_WIDE_THREADS, GP_TRANSPOSE_PICK_LANES, GP_TRANSPOSE_PICK_WIDE_HIGH,
              GP_TRANSPOSE_SECTOR>(a);
}

template <int bytes>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_pick_few(transpose_arguments a) {
    gp_await_earlier_kernels();
    pick_tile<bytes, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_PICK_FEW_LANES, GP_TRANSPOSE_PICK_FEW_HIGH, 4>(a);
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                        const gp_transpose_cut &cut, const void *kernel_1, const void *kernel_2) {
    transpose_arguments arguments = transpose_arguments_of(problem, cut);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, problem->elem_bytes == 2 ? kernel_2 : kernel_1, list);
}

extern "C" gp_status gp_launch_transpose_pick(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, gp_transpose_cut_pick(problem, &context->planned_on, plan->threads),
                  (const void *)transpose_pick<1>, (const void *)transpose_pick<2>);
}

extern "C" gp_status gp_launch_transpose_pick_wide(gp_context *context, const gp_plan *plan,
                                                   const gp_problem *problem) {
    return launch(context, plan, problem, gp_transpose_cut_pick_wide(problem, &context->planned_on, plan->threads),
                  (const void *)transpose_pick_wide<1>, (const void *)transpose_pick_wide<2>);
}

extern "C" gp_status gp_launch_transpose_pick_few(gp_context *context, const gp_plan *plan,
                                                  const gp_problem *problem) {
    return launch(context, plan, problem, gp_transpose_cut_pick_few(problem, &context->planned_on, plan->threads),
                  (const void *)transpose_pick_few<1>, (const void *)transpose_pick_few<2>);
}
