/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor rows' launchers and predicates, as the catalogue's tables name them. A row with an instruction set in
 * its name may only be launched where gp_device.cpu_isa has that bit.
 */
#ifndef GP_CPU_ROWS_H
#define GP_CPU_ROWS_H

#include "../context.h"

/* A row names its launcher with these, which are NULL where the compiler does not target that processor. */
#if defined(__x86_64__)
#define GP_X86(launcher) launcher
#else
#define GP_X86(launcher) NULL
#endif
#if defined(__aarch64__)
#define GP_ARM64(launcher) launcher
#else
#define GP_ARM64(launcher) NULL
#endif

/* fit() of a processor row: what it can do, and the threads it is worth, as expressions of `problem`. */
#define GP_CPU_FIT(name, isa, can, worth)                                                                       \
    static bool name(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) { \
        return (can) && gp_fit_processor(device, isa, worth, attempt, tiling);                                  \
    }

#define GP_CPU_ROW(row, of, fits, launcher, text) \
    { .name = #row, .about = text, .operation = of, .space = GP_SPACE_PROCESSOR, .fit = fits, .launch = launcher }

/* Most threads worth using for a problem of this size: blocks of their tilings. */
uint64_t gp_reduce_cpu_parts(const gp_problem *problem);
uint64_t gp_window_cpu_parts(const gp_problem *problem);
uint64_t gp_transpose_cpu_parts(const gp_problem *problem);

/* What the instruction-set rows can do; the reference rows (reduce_cpu, window_cpu, transpose_cpu) do everything. */
bool gp_window_simd_supports(const gp_problem *problem);                /* window up to 2^30 */
bool gp_window_batch_supports(const gp_problem *problem, size_t lanes); /* short rows, a lane a row */
bool gp_transpose_thin_supports(const gp_problem *problem);             /* one side of a few elements */
bool gp_transpose_lines_simd_supports(const gp_problem *problem);       /* output past the caches */
bool gp_transpose_tiles_supports(const gp_problem *problem);            /* elements of 1, 2, 4, 8, 16 bytes */
bool gp_transpose_lines_supports(const gp_problem *problem);            /* output past the caches, up to 256 bytes */

gp_status gp_launch_reduce_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_reduce_avx2(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_reduce_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_reduce_neon(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_reduce_recursive_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem);

gp_status gp_launch_window_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_window_batch_avx2(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_window_batch_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_window_avx2(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_window_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_window_neon(gp_context *context, const gp_plan *plan, const gp_problem *problem);

gp_status gp_launch_transpose_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_lines_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_thin_avx2(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_lines_avx2(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_tiles_avx2(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_thin_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_lines_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_tiles_avx512(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_thin_neon(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_lines_neon(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_launch_transpose_tiles_neon(gp_context *context, const gp_plan *plan, const gp_problem *problem);

#endif
