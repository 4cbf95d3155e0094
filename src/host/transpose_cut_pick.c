/* SPDX-License-Identifier: Apache-2.0 */
/* How the kernels that pick elements cut a matrix into tiles, so that all multiprocessors have equally much; and
 * which of them takes what. Pure. */
#include "../device/transpose.h"
#include "transpose_supports.h"

#define BAND_BYTES ((uint64_t)8 << 20) /* see transpose_cut.c */
#define ROUNDS 4                       /* over all words that start at different places, at most */
#define ROUND_COSTS 3                  /* per cent of a thread's time */
#define SHARES 4                       /* how many more tiles a multiprocessor are looked at */

static uint64_t divide_up(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/*
 * The width, `widest` at most, of pieces of `all`, where each has `down` tiles: the multiprocessor with most tiles
 * decides, so as many tiles as the others can have too. A tile costs its width and `more`. H200, us, 1 byte: 5791 x
 * 2897 in 598 tiles 14.4, in 644 12.3; 2897 x 2897 in 299 tiles 9.1, in 391 7.8.
 */
static uint64_t even_width(uint64_t all, uint64_t widest, uint64_t down, uint64_t more, uint64_t share_least,
                           const gp_device *device) {
    const uint64_t sms = device->multiprocessors > 0 ? device->multiprocessors : 1;
    const uint64_t fewest = divide_up(all, widest);
    uint64_t share = divide_up(down * fewest, sms), width = widest, lowest = UINT64_MAX;
    if (share < share_least)
        share = share_least;
    for (int i = 0; i < SHARES; i++, share++) {
        const uint64_t across = share * sms / down;
        const uint64_t now = divide_up(all, across > fewest ? across : fewest);
        if (across >= fewest && share * (now + more) < lowest) {
            lowest = share * (now + more);
            width = now;
        }
    }
    return width;
}

/*
 * Lanes pick from rows 4 / elem_bytes apart. While those start at different words of a sector their picks lie in
 * different banks; before that repeats, room of a sector moves the next ones to other banks.
 */
static void make_room(gp_transpose_cut *cut, const gp_problem *problem, uint64_t rows, uint32_t lanes) {
    const uint32_t apart = problem->elem_bytes == 1 ? 2 : problem->elem_bytes == 2 ? 1 : 0; /* log2 */
    const uint32_t repeats = problem->in_pitch % 2 == 1   ? 3
                             : problem->in_pitch % 4 == 2 ? 2
                                                          : problem->in_pitch % 8 == 4;
    cut->lanes = lanes;
    cut->room = apart + repeats;
    cut->slot = GP_TRANSPOSE_SECTOR;
    cut->smem = (size_t)(rows * lanes * GP_TRANSPOSE_VECTOR + (rows >> cut->room) * cut->slot + GP_TRANSPOSE_SECTOR);
}

/* Tiles of so many rows, and the rows above that output segments aligned to `unit` bytes may start in. */
static gp_transpose_cut tiles_of(const gp_problem *problem, uint32_t high, unsigned unit) {
    gp_transpose_cut cut = {.tile_rows = high / (uint32_t)problem->elem_bytes, .beside = 1, .across = 1};
    if (problem->out_align < unit)
        cut.halo = unit / (uint32_t)problem->elem_bytes;
    cut.blocks = divide_up(problem->rows + (cut.halo > 0 ? cut.halo - 1 : 0), cut.tile_rows);
    cut.down = cut.band = (uint32_t)cut.blocks;
    return cut;
}

/* Pieces of rows, as wide as `lanes` vectors allow wherever they start. */
static void cut_pieces(gp_transpose_cut *cut, const gp_problem *problem, const gp_device *device) {
    const uint32_t bytes = (uint32_t)problem->elem_bytes, sector = GP_TRANSPOSE_SECTOR / bytes;
    const uint64_t down = cut->blocks, widest = (cut->lanes * GP_TRANSPOSE_VECTOR - GP_TRANSPOSE_SECTOR) / bytes;
    const uint64_t width = even_width(problem->cols, widest, down, sector, 1, device);
    cut->tile_cols = (uint32_t)(width > sector ? width : sector);
    const uint64_t across = divide_up(problem->cols, cut->tile_cols);
    const uint64_t tiles = BAND_BYTES / ((uint64_t)cut->tile_rows * cut->tile_cols * bytes);
    cut->across = (uint32_t)across;
    cut->band = (uint32_t)least(down, tiles);
    cut->blocks = down * across;
}

/* Tiles of so many bytes of a column and vectors of a row, output segments aligned to `unit` bytes. */
static gp_transpose_cut cut_tiles(const gp_problem *problem, const gp_device *device, uint32_t high, uint32_t lanes,
                                  unsigned unit) {
    gp_transpose_cut cut = tiles_of(problem, high, unit);
    make_room(&cut, problem, cut.tile_rows + cut.halo, lanes);
    cut_pieces(&cut, problem, device);
    return cut;
}

gp_transpose_cut gp_transpose_cut_pick(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)threads;
    return cut_tiles(problem, device, GP_TRANSPOSE_PICK_HIGH, GP_TRANSPOSE_PICK_LANES, GP_TRANSPOSE_SECTOR);
}

