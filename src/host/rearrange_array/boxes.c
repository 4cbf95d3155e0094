/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of moves: how large, and of which shape. Pure. */
#include "../arithmetic.h"
#include "../problem.h"
#include "pieces.h"

/* Squares of 4 bytes pay from such sides of a tile on: 16 x 16 planes 0.83 of a copy, gathered 0.85; 32 x 32 0.88,
 * 0.85. */
#define WIDE_SQUARES 32u

uint32_t gp_move_piece(const gp_move *move, unsigned in_align, unsigned out_align) {
    return gp_alignment(move->run | in_align | out_align | 16);
}

static unsigned alignment(const gp_move *move, const gp_move_pieces *p, bool out) {
    uintptr_t lowest = out ? (uintptr_t)move->out : (uintptr_t)move->in;
    uint64_t row = 1, strides = 0;
    for (uint32_t i = 0; i < (out ? p->axes : p->read); i++) {
        const gp_move_axis *axis = &p->axis[out ? i : p->by_in[i]];
        const int64_t stride = out ? axis->out : axis->in;
        if (stride < 0)
            lowest += (uintptr_t)stride * (axis->n - 1);
        if (axis->n > 1 && gp_move_distance(stride) == row)
            row *= axis->n;
        else if (axis->n > 1)
            strides |= gp_move_distance(stride);
    }
    return gp_alignment(lowest | strides);
}

void gp_move_alignments(const gp_move *move, unsigned *in, unsigned *out) {
    const gp_move_pieces p = gp_move_pieces_of(move, 1);
    *in = alignment(move, &p, false);
    *out = alignment(move, &p, true);
}

/* Bytes of a tile that lie one behind the other, along axes in the order of one side's strides. *end: the first
 * of these that the tile does not hold whole; GP_MOVE_AXES: there is none. */
static uint64_t span_of(const gp_move_pieces *p, const uint32_t *t, bool out, uint32_t *end) {
    uint64_t bytes = gp_move_distance(p->axis[0].out);
    const uint32_t axes = out ? p->axes : p->read;
    *end = GP_MOVE_AXES;
    for (uint32_t i = 0; i < axes && *end == GP_MOVE_AXES; i++) {
        const uint32_t a = out ? i : p->by_in[i];
        bytes *= t[a];
        if (t[a] < p->axis[a].n)
            *end = a;
    }
    return bytes;
}

static uint64_t volume_of(const gp_move_pieces *p, const uint32_t *t) {
    uint64_t volume = 1;
    for (uint32_t a = 0; a < p->axes; a++)
        volume *= t[a];
    return volume;
}

/* Along an axis that is cut, tiles are made equally long where else much would be written twice. */
static void even_out(const gp_move_pieces *p, uint32_t *t, uint32_t unit) {
    for (uint32_t a = 0; a < p->axes; a++) {
        const uint64_t n = p->axis[a].n, tiles = gp_divide_up(n, t[a]);
        if (tiles * t[a] * 15 > n * 16)
            t[a] = gp_to_u32(gp_least(t[a], gp_round_up(gp_divide_up(n, tiles), unit)));
    }
}

/* Long parts of an axis end where sectors do, if they begin there. */
static void end_at_sectors(const gp_move_pieces *p, uint32_t *t, uint32_t sector) {
    for (uint32_t a = 0; a < p->axes; a++) {
        const uint32_t part = t[a] / sector * sector;
        if (part > 16 * sector && t[a] < p->axis[a].n &&
            gp_divide_up(p->axis[a].n, part) * part * 15 <= p->axis[a].n * 16)
            t[a] = part;
    }
}

