/* SPDX-License-Identifier: Apache-2.0 */
/* How the kernels that pick elements cut a matrix into tiles, so that all multiprocessors have equally much; and
 * which of them takes what. Pure. */
#include "../kernel.h"
#include "cut.h"
#include "supports.h"
#include "tiling.h"

#define ROUNDS 4      /* over all words that start at different places, at most */
#define ROUND_COSTS 3 /* per cent of a thread's time */
#define SHARES 4      /* how many more tiles a multiprocessor are looked at */

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
    const uint64_t fewest = gp_divide_up(all, widest);
    uint64_t share = gp_divide_up(down * fewest, sms), width = widest, lowest = UINT64_MAX;
    if (share < share_least)
        share = share_least;
    for (int i = 0; i < SHARES; i++, share++) {
        const uint64_t across = share * sms / down;
        const uint64_t now = gp_divide_up(all, across > fewest ? across : fewest);
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
    gp_transpose_cut cut = {.tile_rows = high / (uint32_t)problem->elem_bytes, .across = 1};
    if (problem->out_align < unit)
        cut.halo = unit / (uint32_t)problem->elem_bytes;
    cut.blocks = gp_divide_up(problem->rows + (cut.halo > 0 ? cut.halo - 1 : 0), cut.tile_rows);
    cut.down = cut.band = (uint32_t)least(cut.blocks, UINT32_MAX); /* more blocks than that no grid holds */
    return cut;
}

/*
 * From row to row in shared memory, at least the piece and the sectors that it touches on both sides, if it begins up
 * to `past` bytes past a sector's start. Rows whose pitch is whole vectors all begin alike: an odd number of vectors
 * spreads them over most banks.
 */
static uint32_t piece_pitch(const gp_problem *problem, uint32_t cols, uint32_t past) {
    const uint32_t bytes = (uint32_t)problem->elem_bytes, sector = GP_TRANSPOSE_SECTOR;
    const uint32_t needed = cols * bytes + past + (past > 0 ? GP_TRANSPOSE_VECTOR - 1 : 0);
    const uint32_t pitch = (uint32_t)(problem->in_pitch * bytes % sector);
    return needed + ((pitch % GP_TRANSPOSE_VECTOR == 0 ? GP_TRANSPOSE_VECTOR : pitch) - needed) % sector;
}

/*
 * Where an SM has room for all its tiles at once, and they are several, it is given no room for more: blocks of the
 * next kernel, which are placed while this one runs, would else leave some SMs with more tiles than others. H200, us,
 * 2897 x 2897 of 1 byte, two tiles an SM with and without room for a third: 8.4 and 6.9.
 */
static size_t smem_for_share(size_t smem, uint64_t share, const gp_device *device) {
    const uint64_t granted = device->smem_per_sm / (share + 1) + 1;
    const uint64_t padded = granted > device->smem_reserved ? granted - device->smem_reserved : 0;
    if (share < 2 || share > GP_TRANSPOSE_PICK_SHARE || padded <= smem || padded > device->smem_per_block_optin)
        return smem;
    return (size_t)padded;
}

/* Offsets have 32 bits, and so has what blocks compute to find their tiles. */
static bool is_far(const gp_problem *problem, const gp_transpose_cut *cut) {
    const uint64_t most = (uint64_t)1 << 31, tiles = (uint64_t)cut->band * (cut->band < cut->down ? cut->across : 1);
    return problem->rows * problem->in_pitch * problem->elem_bytes >= most ||
           problem->cols * problem->out_pitch * problem->elem_bytes >= most || cut->blocks >= most ||
           cut->blocks >= most / tiles;
}

typedef struct tile_form {
    uint32_t high, wide; /* bytes of a column, at most where tiles may be lower, and at most of a row's piece */
    uint32_t past;       /* which begins up to so many bytes past a sector's start; 0: and ends at one */
    uint32_t unit;       /* output segments are aligned to so many bytes */
    uint64_t share;      /* least tiles a multiprocessor */
    uint64_t whole;      /* columns of tiles of so many bytes make one band */
    bool lower;          /* tiles may have fewer rows */
} tile_form;

