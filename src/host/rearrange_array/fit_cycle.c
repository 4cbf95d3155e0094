/* SPDX-License-Identifier: Apache-2.0 */
/* How rearrange_cycle cuts matrices. Pure. */
#include "../arithmetic.h"
#include "../occupancy.h"
#include "../problem.h"
#include "array.h"
#include "cycle.h"
#include "tiling.h"
#include <string.h>

#define LONG_ELEMENT 512u /* bytes, from which on elements are units */
#define WANTED_UNIT 512u  /* bytes, for which a piece is shared by several blocks */
#define LEAST_SEGMENT 64u /* bytes of a row that a block of several loads */
#define SECTOR 32u
#define TRIES 64u

static void measure_units(gp_cycle *c, unsigned align) {
    c->word = gp_alignment(c->unit | c->apart | align | (c->matrices > 1 ? c->bytes : 0) | 16);
    const uint64_t words = c->unit / c->word;
    c->lanes = 1;
    while (c->lanes < 32 && c->lanes * GP_CYCLE_WORDS < words)
        c->lanes *= 2;
    c->slices = gp_to_u32(gp_divide_up(words, c->lanes * GP_CYCLE_WORDS));
    c->flags = gp_to_u32(gp_divide_up(c->units, 32));
}

bool gp_cycle_make(gp_cycle *c, const gp_move *move, unsigned align, uint32_t rows) {
    unsigned cols = 0;
    *c = (gp_cycle){0};
    if (!gp_move_is_rectangle(move, &cols))
        return false;
    const uint64_t across = move->axis[cols].n, down = move->axis[cols + 1].n,
                   element = (uint64_t)move->axis[cols + 1].out;
    *c = (gp_cycle){.others = *move, .tall = down > across, .rows = rows};
    c->others.rank -= 2;
    memmove(&c->others.axis[cols], &c->others.axis[cols + 2], (c->others.rank - cols) * sizeof *move->axis);
    c->matrices = move->count / (across * down);
    c->high = c->tall ? down : across;
    c->across = c->tall ? across : down;
    c->pieces = gp_divide_up(c->high, rows);
    c->bytes = across * down * element;
    c->unit = (rows - 1) * element + move->run;
    c->apart = rows * element;
    const uint64_t units = c->pieces * c->across, padded = units * c->apart;
    c->cut = padded == c->bytes ? padded : c->bytes / c->apart * c->apart;
    c->tail = padded == c->cut ? 0 : gp_round_up(padded - c->cut, 16) + 16;
    c->at_once = c->matrices;
    if (c->pieces == 1)
        return true;
    if (units > UINT32_MAX)
        return false;
    c->units = gp_to_u32(units);
    measure_units(c, align);
    const uint64_t room = GP_CYCLE_SPACE_BYTES - GP_CYCLE_COUNTERS * 4 - 16,
                   needed = (uint64_t)c->flags * c->slices * 4 + c->tail;
    c->at_once = gp_least(c->matrices, room / needed);
    return c->at_once > 0;
}

/* Rows of a piece, up to `most`: whole sectors in a unit, and the least padding. */
static uint32_t rows_of(uint64_t high, uint64_t most, uint64_t run) {
    uint64_t unit = SECTOR, best = most, least = UINT64_MAX;
    while (unit > 1 && run % 2 == 0) {
        unit /= 2;
        run /= 2;
    }
    uint64_t rows = most / unit * unit;
    for (unsigned tried = 0; rows > most / 2 && least > 0 && tried < TRIES; tried++, rows -= unit) {
        const uint64_t padding = gp_round_up(high, rows) - high;
        if (padding < least) {
            least = padding;
            best = rows;
        }
    }
    return gp_to_u32(best);
}

/* Rows of a tile of `cols` columns: an odd number of elements from one column to the next, for the banks' sake. */
static uint64_t most_rows(uint64_t elements, uint64_t cols) {
    const uint64_t pitch = elements / cols;
    return pitch % 2 == 1 || pitch == 0 ? pitch : pitch - 1;
}