gp_transpose_cut gp_transpose_cut_pick_wide(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)threads;
    return cut_tiles(problem, device, GP_TRANSPOSE_PICK_WIDE_HIGH, GP_TRANSPOSE_PICK_LANES, GP_TRANSPOSE_SECTOR);
}

gp_transpose_cut gp_transpose_cut_pick_few(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)threads;
    return cut_tiles(problem, device, GP_TRANSPOSE_PICK_FEW_HIGH, GP_TRANSPOSE_PICK_FEW_LANES, 4);
}

gp_transpose_cut gp_transpose_cut_pick_tall(const gp_problem *problem, unsigned threads) {
    (void)threads;
    gp_transpose_cut cut = tiles_of(problem, GP_TRANSPOSE_PICK_HIGH, GP_TRANSPOSE_SECTOR);
    cut.tile_cols = (uint32_t)problem->cols;
    cut.smem = (cut.tile_rows + cut.halo) * problem->cols * problem->elem_bytes + 2 * GP_TRANSPOSE_SECTOR;
    return cut;
}

/* How many threads share the words that start at the same place, so that few have none in the last round over all. */
static uint32_t turns_of(uint64_t rows, unsigned threads) {
    uint64_t best = 0, chosen = 1;
    for (uint64_t rounds = 1; rounds <= ROUNDS; rounds++) {
        const uint64_t turns = rounds * threads / rows, busy = turns * rows * 100 / (rounds * threads);
        if (busy > best + ROUND_COSTS) {
            best = busy;
            chosen = turns;
        }
    }
    return (uint32_t)chosen;
}

/*
 * Pieces of all rows, GP_TRANSPOSE_PICK_FLAT_BYTES a block or the least that leaves whole sectors of a row.
 * Columns in whole sectors, so that blocks write whole ones.
 */
gp_transpose_cut gp_transpose_cut_pick_flat(const gp_problem *problem, const gp_device *device, unsigned threads) {
    const uint32_t bytes = (uint32_t)problem->elem_bytes, sector = GP_TRANSPOSE_SECTOR / bytes;
    const uint64_t rows = problem->rows;
    uint32_t lanes = GP_TRANSPOSE_PICK_FLAT_LANES_MIN;
    while (lanes < GP_TRANSPOSE_PICK_FLAT_LANES_MAX &&
           rows * lanes * 2 * GP_TRANSPOSE_VECTOR <= GP_TRANSPOSE_PICK_FLAT_BYTES)
        lanes *= 2;
    gp_transpose_cut cut = {.tile_rows = (uint32_t)rows, .beside = 1, .down = 1, .band = 1};
    make_room(&cut, problem, rows, lanes);
    const uint64_t widest = (lanes * GP_TRANSPOSE_VECTOR - GP_TRANSPOSE_SECTOR) / bytes;
    const uint64_t width = even_width(problem->cols, widest, 1, sector, GP_TRANSPOSE_PICK_FLAT_SHARE, device);
    cut.tile_cols = (uint32_t)least(divide_up(width, sector) * sector, widest);
    cut.blocks = divide_up(problem->cols, cut.tile_cols);
    cut.across = (uint32_t)cut.blocks;
    cut.turns = turns_of(rows, threads);
    return cut;
}

