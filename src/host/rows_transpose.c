/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that transpose, best first. How each cuts a matrix into tiles: transpose_cut.c. */
#include "../device/launch.h"
#include "../device/transpose.h"
#include "cpu/rows.h"

GP_DECLARE_LAUNCHER(gp_launch_transpose_strip);
GP_DECLARE_LAUNCHER(gp_launch_transpose_swap);
GP_DECLARE_LAUNCHER(gp_launch_transpose_vector);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pack);
GP_DECLARE_LAUNCHER(gp_launch_transpose_rows);
GP_DECLARE_LAUNCHER(gp_launch_transpose_quad);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_rows);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pick_cols);
GP_DECLARE_LAUNCHER(gp_launch_transpose_skew);
GP_DECLARE_LAUNCHER(gp_launch_transpose_turn);
GP_DECLARE_LAUNCHER(gp_launch_transpose_tile);
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
SIZES_OF(skew)
SIZES_OF(turn)
SIZES_OF(strip)
SIZES_OF(quad)
SIZES_OF(rows)
SIZES_OF(pick_rows)
SIZES_OF(pick_cols)

static uint64_t naive_blocks(const gp_problem *problem, unsigned threads) {
    return ((uint64_t)problem->rows * problem->cols + threads - 1) / threads;
}

/*
 * 1 and 2 bytes: below this, tiles of 16 KiB and more are too few for all multiprocessors. H200, us, transpose_quad
 * against the large tiles of transpose_pack: 2048 x 2048 of 1 and 2 bytes 4.4 and 6.5 against 5.6 and 7.2, 4096 x
 * 4096 of 1 byte 11.2 against 10.9.
 */
#define SMALL_ELEMENTS ((uint64_t)1 << 22)

static bool is_small(const gp_problem *problem) {
    return problem->rows * problem->cols <= SMALL_ELEMENTS;
}

/* Elements of 1, 2, 4, 8 or 16 bytes, each aligned to its size. */
static bool is_plain(const gp_problem *problem) {
    return problem->elem_bytes <= GP_TRANSPOSE_VECTOR && (problem->elem_bytes & (problem->elem_bytes - 1)) == 0 &&
           problem->in_align >= problem->elem_bytes && problem->out_align >= problem->elem_bytes;
}

/* Both matrices consist of whole, aligned vectors. */
static bool is_vectors(const gp_problem *problem) {
    return is_plain(problem) && problem->in_align >= GP_TRANSPOSE_VECTOR &&
           problem->out_align >= GP_TRANSPOSE_VECTOR &&
           problem->rows * problem->elem_bytes % GP_TRANSPOSE_VECTOR == 0 &&
           problem->cols * problem->elem_bytes % GP_TRANSPOSE_VECTOR == 0;
}

/*
 * Records of more bytes are left to tiles. H200, share of a copy's speed, strips against tiles: 4 bytes, 1000000 x 49
 * 0.94 against 0.86, but 1000000 x 32, which is aligned, 0.92 against 0.95; 16 bytes, 1000000 x 8 0.97 against 0.86,
 * 8 x 1000000 0.94 against 0.49; 2 bytes, 1000000 x 8 1.15 against 1.04, 1000000 x 32 0.93 against 0.86.
 */
static size_t longest_record(const gp_problem *problem) {
    return problem->elem_bytes == 4 ? is_vectors(problem) ? 124 : 200 : problem->elem_bytes >= 8 ? 128 : 64;
}

/* One side is short, and its rows follow each other without padding. Small elements are left to transpose_pick_. */
static bool strip_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_plain(problem) &&
           (problem->cols <= problem->rows
                ? problem->cols * problem->elem_bytes <= longest_record(problem) &&
                      problem->in_pitch == problem->cols &&
                      (problem->elem_bytes >= 4 || (problem->elem_bytes == 2 && problem->out_align >= 16))
                : problem->rows * problem->elem_bytes <= longest_record(problem) &&
                      problem->out_pitch == problem->rows &&
                      (problem->elem_bytes >= 8 || (problem->elem_bytes >= 2 && problem->in_align >= 16)));
}

/*
 * An odd number of columns keeps the rows' elements in different banks. H200, share of a copy's speed, against strips
 * and tiles: 4 bytes, 372827 x 45 0.97 against 0.94, 100000 x 257 0.94 against 0.93; 8 bytes, 1525201 x 11 0.98
 * against 0.96, but 100000 x 257 0.92 against 0.94; 16 bytes, 100000 x 257 0.95 against 0.93. Output rows that start
 * anywhere cost a halo: 92691 x 181 of 4 bytes 0.90 against 0.94, 184365 x 91 of 16 bytes 0.90 against 0.92.
 */
static size_t longest_row(const gp_problem *problem) {
    return problem->out_align < GP_TRANSPOSE_SECTOR ? 400 : problem->elem_bytes == 16 ? 4200 : 1100;
}

/* H200, against strips: 5592405 x 3 of 4 bytes 0.64 against 0.93, 2396745 x 7 0.93 against 0.91. */
#define LEAST_COLS 7

/* Fewer rows make too few blocks: 181 x 181 of 4 bytes takes 7.0 us in whole rows, of 1 byte 6.0. */
#define ROWS_FOR_COLS 16