/*
 * Lower tiles, where multiprocessors that all have room for theirs at once would not all have as many, by more than
 * 1 / LOWER_LEAST. H200, us, 1 byte: 23140 x 725 in 364 tiles of 256 rows 11.3, in 396 of 235 10.8; 11578 x 1449 in
 * 368 11.1, in 392 10.8; but 2897 x 2897 in 264 of 256 6.69, in 264 of 244 6.74; one tile each, 4701 x 1001 in 114
 * 4.8, in 132 5.1.
 */
#define LOWER_LEAST 20

static void lower_tiles(gp_transpose_cut *cut, const gp_problem *problem, const gp_device *device) {
    const uint64_t sms = device->multiprocessors > 0 ? device->multiprocessors : 1, now = cut->down;
    const uint64_t share = gp_divide_up(now * cut->across, sms), down = share * sms / cut->across;
    const uint64_t rows = problem->rows + cut->halo - 1;
    if (cut->halo == 0 || share < 2 || share > GP_TRANSPOSE_PICK_SHARE || (down - now) * LOWER_LEAST < now)
        return;
    cut->tile_rows = (uint32_t)gp_divide_up(rows, down);
    cut->down = (uint32_t)gp_divide_up(rows, cut->tile_rows);
}

static gp_transpose_cut cut_tiles(const gp_problem *problem, const gp_device *device, const tile_form *form) {
    gp_transpose_cut cut = tiles_of(problem, form->high, form->unit);
    const uint32_t bytes = (uint32_t)problem->elem_bytes, sector = GP_TRANSPOSE_SECTOR / bytes;
    const uint64_t widest = form->wide / bytes;
    const uint64_t even = even_width(problem->cols, widest, cut.down, sector, form->share, device);
    const uint64_t width = form->past > 0 ? even : least(gp_divide_up(even, sector) * sector, widest);
    const uint64_t sms = device->multiprocessors > 0 ? device->multiprocessors : 1;
    cut.tile_cols = (uint32_t)(width > sector ? width : sector);
    const uint64_t across = gp_divide_up(problem->cols, cut.tile_cols);
    cut.across = (uint32_t)least(across, UINT32_MAX);
    if (form->lower)
        lower_tiles(&cut, problem, device);
    const uint64_t down = cut.down, column = down * cut.tile_rows * cut.tile_cols * bytes;
    const uint64_t bands = column <= form->whole ? 1 : gp_divide_up(column, GP_TRANSPOSE_BAND_BYTES);
    cut.band = (uint32_t)gp_divide_up(down, least(bands, down));
    cut.blocks = gp_divide_up(down, cut.band) * cut.band * across;
    cut.pitch = piece_pitch(problem, cut.tile_cols, form->past);
    cut.smem = (size_t)(form->high / bytes + cut.halo) * cut.pitch + GP_TRANSPOSE_SECTOR;
    cut.smem = smem_for_share(cut.smem, gp_divide_up(down * cut.across, sms), device);
    cut.far = is_far(problem, &cut);
    return cut;
}

#define PAST (GP_TRANSPOSE_SECTOR - 1)

gp_transpose_cut gp_transpose_cut_pick(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)threads;
    return cut_tiles(problem, device,
                     &(tile_form){GP_TRANSPOSE_PICK_HIGH, GP_TRANSPOSE_PICK_LANES * GP_TRANSPOSE_VECTOR - PAST, PAST,
                                  GP_TRANSPOSE_SECTOR, 1, 0, false});
}

gp_transpose_cut gp_transpose_cut_pick_wide(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)threads;
    return cut_tiles(problem, device,
                     &(tile_form){GP_TRANSPOSE_PICK_WIDE_HIGH, GP_TRANSPOSE_PICK_LANES * GP_TRANSPOSE_VECTOR - PAST,
                                  PAST, GP_TRANSPOSE_SECTOR, 1, 0, true});
}

gp_transpose_cut gp_transpose_cut_pick_few(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)threads;
    return cut_tiles(problem, device,
                     &(tile_form){GP_TRANSPOSE_PICK_FEW_HIGH,
                                  GP_TRANSPOSE_PICK_FEW_LANES * GP_TRANSPOSE_VECTOR - PAST, PAST, 4, 1, 0, false});
}

