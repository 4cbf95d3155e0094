/* SPDX-License-Identifier: Apache-2.0 */
/* How each transpose kernel cuts a matrix into tiles, and in which order blocks take them. Pure. */
#include "cut.h"
#include "../kernel.h"
#include "tiling.h"

#define FEW_COLUMNS 16

static unsigned floor_log2(uint64_t n) {
    unsigned log2 = 0;
    while (n >>= 1)
        log2++;
    return log2;
}

/* Fills in what follows from the tile. Counts past 32 bits are only looked at in blocks, which the planner refuses.
 */
static gp_transpose_cut finish(gp_transpose_cut cut, const gp_problem *problem, uint64_t rows) {
    const uint64_t down = gp_divide_up(rows, cut.tile_rows), across = gp_divide_up(problem->cols, cut.tile_cols);
    const uint64_t tiles = GP_TRANSPOSE_BAND_BYTES / ((uint64_t)cut.tile_rows * cut.tile_cols * problem->elem_bytes);
    cut.down = (uint32_t)down;
    cut.across = (uint32_t)across;
    cut.band = down <= tiles ? (uint32_t)down : across < FEW_COLUMNS ? 1 : (uint32_t)tiles;
    cut.blocks = problem->in_place ? down % 2 == 0 ? down / 2 * (down + 1) : (down + 1) / 2 * down : down * across;
    return cut;
}

/*
 * Much: what is read outlives in L2 what is written (see transpose.cuh), columns of tiles are taken whole, and two of
 * them together where rows start a multiple of 128 KiB apart: a column alone would then be read from a part of the
 * memory's channels, two PAIR_APART bytes from each other are read from all. H200, share of a copy's speed, without
 * and with all three: 8192^2, 16384^2, 32768^2 of 4 bytes 0.974, 0.968, 0.946 and 0.996, 0.987, 0.976; of 8 bytes
 * 0.978, 0.920, 0.934 and 0.995, 0.983, 0.975; of 16 bytes 0.929, 0.949, 0.950 and 0.984, 0.975, 0.972. Pairs alone:
 * 16384^2 of 8 bytes 0.964, 8192^2 of 16 bytes 0.969. Reading alone, us: 16384^2 of 8 bytes 518 by single columns,
 * 461 by pairs.
 */
#define MUCH ((uint64_t)128 << 20)
#define COLUMN_BYTES ((uint64_t)16 << 20)
#define PAIR_PITCH ((uint64_t)128 << 10)
#define PAIR_APART(elem_bytes) ((elem_bytes) == 16 ? 8192u : 16384u)

static gp_transpose_cut order_much(gp_transpose_cut cut, const gp_problem *problem) {
    const uint64_t bytes = problem->elem_bytes, wide = cut.tile_cols * bytes;
    cut.outlives = problem->rows * problem->cols * bytes >= MUCH;
    if (cut.across >= FEW_COLUMNS && cut.down * cut.tile_rows * wide <= COLUMN_BYTES)
        cut.band = cut.down;
    if (bytes >= 4 && problem->in_pitch * bytes % PAIR_PITCH == 0 && wide < PAIR_APART(bytes))
        cut.apart = (uint32_t)(PAIR_APART(bytes) / wide);
    return cut;
}

gp_transpose_cut gp_transpose_cut_of(const gp_plan *plan) {
    gp_transpose_cut cut = {0};
    memcpy(&cut, plan->tiling.t, GP_TRANSPOSE_CUT_KEPT);
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
    const uint32_t across = 1u << floor_log2(squares) / 2;
    const uint32_t down = problem->in_place ? across : squares / across;
    gp_transpose_cut cut = {.tile_rows = down * elems, .tile_cols = across * elems};
    cut.smem = (size_t)cut.tile_rows * cut.tile_cols * problem->elem_bytes * (problem->in_place ? 2 : 1);
    cut = finish(cut, problem, problem->rows);
    return problem->in_place ? cut : order_much(cut, problem);
}

/* In pairs even where single columns do as well: H200, us, 32768^2 of 8 and 16 bytes 4070 and 8156 in pairs, 4061 and
 * 8122 without in one run, but 4099 of 8 bytes without in another. */
gp_transpose_cut gp_transpose_cut_bulk(const gp_problem *problem, unsigned threads) {
    const uint32_t bytes = (uint32_t)problem->elem_bytes, elems = GP_TRANSPOSE_VECTOR / bytes;
    gp_transpose_cut cut = {.tile_rows = GP_TRANSPOSE_BULK_DOWN(bytes, threads) * elems,
                            .tile_cols = GP_TRANSPOSE_BULK_ACROSS * elems};
    cut.smem = GP_TRANSPOSE_BULK_SMEM(bytes, threads);
    return order_much(finish(cut, problem, problem->rows), problem);
}

