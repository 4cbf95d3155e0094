/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that reduce views, best first. */
#include "../../device/launch.h"
#include "cpu.h"
#include "fit.h"
#include "tiling.h"

#define FIT(name, isa) GP_CPU_FIT(fit_##name, isa, true, gp_parts_for_bytes(problem->bytes_read))

FIT(avx512, GP_ISA_AVX512)
FIT(avx2, GP_ISA_AVX2)
FIT(neon, GP_ISA_NEON)
FIT(cpu, 0)

const gp_kernel gp_reduce_array_rows[] = {
    GP_GPU_ROW(reduce_short, GP_REDUCE_SHORT_REGS, GP_REDUCE_SHORT_STATIC_SMEM, gp_fit_reduce_short,
               "short rows without gaps, by way of shared memory; sums of floats by proof or redone"),
    GP_GPU_ROW(reduce_many, GP_REDUCE_MANY_REGS, GP_REDUCE_MANY_STATIC_SMEM, gp_fit_reduce_many,
               "rows, columns, strided views: a team of threads an output; sums of floats by proof or redone"),
    GP_GPU_ROW(reduce_all, GP_REDUCE_ALL_REGS, GP_REDUCE_ALL_STATIC_SMEM, gp_fit_reduce_all,
               "contiguous elements to one output: sums of floats by proof, exactly where that fails"),
    GP_GPU_ROW(reduce_any, GP_REDUCE_ANY_REGS, GP_REDUCE_ANY_STATIC_SMEM, gp_fit_reduce_any,
               "any view, an element a thread at a time, by the source of the processor's reference"),
    GP_CPU_ROW(reduce_array_avx512, fit_avx512, GP_X86(gp_launch_reduce_array_avx512),
               "AVX-512, contiguous elements; sums of floats by proof or redone"),
    GP_CPU_ROW(reduce_array_avx2, fit_avx2, GP_X86(gp_launch_reduce_array_avx2),
               "AVX2, contiguous elements; sums of floats by proof or redone"),
    GP_CPU_ROW(reduce_array_neon, fit_neon, GP_ARM64(gp_launch_reduce_array_neon),
               "NEON, contiguous elements; sums of floats by proof or redone"),
    GP_CPU_ROW(reduce_array_cpu, fit_cpu, gp_launch_reduce_array_cpu,
               "portable C, any view: the reference that every other kernel is proved against"),
};

GP_COUNT_ROWS(reduce_array);
