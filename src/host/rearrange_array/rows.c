/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that rearrange views, best first. */
#include "../../device/launch.h"
#include "cpu.h"
#include "tiling.h"

GP_CPU_FIT(fit_cpu, 0, true, gp_rearrange_array_parts(problem))

const gp_kernel gp_rearrange_array_rows[] = {
    GP_GPU_ROW(rearrange_tile, GP_REARRANGE_TILE_REGS, 0, gp_fit_rearrange_tile,
               "any view: boxes of indices, read in the input's order and written in the output's"),
    GP_GPU_ROW(rearrange_any, GP_REARRANGE_ANY_REGS, 0, gp_fit_rearrange_any,
               "any view and alignment, in place where elements change places in pairs: a piece a thread"),
    GP_CPU_ROW(rearrange_array_cpu, fit_cpu, gp_launch_rearrange_array_cpu,
               "portable C, any view, also in place: the reference that every other kernel is proved against"),
};

GP_COUNT_ROWS(rearrange_array);
