/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that transpose, best first. How each cuts a matrix into tiles: transpose_cut.c; what it takes:
 * transpose_supports.c. */
#include "../cpu/rows.h"
#include "../../device/launch.h"
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

/* A row's smem() and blocks() are two members of its cut. */
#define SIZES_OF(cut)                                                                                \
    static size_t cut##_smem(const gp_problem *problem, const gp_device *device, unsigned threads) { \
        (void)device;                                                                                \
        return gp_transpose_cut_##cut(problem, threads).smem;                                        \
    }                                                                                                \
    static uint64_t cut##_blocks(const gp_problem *problem, unsigned threads) {                      \
        return gp_transpose_cut_##cut(problem, threads).blocks;                                      \
    }

SIZES_OF(tile)
SIZES_OF(vector)
SIZES_OF(bulk)
SIZES_OF(skew)
SIZES_OF(strip)
SIZES_OF(quad)
SIZES_OF(rows)
SIZES_OF(pick_rows)
SIZES_OF(pick_cols)
SIZES_OF(pick_flow)
SIZES_OF(pick_flow_wide)
SIZES_OF(mirror)
SIZES_OF(mirror_wide)
SIZES_OF(mirror_bytes)
SIZES_OF(mirror_pick)
SIZES_OF(mirror_pick_wide)
SIZES_OF(mirror_pick_quads)
SIZES_OF(any)

/* Likewise where the cut depends on the device. */
#define SIZES_ON(cut)                                                                                       \
    static size_t cut##_smem(const gp_problem *problem, const gp_device *device, unsigned threads) {        \
        return gp_transpose_cut_##cut(problem, device, threads).smem;                                       \
    }                                                                                                       \
    static uint64_t cut##_blocks_on(const gp_problem *problem, const gp_device *device, unsigned threads) { \
        return gp_transpose_cut_##cut(problem, device, threads).blocks;                                     \
    }

SIZES_ON(pick)
SIZES_ON(pick_wide)
SIZES_ON(pick_few)
SIZES_ON(pick_any)
SIZES_ON(pick_tall)
SIZES_ON(pick_flat)
SIZES_ON(pick_whole)

static uint64_t naive_blocks(const gp_problem *problem, unsigned threads) {
    const uint64_t words = problem->elem_bytes / gp_transpose_piece(problem);
    return (problem->rows * problem->cols * words + threads - 1) / threads;
}

static bool avx512_supports(const gp_problem *problem, const gp_device *device) {
    return (device->cpu_isa & GP_ISA_AVX512) != 0 && gp_transpose_simd_supports(problem);
}

static bool avx2_supports(const gp_problem *problem, const gp_device *device) {
    return (device->cpu_isa & GP_ISA_AVX2) != 0 && gp_transpose_simd_supports(problem);
}

static bool neon_supports(const gp_problem *problem, const gp_device *device) {
    return (device->cpu_isa & GP_ISA_NEON) != 0 && gp_transpose_simd_supports(problem);
}