/* Tiles of transpose_pick_few, narrower if a block has no room for them. */
static gp_transpose_cut cut_tight(const gp_problem *problem, const gp_device *device) {
    const size_t rows = (GP_TRANSPOSE_PICK_FEW_HIGH + 4) / problem->elem_bytes, optin = device->smem_per_block_optin;
    const size_t room = optin / rows, beside = 2 * PAST + GP_TRANSPOSE_VECTOR;
    const uint32_t most = GP_TRANSPOSE_PICK_FEW_LANES * GP_TRANSPOSE_VECTOR - PAST;
    const size_t wide = room > beside + GP_TRANSPOSE_SECTOR ? room - beside : GP_TRANSPOSE_SECTOR;
    gp_transpose_cut cut = cut_tiles(
        problem, device, &(tile_form){GP_TRANSPOSE_PICK_FEW_HIGH, (uint32_t)least(wide, most), PAST, 4, 1, 0, false});
    cut.tight = true;
    return cut;
}

/*
 * Two tiles a multiprocessor at least: 1999 x 2016 of 1 byte in 128 tiles 6.2 us, in 256 tiles 4.6 (H200). Columns of
 * tiles that are not much longer than a band are walked down whole: 32771 x 32784 of 2 bytes 1121, in two bands 1171;
 * but 300007 x 14408 of 1 byte in bands of 8 and 16 MiB 2527 and 2750.
 */
#define ANY_SHARE 2
#define ANY_WHOLE ((uint64_t)16 << 20)

/*
 * A block that has no room takes narrow tiles. H200, with 16 KiB, share of a copy's speed: 4097 x 4095 and 10007 x
 * 9973 of 1 byte 1.04 and 0.79, 3004 x 4008 of 2 bytes 1.00. Where rows begin at sectors, so do pieces. H200, us,
 * against pieces that do not: 1 byte, 10007 x 16384 86.1 and 90.0, 4099 x 4096 11.7 and 12.5; 2 bytes, 10007 x
 * 8192 84.3 and 88.5.
 */
gp_transpose_cut gp_transpose_cut_pick_any(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)threads;
    const uint32_t past = problem->in_align >= GP_TRANSPOSE_SECTOR ? 0 : PAST;
    const gp_transpose_cut cut =
        cut_tiles(problem, device,
                  &(tile_form){GP_TRANSPOSE_PICK_HIGH, GP_TRANSPOSE_PICK_LANES * GP_TRANSPOSE_VECTOR - past, past,
                               GP_TRANSPOSE_SECTOR, ANY_SHARE, ANY_WHOLE, false});
    return cut.smem > device->smem_per_block_optin ? cut_tight(problem, device) : cut;
}

static gp_transpose_cut cut_tall(const gp_problem *problem, uint32_t high) {
    gp_transpose_cut cut = tiles_of(problem, high, GP_TRANSPOSE_SECTOR);
    cut.tile_cols = (uint32_t)problem->cols;
    cut.smem = (cut.tile_rows + cut.halo) * problem->cols * problem->elem_bytes + 2 * GP_TRANSPOSE_SECTOR;
    return cut;
}

static bool has_room_for_tall(const gp_transpose_cut *cut, const gp_device *device) {
    return (cut->smem + device->smem_reserved) * GP_TRANSPOSE_PICK_TALL_BLOCKS <= device->smem_per_sm;
}

/* Higher tiles read fewer rows twice. H200, us, 256 bytes of a column against 128: 2 bytes, 184365 x 91 18.9 and
 * 20.0, but 1 byte, 92691 x 181, of which an SM has but three, 12.4 and 11.3. */
gp_transpose_cut gp_transpose_cut_pick_tall(const gp_problem *problem, const gp_device *device, unsigned threads) {
    (void)threads;
    const gp_transpose_cut cut = cut_tall(problem, GP_TRANSPOSE_PICK_WIDE_HIGH);
    const bool high = problem->elem_bytes == 2 && has_room_for_tall(&cut, device);
    return high ? cut : cut_tall(problem, GP_TRANSPOSE_PICK_HIGH);
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
    gp_transpose_cut cut = {.tile_rows = (uint32_t)rows, .down = 1, .band = 1};
    make_room(&cut, problem, rows, lanes);
    const uint64_t widest = (lanes * GP_TRANSPOSE_VECTOR - GP_TRANSPOSE_SECTOR) / bytes;
    const uint64_t width = even_width(problem->cols, widest, 1, sector, GP_TRANSPOSE_PICK_FLAT_SHARE, device);
    cut.tile_cols = (uint32_t)least(gp_divide_up(width, sector) * sector, widest);
    cut.blocks = gp_divide_up(problem->cols, cut.tile_cols);
    cut.across = (uint32_t)cut.blocks;
    cut.turns = turns_of(rows, threads);
    return cut;
}

