/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that transpose, best first, and how each cuts a matrix into tiles. */
#include "../device/launch.h"
#include "../device/transpose.h"
#include "cpu/rows.h"

GP_DECLARE_LAUNCHER(gp_launch_transpose_strip);
GP_DECLARE_LAUNCHER(gp_launch_transpose_swap);
GP_DECLARE_LAUNCHER(gp_launch_transpose_vector);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pack);
GP_DECLARE_LAUNCHER(gp_launch_transpose_pack_small);
GP_DECLARE_LAUNCHER(gp_launch_transpose_skew);
GP_DECLARE_LAUNCHER(gp_launch_transpose_shift);
GP_DECLARE_LAUNCHER(gp_launch_transpose_tile);
GP_DECLARE_LAUNCHER(gp_launch_transpose_naive);

/*
 * Blocks walk down columns of tiles, in bands of at most this many bytes of tiles a column: what a column reads
 * beyond its tiles' edges must still be in L2 when the next column reads it. H200, share of a copy's speed down whole
 * columns against row by row: 16384 x 16384 of 4 bytes (4 MiB a column) 0.978 against 0.931, 32768 x 32768 (8 MiB)
 * 0.959 against 0.918. Few columns of more than that are taken row by row: 100000 x 257 of 4 bytes 0.92 against 0.83.
 */
#define BAND_BYTES ((uint64_t)8 << 20)
#define FEW_COLUMNS 16

/* 1 and 2 bytes: below this, tiles of 16 KiB and more are too few for all multiprocessors. */
#define SMALL_BYTES ((uint64_t)2 << 20)

