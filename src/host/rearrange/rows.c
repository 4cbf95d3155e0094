/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that transpose, best first. How each cuts a matrix into tiles: transpose_cut.c; what it takes:
 * transpose_supports.c. */
#include "../cpu/rows.h"
#include "../../device/launch.h"
#include "../occupancy.h"
#include "supports.h"
#include "tiling.h"

GP_DECLARE_LAUNCHER(gp_launch_transpose_strip);
GP_DECLARE_LAUNCHER(gp_launch_transpose_swap);
GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror);
GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror_wide);
GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror_bytes);
GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror_bytes_mid);
GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror_pick);
GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror_pick_wide);
GP_DECLARE_LAUNCHER(gp_launch_transpose_mirror_pick_quads);
GP_DECLARE_LAUNCHER(gp_launch_transpose_bulk);
GP_DECLARE_LAUNCHER(gp_launch_transpose_vector);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pack);
GP_DECLARE_LAUNCHER(gp_launch_transpose_rows);
GP_DECLARE_LAUNCHER(gp_launch_transpose_quad);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_wide);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_few);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_any);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_tall);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_flat);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_whole);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_flow);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_flow_wide);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_rows);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_cols);
GP_DECLARE_LAUNCHER(gp_launch_transpose_narrow);
GP_DECLARE_LAUNCHER(gp_launch_transpose_skew);
GP_DECLARE_LAUNCHER(gp_launch_transpose_tile);
GP_DECLARE_LAUNCHER(gp_launch_transpose_any);
GP_DECLARE_LAUNCHER(gp_launch_transpose_naive);

/*
 * Tilings of blocks with `most` threads, or a half, a quarter .. down to `least`, of those numbers that are of use.
 */
static bool fit(unsigned most, unsigned least, unsigned attempt, gp_tiling *tiling, const gp_problem *problem,
                const gp_device *device,
                gp_transpose_cut (*cut_of)(const gp_problem *, const gp_device *, unsigned threads)) {
    for (unsigned threads = most; threads >= least; threads /= 2) {
        const gp_transpose_cut cut = cut_of(problem, device, threads);
        if (cut.smem == GP_SMEM_FEW_THREADS)
            return false;
        if (cut.smem == GP_SMEM_OTHER_THREADS || attempt-- > 0)
            continue;
        tiling->threads = threads;
        tiling->smem = cut.smem;
        tiling->blocks = cut.blocks;
        memcpy(tiling->t, &cut, GP_TRANSPOSE_CUT_KEPT);
        return true;
    }
    return false;
}

#define CUT(cut)                                                                                              \
    static gp_transpose_cut cut_##cut(const gp_problem *problem, const gp_device *device, unsigned threads) { \
        (void)device;                                                                                         \
        return gp_transpose_cut_##cut(problem, threads);                                                      \
    }
#define CUT_ON(cut)                                                                                           \
    static gp_transpose_cut cut_##cut(const gp_problem *problem, const gp_device *device, unsigned threads) { \
        return gp_transpose_cut_##cut(problem, device, threads);                                              \
    }
#define FIT(row, cut, most, least)                                                                                   \
    static bool fit_##row(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) { \
        return gp_transpose_##row##_supports(problem, device) &&                                                     \
               fit(most, least, attempt, tiling, problem, device, cut_##cut);                                        \
    }

