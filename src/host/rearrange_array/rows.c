/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that rearrange views, best first. */
#include "../../device/launch.h"
#include "cpu.h"
#include "tiling.h"

#define WORTH gp_parts_for_bytes(problem->bytes_written)
#define FIT(name, can) GP_CPU_FIT(fit_##name, 0, can, WORTH)

FIT(planes, gp_rearrange_planes_supports(problem))
FIT(pairs, gp_rearrange_pairs_supports(problem))
GP_SIMD_FITS(gp_rearrange_runs_supports(problem) && gp_transpose_tiles_supports(problem), WORTH)
FIT(runs, gp_rearrange_runs_supports(problem))
FIT(cpu, true)

#define CPU_ROW(name, text) GP_CPU_ROW(rearrange_array_##name, fit_##name, gp_launch_rearrange_array_##name, text)

const gp_kernel gp_rearrange_array_rows[] = {
    GP_GPU_ROW(rearrange_tile, GP_REARRANGE_TILE_REGS, GP_REARRANGE_TILE_SMEM, gp_fit_rearrange_tile,
               "any view: boxes of indices, read as the input lies; in place part by part"),
    {.name = "rearrange_cycle",
     .about = "matrices in place, without gaps: pieces are turned, then moved along cycles",
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_REARRANGE_CYCLE_REGS,
     .together = true,
     .fit = gp_fit_rearrange_cycle,
     .launch = GP_GPU(gp_launch_rearrange_cycle)},
    GP_GPU_ROW(rearrange_any, GP_REARRANGE_ANY_REGS, 0, gp_fit_rearrange_any,
               "any view and alignment; in place, elements that change places in pairs"),
    CPU_ROW(planes, "large matrices, squares also in place: each by the kernels that transpose one"),
    CPU_ROW(pairs, "in place, elements that change places in pairs: part by part by way of a buffer"),
    GP_SIMD_ROWS(rearrange_array, ": runs of the output by way of a buffer, elements of 1 to 16 bytes"),
    CPU_ROW(runs, "portable C: runs of the output by way of a buffer, elements of up to 8 KiB"),
    CPU_ROW(cpu, "portable C, any view, also in place: the reference of all other kernels"),
};

GP_COUNT_ROWS(rearrange_array);
