/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that transpose, best first. How each cuts a matrix into tiles: the fit_ files beside this one. */
#include "../../device/launch.h"
#include "cpu_job.h"
#include "fit.h"

#define GPU_ROW(row, ceiling, text) GP_GPU_ROW(row, ceiling, 0, gp_fit_##row, text)

/*
 * Less is left to one thread, since lines that another has in its cache cost more to fetch than to transpose: 254 x
 * 283 elements of 8 bytes take one thread 34 us and two 45.
 */
#define ALONE_BYTES_MAX ((uint64_t)2 << 20)

static uint64_t parts_of(const gp_problem *problem) {
    const uint64_t bytes = problem->bytes_read + problem->bytes_written;
    return bytes < ALONE_BYTES_MAX ? 1 : gp_parts_for_bytes(bytes);
}

#define FIT(name, isa, can) GP_CPU_FIT(fit_##name, isa, can, parts_of(problem))
#define FITS(set, isa)                                               \
    FIT(thin_##set, isa, gp_transpose_thin_supports(problem))        \
    FIT(lines_##set, isa, gp_transpose_lines_simd_supports(problem)) \
    FIT(tiles_##set, isa, gp_transpose_tiles_supports(problem))

FITS(avx512, GP_ISA_AVX512)
FITS(avx2, GP_ISA_AVX2)
FITS(neon, GP_ISA_NEON)
FIT(lines_cpu, 0, gp_transpose_lines_supports(problem))
FIT(cpu, 0, true)

#define CPU_ROW(row, target, text) GP_CPU_ROW(transpose_##row, fit_##row, target(gp_launch_transpose_##row), text)
#define CPU_ROWS(set, target, vectors)                                                                        \
    CPU_ROW(thin_##set, target, vectors ": one side of a few elements, such as pixels into planes and back"), \
        CPU_ROW(lines_##set, target, vectors ": whole lines of the output, past the caches"),                 \
        CPU_ROW(tiles_##set, target, vectors ": squares of vectors in registers, through the caches, also in place")

const gp_kernel gp_transpose_rows[] = {
    GPU_ROW(transpose_strip, 64, "a short side without gaps: the block's part of it is one run of memory"),
    GPU_ROW(transpose_vector, 64, "1, 2 and 3 bytes in whole words: a thread turns a block in its registers"),
    GPU_ROW(transpose_pick, 64, "1 and 2 bytes, any pitch: raw rows in shared memory, elements picked from them"),
    GPU_ROW(transpose_skew, 80, "4, 8, 16 bytes, any pitch: tiles are skewed so that stores fill whole sectors"),
    GPU_ROW(transpose_pieces, 64, "any element size and alignment: words are put together from pieces of raw rows"),
    GPU_ROW(transpose_mirror, 128, "1, 2, 4, 8, 12, 16 bytes in place: a tile and its mirror image change places"),
    GPU_ROW(transpose_naive, 48, "every size and alignment, also in place: a thread a word, no shared memory"),
    CPU_ROWS(avx512, GP_X86, "AVX-512"),
    CPU_ROWS(avx2, GP_X86, "AVX2"),
    CPU_ROWS(neon, GP_ARM64, "NEON"),
    CPU_ROW(lines_cpu, , "elements of up to 256 bytes: whole lines of the output, past the caches"),
    CPU_ROW(cpu, , "portable C: the reference that every other kernel is proved against"),
};

GP_COUNT_ROWS(transpose);
