/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that transpose, best first. How each cuts a matrix into tiles: the fit_ files beside this one. */
#include "../cpu/rows.h"
#include "../../device/launch.h"
#include "fit.h"

#define GPU_ROW(row, ceiling, text)                                                                                  \
    {                                                                                                                \
        .name = #row, .about = text, .operation = GP_OPERATION_TRANSPOSE, .space = GP_SPACE_GPU,                     \
        .regs_per_thread = ceiling, .dependent_launch = true, .fit = gp_fit_##row, .launch = GP_GPU(gp_launch_##row) \
    }

GP_DECLARE_LAUNCHER(gp_launch_transpose_strip);
GP_DECLARE_LAUNCHER(gp_launch_transpose_vector);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick);
GP_DECLARE_LAUNCHER(gp_launch_transpose_skew);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pieces);
GP_DECLARE_LAUNCHER(gp_launch_transpose_swap);
GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror);
GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror_pick);
GP_DECLARE_LAUNCHER(gp_launch_transpose_tile);
GP_DECLARE_LAUNCHER(gp_launch_transpose_naive);

#define FIT_PROCESSOR(name, isa)                                                                 \
    static bool fit_##name(const gp_problem *problem, const gp_device *device, unsigned attempt, \
                           gp_tiling *tiling) {                                                  \
        return ((isa) == 0 || gp_transpose_simd_supports(problem)) &&                            \
               gp_fit_processor(device, isa, gp_transpose_cpu_parts(problem), attempt, tiling);  \
    }

FIT_PROCESSOR(avx512, GP_ISA_AVX512)
FIT_PROCESSOR(avx2, GP_ISA_AVX2)
FIT_PROCESSOR(neon, GP_ISA_NEON)
FIT_PROCESSOR(cpu, 0)

const gp_kernel gp_transpose_rows[] = {
    GPU_ROW(transpose_strip, GP_TRANSPOSE_STRIP_REGS,
            "a short side without gaps: the block's part of it is one run of memory"),
    GPU_ROW(transpose_vector, GP_TRANSPOSE_VECTOR_REGS,
            "1, 2 and 3 bytes in whole words: a thread turns a block in its registers"),
    GPU_ROW(transpose_pick, GP_TRANSPOSE_PICK_REGS,
            "1 and 2 bytes, any pitch: raw rows in shared memory, elements picked from them"),
    GPU_ROW(transpose_skew, GP_TRANSPOSE_SKEW_REGS,
            "4, 8, 16 bytes, any pitch: tiles are skewed so that stores fill whole sectors"),
    GPU_ROW(transpose_pieces, GP_TRANSPOSE_PIECES_REGS,
            "any element size and alignment: words are put together from pieces of raw rows"),
    GPU_ROW(transpose_swap, GP_TRANSPOSE_SWAP_REGS,
            "1 and 2 bytes in place, 16-byte aligned: a tile is swapped with its mirror image"),
    GPU_ROW(transpose_mirror_pick, GP_TRANSPOSE_MIRROR_PICK_REGS,
            "1, 2 and much of 4 bytes in place, any pitch: raw rows, elements picked"),
    GPU_ROW(transpose_mirror, GP_TRANSPOSE_MIRROR_REGS,
            "4, 8, 12, 16 bytes in place, any pitch: two tiles, all loads under way together"),
    GPU_ROW(transpose_tile, GP_TRANSPOSE_TILE_REGS,
            "small devices, also in place: a padded tile in shared memory, both sides coalesced"),
    GPU_ROW(transpose_naive, GP_TRANSPOSE_NAIVE_REGS,
            "every size and alignment, also in place: a thread a word, no shared memory"),
    {.name = "transpose_avx512",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_avx512,
     .launch = GP_X86(gp_launch_transpose_avx512),
     .about = "AVX-512: squares of vectors in registers, streaming stores"},
    {.name = "transpose_avx2",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_avx2,
     .launch = GP_X86(gp_launch_transpose_avx2),
     .about = "AVX2: squares of vectors in registers"},
    {.name = "transpose_neon",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_neon,
     .launch = GP_ARM64(gp_launch_transpose_neon),
     .about = "NEON: squares of vectors in registers"},
    {.name = "transpose_cpu",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_PROCESSOR,
     .fit = fit_cpu,
     .launch = gp_launch_transpose_cpu,
     .about = "portable C: the reference that every other kernel is proved against"},
};

GP_COUNT_ROWS(transpose);
