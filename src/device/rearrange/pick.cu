/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose_pick, _wide, _few: elements of 1 and 2 bytes, any pitch. The vectors that a tile's pieces of rows
 * touch are copied to shared memory as they lie; elements are picked from there one by one and stored as words. Tiles
 * are as wide as gives all multiprocessors equally much: transpose_cut_pick.c.
 */
#include "../gpu.h"
#include "piece.cuh"

/* Blocks that an SM's registers leave room for; architectures other than Hopper would spill at as many. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
#define BLOCKS GP_TRANSPOSE_PICK_SHARE
#else
#define BLOCKS 2
#endif

typedef piece_shape<GP_TRANSPOSE_PICK_THREADS, GP_TRANSPOSE_PICK_LANES, GP_TRANSPOSE_PICK_HIGH, GP_TRANSPOSE_SECTOR,
                    2>
    pick_shape;
typedef piece_shape<GP_TRANSPOSE_PICK_THREADS, GP_TRANSPOSE_PICK_LANES, GP_TRANSPOSE_PICK_WIDE_HIGH,
                    GP_TRANSPOSE_SECTOR, 1>
    wide_shape;
typedef piece_shape<GP_TRANSPOSE_PICK_THREADS, GP_TRANSPOSE_PICK_LANES, GP_TRANSPOSE_PICK_WIDE_HIGH,
                    GP_TRANSPOSE_SECTOR, 1, true>
    lower_shape;
typedef piece_shape<GP_TRANSPOSE_THREADS, GP_TRANSPOSE_PICK_FEW_LANES, GP_TRANSPOSE_PICK_FEW_HIGH, 4, 4> few_shape;

template <int bytes, typename shape, bool turned, typename offset>
__device__ inline void pick_tile(const piece_arguments<offset> &a, const piece_tile<offset> &tile,
                                 const piece_copy<offset> &copy) {
    if (!tile.inside)
        return;
    copy_pieces<bytes, shape>(a, tile, copy);
    store_pieces<bytes, shape, turned>(a, tile);
}

template <int bytes, bool turned>
__global__ void __launch_bounds__(GP_TRANSPOSE_PICK_THREADS, BLOCKS) transpose_pick(piece_arguments<uint32_t> a) {
    const piece_tile<uint32_t> tile = piece_tile_of_block<bytes, pick_shape>(a);
    const piece_copy<uint32_t> copy = piece_copy_of_thread<bytes, pick_shape>(a, tile);
    gp_await_earlier_kernels(copy.at + copy.to);
    pick_tile<bytes, pick_shape, turned>(a, tile, copy);
}

template <int bytes, bool turned, typename offset, typename shape = wide_shape>
__global__ void __launch_bounds__(GP_TRANSPOSE_PICK_THREADS, BLOCKS) transpose_pick_wide(piece_arguments<offset> a) {
    const piece_tile<offset> tile = piece_tile_of_block<bytes, shape>(a);
    prefetch_rows(a, tile);
    const piece_copy<offset> copy = piece_copy_of_thread<bytes, shape>(a, tile);
    gp_await_earlier_kernels((uint32_t)copy.at + copy.to);
    pick_tile<bytes, shape, turned>(a, tile, copy);
}

template <int bytes>
__global__ void __launch_bounds__(GP_TRANSPOSE_THREADS, 4) transpose_pick_few(piece_arguments<uint32_t> a) {
    const piece_tile<uint32_t> tile = piece_tile_of_block<bytes, few_shape>(a);
    const piece_copy<uint32_t> copy = piece_copy_of_thread<bytes, few_shape>(a, tile);
    gp_await_earlier_kernels(copy.at + copy.to);
    pick_tile<bytes, few_shape, true>(a, tile, copy);
}

template <typename offset = uint32_t>
static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                        const gp_transpose_cut &cut, const void *kernel) {
    piece_arguments<offset> arguments = piece_arguments_of<offset>(problem, cut);
    void *list[] = {&arguments};
    return gp_gpu_launch(context, plan, kernel, list);
}

/* Kernels of elements of 1 and 2 bytes: for odd pitches, for others. */
static const void *kernel_of(const gp_problem *problem, const void *const (&kernels)[4]) {
    return kernels[(problem->elem_bytes - 1) * 2 + (problem->in_pitch % 2 == 0)];
}

extern "C" gp_status gp_launch_transpose_pick(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(
        context, plan, problem, gp_transpose_cut_of(plan),
        kernel_of(problem, {(const void *)transpose_pick<1, false>, (const void *)transpose_pick<1, true>,
                            (const void *)transpose_pick<2, false>, (const void *)transpose_pick<2, true>}));
}

extern "C" gp_status gp_launch_transpose_pick_wide(gp_context *context, const gp_plan *plan,
                                                   const gp_problem *problem) {
    const gp_transpose_cut cut = gp_transpose_cut_of(plan);
    if (cut.far)
        return launch<uint64_t>(context, plan, problem, cut,
                                problem->elem_bytes == 2 ? (const void *)transpose_pick_wide<2, true, uint64_t>
                                                         : (const void *)transpose_pick_wide<1, true, uint64_t>);
    if (cut.tile_rows * problem->elem_bytes < GP_TRANSPOSE_PICK_WIDE_HIGH)
        return launch(context, plan, problem, cut,
                      kernel_of(problem, {(const void *)transpose_pick_wide<1, false, uint32_t, lower_shape>,
                                          (const void *)transpose_pick_wide<1, true, uint32_t, lower_shape>,
                                          (const void *)transpose_pick_wide<2, false, uint32_t, lower_shape>,
                                          (const void *)transpose_pick_wide<2, true, uint32_t, lower_shape>}));
    return launch(context, plan, problem, cut,
                  kernel_of(problem, {(const void *)transpose_pick_wide<1, false, uint32_t>,
                                      (const void *)transpose_pick_wide<1, true, uint32_t>,
                                      (const void *)transpose_pick_wide<2, false, uint32_t>,
                                      (const void *)transpose_pick_wide<2, true, uint32_t>}));
}

extern "C" gp_status gp_launch_transpose_pick_few(gp_context *context, const gp_plan *plan,
                                                  const gp_problem *problem) {
    return launch(context, plan, problem, gp_transpose_cut_of(plan),
                  problem->elem_bytes == 2 ? (const void *)transpose_pick_few<2>
                                           : (const void *)transpose_pick_few<1>);
}