static uint64_t divide_up(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

static unsigned floor_log2(uint64_t n) {
    unsigned log2 = 0;
    while (n >>= 1)
        log2++;
    return log2;
}

/* Fills in what follows from the tile. Counts past 32 bits are only looked at in blocks, which the planner refuses.
 */
static gp_transpose_cut finish(gp_transpose_cut cut, const gp_problem *problem, uint64_t rows) {
    const uint64_t down = divide_up(rows, cut.tile_rows), across = divide_up(problem->cols, cut.tile_cols);
    const uint64_t tiles = BAND_BYTES / ((uint64_t)cut.tile_rows * cut.tile_cols * problem->elem_bytes);
    cut.down = (uint32_t)down;
    cut.across = (uint32_t)across;
    cut.band = down <= tiles ? (uint32_t)down : across < FEW_COLUMNS ? 1 : (uint32_t)tiles;
    cut.blocks = problem->in_place ? down % 2 == 0 ? down / 2 * (down + 1) : (down + 1) / 2 * down : down * across;
    return cut;
}

/* The largest square of a power of two with at most 4 elements a thread, rows padded by one. In place: two. */
gp_transpose_cut gp_transpose_cut_tile(const gp_problem *problem, unsigned threads) {
    const uint32_t side = 1u << floor_log2((uint64_t)threads * 4) / 2;
    gp_transpose_cut cut = {.tile_rows = side, .tile_cols = side};
    cut.smem = (size_t)side * (side + 1) * problem->elem_bytes * (problem->in_place ? 2 : 1);
    return finish(cut, problem, problem->rows);
}

/* Squares of one vector's elements, as many as the threads move, as near to a square as their number allows. */
gp_transpose_cut gp_transpose_cut_vector(const gp_problem *problem, unsigned threads) {
    const uint32_t elems = GP_TRANSPOSE_VECTOR / (uint32_t)problem->elem_bytes;
    const uint32_t squares = threads * GP_TRANSPOSE_SQUARES(problem->elem_bytes);
    const uint32_t across = 1u << (floor_log2(squares) + (problem->in_place ? 0 : 1)) / 2;
    const uint32_t down = problem->in_place ? across : squares / across;
    gp_transpose_cut cut = {.tile_rows = down * elems, .tile_cols = across * elems};
    cut.smem = (size_t)cut.tile_rows * cut.tile_cols * problem->elem_bytes * (problem->in_place ? 2 : 1);
    return finish(cut, problem, problem->rows);
}

/* Elements in a sector, or 0 if every row of the output starts at a sector's start, so that nothing is skewed. */
static uint32_t halo_of(const gp_problem *problem) {
    const bool aligned = problem->out_align >= GP_TRANSPOSE_SECTOR || problem->elem_bytes >= GP_TRANSPOSE_SECTOR;
    return aligned ? 0 : GP_TRANSPOSE_SECTOR / (uint32_t)problem->elem_bytes;
}

/* A warp's lanes load neighbouring columns; the padded tile has room for the halo above it. */
gp_transpose_cut gp_transpose_cut_skew(const gp_problem *problem, unsigned threads) {
    const uint32_t halo = halo_of(problem), cols = GP_TRANSPOSE_SKEW_COLS(problem->elem_bytes);
    gp_transpose_cut cut = {.tile_rows = threads / 32 * GP_TRANSPOSE_SKEW_ROWS, .tile_cols = cols, .halo = halo};
    cut.smem = (size_t)(cut.tile_rows + halo) * (cols + 1) * problem->elem_bytes;
    return finish(cut, problem, problem->rows + (halo > 0 ? halo - 1 : 0));
}

static bool is_small(const gp_problem *problem) {
    return problem->rows * problem->cols * problem->elem_bytes <= SMALL_BYTES;
}

/*
 * A warp's lanes load neighbouring words of 4 / elem_bytes elements; a column's words are laid out so that 32 lanes
 * meet 32 banks. Eight such words of rows a warp, so that the halo is a tile's eighth at most; two if there are few
 * tiles.
 */
gp_transpose_cut gp_transpose_cut_shift(const gp_problem *problem, unsigned threads) {
    const uint32_t halo = halo_of(problem), elems = 4 / (uint32_t)problem->elem_bytes;
    const uint32_t words = threads / 32 * (is_small(problem) ? GP_TRANSPOSE_SHIFT_FEW : GP_TRANSPOSE_SHIFT_MANY);
    gp_transpose_cut cut = {.tile_rows = words * elems, .tile_cols = 32 * elems, .halo = halo};
    cut.smem = 4 * ((size_t)cut.tile_cols * GP_TRANSPOSE_SHIFT_WORDS(words, elems) + 32 + 1);
    return finish(cut, problem, problem->rows + (halo > 0 ? halo - 1 : 0));
}

/* The short side whole and a power of two of the long one: a piece of memory without gaps on one of the two sides. */
gp_transpose_cut gp_transpose_cut_strip(const gp_problem *problem, unsigned threads) {
    const bool gather = problem->cols <= problem->rows;
    const uint64_t width = gather ? problem->cols : problem->rows, length = gather ? problem->rows : problem->cols;
    const uint64_t most = (uint64_t)threads * GP_TRANSPOSE_STRIP_BYTES / (width * problem->elem_bytes);
    const uint32_t records = 1u << floor_log2(most < 32 ? 32 : most);
    gp_transpose_cut cut = {.tile_rows = gather ? records : (uint32_t)width,
                            .tile_cols = gather ? (uint32_t)width : records};
    const size_t bytes = (size_t)records * width * problem->elem_bytes;
    cut.smem = bytes + bytes / 128 * problem->elem_bytes; /* an element's room after every 128 bytes */
    cut.down = cut.across = cut.band = 1;
    cut.blocks = divide_up(length, records);
    return cut;
}

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
SIZES_OF(shift)
SIZES_OF(strip)

static uint64_t naive_blocks(const gp_problem *problem, unsigned threads) {
    return divide_up((uint64_t)problem->rows * problem->cols, threads);
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
 * Records of more bytes are left to tiles. H200, share of a copy's speed, strips against tiles: 1000000 x 8 of 4
 * bytes 1.06 against 0.87, 1000000 x 32 of 4 bytes 0.93 against 0.95.
 */
#define STRIP_BYTES_MAX 64

/* One side is short, and its rows follow each other without padding. */
static bool strip_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_plain(problem) &&
           (problem->cols <= problem->rows
                ? problem->cols * problem->elem_bytes <= STRIP_BYTES_MAX && problem->in_pitch == problem->cols
                : problem->rows * problem->elem_bytes <= STRIP_BYTES_MAX && problem->out_pitch == problem->rows);
}

static bool swap_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return problem->in_place && is_vectors(problem);
}

