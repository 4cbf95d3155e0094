/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for sums and squares in a window, best first. How each cuts an image: the fit_ files beside this one.
 */
#include "../cpu/rows.h"
#include "../../device/launch.h"
#include "tiling.h"

GP_DECLARE_LAUNCHER(gp_launch_window_rows);
GP_DECLARE_LAUNCHER(gp_launch_window_scan);
GP_DECLARE_LAUNCHER(gp_launch_window_stream);
GP_DECLARE_LAUNCHER(gp_launch_window_naive);

#define GPU_ROW(row, ceiling, fixed, text)                                                               \
    {                                                                                                    \
        .name = #row, .about = text, .operation = GP_OPERATION_WINDOW, .space = GP_SPACE_GPU,            \
        .regs_per_thread = ceiling, .smem_static = fixed, .dependent_launch = true, .fit = gp_fit_##row, \
        .launch = GP_GPU(gp_launch_##row)                                                                \
    }

#define FIT_PROCESSOR(name, isa)                                                                 \
    static bool fit_##name(const gp_problem *problem, const gp_device *device, unsigned attempt, \
                           gp_tiling *tiling) {                                                  \
        return gp_window_simd_supports(problem) &&                                               \
               gp_fit_processor(device, isa, gp_window_cpu_parts(problem), attempt, tiling);     \
    }

FIT_PROCESSOR(avx512, GP_ISA_AVX512)
FIT_PROCESSOR(avx2, GP_ISA_AVX2)
FIT_PROCESSOR(neon, GP_ISA_NEON)

static bool fit_cpu(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    return gp_fit_processor(device, 0, gp_window_cpu_parts(problem), attempt, tiling);
}

const gp_kernel gp_window_rows[] = {
    GPU_ROW(window_rows, GP_WINDOW_ROWS_REGS, 0,
            "short rows, several a block: windows as differences of prefix sums"),
    GPU_ROW(window_scan, GP_WINDOW_SCAN_REGS, 0,
            "a tile of a row in shared memory: windows by a scan of what enters and leaves"),
    GPU_ROW(window_stream, GP_WINDOW_STREAM_REGS, GP_WINDOW_STREAM_STATIC_SMEM,
            "windows too wide for shared memory: what enters and leaves, from global memory"),
    GPU_ROW(window_naive, GP_WINDOW_NAIVE_REGS, 0,
            "any window: a thread a pixel adds up its window, at a cost that grows with it"),
    {.name = "window_avx512",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_avx512,
     .launch = GP_X86(gp_launch_window_avx512),
     .about = "AVX-512, sliding 8 outputs at a time, windows up to 2^30"},
    {.name = "window_avx2",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_avx2,
     .launch = GP_X86(gp_launch_window_avx2),
     .about = "AVX2, sliding 4 outputs at a time, windows up to 2^30"},
    {.name = "window_neon",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_neon,
     .launch = GP_ARM64(gp_launch_window_neon),
     .about = "NEON, sliding 4 outputs at a time, windows up to 2^30"},
    {.name = "window_cpu",
     .operation = GP_OPERATION_WINDOW,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_cpu,
     .launch = gp_launch_window_cpu,
     .about = "portable C: the reference that every other kernel is proved against"},
};

GP_COUNT_ROWS(window);