/*
 * 1 byte: a multiprocessor's columns in one block, if it has room for them. H200, us, 363 x 46218: 11.6, in two or
 * three 12.6. 2 bytes: two blocks beside each other, more after them: 181 x 92691 in four 19.5, in five 19.9. Room
 * for a sector's bytes before all rows, and two behind, where lanes read beyond the last column.
 */
gp_transpose_cut gp_transpose_cut_pick_whole(const gp_problem *problem, const gp_device *device, unsigned threads) {
    const uint32_t bytes = (uint32_t)problem->elem_bytes, sector = GP_TRANSPOSE_SECTOR / bytes;
    const uint32_t wanted = GP_TRANSPOSE_PICK_WHOLE_THREADS(bytes), over = 2 * PAST + GP_TRANSPOSE_VECTOR;
    const size_t most = device->smem_per_block_optin, two = 2 * device->smem_reserved;
    const size_t half = (device->smem_per_sm - least(device->smem_per_sm, two)) / 2, beside = 3 * GP_TRANSPOSE_SECTOR;
    const size_t room = bytes == 1 ? most : least(half, most);
    const uint64_t row = (room - least(room, beside)) / problem->rows; /* piece_pitch takes `over` of it at most */
    const uint64_t widest = row >= over + GP_TRANSPOSE_SECTOR ? (row - over) / bytes : sector;
    const uint64_t width =
        even_width(problem->cols, widest, 1, sector, bytes == 1 ? 1 : GP_TRANSPOSE_PICK_WHOLE_SHARE, device);
    gp_transpose_cut cut = {.tile_rows = (uint32_t)problem->rows, .down = 1, .band = 1};
    cut.tile_cols = (uint32_t)(width > sector ? width : sector);
    cut.blocks = gp_divide_up(problem->cols, cut.tile_cols);
    cut.pitch = piece_pitch(problem, cut.tile_cols, PAST);
    cut.smem = threads < wanted ? GP_SMEM_FEW_THREADS : GP_SMEM_OTHER_THREADS;
    if (threads == wanted)
        cut.smem = (size_t)(problem->rows * cut.pitch) + beside;
    return cut;
}

/* Tiles of so many bytes of each row, room for so many tiles, and for as many blocks as there are sectors in a row.
 */
static gp_transpose_cut cut_flow(const gp_problem *problem, uint32_t turns, uint32_t tiles) {
    const uint32_t width = GP_TRANSPOSE_PICK_FLOW_BYTES(turns);
    gp_transpose_cut cut = {.tile_rows = (uint32_t)problem->rows, .down = 1, .band = 1, .turns = turns};
    make_room(&cut, problem, problem->rows, width / GP_TRANSPOSE_VECTOR + 2);
    cut.slice = (uint32_t)(gp_divide_up(cut.smem, GP_TRANSPOSE_SECTOR) * GP_TRANSPOSE_SECTOR);
    cut.smem = (size_t)cut.slice * tiles;
    cut.tile_cols = width / (uint32_t)problem->elem_bytes;
    cut.blocks = gp_divide_up(problem->cols * problem->elem_bytes, GP_TRANSPOSE_SECTOR);
    cut.across = (uint32_t)cut.blocks;
    return cut;
}

/*
 * The words of a period, GP_TRANSPOSE_PICK_WORDS a row, are shared out: 1 or 2 a thread. Half of the threads are
 * better than threads without any.
 */
gp_transpose_cut gp_transpose_cut_pick_flow(const gp_problem *problem, unsigned threads) {
    const uint64_t words = problem->rows * GP_TRANSPOSE_PICK_WORDS;
    if (words <= threads / 2 || words > 2 * (uint64_t)threads)
        return (gp_transpose_cut){.smem = words <= threads / 2 ? GP_SMEM_OTHER_THREADS : GP_SMEM_FEW_THREADS};
    return cut_flow(problem, words <= threads ? 1 : 2, GP_TRANSPOSE_PICK_FLOW_TILES);
}