/* Elements in a sector, or 0 if every row of the output starts at a sector's start, so that nothing is skewed. */
static uint32_t halo_of(const gp_problem *problem) {
    const bool aligned = problem->out_align >= GP_TRANSPOSE_SECTOR || problem->elem_bytes >= GP_TRANSPOSE_SECTOR;
    return aligned ? 0 : GP_TRANSPOSE_SECTOR / (uint32_t)problem->elem_bytes;
}

/*
 * Little is cut into tiles of 32 columns instead of 64, so that there are enough for all multiprocessors. H200, us,
 * 32 against 64: 4 bytes, 725 x 725 3.2 and 3.3, 1449 x 1449 6.5 and 7.5, 1801 x 1801 8.9 and 8.8; 8 bytes, 1023 x
 * 1025 6.3 and 7.6, 1449 x 1449 10.4 and 10.0.
 */
#define SKEW_LITTLE ((uint64_t)10 << 20) /* bytes */

/* A warp's lanes load neighbouring columns; the padded tile has room for the halo above it. */
gp_transpose_cut gp_transpose_cut_skew(const gp_problem *problem, unsigned threads) {
    const bool little = problem->rows * problem->cols * problem->elem_bytes <= SKEW_LITTLE;
    const uint32_t halo = halo_of(problem), cols = problem->elem_bytes == 16 || little ? 32 : 64;
    gp_transpose_cut cut = {.tile_rows = threads / 32 * GP_TRANSPOSE_SKEW_ROWS, .tile_cols = cols, .halo = halo};
    cut.smem = (size_t)(cut.tile_rows + halo) * (cols + 1) * problem->elem_bytes;
    return order_much(finish(cut, problem, problem->rows + (halo > 0 ? halo - 1 : 0)), problem);
}

/* Whole rows, a power of two of them, a thread's each at most. */
gp_transpose_cut gp_transpose_cut_rows(const gp_problem *problem, unsigned threads) {
    const uint64_t row_bytes = problem->cols * problem->elem_bytes;
    uint32_t rows = GP_TRANSPOSE_ROWS_SEGMENT(problem->elem_bytes, row_bytes) / (uint32_t)problem->elem_bytes;
    while (rows * 2 <= threads && rows * 2 * row_bytes <= GP_TRANSPOSE_ROWS_BYTES)
        rows *= 2;
    gp_transpose_cut cut = {.tile_rows = rows, .tile_cols = (uint32_t)problem->cols, .halo = halo_of(problem)};
    cut.smem = (rows + cut.halo) * row_bytes + 32;
    cut.outlives = problem->rows * row_bytes >= MUCH;
    return finish(cut, problem, problem->rows + (cut.halo > 0 ? cut.halo - 1 : 0));
}

/*
 * 4 x threads vectors. Few rows: tiles as high as they are, so that what is written is one piece. Few columns: as
 * narrow as they are.
 */
gp_transpose_cut gp_transpose_cut_quad(const gp_problem *problem, unsigned threads) {
    const uint32_t bytes = (uint32_t)problem->elem_bytes, most = bytes == 1 ? 8 : 16;
    const uint32_t across = problem->rows <= 32                 ? 16
                            : problem->cols > 64                ? most
                            : problem->cols <= 32 && bytes == 1 ? 2
                                                                : 8;
    gp_transpose_cut cut = {.tile_rows = threads * 4 / across, .tile_cols = across * GP_TRANSPOSE_VECTOR / bytes};
    cut.smem = (size_t)across * (threads * 4 / across * GP_TRANSPOSE_VECTOR + 4 * GP_TRANSPOSE_QUAD_PAD(across));
    return finish(cut, problem, problem->rows);
}

/* As many rows as fill the threads' bytes, at least a warp's steps down a column; and the vectors they may reach
 * into. */
gp_transpose_cut gp_transpose_cut_pick_rows(const gp_problem *problem, unsigned threads) {
    const uint64_t row_bytes = problem->cols * problem->elem_bytes;
    const uint32_t least =
        GP_TRANSPOSE_PICK_STEPS(row_bytes) * GP_TRANSPOSE_PICK_WORDS * (4 / (uint32_t)problem->elem_bytes);
    const uint32_t blocks = (uint32_t)(threads * GP_TRANSPOSE_PICK_BYTES / (least * row_bytes));
    gp_transpose_cut cut = {.tile_rows = least * (blocks > 0 ? blocks : 1),
                            .tile_cols = (uint32_t)problem->cols,
                            .halo = halo_of(problem)};
    cut.smem = ((cut.tile_rows + cut.halo) * row_bytes + 15) / 16 * 16 + 16;
    return finish(cut, problem, problem->rows + (cut.halo > 0 ? cut.halo - 1 : 0));
}

