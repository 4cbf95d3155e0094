/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that slide windows over views, best first. */
#include "../../device/launch.h"
#include "cpu.h"
#include "fit.h"
#include "tiling.h"

#define WORTH gp_parts_for_bytes(problem->bytes_read + problem->bytes_written)

GP_SIMD_FITS(true, WORTH)
GP_CPU_FIT(fit_cpu, 0, true, WORTH)

const gp_kernel gp_window_array_rows[] = {
    GP_GPU_ROW(window_strip, GP_STRIP_REGS, GP_STRIP_STATIC_SMEM, gp_fit_window_strip,
               "sums and extremes carried down strips of columns, or sums along lines"),
    GP_GPU_ROW(window_any, GP_WINDOW_ANY_REGS, GP_WINDOW_ANY_STATIC_SMEM, gp_fit_window_any,
               "any window: a thread looks at each element of the window of its output"),
    GP_SIMD_ROWS(window_array, ", any window: sums and extremes carried along both axes"),
    GP_CPU_ROW(window_array_plain, fit_cpu, gp_launch_window_array_plain,
               "portable C, any window: sums and extremes carried along both axes"),
    GP_CPU_ROW(window_array_cpu, fit_cpu, gp_launch_window_array_cpu,
               "portable C, any window, element by element: the reference of all other kernels"),
};

GP_COUNT_ROWS(window_array);