/* Of blocks that stay, no more than the device holds at once. */
#define FIT_RESIDENT(row, cut, most, least)                                                                          \
    static bool fit_##row(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) { \
        gp_occupancy_info held;                                                                                      \
        if (!gp_transpose_##row##_supports(problem, device) ||                                                       \
            !fit(most, least, attempt, tiling, problem, device, cut_##cut))                                          \
            return false;                                                                                            \
        gp_occupancy_compute(device, tiling->threads, REGS_##row, tiling->smem, &held);                              \
        const uint64_t resident = (uint64_t)held.blocks_per_sm * device->multiprocessors;                            \
        tiling->blocks = tiling->blocks < resident ? tiling->blocks : resident;                                      \
        return true;                                                                                                 \
    }
#define REGS_pick_flow GP_TRANSPOSE_PICK_FLOW_REGS
#define REGS_pick_flow_wide GP_TRANSPOSE_PICK_REGS

CUT(any)
CUT(bulk)
CUT(mirror)
CUT(mirror_bytes)
CUT(mirror_pick)
CUT(mirror_pick_quads)
CUT(mirror_pick_wide)
CUT(mirror_wide)
CUT_ON(pick)
CUT_ON(pick_any)
CUT(pick_cols)
CUT_ON(pick_few)
CUT_ON(pick_flat)
CUT(pick_flow)
CUT(pick_flow_wide)
CUT(pick_rows)
CUT_ON(pick_tall)
CUT_ON(pick_whole)
CUT_ON(pick_wide)
CUT(quad)
CUT(rows)
CUT(skew)
CUT(strip)
CUT(tile)
CUT(vector)
FIT(rows, rows, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS_MIN)
FIT(strip, strip, GP_TRANSPOSE_THREADS, 32)
FIT(swap, vector, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS_MIN)
FIT(mirror_pick, mirror_pick, GP_TRANSPOSE_MIRROR_PICK_THREADS(1), GP_TRANSPOSE_MIRROR_PICK_THREADS(2))
FIT(mirror_pick_wide, mirror_pick_wide, GP_TRANSPOSE_MIRROR_PICK_WIDE_THREADS(2),
    GP_TRANSPOSE_MIRROR_PICK_WIDE_THREADS(4))
FIT(vector, vector, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS_MIN)
FIT(quad, quad, GP_TRANSPOSE_QUAD_THREADS, GP_TRANSPOSE_QUAD_THREADS)
FIT(pack, vector, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS_MIN)
FIT(pick_rows, pick_rows, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS_MIN)
FIT_RESIDENT(pick_flow, pick_flow, GP_TRANSPOSE_PICK_FLOW_THREADS, GP_TRANSPOSE_PICK_FLOW_THREADS_MIN)
FIT_RESIDENT(pick_flow_wide, pick_flow_wide, GP_TRANSPOSE_PICK_FLOW_WIDE_THREADS, GP_TRANSPOSE_PICK_FLOW_WIDE_THREADS)
FIT(pick_cols, pick_cols, GP_TRANSPOSE_PICK_COLS_THREADS, GP_TRANSPOSE_THREADS_MIN)
FIT(narrow, skew, GP_TRANSPOSE_THREADS_MIN, GP_TRANSPOSE_THREADS_MIN)
FIT(any, any, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS_MIN)
FIT(skew, skew, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS_MIN)
FIT(bulk, bulk, GP_TRANSPOSE_BULK_THREADS, GP_TRANSPOSE_THREADS_MIN)
FIT(tile, tile, GP_TRANSPOSE_THREADS, 32)
FIT(mirror_bytes, mirror_bytes, GP_TRANSPOSE_MIRROR_THREADS(8), GP_TRANSPOSE_MIRROR_THREADS(8))
FIT(mirror_bytes_mid, mirror_bytes, GP_TRANSPOSE_MIRROR_THREADS(16), GP_TRANSPOSE_MIRROR_THREADS(16))
FIT(mirror_wide, mirror_wide, GP_TRANSPOSE_MIRROR_WIDE_THREADS, GP_TRANSPOSE_MIRROR_WIDE_THREADS)
FIT(mirror_pick_quads, mirror_pick_quads, GP_TRANSPOSE_MIRROR_QUADS_THREADS, GP_TRANSPOSE_MIRROR_QUADS_THREADS)
FIT(mirror, mirror, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS)
FIT(pick_whole, pick_whole, GP_TRANSPOSE_PICK_WHOLE_THREADS(1), GP_TRANSPOSE_PICK_WHOLE_THREADS(2))
FIT(pick_tall, pick_tall, GP_TRANSPOSE_PICK_TALL_THREADS, GP_TRANSPOSE_PICK_TALL_THREADS)
FIT(pick_flat, pick_flat, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS)
FIT(pick_few, pick_few, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS)
FIT(pick_wide, pick_wide, GP_TRANSPOSE_PICK_THREADS, GP_TRANSPOSE_PICK_THREADS)
FIT(pick, pick, GP_TRANSPOSE_PICK_THREADS, GP_TRANSPOSE_PICK_THREADS)
FIT(pick_any, pick_any, GP_TRANSPOSE_THREADS, GP_TRANSPOSE_THREADS)
static bool fit_naive(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    tiling->threads = gp_threads_of_attempt(GP_TRANSPOSE_THREADS, 32, attempt);
    if (tiling->threads == 0)
        return false;
    const uint64_t words = problem->elem_bytes / gp_transpose_piece(problem);
    tiling->blocks = (problem->rows * problem->cols * words + tiling->threads - 1) / tiling->threads;
    return true;
}

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

/* In place, of one block size: transpose_cut_mirror.c. */
#define IN_PLACE(row, threads, regs, cut, text)                                                \
    {                                                                                          \
        .name = "transpose_" #row, .operation = GP_OPERATION_TRANSPOSE, .space = GP_SPACE_GPU, \
        .regs_per_thread = GP_TRANSPOSE_MIRROR_##regs, .fit = fit_##row, .overlaps = true,     \
        .launch = GP_GPU(gp_launch_transpose_##row), .about = text                             \
    }

/* The kernels that pick elements, each of one number of threads, or of as many for each size of element. */
#define PICK_OF(row, pick, least, most, how_many, text)                                        \
    {                                                                                          \
        .name = "transpose_" #row, .operation = GP_OPERATION_TRANSPOSE, .space = GP_SPACE_GPU, \
        .regs_per_thread = GP_TRANSPOSE_PICK_REGS, .fit = fit_##row, .overlaps = true,         \
        .launch = GP_GPU(gp_launch_transpose_##row), .about = text                             \
    }
#define PICK(row, pick, threads, how_many, text) PICK_OF(row, pick, threads, threads, how_many, text)

const gp_kernel gp_transpose_rows[] = {
    {.name = "transpose_rows",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_ROWS_REGS,
     .fit = fit_rows,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_rows),
     .about = "4, 8, 16 bytes, short rows of odd length: whole rows a block, copied as they lie, a thread a row"},
    {.name = "transpose_strip",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_STRIP_REGS,
     .fit = fit_strip,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_strip),
     .about = "one side of a few elements: whole records a block, read or written as one piece of memory"},
    IN_PLACE(mirror_bytes, GP_TRANSPOSE_MIRROR_THREADS(8), BYTES_REGS, mirror_bytes,
             "1 and 2 bytes in place, small: words of rows as they lie, shared rows element by element"),
    IN_PLACE(mirror_bytes_mid, GP_TRANSPOSE_MIRROR_THREADS(16), BYTES_REGS, mirror_bytes,
             "1 and 2 bytes in place, any pitch: as transpose_mirror_bytes, larger tiles"),
    IN_PLACE(mirror_wide, GP_TRANSPOSE_MIRROR_WIDE_THREADS, REGS, mirror_wide,
             "16 bytes in place, off alignment, large: as transpose_mirror, longer pieces of rows"),
    {.name = "transpose_swap",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_SWAP_REGS,
     .fit = fit_swap,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_swap),
     .about = "in place, 16-byte aligned: a block swaps a tile with its mirror image"},
    {.name = "transpose_mirror_pick",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_MIRROR_PICK_REGS,
     .fit = fit_mirror_pick,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_mirror_pick),
     .about = "1 and 2 bytes in place, any pitch: raw rows in shared memory, elements picked from them"},
    {.name = "transpose_mirror_pick_wide",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_MIRROR_PICK_REGS,
     .fit = fit_mirror_pick_wide,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_mirror_pick_wide),
     .about =
         "2 and 4 bytes in place, any pitch, large: likewise from larger tiles, a pair to a cluster of two blocks"},
    IN_PLACE(
        mirror_pick_quads, GP_TRANSPOSE_MIRROR_QUADS_THREADS, QUADS_REGS, mirror_pick_quads,
        "1 byte in place, any pitch, large: as transpose_mirror_pick_wide, 4 rows that follow each other at once"),
    IN_PLACE(mirror, GP_TRANSPOSE_THREADS, REGS, mirror,
             "4, 8, 12 and 16 bytes in place, any pitch: a tile and its mirror image, all loads under way together"),
    {.name = "transpose_vector",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_VECTOR_REGS,
     .fit = fit_vector,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_vector),
     .about = "4 bytes, 16-byte aligned (8 bytes: few or many): loads, shared memory and stores all in vectors"},
    {.name = "transpose_quad",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_QUAD_REGS,
     .fit = fit_quad,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_quad),
     .about =
         "1 and 2 bytes, 16-byte aligned, few or narrow: 4 vectors a thread, so that there are threads for all SMs"},
    {.name = "transpose_pack",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_PACK_REGS,
     .fit = fit_pack,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pack),
     .about = "1 and 2 bytes, 16-byte aligned, large: a thread transposes a square of vectors by byte permutes"},
    {.name = "transpose_pick_rows",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_PICK_REGS,
     .fit = fit_pick_rows,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_rows),
     .about =
         "1 and 2 bytes, very short rows without padding: whole rows a block, words picked from them byte by byte"},
    {.name = "transpose_pick_flow",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_PICK_FLOW_REGS,
     .fit = fit_pick_flow,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_flow),
     .about = "1 and 2 bytes, few rows, no padding in the output, much: likewise, blocks that stay, tile after tile"},
    {.name = "transpose_pick_flow_wide",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_PICK_REGS,
     .fit = fit_pick_flow_wide,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_flow_wide),
     .about = "1 byte, more rows: likewise, by more threads, two tiles in turns"},
    {.name = "transpose_pick_cols",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_PICK_REGS,
     .fit = fit_pick_cols,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_cols),
     .about = "1, 2, 4 bytes, very few rows, no padding in the output: likewise, the output as one piece of memory"},
    PICK_OF(pick_whole, pick_whole, GP_TRANSPOSE_PICK_WHOLE_THREADS(2), GP_TRANSPOSE_PICK_WHOLE_THREADS(1),
            .blocks_on = pick_whole_blocks_on,
            "1 and 2 bytes, few rows, no padding in the output: likewise, all of an SM's columns at once"),
    PICK(pick_tall, pick_tall, GP_TRANSPOSE_PICK_TALL_THREADS, .blocks_on = pick_tall_blocks_on,
         "1 and 2 bytes, short rows without padding: likewise, lanes below each other"),
    PICK(pick_flat, pick_flat, GP_TRANSPOSE_THREADS, .blocks_on = pick_flat_blocks_on,
         "1 and 2 bytes, few rows, no padding in the output: likewise, larger tiles, shared out evenly"),
    PICK(pick_few, pick_few, GP_TRANSPOSE_THREADS, .blocks_on = pick_few_blocks_on,
         "1 and 2 bytes, any pitch, few: likewise, from small tiles, so that there are tiles for all SMs"),
    PICK(pick_wide, pick_wide, GP_TRANSPOSE_PICK_THREADS, .blocks_on = pick_wide_blocks_on,
         "1 and 2 bytes, pitches not a multiple of 8 elements, more: likewise, from larger tiles"),
    PICK(pick, pick, GP_TRANSPOSE_PICK_THREADS, .blocks_on = pick_blocks_on,
         "1 and 2 bytes, pitches not a multiple of 8 elements: likewise, from tiles as wide as gives all SMs "
         "equally much"),
    PICK(pick_any, pick_any, GP_TRANSPOSE_THREADS, .blocks_on = pick_any_blocks_on,
         "1 and 2 bytes, any pitch: likewise, a thread a vector of the output, 8 threads below each other"),
    {.name = "transpose_narrow",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_SKEW_REGS,
     .fit = fit_narrow,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_narrow),
     .about = "16 bytes, few columns or rows: as transpose_skew, from small tiles"},
    {.name = "transpose_any",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_ANY_REGS,
     .fit = fit_any,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_any),
     .about = "any element size and alignment: raw rows in shared memory, vectors put together from their pieces"},
    {.name = "transpose_skew",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_SKEW_REGS,
     .fit = fit_skew,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_skew),
     .about = "4, 8, 16 bytes, any pitch: tiles are skewed where rows are not aligned, so that stores fill sectors"},
    {.name = "transpose_bulk",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_BULK_REGS,
     .fit = fit_bulk,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_bulk),
     .about = "4, 8, 16 bytes, 16-byte aligned, large: as transpose_vector, a tile's columns written by bulk copies"},
    {.name = "transpose_tile",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_TILE_REGS,
     .fit = fit_tile,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_tile),
     .about = "any shape, also in place: a padded tile in shared memory, both sides coalesced"},
    {.name = "transpose_naive",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .regs_per_thread = GP_TRANSPOSE_NAIVE_REGS,
     .fit = fit_naive,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_naive),
     .about = "every element size and alignment, also in place: a thread a word, no shared memory"},
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

const size_t gp_transpose_row_count = sizeof gp_transpose_rows / sizeof *gp_transpose_rows;