/* All rows of as many columns as fill the threads' bytes, whole vectors. A thread has one row's next words at least.
 */
gp_transpose_cut gp_transpose_cut_pick_cols(const gp_problem *problem, unsigned threads) {
    const uint64_t most = threads * GP_TRANSPOSE_PICK_BYTES / (problem->rows * problem->elem_bytes) / 16 * 16;
    gp_transpose_cut cut = {.tile_rows = (uint32_t)problem->rows, .tile_cols = most < 16 ? 16 : (uint32_t)most};
    cut.smem = threads < problem->rows ? GP_SMEM_FEW_THREADS
                                       : cut.tile_rows * GP_TRANSPOSE_PICK_PITCH(cut.tile_cols * problem->elem_bytes);
    return finish(cut, problem, problem->rows);
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
    cut.blocks = gp_divide_up(length, records);
    return cut;
}

uint32_t gp_transpose_piece(const gp_problem *problem) {
    const uint64_t bits = problem->elem_bytes | problem->in_align | problem->out_align | GP_TRANSPOSE_VECTOR;
    return (uint32_t)(bits & (~bits + 1));
}

/*
 * As far off a vector as in the input, and past a multiple of 128 bytes by an element's size as nearly as that
 * allows: the pieces of a column then lie in neighbouring banks. Short rows that follow each other are one run.
 */
uint32_t gp_transpose_any_pitch(const gp_problem *problem, uint32_t cols) {
    const uint32_t elem = (uint32_t)problem->elem_bytes, bytes = cols * elem;
    if (cols == problem->in_pitch && bytes < 256 && bytes % 64 != 0)
        return bytes;
    const bool aligned = (bytes | (uint32_t)problem->in_align) % GP_TRANSPOSE_VECTOR == 0;
    const uint32_t least = bytes + (aligned ? 0 : 2 * (GP_TRANSPOSE_VECTOR - 1));
    const uint32_t wanted = elem + (((uint32_t)problem->in_pitch * elem - elem) & (GP_TRANSPOSE_VECTOR - 1));
    return least + ((wanted - least) & 127);
}

/* Nearly square. A side that is short is taken whole; output rows of a tile are whole sectors, `least` elements. */
gp_transpose_cut gp_transpose_cut_any(const gp_problem *problem, unsigned threads) {
    const uint32_t elem = (uint32_t)problem->elem_bytes, low = elem & (~elem + 1);
    const uint32_t least = low < GP_TRANSPOSE_SECTOR ? GP_TRANSPOSE_SECTOR / low : 1;
    const uint64_t bytes = problem->rows * problem->cols * elem;
    uint32_t room = threads * GP_TRANSPOSE_ANY_BYTES;
    while (room / 2 >= threads * GP_TRANSPOSE_ANY_BYTES_MIN && bytes / room < GP_TRANSPOSE_ANY_TILES)
        room /= 2;
    const uint32_t elems = room / elem < least ? least : room / elem;
    uint32_t rows = 1u << floor_log2(elems) / 2;
    rows = rows < least ? least : rows;
    const bool few_rows = problem->rows <= 2 * rows;
    rows = few_rows ? (uint32_t)problem->rows : rows;
    uint32_t cols = elems > rows ? elems / rows : 1;
    if (problem->cols <= cols + cols / 2) {
        cols = (uint32_t)problem->cols;
        if (!few_rows)
            rows = elems / cols < least ? least : elems / cols / least * least;
    }
    const uint32_t pitch = gp_transpose_any_pitch(problem, cols), most = room / 2 * 3 / pitch;
    if (rows > most && rows > least)
        rows = most < least ? least : most / least * least;
    if (rows >= problem->rows)
        rows = (uint32_t)problem->rows;
    gp_transpose_cut cut = {.tile_rows = rows, .tile_cols = cols};
    if (rows < problem->rows && problem->out_align < GP_TRANSPOSE_SECTOR)
        cut.halo = (uint32_t)gp_divide_up(GP_TRANSPOSE_SECTOR - gp_transpose_piece(problem), elem);
    cut.smem = (size_t)(rows + cut.halo) * pitch + 2 * GP_TRANSPOSE_VECTOR;
    return finish(cut, problem, problem->rows + cut.halo);
}