/* The side with the shorter runs grows: twofold, or to the whole axis if that is not much more. */
static void grow(const gp_move_pieces *p, const gp_move_form *form, uint64_t room, uint32_t unit, uint64_t lean,
                 uint32_t *t) {
    for (;;) {
        uint32_t ends[2]; /* of the input's side, and of the output's */
        const uint64_t in = span_of(p, t, false, &ends[0]), out = span_of(p, t, true, &ends[1]);
        const bool side = form->way == GP_MOVE_DIRECT || out <= lean * in;
        const uint32_t a = ends[side] < GP_MOVE_AXES ? ends[side] : ends[!side];
        if (a == GP_MOVE_AXES)
            return;
        const uint64_t n = p->axis[a].n, most = room / (volume_of(p, t) / t[a]);
        if (n <= most && n <= 3 * (uint64_t)t[a])
            t[a] = gp_to_u32(n);
        else if (2 * (uint64_t)t[a] <= most)
            t[a] *= 2;
        else {
            const uint64_t even = gp_divide_up(n, gp_divide_up(n, most)) / unit * unit;
            if (form->way != GP_MOVE_DIRECT)
                t[a] = gp_to_u32(gp_greatest(t[a], even));
            return;
        }
    }
}

/* True if words of `word` bytes can be moved on one side: runs of the tile, and all that leads from one to another.
 */
static bool moves_words(const gp_move_pieces *p, const uint32_t *t, bool out, uint32_t word) {
    uint64_t bytes = gp_move_distance(p->axis[0].out);
    const uint32_t axes = out ? p->axes : p->read;
    bool within = true;
    for (uint32_t i = 0; i < axes; i++) {
        const uint32_t a = out ? i : p->by_in[i];
        const gp_move_axis *axis = &p->axis[a];
        const uint64_t stride = gp_move_distance(out ? axis->out : axis->in);
        if (axis->n == 1)
            continue;
        within = within && stride == bytes;
        if (within)
            bytes *= t[a];
        else if (stride % word != 0)
            return false;
        if (t[a] < axis->n && (stride * t[a] % word != 0 || stride * (axis->n - t[a]) % word != 0))
            return false;
        within = within && t[a] == axis->n;
    }
    return bytes % word == 0;
}

/*
 * A word is left free between rows of an even number of them, whose beginnings would else be in few banks. Elements
 * of several pieces are read by threads beside each other.
 */
static uint32_t spread_of(const gp_move_pieces *p, const gp_move_form *form, const uint32_t *t) {
    uint64_t row = 1;
    for (uint32_t i = 0; i < p->read && p->by_in[i] != 1; i++)
        row *= t[p->by_in[i]];
    return p->axis[0].n == 1 && row % (2 * form->in) == 0 ? form->in : 0;
}

/* Squares need an axis of their own on each side. */
static bool has_squares(const gp_move_pieces *p, const gp_move_form *form, const uint32_t *t) {
    const uint32_t i = p->by_in[0];
    return p->axis[0].n == 1 && p->read > 1 && i > 1 && p->axis[i].in > 0 && p->axis[1].in != 0 &&
           t[1] % form->out == 0 && t[i] % form->out == 0 &&
           (form->piece < 4 || (t[1] >= WIDE_SQUARES && t[i] >= WIDE_SQUARES));
}

/* Three channels beside each other, of whole words of pixels, on one side. */
static bool has_triples(const gp_move_pieces *p, const gp_move_form *form, const uint32_t *t) {
    const uint32_t i = p->by_in[0];
    if (p->axis[0].n > 1 || p->read < 2 || p->axes < 3 || p->axis[i].in < 0 || p->axis[1].in <= 0)
        return false;
    if (gp_move_joins_triples(p))
        return i == 2 && t[1] == 3 && t[2] % form->out == 0;
    return i > 1 && p->axis[i].n == 3 && t[i] == 3 && p->axis[1].in == 3 * p->axis[i].in && t[1] % form->out == 0;
}

/* Offsets within a tile have 32 bits. */
static bool is_near(const gp_move_pieces *p, const uint32_t *t) {
    uint64_t in = 0, out = 0;
    for (uint32_t a = 0; a < p->axes; a++) {
        in += (t[a] - 1) * gp_move_distance(p->axis[a].in);
        out += (t[a] - 1) * (uint64_t)p->axis[a].out;
        if (in > INT32_MAX || out > INT32_MAX)
            return false;
    }
    return true;
}

/* Pieces of an element are not parted where they wait in shared memory. */
static bool start(const gp_move_pieces *p, const gp_move_form *form, gp_move_tile *tile) {
    *tile = (gp_move_tile){0};
    for (uint32_t a = 0; a < GP_MOVE_AXES; a++)
        tile->extent[a] = 1;
    if (form->way == GP_MOVE_DIRECT)
        return true;
    if (p->axis[0].n > gp_move_room(form))
        return false;
    tile->extent[0] = gp_to_u32(p->axis[0].n);
    return true;
}