/*
 * Rows so short that an SM has room for several tiles of them. H200, us, against transpose_pick, 1 byte: 46217 x 363
 * 10.8 and 12.3, but 23140 x 725, of which it has one, 13.3 and 12.1.
 */
bool gp_transpose_pick_tall_supports(const gp_problem *problem, const gp_device *device) {
    return gp_transpose_is_small(problem) && problem->in_pitch == problem->cols &&
           problem->rows / problem->cols >= GP_TRANSPOSE_ROWS_FOR_COLS &&
           (gp_transpose_cut_pick_tall(problem, 0).smem + device->smem_reserved) * GP_TRANSPOSE_PICK_TALL_BLOCKS <=
               device->smem_per_sm;
}

/*
 * H200, us, against transpose_pick: 1 byte, 363 x 46217 13.1 and 14.4, 725 x 23140 18.0 and 16.9; 2 bytes, 181 x
 * 92691 21.6 and 22.0, 363 x 46217 22.0 and 20.2.
 */
#define PICK_FLAT_BYTES 370

bool gp_transpose_pick_flat_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return gp_transpose_is_small(problem) && problem->out_pitch == problem->rows &&
           problem->cols / problem->rows >= GP_TRANSPOSE_ROWS_FOR_COLS &&
           problem->rows * problem->elem_bytes <= PICK_FLAT_BYTES;
}

/* H200, us, against transpose_pick: 1449 x 1449 of 1 byte 3.8 and 3.9, of 2 bytes 5.0 and 4.2. */
#define PICK_FEW_BYTES ((uint64_t)3 << 20)

bool gp_transpose_pick_few_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return gp_transpose_is_small(problem) && problem->rows * problem->cols * problem->elem_bytes <= PICK_FEW_BYTES;
}

/*
 * From so many bytes on, or below so many, and where an SM has room for several of its tiles. H200, us, against
 * transpose_pick: 1 byte, 2897 x 2897 9.8 and 10.5, 5791 x 2897 13.3 and 12.5, 11585 x 11585 72.9 and 74.2; 2 bytes,
 * 1449 x 1449 5.0 and 5.5.
 */
#define PICK_WIDE_FROM ((uint64_t)40 << 20)
#define PICK_WIDE_BELOW ((uint64_t)12 << 20)

bool gp_transpose_pick_wide_supports(const gp_problem *problem, const gp_device *device) {
    const uint64_t bytes = problem->rows * problem->cols * problem->elem_bytes;
    return gp_transpose_pick_supports(problem, device) && (bytes >= PICK_WIDE_FROM || bytes < PICK_WIDE_BELOW) &&
           (gp_transpose_cut_pick_wide(problem, device, 0).smem + device->smem_reserved) *
                   GP_TRANSPOSE_PICK_TALL_BLOCKS <=
               device->smem_per_sm;
}

/*
 * Where rows lie such multiples apart, lanes meet in the same banks of shared memory. H200, us, against
 * transpose_turn: 725 x 23140 of 1 and 2 bytes 17.8 and 21.4 against 16.8 and 22.0.
 */
bool gp_transpose_pick_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return gp_transpose_is_small(problem) && problem->in_pitch % (4 * problem->elem_bytes) != 0;
}
