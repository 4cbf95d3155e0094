/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that rearrange views, best first. */
#include "cpu.h"

GP_CPU_FIT(fit_cpu, 0, true, gp_rearrange_array_parts(problem))

const gp_kernel gp_rearrange_array_rows[] = {
    GP_CPU_ROW(rearrange_array_cpu, fit_cpu, gp_launch_rearrange_array_cpu,
               "portable C, any view, also in place: the reference that every other kernel is proved against"),
};

GP_COUNT_ROWS(rearrange_array);