static uint64_t tiles_of(const gp_move_pieces *p, const uint32_t *t) {
    uint64_t tiles = 1;
    for (uint32_t a = 0; a < p->axes; a++)
        tiles = gp_times(tiles, gp_divide_up(p->axis[a].n, t[a]));
    return tiles;
}

/*
 * What moving all tiles of raw rows takes, in about the time of storing a byte: fitted to 82 permutations of 3 to 6
 * axes on an H200, in two tilings each. PARTIAL is of a row that does not store whole sectors.
 */
#define LOADED 2u
#define ROW 250u
#define PARTIAL 640u
#define TILE 40000u
#define TRIES 4u      /* of a tile: without, and with pieces of the next one, each smaller */
#define BANK_SHARE 4u /* of a warp's reads that may ask one bank */

static uint64_t raw_cost(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile,
                         const gp_move_cut *cut, uint64_t blocks) {
    const uint32_t *t = tile->extent;
    uint32_t end;
    const uint64_t loaded = (uint64_t)(cut->load.units + cut->tail.units) * (cut->in_rows.length + SECTOR),
                   stored = (uint64_t)cut->store.units * (cut->own * form->piece + ROW),
                   spans = tile->spread > 0 ? 0 : volume_of(p, t) * form->piece / span_of(p, t, true, &end);
    return gp_times(gp_divide_up(tiles_of(p, t), blocks), LOADED * loaded + stored + spans * PARTIAL + TILE);
}

/* A tile for so much room, the output's rows up to `lean` times as long as the input's. */
static gp_move_tile raw_tile(const gp_move_pieces *p, const gp_move_form *form, uint64_t room, uint64_t lean) {
    const uint64_t most = gp_move_raw_row_most(form);
    gp_move_tile tile = {0};
    uint32_t *t = tile.extent;
    for (uint32_t a = 0; a < GP_MOVE_AXES; a++)
        t[a] = 1;
    t[0] = gp_to_u32(gp_least(p->axis[0].n, room));
    grow(p, form, room, 1, lean, t);
    even_out(p, t, 1);
    const gp_move_row row = gp_move_raw_out_row(p, form, t);
    const uint64_t unit = most / (row.length / row.part);
    const uint64_t n = p->axis[row.axes - 1].n, tiles = gp_greatest(gp_divide_up(n, t[row.axes - 1]), 2);
    if (4 * (uint64_t)row.part <= unit && row.part < t[row.axes - 1]) /* few divisors are near the longest part */
        t[row.axes - 1] = gp_to_u32(gp_round_up(gp_divide_up(n, tiles), unit));
    return tile;
}

/*
 * Output in whole sectors, for DRAM writes no less: a tile has what it takes of the next one's rows to fill the last
 * sectors of its own. 62 x 130300 x 108 bytes with all axes reversed on an H200: 0.45 of a copy without, 0.73 so. The
 * last two tiles along the axis are at least that far from each other.
 */
static bool share_rows(const gp_move_pieces *p, const gp_move_form *form, gp_move_tile *tile) {
    const gp_move_row row = gp_move_raw_out_row(p, form, tile->extent);
    const uint32_t others = SECTOR / form->piece - 1;
    const uint64_t n = p->axis[row.axes - 1].n, beyond = gp_divide_up(others, row.length / row.part);
    uint32_t *t = &tile->extent[row.axes - 1];
    if (row.part < *t)
        return false;
    if (tile->spread > 0)
        *t -= gp_to_u32(gp_divide_up(*t, 8));
    *t = gp_to_u32(gp_divide_up(n, gp_divide_up(n, gp_at_least_one(*t))));
    while (*t < n && (n - 1) % *t + 1 < beyond)
        ++*t;
    tile->spread = others;
    return *t + beyond <= n;
}

