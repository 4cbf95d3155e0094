/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that slide windows over views, best first. */
#include "../../device/launch.h"
#include "cpu.h"
#include "fit.h"
#include "tiling.h"

#define FIT(name, isa) \
    GP_CPU_FIT(fit_##name, isa, true, gp_parts_for_bytes(problem->bytes_read + problem->bytes_written))

FIT(avx512, GP_ISA_AVX512)
FIT(avx2, GP_ISA_AVX2)
FIT(neon, GP_ISA_NEON)
FIT(cpu, 0)

const gp_kernel gp_window_array_rows[] = {
    GP_GPU_ROW(window_strip, GP_STRIP_REGS, GP_STRIP_STATIC_SMEM, gp_fit_window_strip,
               "sums of columns carried down a strip, windows from prefix sums; extremes by tiles"),
    GP_GPU_ROW(window_any, GP_WINDOW_ANY_REGS, GP_WINDOW_ANY_STATIC_SMEM, gp_fit_window_any,
               "any window, element by element: sums by proof, all else by the source of the processor's reference"),
    GP_CPU_ROW(window_array_avx512, fit_avx512, GP_X86(gp_launch_window_array_avx512),
               "AVX-512, any window: sums and extremes carried along both axes"),
    GP_CPU_ROW(window_array_avx2, fit_avx2, GP_X86(gp_launch_window_array_avx2),
               "AVX2, any window: sums and extremes carried along both axes"),
    GP_CPU_ROW(window_array_neon, fit_neon, GP_ARM64(gp_launch_window_array_neon),
               "NEON, any window: sums and extremes carried along both axes"),
    GP_CPU_ROW(window_array_plain, fit_cpu, gp_launch_window_array_plain,
               "portable C, any window: sums and extremes carried along both axes"),
    GP_CPU_ROW(window_array_cpu, fit_cpu, gp_launch_window_array_cpu,
               "portable C, any window, element by element: the reference that others are proved against"),
};

GP_COUNT_ROWS(window_array);
