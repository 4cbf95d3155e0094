/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that slide windows over views, best first. */
#include "cpu.h"

#define FIT(name, isa) GP_CPU_FIT(fit_##name, isa, true, gp_window_array_parts(problem))

FIT(cpu, 0)

const gp_kernel gp_window_array_rows[] = {
    GP_CPU_ROW(window_array_cpu, fit_cpu, gp_launch_window_array_cpu,
               "portable C, any window, element by element: the reference that others are proved against"),
};

GP_COUNT_ROWS(window_array);