static bool rows_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_plain(problem) && problem->elem_bytes >= 4 && problem->cols % 2 == 1 &&
           problem->in_pitch == problem->cols && problem->cols >= LEAST_COLS &&
           problem->rows / problem->cols >= ROWS_FOR_COLS &&
           problem->cols * problem->elem_bytes <= longest_row(problem);
}

/*
 * H200, share of a copy's speed, 1 byte, against transpose_turn: 100000 x 257 0.96 against 0.86, 184365 x 91 0.99
 * against 0.92, 92691 x 181 0.92 against 0.95; 2 bytes, 184365 x 91 0.98 against 0.93, 100000 x 257 0.94 against
 * 0.91.
 */
#define PICK_ROWS_COLS 260

static bool pick_rows_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_plain(problem) && problem->elem_bytes <= 2 &&
           problem->in_pitch == problem->cols && problem->cols <= PICK_ROWS_COLS &&
           problem->rows / problem->cols >= ROWS_FOR_COLS;
}

/* H200, share of a copy's speed, against tiles: 11 x 1525201 of 4 bytes 0.95, 45 x 372827 of 4 bytes 0.91 against
 * 0.93. */
#define PICK_COLS_BYTES 128

static bool pick_cols_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_plain(problem) && problem->elem_bytes <= 4 &&
           problem->out_pitch == problem->rows && problem->rows * problem->elem_bytes <= PICK_COLS_BYTES;
}

static bool swap_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->in_place && is_vectors(problem);
}

/*
 * Larger ones of 8 bytes, and 16 bytes, are left to transpose_skew. H200, share of a copy's speed, vectors against
 * it: 8 bytes, 1024 x 1024 1.05 against 0.94, 4096 x 4096 0.96 against 0.98; 16 bytes, 4096 x 4096 0.96 against 0.98.
 */
#define VECTOR_BYTES_OF_8 ((uint64_t)16 << 20)

static bool vector_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_vectors(problem) &&
           (problem->elem_bytes == 4 ||
            (problem->elem_bytes == 8 && problem->rows * problem->cols * 8 <= VECTOR_BYTES_OF_8));
}

static bool pack_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_vectors(problem) && problem->elem_bytes <= 2;
}

/* Few elements, or one side within a vector tile's. */
static bool quad_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_vectors(problem) && problem->elem_bytes <= 2 &&
           (is_small(problem) || problem->rows * problem->elem_bytes < 128 ||
            problem->cols * problem->elem_bytes < 128);
}

static bool skew_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_plain(problem) && problem->elem_bytes >= 4;
}

static bool turn_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_plain(problem) && problem->elem_bytes <= 2;
}

static bool tile_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return is_plain(problem);
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

const gp_kernel gp_transpose_rows[] = {
    {.name = "transpose_rows",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_ROWS_REGS,
     .smem = rows_smem,
     .blocks = rows_blocks,
     .supports = rows_supports,
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
     .supports = strip_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_strip),
     .about = "one side of a few elements: whole records a block, read or written as one piece of memory"},
    {.name = "transpose_swap",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_SWAP_REGS,
     .smem = vector_smem,
     .blocks = vector_blocks,
     .supports = swap_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_swap),
     .about = "in place, 16-byte aligned: a block swaps a tile with its mirror image"},
    {.name = "transpose_vector",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_VECTOR_REGS,
     .smem = vector_smem,
     .blocks = vector_blocks,
     .supports = vector_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_vector),
     .about = "4 bytes, 16-byte aligned (8 bytes: few): loads, shared memory and stores all in vectors"},
    {.name = "transpose_quad",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_QUAD_THREADS,
     .threads_max = GP_TRANSPOSE_QUAD_THREADS,
     .regs_per_thread = GP_TRANSPOSE_QUAD_REGS,
     .smem = quad_smem,
     .blocks = quad_blocks,
     .supports = quad_supports,
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
     .supports = pack_supports,
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
     .supports = pick_rows_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_rows),
     .about = "1 and 2 bytes, short rows without padding: whole rows a block, words picked from them byte by byte"},
    {.name = "transpose_pick_cols",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_PICK_COLS_THREADS,
     .regs_per_thread = GP_TRANSPOSE_PICK_REGS,
     .smem = pick_cols_smem,
     .blocks = pick_cols_blocks,
     .supports = pick_cols_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_pick_cols),
     .about = "1, 2, 4 bytes, few rows, no padding in the output: likewise, the output as one piece of memory"},
    {.name = "transpose_skew",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_SKEW_REGS,
     .smem = skew_smem,
     .blocks = skew_blocks,
     .supports = skew_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_skew),
     .about = "4, 8, 16 bytes, any pitch: tiles are skewed where rows are not aligned, so that stores fill sectors"},
    {.name = "transpose_turn",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_TURN_REGS,
     .smem = turn_smem,
     .blocks = turn_blocks,
     .supports = turn_supports,
     .overlaps = true,
     .launch = GP_GPU(gp_launch_transpose_turn),
     .about =
         "1 and 2 bytes, any pitch: skewed likewise, raw rows in shared memory, words cut out of them on both sides"},
    {.name = "transpose_tile",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_TILE_REGS,
     .smem = tile_smem,
     .blocks = tile_blocks,
     .supports = tile_supports,
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
     .about = "every element size and alignment: a thread an element, no shared memory"},
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