/* In place, of one block size: transpose_cut_mirror.c. */
#define IN_PLACE(row, threads, regs, cut, text)                                                           \
    {                                                                                                     \
        .name = #row, .operation = GP_OPERATION_TRANSPOSE, .space = GP_SPACE_GPU, .threads_min = threads, \
        .threads_max = threads, .regs_per_thread = GP_TRANSPOSE_MIRROR_##regs, .smem = cut##_smem,        \
        .blocks = cut##_blocks, .supports = gp_##row##_supports, .overlaps = true,                        \
        .launch = GP_GPU(gp_launch_##row), .about = text                                                  \
    }

/* The kernels that pick elements, each of one number of threads, or of as many for each size of element. */
#define PICK_OF(row, pick, least, most, how_many, text)                                                     \
    {                                                                                                       \
        .name = #row, .operation = GP_OPERATION_TRANSPOSE, .space = GP_SPACE_GPU, .threads_min = least,     \
        .threads_max = most, .regs_per_thread = GP_TRANSPOSE_PICK_REGS, .smem = pick##_smem, how_many,      \
        .supports = gp_##row##_supports, .overlaps = true, .launch = GP_GPU(gp_launch_##row), .about = text \
    }
#define PICK(row, pick, threads, how_many, text) PICK_OF(row, pick, threads, threads, how_many, text)

const gp_kernel gp_transpose_rows[] = {
    {.name = "transpose_rows",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_ROWS_REGS,
     .smem = rows_smem,
     .blocks = rows_blocks,
     .supports = gp_transpose_rows_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_rows),
     .about = "4, 8, 16 bytes, short rows of odd length: whole rows a block, copied as they lie, a thread a row"},
    {.name = "transpose_strip",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_STRIP_REGS,
     .smem = strip_smem,
     .blocks = strip_blocks,
     .supports = gp_transpose_strip_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_strip),
     .about = "one side of a few elements: whole records a block, read or written as one piece of memory"},
    IN_PLACE(transpose_mirror_bytes, GP_TRANSPOSE_MIRROR_THREADS(8), BYTES_REGS, mirror_bytes,
             "1 and 2 bytes in place, small: words of rows as they lie, shared rows element by element"),
    IN_PLACE(transpose_mirror_bytes_mid, GP_TRANSPOSE_MIRROR_THREADS(16), BYTES_REGS, mirror_bytes,
             "1 and 2 bytes in place, any pitch: as transpose_mirror_bytes, larger tiles"),
    IN_PLACE(transpose_mirror_wide, GP_TRANSPOSE_MIRROR_WIDE_THREADS, REGS, mirror_wide,
             "16 bytes in place, off alignment, large: as transpose_mirror, longer pieces of rows"),
    {.name = "transpose_swap",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_SWAP_REGS,
     .smem = vector_smem,
     .blocks = vector_blocks,
     .supports = gp_transpose_swap_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_swap),
     .about = "in place, 16-byte aligned: a block swaps a tile with its mirror image"},
    {.name = "transpose_mirror_pick",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_MIRROR_PICK_THREADS(2),
     .threads_max = GP_TRANSPOSE_MIRROR_PICK_THREADS(1),
     .regs_per_thread = GP_TRANSPOSE_MIRROR_PICK_REGS,
     .smem = mirror_pick_smem,
     .blocks = mirror_pick_blocks,
     .supports = gp_transpose_mirror_pick_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_mirror_pick),
     .about = "1 and 2 bytes in place, any pitch: raw rows in shared memory, elements picked from them"},
    {.name = "transpose_mirror_pick_wide",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_MIRROR_PICK_WIDE_THREADS(4),
     .threads_max = GP_TRANSPOSE_MIRROR_PICK_WIDE_THREADS(2),
     .regs_per_thread = GP_TRANSPOSE_MIRROR_PICK_REGS,
     .smem = mirror_pick_wide_smem,
     .blocks = mirror_pick_wide_blocks,
     .supports = gp_transpose_mirror_pick_wide_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_mirror_pick_wide),
     .about =
         "2 and 4 bytes in place, any pitch, large: likewise from larger tiles, a pair to a cluster of two blocks"},
    IN_PLACE(
        transpose_mirror_pick_quads, GP_TRANSPOSE_MIRROR_QUADS_THREADS, QUADS_REGS, mirror_pick_quads,
        "1 byte in place, any pitch, large: as transpose_mirror_pick_wide, 4 rows that follow each other at once"),
    IN_PLACE(transpose_mirror, GP_TRANSPOSE_THREADS, REGS, mirror,
             "4, 8, 12 and 16 bytes in place, any pitch: a tile and its mirror image, all loads under way together"),
    {.name = "transpose_vector",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_VECTOR_REGS,
     .smem = vector_smem,
     .blocks = vector_blocks,
     .supports = gp_transpose_vector_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_vector),
     .about = "4 bytes, 16-byte aligned (8 bytes: few or many): loads, shared memory and stores all in vectors"},
    {.name = "transpose_quad",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_QUAD_THREADS,
     .threads_max = GP_TRANSPOSE_QUAD_THREADS,
     .regs_per_thread = GP_TRANSPOSE_QUAD_REGS,
     .smem = quad_smem,
     .blocks = quad_blocks,
     .supports = gp_transpose_quad_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_quad),
     .about =
         "1 and 2 bytes, 16-byte aligned, few or narrow: 4 vectors a thread, so that there are threads for all SMs"},
    {.name = "transpose_pack",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_PACK_REGS,
     .smem = vector_smem,
     .blocks = vector_blocks,
     .supports = gp_transpose_pack_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pack),
     .about = "1 and 2 bytes, 16-byte aligned, large: a thread transposes a square of vectors by byte permutes"},
    {.name = "transpose_pick_rows",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_PICK_REGS,
     .smem = pick_rows_smem,
     .blocks = pick_rows_blocks,
     .supports = gp_transpose_pick_rows_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_rows),
     .about =
         "1 and 2 bytes, very short rows without padding: whole rows a block, words picked from them byte by byte"},
    {.name = "transpose_pick_flow",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_PICK_FLOW_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_PICK_FLOW_THREADS,
     .regs_per_thread = GP_TRANSPOSE_PICK_FLOW_REGS,
     .smem = pick_flow_smem,
     .blocks = pick_flow_blocks,
     .supports = gp_transpose_pick_flow_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_flow),
     .waves = 1,
     .about = "1 and 2 bytes, few rows, no padding in the output, much: likewise, blocks that stay, tile after tile"},
    {.name = "transpose_pick_flow_wide",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_PICK_FLOW_WIDE_THREADS,
     .threads_max = GP_TRANSPOSE_PICK_FLOW_WIDE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_PICK_REGS,
     .smem = pick_flow_wide_smem,
     .blocks = pick_flow_wide_blocks,
     .supports = gp_transpose_pick_flow_wide_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_flow_wide),
     .waves = 1,
     .about = "1 byte, more rows: likewise, by more threads, two tiles in turns"},
    {.name = "transpose_pick_cols",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_PICK_COLS_THREADS,
     .regs_per_thread = GP_TRANSPOSE_PICK_REGS,
     .smem = pick_cols_smem,
     .blocks = pick_cols_blocks,
     .supports = gp_transpose_pick_cols_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_cols),
     .about = "1, 2, 4 bytes, very few rows, no padding in the output: likewise, the output as one piece of memory"},
    PICK_OF(transpose_pick_whole, pick_whole, GP_TRANSPOSE_PICK_WHOLE_THREADS(2), GP_TRANSPOSE_PICK_WHOLE_THREADS(1),
            .blocks_on = pick_whole_blocks_on,
            "1 and 2 bytes, few rows, no padding in the output: likewise, all of an SM's columns at once"),
    PICK(transpose_pick_tall, pick_tall, GP_TRANSPOSE_PICK_TALL_THREADS, .blocks_on = pick_tall_blocks_on,
         "1 and 2 bytes, short rows without padding: likewise, lanes below each other"),
    PICK(transpose_pick_flat, pick_flat, GP_TRANSPOSE_THREADS, .blocks_on = pick_flat_blocks_on,
         "1 and 2 bytes, few rows, no padding in the output: likewise, larger tiles, shared out evenly"),
    PICK(transpose_pick_few, pick_few, GP_TRANSPOSE_THREADS, .blocks_on = pick_few_blocks_on,
         "1 and 2 bytes, any pitch, few: likewise, from small tiles, so that there are tiles for all SMs"),
    PICK(transpose_pick_wide, pick_wide, GP_TRANSPOSE_PICK_THREADS, .blocks_on = pick_wide_blocks_on,
         "1 and 2 bytes, pitches not a multiple of 8 elements, more: likewise, from larger tiles"),
    PICK(transpose_pick, pick, GP_TRANSPOSE_PICK_THREADS, .blocks_on = pick_blocks_on,
         "1 and 2 bytes, pitches not a multiple of 8 elements: likewise, from tiles as wide as gives all SMs "
         "equally much"),
    PICK(transpose_pick_any, pick_any, GP_TRANSPOSE_THREADS, .blocks_on = pick_any_blocks_on,
         "1 and 2 bytes, any pitch: likewise, a thread a vector of the output, 8 threads below each other"),
    {.name = "transpose_narrow",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS_MIN,
     .regs_per_thread = GP_TRANSPOSE_SKEW_REGS,
     .smem = skew_smem,
     .blocks = skew_blocks,
     .supports = gp_transpose_narrow_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_narrow),
     .about = "16 bytes, few columns or rows: as transpose_skew, from small tiles"},
    {.name = "transpose_any",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_ANY_REGS,
     .smem = any_smem,
     .blocks = any_blocks,
     .supports = gp_transpose_any_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_any),
     .about = "any element size and alignment: raw rows in shared memory, vectors put together from their pieces"},
    {.name = "transpose_skew",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_SKEW_REGS,
     .smem = skew_smem,
     .blocks = skew_blocks,
     .supports = gp_transpose_skew_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_skew),
     .about = "4, 8, 16 bytes, any pitch: tiles are skewed where rows are not aligned, so that stores fill sectors"},
    {.name = "transpose_bulk",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_BULK_THREADS,
     .regs_per_thread = GP_TRANSPOSE_BULK_REGS,
     .smem = bulk_smem,
     .blocks = bulk_blocks,
     .supports = gp_transpose_bulk_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_bulk),
     .about = "4, 8, 16 bytes, 16-byte aligned, large: as transpose_vector, a tile's columns written by bulk copies"},
    {.name = "transpose_tile",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_TILE_REGS,
     .smem = tile_smem,
     .blocks = tile_blocks,
     .supports = gp_transpose_tile_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_tile),
     .about = "any shape, also in place: a padded tile in shared memory, both sides coalesced"},
    {.name = "transpose_naive",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_NAIVE_REGS,
     .blocks = naive_blocks,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_naive),
     .about = "every element size and alignment, also in place: a thread a word, no shared memory"},
    {.name = "transpose_avx512",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_transpose_cpu_parts,
     .supports = avx512_supports,
     .launch = GP_X86(gp_launch_transpose_avx512),
     .about = "AVX-512: squares of vectors in registers, streaming stores"},
    {.name = "transpose_avx2",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_transpose_cpu_parts,
     .supports = avx2_supports,
     .launch = GP_X86(gp_launch_transpose_avx2),
     .about = "AVX2: squares of vectors in registers"},
    {.name = "transpose_neon",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_transpose_cpu_parts,
     .supports = neon_supports,
     .launch = GP_ARM64(gp_launch_transpose_neon),
     .about = "NEON: squares of vectors in registers"},
    {.name = "transpose_cpu",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_transpose_cpu_parts,
     .launch = gp_launch_transpose_cpu,
     .about = "portable C: the reference that every other kernel is proved against"},
};

const size_t gp_transpose_row_count = sizeof gp_transpose_rows / sizeof *gp_transpose_rows;