gp_transpose_cut gp_transpose_cut_pick_flow_wide(const gp_problem *problem, unsigned threads) {
    (void)threads;
    return cut_flow(problem, 3, 2);
}

/*
 * Rows so short that an SM has room for several tiles of them. H200, us, against transpose_pick, 1 byte: 46217 x 363
 * 10.8 and 12.3, but 23140 x 725, of which it has one, 13.3 and 12.1.
 */
bool gp_transpose_pick_tall_supports(const gp_problem *problem, const gp_device *device) {
    if (!gp_transpose_is_small(problem) || problem->in_pitch != problem->cols ||
        problem->rows / problem->cols < GP_TRANSPOSE_ROWS_FOR_COLS)
        return false;
    const gp_transpose_cut cut = gp_transpose_cut_pick_tall(problem, device, 0);
    return has_room_for_tall(&cut, device);
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

/* H200, us, against transpose_pick_flat: 1 byte, 363 x 46218 11.5 and 13.6; 2 bytes, 181 x 92691 19.9 and 21.5, 100 x
 * 100000 15.5 and 17.8, but 91 x 184365 20.6 and 20.2; 1 byte, 181 x 370767 49.6 (copy 42.0) and 40.6 (copy 37.8). */
#define PICK_WHOLE_BYTES_LEAST(elem_bytes) ((elem_bytes) == 1 ? 257u : 193u)

bool gp_transpose_pick_whole_supports(const gp_problem *problem, const gp_device *device) {
    return gp_transpose_pick_flat_supports(problem, device) &&
           problem->rows * problem->elem_bytes >= PICK_WHOLE_BYTES_LEAST(problem->elem_bytes);
}

/* H200, us, against transpose_pick: 1449 x 1449 of 1 byte 3.3 and 3.5. */
#define PICK_FEW_BYTES ((uint64_t)3 << 20)

bool gp_transpose_pick_few_supports(const gp_problem *problem, const gp_device *device) {
    return gp_transpose_is_small(problem) && problem->rows * problem->cols * problem->elem_bytes <= PICK_FEW_BYTES &&
           !gp_transpose_cut_pick_few(problem, device, 0).far;
}

/* Where rows lie multiples of 8 elements apart, lanes meet in the same banks of shared memory. */
static bool is_spread(const gp_problem *problem) {
    return gp_transpose_is_small(problem) && problem->in_pitch % 8 != 0;
}

/*
 * Where an SM has room for several of its tiles, and what transpose_pick has too few bits for. H200, us, against
 * that: 1 byte, 2897 x 2897 6.9 and 6.9, 5791 x 2897 11.2 and 11.7; 2 bytes, 2897 x 2897 10.5 and 10.9, 725 x 23140
 * 19.5 and 21.0. Far, with 64 bits: 46341 x 46349 of 1 byte 1158 and 1176, 32771 x 32773 of 2 bytes 1112 and 1419.
 */
bool gp_transpose_pick_wide_supports(const gp_problem *problem, const gp_device *device) {
    if (!is_spread(problem))
        return false;
    const gp_transpose_cut cut = gp_transpose_cut_pick_wide(problem, device, 0);
    const size_t rows = GP_TRANSPOSE_PICK_WIDE_HIGH / problem->elem_bytes + cut.halo;
    const size_t tile = rows * cut.pitch + device->smem_reserved;
    return tile * GP_TRANSPOSE_PICK_SHARE <= device->smem_per_sm || gp_transpose_cut_pick(problem, device, 0).far;
}

bool gp_transpose_pick_supports(const gp_problem *problem, const gp_device *device) {
    return is_spread(problem) && !gp_transpose_cut_pick(problem, device, 0).far;
}

/*
 * What the others leave: rows whole eights of elements apart, which transpose_pick would take slower, and devices
 * with few registers. H200, us, against transpose_pick as it would be there: 1 byte, 2891 x 2896 6.9 and 9.6, 10007 x
 * 16384 86.1 and 126.9; 2 bytes, 5003 x 8192 43.4 and 51.6.
 */
bool gp_transpose_pick_any_supports(const gp_problem *problem, const gp_device *device) {
    (void)device;
    return gp_transpose_is_small(problem);
}
