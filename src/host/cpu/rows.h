/* SPDX-License-Identifier: Apache-2.0 */
/* How tables name processor rows, and what these work with. One with an instruction set in its name may only be
 * launched where gp_device.cpu_isa has that bit. */
#pragma once

#include "split.h"
#include "threads.h"

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

#define GP_CPU_ROW(row, fits, launcher, text) \
    { .name = #row, .about = text, .space = GP_SPACE_PROCESSOR, .fit = fits, .launch = launcher }

/* An algorithm that is compiled for each instruction set, best first: its launchers, fit() of each, and the rows. */
#define GP_DECLARE_SIMD_LAUNCHERS(row)             \
    GP_DECLARE_LAUNCHER(gp_launch_##row##_avx512); \
    GP_DECLARE_LAUNCHER(gp_launch_##row##_avx2);   \
    GP_DECLARE_LAUNCHER(gp_launch_##row##_neon)
#define GP_SIMD_FITS(can, worth)                      \
    GP_CPU_FIT(fit_avx512, GP_ISA_AVX512, can, worth) \
    GP_CPU_FIT(fit_avx2, GP_ISA_AVX2, can, worth)     \
    GP_CPU_FIT(fit_neon, GP_ISA_NEON, can, worth)
#define GP_SIMD_ROWS(row, text)                                                             \
    GP_CPU_ROW(row##_avx512, fit_avx512, GP_X86(gp_launch_##row##_avx512), "AVX-512" text), \
        GP_CPU_ROW(row##_avx2, fit_avx2, GP_X86(gp_launch_##row##_avx2), "AVX2" text),      \
        GP_CPU_ROW(row##_neon, fit_neon, GP_ARM64(gp_launch_##row##_neon), "NEON" text)