static bool vector_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_vectors(problem) && problem->elem_bytes == 4;
}

static bool pack_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_vectors(problem) && problem->elem_bytes <= 2 && !is_small(problem);
}

static bool pack_small_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_vectors(problem) && problem->elem_bytes <= 2 && is_small(problem);
}

static bool skew_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return !problem->in_place && is_plain(problem) && problem->elem_bytes >= 4;
}

static bool shift_supports(const gp_problem *problem, const gp_device *device) {
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

const gp_kernel gp_transpose_rows[] = {
    {.name = "transpose_strip",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_STRIP_REGS,
     .smem = strip_smem,
     .blocks = strip_blocks,
     .supports = strip_supports,
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
     .launch = GP_GPU(gp_launch_transpose_vector),
     .about = "4 bytes, 16-byte aligned: loads, shared memory and stores all in vectors"},
    {.name = "transpose_pack",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_PACK_REGS,
     .smem = vector_smem,
     .blocks = vector_blocks,
     .supports = pack_supports,
     .launch = GP_GPU(gp_launch_transpose_pack),
     .about = "1 and 2 bytes, 16-byte aligned, large: a thread transposes a square of vectors by byte permutes"},
    {.name = "transpose_pack_small",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS_MIN,
     .regs_per_thread = GP_TRANSPOSE_PACK_REGS,
     .smem = vector_smem,
     .blocks = vector_blocks,
     .supports = pack_small_supports,
     .launch = GP_GPU(gp_launch_transpose_pack_small),
     .about = "the same for matrices up to 2 MiB: the least tiles, so that there are blocks for more SMs"},
    {.name = "transpose_skew",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_SKEW_REGS,
     .smem = skew_smem,
     .blocks = skew_blocks,
     .supports = skew_supports,
     .launch = GP_GPU(gp_launch_transpose_skew),
     .about = "4, 8, 16 bytes, any pitch: tiles are skewed where rows are not aligned, so that stores fill sectors"},
    {.name = "transpose_shift",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = GP_TRANSPOSE_THREADS_MIN,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_SHIFT_REGS,
     .smem = shift_smem,
     .blocks = shift_blocks,
     .supports = shift_supports,
     .launch = GP_GPU(gp_launch_transpose_shift),
     .about = "1 and 2 bytes, any pitch: skewed likewise, words shifted into place on both sides"},
    {.name = "transpose_tile",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_TILE_REGS,
     .smem = tile_smem,
     .blocks = tile_blocks,
     .supports = tile_supports,
     .launch = GP_GPU(gp_launch_transpose_tile),
     .about = "any shape, also in place: a padded tile in shared memory, both sides coalesced"},
    {.name = "transpose_naive",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_GPU,
     .threads_min = 32,
     .threads_max = GP_TRANSPOSE_THREADS,
     .regs_per_thread = GP_TRANSPOSE_NAIVE_REGS,
     .blocks = naive_blocks,
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
    {.name = "transpose_cpu",
     .operation = GP_OPERATION_TRANSPOSE,
     .space = GP_SPACE_PROCESSOR,
     .blocks = gp_transpose_cpu_parts,
     .launch = gp_launch_transpose_cpu,
     .about = "portable C: the reference that every other kernel is proved against"},
};

const size_t gp_transpose_row_count = sizeof gp_transpose_rows / sizeof *gp_transpose_rows;
