/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_scan_few: window_scan for few outputs, where a block's time counts and not its work. Each thread has four
 * outputs, all at once; the tile's first window is added up by all of the block, and what each warp's differences add
 * up to goes to the warps behind it by shared memory.
 */
#include "../gpu.h"
#include "scan.cuh"
#include "steps.cuh"

#define WARPS (GP_WINDOW_FEW_THREADS / 32)

/* What the warps have for each other: a share of the first window, and the sum of all differences. */
template <typename SUMS, typename STEPS> struct warp_part {
    SUMS window;
    STEPS steps;
};

struct few_shared {
    uint64_t parts[WARPS * 6];
    uint32_t magnitudes[WARPS];
    template <typename SUMS, typename STEPS> __device__ __forceinline__ warp_part<SUMS, STEPS> *parts_of() {
        static_assert(sizeof(warp_part<SUMS, STEPS>) * WARPS <= sizeof parts,
                      "as many words as the widest sums take");
        return (warp_part<SUMS, STEPS> *)parts;
    }
};

static_assert(sizeof(few_shared) == GP_WINDOW_FEW_HEAD && GP_WINDOW_FEW_HEAD % 16 == 0, "pixels lie behind it");

template <typename SUMS, typename STEPS>
__device__ __forceinline__ void few_outputs(const window_arguments &a, const tile_frame &f, const int32_t *pixels,
                                            few_shared &shared) {
    const int32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, threads = (int32_t)blockDim.x;
    const int32_t output = 4 * (int32_t)threadIdx.x, enters = f.skew + (int32_t)a.window;
    const four_pixels out = read_four(pixels, (f.skew & ~3) + output, f.skew & 3);
    const four_pixels in = read_four(pixels, (enters & ~3) + output, enters & 3);
    const steps_scan<STEPS> steps = scan_steps(slide_of<STEPS>(in, out));
    SUMS sums =
        warp_total(share_of_window<SUMS, STEPS>(pixels, f.skew, (int32_t)a.window, (int32_t)threadIdx.x, threads));
    warp_part<SUMS, STEPS> *const parts = shared.parts_of<SUMS, STEPS>();
    if (lane == 0)
        parts[warp] = {sums, steps.all};
    __syncthreads();
    sums = SUMS::zero();
    if (lane < threads / 32)
        sums = parts[lane].window;
    if (lane < warp)
        sums.plus(parts[lane].steps);
    sums = warp_total(sums);
    sums.plus(steps.before);
    store_windows<SUMS>(a, f.at + output, f.first - output, f.end - output, slide_windows(sums, in, out));
}

__global__ void __maxnreg__(GP_WINDOW_FEW_REGS) window_scan_few(window_arguments a, gp_window_cut cut) {
    extern __shared__ __align__(16) int32_t window_shared[];
    gp_await_earlier_kernels();
    few_shared &shared = *(few_shared *)window_shared;
    int32_t *const pixels = window_shared + GP_WINDOW_FEW_HEAD / sizeof(int32_t);
    const uint32_t y = find_row(cut), tile = blockIdx.x - y * cut.tiles_a_row;
    const tile_frame f = find_tile(a, cut, y, tile);
    const uint32_t seen = load_tile(a, f, cut.warps_scale, a.image + y * a.in_pitch, pixels);
    const uint32_t magnitude = join_magnitudes(seen, shared.magnitudes);
    const window_class data = pick_class(magnitude, (uint32_t)a.window);
    if (data == CLASS_32)
        few_outputs<narrow_sums<int32_t, uint32_t>, steps_32>(a, f, pixels, shared);
    else if (data != CLASS_WIDE && magnitude >> GP_STEPS_MIDDLE == 0)
        few_outputs<narrow_sums<int64_t, uint64_t>, steps_middle>(a, f, pixels, shared);
    else
        few_outputs<wide_both, wide_both>(a, f, pixels, shared);
}

extern "C" gp_status gp_launch_window_scan_few(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    window_arguments arguments = window_arguments_of(problem);
    gp_window_cut cut;
    memcpy(&cut, plan->tiling.t, sizeof cut);
    void *list[] = {&arguments, &cut};
    return gp_gpu_launch(context, plan, (const void *)window_scan_few, list);
}
