/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that reduce views, best first. */
#include "cpu.h"

GP_CPU_FIT(fit_cpu, 0, true, gp_reduce_array_parts(problem))

const gp_kernel gp_reduce_array_rows[] = {
    GP_CPU_ROW(reduce_array_cpu, fit_cpu, gp_launch_reduce_array_cpu,
               "portable C, any view: the reference that every other kernel is proved against"),
};

GP_COUNT_ROWS(reduce_array);