/* The whole matrix in shared memory, or else pieces of it. */
static bool choose(const gp_move *move, unsigned align, uint64_t elements, uint64_t blocks, gp_cycle *c,
                   gp_cycle_tile *tile) {
    const uint64_t across = c->across, high = c->high, run = move->run;
    uint64_t cols = gp_least(elements / (high | 1), across), parts = cols > 0 ? gp_divide_up(across, cols) : 0;
    if (parts == 1 || (parts > 1 && parts <= blocks && cols * run >= LEAST_SEGMENT)) {
        *tile = (gp_cycle_tile){gp_to_u32(high), gp_to_u32(cols), gp_to_u32(parts)};
        return gp_cycle_make(c, move, align, tile->rows);
    }
    for (parts = 1; parts <= blocks; parts *= 2) {
        cols = gp_divide_up(across, parts);
        const uint64_t most = gp_least(most_rows(elements, cols), high - 1);
        const bool last = 2 * parts > blocks || (cols - 1) / 2 * run < LEAST_SEGMENT;
        if (most == 0 || (!last && most * run < WANTED_UNIT))
            continue;
        *tile = (gp_cycle_tile){rows_of(high, most, run), gp_to_u32(cols), gp_to_u32(gp_divide_up(across, cols))};
        if (gp_cycle_make(c, move, align, tile->rows))
            return true;
    }
    return false;
}

/* Shared memory of a block of which an SM has room for several. */
static size_t smem_of(const gp_device *device) {
    const uint64_t share = device->smem_per_sm / GP_REARRANGE_CYCLE_BLOCKS;
    const uint64_t most = share > device->smem_reserved ? share - device->smem_reserved : 0;
    return (size_t)gp_least(most, device->smem_per_block_optin) / 1024 * 1024;
}

static uint64_t blocks_of(const gp_device *device, unsigned threads, size_t smem, unsigned most) {
    const unsigned held = gp_occupancy_blocks(device, threads, GP_REARRANGE_CYCLE_REGS, smem);
    return gp_at_least_one(device->multiprocessors * gp_least(held, most));
}

bool gp_fit_rearrange_cycle(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    const gp_move *move = problem->move;
    const unsigned align = problem->out_align;
    unsigned most = GP_REARRANGE_CYCLE_THREADS, blocks_per_sm = GP_REARRANGE_CYCLE_BLOCKS;
    gp_cycle_tile tile = {1, 1, 0};
    gp_cycle c;
    const bool fits = gp_cycle_make(&c, move, align, 1);
    if (c.high == 0 || (c.high == c.across && c.high * c.across < GP_CYCLE_SQUARE))
        return false;
    if (move->run >= LONG_ELEMENT || c.apart != move->run) {
        if (!fits)
            return false;
    } else {
        tiling->smem = smem_of(device);
        if (!choose(move, align, tiling->smem / move->run, blocks_of(device, most, tiling->smem, blocks_per_sm), &c,
                    &tile))
            return false;
    }
    if (tile.parts == 1 && c.pieces == 1) { /* no block waits for another */
        tiling->smem = (c.high | 1) * c.across * move->run;
        blocks_per_sm = UINT32_MAX;
        while (most > 32 && most * 32 > c.bytes)
            most /= 2;
    }
    tiling->form = gp_log2(gp_move_piece(move, align, align));
    tiling->threads = gp_threads_of_attempt(most, 32, attempt);
    if (tiling->threads == 0)
        return false;
    tiling->blocks = blocks_of(device, tiling->threads, tiling->smem, blocks_per_sm);
    if (tile.parts > 0)
        tiling->blocks = gp_least(tiling->blocks, c.matrices * c.pieces * tile.parts);
    GP_TILING_PUT(tiling, tile);
    return true;
}
