/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that reduce views, best first. */
#include "../../device/launch.h"
#include "cpu.h"
#include "fit.h"
#include "tiling.h"

GP_SIMD_FITS(true, gp_parts_for_bytes(problem->bytes_read))
GP_CPU_FIT(fit_cpu, 0, true, gp_parts_for_bytes(problem->bytes_read))

const gp_kernel gp_reduce_array_rows[] = {
    GP_GPU_ROW(reduce_short, GP_REDUCE_SHORT_REGS, GP_REDUCE_SHORT_STATIC_SMEM, gp_fit_reduce_short,
               "short rows or boxes without gaps: a tile in shared memory, each by few threads"),
    GP_GPU_ROW(reduce_many, GP_REDUCE_MANY_REGS, GP_REDUCE_MANY_STATIC_SMEM, gp_fit_reduce_many,
               "rows, columns, strided views: a team of threads for each output"),
    GP_GPU_ROW(reduce_all, GP_REDUCE_ALL_REGS, GP_REDUCE_ALL_STATIC_SMEM, gp_fit_reduce_all,
               "contiguous elements to one output, in one launch, of all types"),
    GP_GPU_ROW(reduce_all_singles, GP_REDUCE_ALL_REGS, GP_REDUCE_ALL_STATIC_SMEM, gp_fit_reduce_all_singles,
               "contiguous f16, bf16, f32 to one output, for GPUs with few FP64 lanes"),
    GP_GPU_ROW(reduce_any, GP_REDUCE_ANY_REGS, GP_REDUCE_ANY_STATIC_SMEM, gp_fit_reduce_any,
               "any view: a thread takes an element at a time, by the source of the reference"),
    GP_SIMD_ROWS(reduce_array, ": contiguous elements along rows or columns, sums of floats included"),
    GP_CPU_ROW(reduce_array_cpu, fit_cpu, gp_launch_reduce_array_cpu,
               "portable C, any view: the reference that every other kernel is proved against"),
};

GP_COUNT_ROWS(reduce_array);