/* Words of a tile that is one run of the output, and larger ones of a run of the input, are gathered as fast. */
static bool is_run(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile) {
    const uint64_t bytes = volume_of(p, tile->extent) * form->piece;
    uint32_t end;
    return (form->piece * form->out >= 4 && span_of(p, tile->extent, true, &end) == bytes) ||
           (form->piece >= 4 && span_of(p, tile->extent, false, &end) == bytes);
}

/* Raw rows: the cheapest of some tiles. */
static bool fit_raw(const gp_move_pieces *p, const gp_move_form *form, uint64_t blocks, size_t most,
                    gp_move_fit *fit) {
    static const uint8_t eighths[] = {8, 7, 6, 4, 3, 2, 1}, leans[] = {1, 2, 4};
    uint64_t least = UINT64_MAX;
    if (!gp_move_raw_can(p) || (form->piece >= 4 && p->axis[0].n > 1))
        return false; /* several larger pieces an element are as fast gathered */
    for (size_t i = 0; i < sizeof eighths * sizeof leans; i++) {
        gp_move_tile one =
            raw_tile(p, form, gp_move_room(form) * eighths[i / sizeof leans] / 8, leans[i % sizeof leans]);
        for (uint32_t tried = 0; tried < TRIES; tried++) {
            gp_move_cut cut;
            const bool fits = gp_move_raw_walk(p, form, &one, &cut) && cut.smem <= gp_least(most, GP_MOVE_RAW_SMEM) &&
                              (form->piece < 4 || 32u >> cut.turn <= BANK_SHARE * form->out);
            const uint64_t cost = fits ? raw_cost(p, form, &one, &cut, blocks) : UINT64_MAX;
            if (cost < least && is_near(p, one.extent)) {
                least = cost;
                fit->tile = one;
                fit->smem = cut.smem;
            }
            if (form->way != GP_MOVE_RAW || (fits && one.spread > 0) || !share_rows(p, form, &one))
                break;
        }
    }
    return least < UINT64_MAX;
}

static bool fit_aligned(const gp_move_pieces *p, const gp_move_form *form, unsigned in_align, unsigned out_align,
                        gp_move_tile *tile, size_t *smem) {
    const uint32_t in_word = form->piece * form->in, out_word = form->piece * form->out;
    const uint32_t unit = form->in > form->out ? form->in : form->out, *t = tile->extent;
    if (!start(p, form, tile))
        return false;
    grow(p, form, gp_move_room(form), unit, 1, tile->extent);
    even_out(p, tile->extent, unit);
    end_at_sectors(p, tile->extent, SECTOR / form->piece);
    if ((form->way == GP_MOVE_SQUARES && !has_squares(p, form, t)) ||
        (form->way == GP_MOVE_TRIPLES && !has_triples(p, form, t)) || in_align < in_word || out_align < out_word ||
        !is_near(p, t) || !moves_words(p, t, false, in_word) || !moves_words(p, t, true, out_word))
        return false;
    int32_t shared[GP_MOVE_AXES];
    tile->spread = spread_of(p, form, t);
    const uint64_t room =
        form->way == GP_MOVE_DIRECT ? 0 : gp_move_lay_out(p, form, tile, shared) * (uint64_t)form->piece;
    *smem = 2 * (size_t)gp_round_up(room, 16);
    return true;
}

bool gp_move_fit_form(const gp_move *move, const gp_move_form *form, unsigned in_align, unsigned out_align,
                      uint64_t blocks, size_t smem, gp_move_fit *fit) {
    const gp_move_pieces p = gp_move_pieces_of(move, form->piece);
    gp_move_tile *tile = &fit->tile;
    uint32_t end;
    if (form->way >= GP_MOVE_RAW ? !fit_raw(&p, form, blocks, smem, fit)
                                 : !fit_aligned(&p, form, in_align, out_align, tile, &fit->smem))
        return false;
    tile->cols = gp_to_u32(span_of(&p, tile->extent, true, &end) / form->piece);
    tile->rows = gp_to_u32(volume_of(&p, tile->extent) / tile->cols);
    fit->tiles = tiles_of(&p, tile->extent);
    fit->sectors = moves_words(&p, tile->extent, true, SECTOR) || is_run(&p, form, tile);
    return fit->tiles <= INT32_MAX;
}
