/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_scan: the cost of a pixel does not depend on the window. A block takes a tile of one row, with its halo,
 * into shared memory; from there its warps go on by themselves. A warp adds up its first window, then moves on by 128
 * outputs at a time, 4 a lane: from one output to the next one pixel enters and one leaves, and a scan of these
 * differences over the lanes gives every window. Each lane stores its 4 outputs at once, so that a warp stores 512
 * bytes of neighbours, and pixels are read from shared memory 16 bytes at a time, free of bank conflicts. Sums are as
 * wide as the block's data needs, which it finds out while it loads.
 */
#include "scan.cuh"
#include "steps.cuh"

/* From Ampere to Hopper ptxas does without spills at 48: 20 blocks of 64 threads at once instead of 18. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ <= 900
#define SCAN_REGS 48
#else
#define SCAN_REGS GP_WINDOW_SCAN_REGS
#endif

/* Keeps nvcc from counting in a loop all that it could make of `value`: each count would take a register. */
__device__ __forceinline__ int32_t opaque(int32_t value) {
    asm volatile("" : "+r"(value));
    return value;
}

/* The outputs of one warp: `span` of them. */
template <typename SUMS, typename STEPS>
__device__ __forceinline__ void scan_span(const window_arguments &a, const tile_frame &f, uint32_t span,
                                          const int32_t *pixels) {
    const int32_t lane = threadIdx.x % 32, from = (int32_t)(threadIdx.x / 32 * span);
    const int32_t groups = (min(f.end - from, (int32_t)span) + 127) / 128, enters = f.skew + (int32_t)a.window;
    float *const to_sum = a.sum + f.at, *const to_square = a.square + f.at;
    /* where 16 bytes can be stored at once, without more questions */
    const bool vectors = a.sum != NULL && a.square != NULL && (((uintptr_t)to_sum | (uintptr_t)to_square) & 15) == 0;
    const int32_t whole_first = vectors ? f.first : INT32_MAX, whole_last = f.end - 4;
    if (groups <= 0)
        return;
    SUMS first = warp_total(share_of_window<SUMS, STEPS>(pixels, f.skew + from, (int32_t)a.window, lane, 32));
    const int32_t end = from + 128 * groups; /* the same number of rounds for all lanes */
#pragma unroll 1
    for (int32_t output = from + 4 * lane; output < end; output += 128) {
        const four_pixels out = read_four(pixels, (f.skew & ~3) + output, f.skew & 3);
        const four_pixels in = read_four(pixels, (enters & ~3) + output, enters & 3);
        const steps_scan<STEPS> steps = scan_steps(slide_of<STEPS>(in, out));
        SUMS sums = first;
        sums.plus(steps.before);
        first.plus(steps.all);
        const four_windows windows = slide_windows(sums, in, out);
        if (output >= whole_first && output <= whole_last) {
            __stcs((float4 *)(to_sum + (uint32_t)output), windows.sum);
            __stcs((float4 *)(to_square + (uint32_t)output), windows.square);
        } else {
            const int32_t at = opaque(output);
            store_windows<SUMS>(a, f.at + at, f.first - at, f.end - at, windows);
        }
    }
}

/* Of all the line, where the architecture has no other way. */
__device__ __forceinline__ void fetch_sector(const float *address) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 32;" ::"l"((uintptr_t)address & ~(uintptr_t)31));
#else
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

/*
 * Where outputs start or end within a sector of memory, the second-level cache must read its other bytes before it
 * can write it back. Fetched early, these reads go along with the image's, instead of coming among the writes one by
 * one.
 */
__device__ __forceinline__ void fetch_edges(const window_arguments &a, const tile_frame &f) {
    const int32_t thread = threadIdx.x;
    if (thread >= 4 || f.first >= f.end)
        return;
    const bool at_end = thread & 1;
    const float *const array = thread & 2 ? a.square : a.sum, *const edge = array + f.at + (at_end ? f.end : f.first);
    if (array != NULL && (uintptr_t)edge % 32 != 0)
        fetch_sector(edge - at_end);
}

__global__ void __maxnreg__(SCAN_REGS) window_scan(window_arguments a, gp_window_tiles tiles) {
    gp_grid_dependency_wait();
    extern __shared__ __align__(16) int32_t window_shared[];
    uint32_t *magnitudes = (uint32_t *)window_shared;
    int32_t *pixels = window_shared + GP_WINDOW_SCAN_WARPS;
    const uint32_t y = (uint32_t)((uint64_t)blockIdx.x * tiles.tiles_scale >> tiles.tiles_shift);
    const uint32_t tile = blockIdx.x - y * tiles.tiles_a_row;
    const tile_frame f = find_tile(a, tiles, y, tile);
    if (tiles.gaps && (tile == 0 || tile + 1 == tiles.tiles_a_row))
        fetch_edges(a, f);
    const uint32_t seen = load_tile(a, f, tiles.warps_scale, a.image + y * a.in_pitch, pixels);
    const uint32_t magnitude = join_magnitudes(seen, magnitudes, blockDim.x / 32);
    const window_class data = pick_class(magnitude, (uint32_t)a.window);
    if (data == CLASS_32)
        scan_span<narrow_sums<int32_t, uint32_t>, steps_32>(a, f, tiles.span, pixels);
    else if (data != CLASS_WIDE && magnitude >> GP_STEPS_MIDDLE != 0)
        scan_span<narrow_sums<int64_t, uint64_t>, narrow_sums<int64_t, uint64_t>>(a, f, tiles.span, pixels);
    else if (data == CLASS_32_64)
        scan_span<narrow_sums<int32_t, uint64_t>, steps_middle>(a, f, tiles.span, pixels);
    else if (data == CLASS_64)
        scan_span<narrow_sums<int64_t, uint64_t>, steps_middle>(a, f, tiles.span, pixels);
    else
        scan_span<wide_both, wide_both>(a, f, tiles.wide_span, pixels);
}

GP_DECLARE_LAUNCHER(gp_launch_window_scan) {
    return launch_windows(context, plan, problem, (const void *)window_scan);
}
