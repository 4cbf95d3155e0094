/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for sums and squares in a window, best first. How each cuts an image stands in the fit_ files. */
#include "../../device/launch.h"
#include "cpu.h"
#include "tiling.h"

#define GPU_ROW(row, ceiling, fixed, text) GP_GPU_ROW(row, ceiling, fixed, gp_fit_##row, text)
#define CPU_ROW(row, target, text) \
    GP_CPU_ROW(window_##row, fit_##row, target(gp_launch_window_##row), text ", windows up to 2^30")
#define WORTH gp_parts_for_bytes(problem->bytes_read + problem->bytes_written)

GP_CPU_FIT(fit_batch_avx512, GP_ISA_AVX512, gp_window_batch_supports(problem, 16), WORTH)
GP_CPU_FIT(fit_batch_avx2, GP_ISA_AVX2, gp_window_batch_supports(problem, 8), WORTH)
GP_SIMD_FITS(gp_window_simd_supports(problem), WORTH)
GP_CPU_FIT(fit_cpu, 0, true, WORTH)

const gp_kernel gp_window_rows[] = {
    GPU_ROW(window_rows, GP_WINDOW_ROWS_REGS, 0,
            "short rows, several a block: windows as differences of prefix sums"),
    GPU_ROW(window_scan, GP_WINDOW_SCAN_REGS, 0,
            "a tile of a row in shared memory: windows by a scan of what enters and leaves"),
    GPU_ROW(window_stream, GP_WINDOW_STREAM_REGS, GP_WINDOW_STREAM_STATIC_SMEM,
            "windows too wide for shared memory: what enters and leaves, from global memory"),
    GPU_ROW(window_naive, GP_WINDOW_NAIVE_REGS, 0,
            "any window: a thread a pixel adds up its window, at a cost that grows with it"),
    CPU_ROW(batch_avx512, GP_X86, "AVX-512, 16 short rows at once, a lane a row"),
    CPU_ROW(avx512, GP_X86, "AVX-512, row by row, 16 columns a step"),
    CPU_ROW(batch_avx2, GP_X86, "AVX2, 8 short rows at once, a lane a row"),
    CPU_ROW(avx2, GP_X86, "AVX2, row by row, 8 columns a step"),
    CPU_ROW(neon, GP_ARM64, "NEON, row by row, 4 columns a step"),
    GP_CPU_ROW(window_cpu, fit_cpu, gp_launch_window_cpu,
               "portable C: the reference that every other kernel is proved against"),
};

GP_COUNT_ROWS(window);
