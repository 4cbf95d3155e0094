/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_scan: the cost of a pixel does not depend on the window. A block takes a tile of one row, with its halo,
 * into shared memory and scans it (window_scan.cuh). Sums are as wide as the block's data needs, which it finds out
 * while it loads. Outputs go through shared memory, so that a warp stores 2 KiB of neighbours: stored from where they
 * are made, 64 bytes apart, even as pairs that fill whole sectors, they ran at 0.57 of the memory's speed on an H200.
 */
#include "gpu.h"
#include "window_scan.cuh"

#define GROUPS_OF_WARP (32 * CHUNK / 4)

struct scan_shared {
    float *outputs; /* CHUNK a thread */
    int32_t *pixels;
    void *prefixes;       /* the warps' totals, then the chunks' prefixes */
    uint32_t *magnitudes; /* one a warp */
};

__device__ __forceinline__ scan_shared lay_out() {
    extern __shared__ __align__(16) unsigned char bytes[];
    scan_shared s;
    s.outputs = (float *)bytes;
    s.pixels = (int32_t *)(s.outputs + GP_WINDOW_SCAN_WORDS(blockDim.x));
    s.prefixes = s.pixels + GP_WINDOW_SCAN_WORDS(blockDim.x);
    s.magnitudes = (uint32_t *)((unsigned char *)s.prefixes + (blockDim.x + 32) * GP_WINDOW_PREFIX_BYTES);
    return s;
}

/* Loads the tile; returns the magnitudes that this thread saw, as bits. */
__device__ __forceinline__ uint32_t load_tile(const window_arguments &a, const tile_frame &f, const int32_t *row,
                                              int32_t *pixels) {
    const int32_t needed = pixels_needed(a, f), whole_end = min(f.whole_end, (needed + 3) / 4 * 4);
    uint32_t magnitude = 0;
    int4 four[CHUNK / 4 + 1];
#pragma unroll
    for (int load = 0; load < CHUNK / 4 + 1; load++) {
        const int32_t i = 4 * (int32_t)(load * blockDim.x + threadIdx.x);
        four[load] = make_int4(0, 0, 0, 0);
        if (i >= f.whole && i < whole_end)
            four[load] = gp_load_once((const int4 *)(row + f.column + i));
    }
#pragma unroll
    for (int load = 0; load < CHUNK / 4 + 1; load++) {
        const int32_t i = 4 * (int32_t)(load * blockDim.x + threadIdx.x);
        if (i >= f.whole && i < whole_end) {
            *(int4 *)(pixels + i) = four[load];
            magnitude |= magnitude_of(four[load]);
        }
    }
    const int32_t others = left_out_count(f, needed);
    for (int32_t i = (int32_t)threadIdx.x; i < others; i += (int32_t)blockDim.x) {
        const int32_t at = left_out(f, i);
        const int32_t pixel = border_pixel(a, row, f.column + at);
        pixels[at] = pixel;
        magnitude |= magnitude_of(pixel);
    }
    return magnitude;
}

/* Stores the warp's outputs, which lie in shared memory. */
__device__ __forceinline__ void store_warp(const tile_frame &f, float *out, const float *outputs) {
    const uint32_t lane = threadIdx.x % 32;
    const int32_t first = (int32_t)(threadIdx.x - lane) * CHUNK;
    __syncwarp();
#pragma unroll
    for (uint32_t load = 0; load < (GROUPS_OF_WARP + 31) / 32; load++) {
        const uint32_t group = load * 32 + lane;
        const int32_t output = first + (int32_t)group * 4;
        if (group < GROUPS_OF_WARP && output < f.end)
            store_four(out + f.at + output, f.first - output, f.end - output, ((const float4 *)outputs)[group]);
    }
}

template <typename SUMS>
__device__ __forceinline__ void scan_tile(const window_arguments &a, const tile_frame &f, const scan_shared &s) {
    const int32_t output = (int32_t)threadIdx.x * CHUNK;
    const bool makes = output < f.end && output + CHUNK > f.first;
    const int32_t *own = s.pixels + f.skew + output;
    const block_prefixes<SUMS> prefixes = {(SUMS *)s.prefixes + 32, (SUMS *)s.prefixes};
    const SUMS sums = first_window(a, prefixes, own, makes);
    if (!__any_sync(GP_FULL_WARP, makes))
        return;
    float *outputs = s.outputs + output, *of_warp = s.outputs + (threadIdx.x & ~31u) * CHUNK;
    float square[CHUNK];
    if (makes)
        slide(a, sums, own, outputs, square);
    if (a.sum != NULL)
        store_warp(f, a.sum, of_warp);
    if (a.square == NULL)
        return;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        outputs[i] = square[i];
    store_warp(f, a.square, of_warp);
}

__device__ __forceinline__ void scan_block(const window_arguments &a, const gp_window_cut &cut) {
    const scan_shared s = lay_out();
    const uint32_t y = blockIdx.x / cut.tiles_a_row, tile = blockIdx.x - y * cut.tiles_a_row;
    const tile_frame f = find_tile(a, cut, y, tile);
    const uint32_t magnitude = load_tile(a, f, a.image + y * a.in_pitch, s.pixels);
    GP_WINDOW_BY_CLASS(join_magnitudes(magnitude, s.magnitudes), a.window, scan_tile, a, f, s)
}

__global__ void __maxnreg__(GP_WINDOW_SCAN_REGS) window_scan(window_arguments a, gp_window_cut cut) {
    scan_block(a, cut);
}

__global__ void __maxnreg__(GP_WINDOW_SCAN_REGS) window_scan_mid(window_arguments a, gp_window_cut cut) {
    scan_block(a, cut);
}

__global__ void __maxnreg__(GP_WINDOW_SCAN_REGS) window_scan_wide(window_arguments a, gp_window_cut cut) {
    scan_block(a, cut);
}

__global__ void __maxnreg__(GP_WINDOW_SCAN_REGS) window_scan_huge(window_arguments a, gp_window_cut cut) {
    scan_block(a, cut);
}

static gp_status launch(gp_context *context, const gp_plan *plan, const gp_problem *problem, const void *kernel) {
    window_arguments arguments = window_arguments_of(problem);
    gp_window_cut cut = gp_window_cut_row(problem, plan->threads);
    void *list[] = {&arguments, &cut};
    return gp_gpu_launch(context, plan, kernel, list);
}

extern "C" gp_status gp_launch_window_scan(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_scan);
}

extern "C" gp_status gp_launch_window_scan_mid(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_scan_mid);
}

extern "C" gp_status gp_launch_window_scan_wide(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_scan_wide);
}

extern "C" gp_status gp_launch_window_scan_huge(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return launch(context, plan, problem, (const void *)window_scan_huge);
}
