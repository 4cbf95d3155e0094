/* SPDX-License-Identifier: Apache-2.0 */
/* Tilings of transpose_pick: 1 and 2 bytes at any pitch, cut so that all multiprocessors have equally much. Pure. */
#include "fit.h"

#define SHARES 4 /* how many more tiles a multiprocessor are looked at */

/*
 * The width, `widest` at most, of pieces of `all`, where each has `down` tiles: the multiprocessor with most tiles
 * decides, so as many tiles as the others can have too, `least` or more. A tile costs its width and `more`.
 */
static uint64_t even_width(uint64_t all, uint64_t widest, uint64_t down, uint64_t more, uint64_t least,
                           const gp_device *device) {
    const uint64_t sms = device->multiprocessors, fewest = gp_divide_up(all, widest);
    uint64_t share = gp_divide_up(down * fewest, sms), width = widest, lowest = UINT64_MAX;
    if (share < least)
        share = least;
    for (int i = 0; i < SHARES; i++, share++) {
        const uint64_t across = share * sms / down;
        const uint64_t now = gp_divide_up(all, gp_greatest(across, fewest));
        if (across >= fewest && share * (now + more) < lowest) {
            lowest = share * (now + more);
            width = now;
        }
    }
    return width;
}

/* Bytes of a sector before a piece of a row, at most. */
static uint32_t bytes_before(const gp_problem *problem) {
    return problem->in_align >= GP_SECTOR ? 0 : GP_SECTOR - 1;
}

/*
 * From row to row in shared memory, at least the piece and the sectors that it touches on both sides. Rows whose
 * pitch is whole vectors all begin alike: an odd number of vectors spreads them over most banks.
 */
static uint32_t piece_pitch(const gp_problem *problem, uint32_t cols) {
    const uint32_t bytes = gp_to_u32(problem->elem_bytes), before = bytes_before(problem);
    const uint32_t needed = cols * bytes + (before > 0 ? before + GP_VECTOR - 1 : 0);
    const uint32_t pitch = gp_to_u32(problem->in_pitch * bytes % GP_SECTOR);
    return needed + ((pitch % GP_VECTOR == 0 ? GP_VECTOR : pitch) - needed) % GP_SECTOR;
}

/*
 * Where an SM has room for all its tiles at once, and they are several, it is given no room for more: blocks of the
 * next kernel, which are placed while this one runs, would else leave some SMs with more tiles than others. 2897 x
 * 2897 of 1 byte on an H200, two tiles an SM: 8.4 us with room for a third, 6.9 without.
 */
static size_t smem_for_share(size_t smem, uint64_t share, const gp_device *device) {
    const uint64_t granted = device->smem_per_sm / (share + 1) + 1;
    const uint64_t padded = granted > device->smem_reserved ? granted - device->smem_reserved : 0;
    if (share < 2 || share > GP_TRANSPOSE_PICK_SHARE || padded <= smem || padded > device->smem_per_block_optin)
        return smem;
    return (size_t)padded;
}

/* Offsets have 32 bits, and so has what blocks compute to find their tiles. */
static bool is_far(const gp_problem *problem, const gp_tiles *tiles, uint64_t blocks) {
    const uint64_t most = (uint64_t)1 << 31;
    const uint64_t in_band = (uint64_t)tiles->band * (tiles->band < tiles->down ? tiles->across : 1);
    return problem->rows * problem->in_pitch * problem->elem_bytes >= most ||
           problem->cols * problem->out_pitch * problem->elem_bytes >= most || blocks >= most ||
           blocks >= most / in_band;
}

/* Bytes of a column in a tile, threads, least tiles a multiprocessor, bytes of a column of tiles that is a band. */
typedef struct tile_form {
    uint32_t high, threads;
    uint64_t share, whole;
} tile_form;

static const tile_form words_form = {GP_TRANSPOSE_PICK_HIGH, GP_TRANSPOSE_PICK_THREADS, 1, GP_BAND_BYTES};
static const tile_form vectors_form = {GP_TRANSPOSE_PICK_EVEN_HIGH, GP_TRANSPOSE_PICK_EVEN_THREADS, 2,
                                       GP_COLUMN_BYTES};

/* True: offsets need 64 bits. */
static bool cut(const gp_problem *problem, const gp_device *device, const tile_form *form, gp_tiling *tiling) {
    const uint32_t bytes = gp_to_u32(problem->elem_bytes), sector = GP_SECTOR / bytes;
    gp_tiles tiles = {.rows = form->high / bytes};
    if (problem->out_align < GP_SECTOR)
        tiles.halo = sector;
    const uint64_t down = gp_divide_up(problem->rows + (tiles.halo > 0 ? tiles.halo - 1 : 0), tiles.rows);
    const uint64_t widest = (GP_TRANSPOSE_PICK_LANES * GP_VECTOR - bytes_before(problem)) / bytes;
    const uint64_t even = even_width(problem->cols, widest, down, sector, form->share, device);
    const uint64_t width = bytes_before(problem) > 0 ? even : gp_least(gp_round_up(even, sector), widest);
    tiles.cols = gp_to_u32(gp_greatest(width, sector));
    const uint64_t across = gp_divide_up(problem->cols, tiles.cols), column = down * tiles.rows * tiles.cols * bytes;
    tiles.down = gp_to_u32(down);
    tiles.across = gp_to_u32(across);
    const uint64_t bands = column <= form->whole ? 1 : gp_divide_up(column, GP_BAND_BYTES);
    tiles.band = gp_to_u32(gp_divide_up(tiles.down, gp_least(bands, tiles.down)));
    tiles.pitch = piece_pitch(problem, tiles.cols);
    tiling->threads = form->threads;
    tiling->blocks = gp_divide_up(down, tiles.band) * tiles.band * across;
    tiling->smem = smem_for_share((size_t)(tiles.rows + tiles.halo) * tiles.pitch + GP_SECTOR,
                                  gp_divide_up(down * across, device->multiprocessors), device);
    GP_TILING_PUT(tiling, tiles);
    return is_far(problem, &tiles, tiling->blocks);
}

/*
 * Rows that lie multiples of 8 elements apart meet in the same banks of shared memory where words are picked from
 * them: threads then pick vectors, from smaller tiles. Words are picked elsewhere, where an SM has room for several
 * of their tiles.
 */
bool gp_fit_transpose_pick(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    if (problem->in_place || !gp_transpose_is_plain(problem) || problem->elem_bytes > 2 || attempt > 1)
        return false;
    const bool spread = problem->in_pitch % 8 != 0;
    if (attempt > 0 && !spread)
        return false;
    const bool words = spread && attempt == 0;
    const bool far = cut(problem, device, words ? &words_form : &vectors_form, tiling);
    const unsigned even = problem->in_pitch % 2 == 0;
    tiling->form = (problem->elem_bytes == 2 ? 5u : 0u) + (words ? (far ? 2u : even) : far ? 4u : 3u);
    return true;
}
