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

/*
 * Steps are sums of what enters windows less what leaves them, over the 128 outputs by which a warp moves on. They
 * take fewer bits than the windows' own sums.
 */
#define GP_STEPS_MIDDLE 23 /* bits of pixels of which 128 differences add up in 31 */

/* Of CLASS_32: modulo 2^32, as its windows. */
typedef narrow_sums<uint32_t, uint32_t> steps_32;
/* Of pixels of at most GP_STEPS_MIDDLE bits: differences of squares are below 2^46, four of them below 2^48. */
typedef narrow_sums<int32_t, int64_t> steps_middle;

/* What a scan of steps gives a lane: the sum of all lanes before it, and of all lanes. */
template <typename STEPS> struct steps_scan { STEPS before, all; };

/* Pixels past the tile are whatever lay there: what they add to a lane is taken out again, modulo 2^64, or
   2^96 of the widest squares. */
template <typename STEPS> __device__ __forceinline__ steps_scan<STEPS> scan_steps(const STEPS &own) {
    const STEPS inclusive = warp_inclusive(own);
    STEPS before = inclusive;
    before.minus(own);
    return {before, from_lane(inclusive, 31)};
}

__device__ __forceinline__ steps_scan<steps_32> scan_steps(const steps_32 &own) {
    uint32_t words[2] = {own.sum, own.square};
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2)
#pragma unroll
        for (uint32_t &word : words)
            add_from_below(&word, lanes);
    return {{words[0] - own.sum, words[1] - own.square},
            {__shfl_sync(GP_FULL_WARP, words[0], 31), __shfl_sync(GP_FULL_WARP, words[1], 31)}};
}

/* Four pixels more; their sum fits 32 bits where that of steps does. */
template <typename STEPS, typename SUMS> __device__ __forceinline__ void add_four(SUMS &sums, const int4 &four) {
    [[maybe_unused]] const auto before = sums.sum;
    sums.add(four.x);
    sums.add(four.y);
    sums.add(four.z);
    sums.add(four.w);
    if constexpr (sizeof(STEPS::sum) == 4)
        sums.sum = before + (four.x + four.y + four.z + four.w);
}

/* The squares of two are at most 2^63. */
template <typename STEPS> __device__ __forceinline__ void add_four(wide_both &sums, const int4 &four) {
    const uint64_t low = (uint64_t)((int64_t)four.x * four.x) + (uint64_t)((int64_t)four.y * four.y);
    const uint64_t high = (uint64_t)((int64_t)four.z * four.z) + (uint64_t)((int64_t)four.w * four.w);
    sums.sum.sum += ((int64_t)four.x + four.y) + ((int64_t)four.z + four.w);
    sums.square.plus({(uint32_t)low, (uint32_t)(low >> 32), 0});
    sums.square.plus({(uint32_t)high, (uint32_t)(high >> 32), 0});
}

/* Of `window` pixels from `start`, in shared memory, what the one of `sharers` with that rank adds up. */
template <typename SUMS, typename STEPS>
__device__ __forceinline__ SUMS share_of_window(const int32_t *pixels, int32_t start, int32_t window, int32_t rank,
                                                int32_t sharers) {
    const int32_t end = start + window, groups = (start + 3) & ~3, groups_end = end & ~3;
    SUMS sums = SUMS{};
    for (int32_t i = groups + 4 * rank; i < groups_end; i += 4 * sharers) {
        const int4 four = *(const int4 *)(pixels + i);
        add_four<STEPS>(sums, four);
    }
    const int32_t head_end = min(groups, end), tail = max(groups_end, head_end);
    if (rank < head_end - start)
        sums.add(pixels[start + rank]);
    if (rank < end - tail)
        sums.add(pixels[tail + rank]);
    return sums;
}

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
