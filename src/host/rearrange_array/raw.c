/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of raw rows: rows of any alignment are copied to shared memory in whole words, each to an address that is as
 * far off a word's start as its own. Strides in shared memory are therefore those of the input modulo a word. Pure.
 */
#include "../arithmetic.h"
#include "pieces.h"

bool gp_move_raw_can(const gp_move_pieces *p) {
    const gp_move_axis *out = &p->axis[gp_move_raw_out(p)];
    const int64_t piece = p->axis[0].out;
    return p->read > 0 && p->axes > 1 && out->out == piece && out->in != 0 &&
           (int64_t)gp_move_distance(p->axis[p->by_in[0]].in) == piece;
}

/* Bytes of a tile's rows, and how many axes, in the order of the input's strides, make one. */
static uint32_t row_of(const gp_move_pieces *p, const gp_move_tile *tile, uint32_t *axes) {
    uint64_t bytes = (uint64_t)p->axis[0].out;
    for (*axes = 0; *axes < p->read; (*axes)++) {
        const uint32_t a = p->by_in[*axes];
        if (gp_move_distance(p->axis[a].in) != bytes)
            break;
        bytes *= tile->extent[a];
        if (tile->extent[a] < p->axis[a].n) {
            (*axes)++;
            break;
        }
    }
    return (uint32_t)bytes;
}

/* Bytes from one to the next along each axis in shared memory; how many there are in all. `axes` make a row. */
static uint32_t place(const gp_move_pieces *p, const gp_move_tile *tile, uint32_t row, uint32_t axes,
                      int32_t shared[GP_MOVE_AXES]) {
    uint32_t total = row + GP_MOVE_RAW_WORD - 1;
    for (uint32_t a = 0; a < p->axes; a++)
        shared[a] = 0;
    for (uint32_t i = 0; i < p->read; i++) {
        const uint32_t a = p->by_in[i], stride = (uint32_t)gp_move_distance(p->axis[a].in);
        if (i < axes) {
            shared[a] = (int32_t)stride;
            continue;
        }
        shared[a] = (int32_t)(total + (stride - total) % GP_MOVE_RAW_WORD);
        total += (tile->extent[a] - 1) * (uint32_t)shared[a];
    }
    return total + GP_MOVE_RAW_WORD;
}

void gp_move_raw_walk(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile, gp_move_cut *cut) {
    int32_t shared[GP_MOVE_AXES];
    uint32_t axes;
    const uint32_t o = gp_move_raw_out(p), row = row_of(p, tile, &axes), word = form->out * form->piece;
    gp_move_walk *load = &cut->load, *store = &cut->store;
    *load = *store = (gp_move_walk){.units = 1};
    cut->tile_bytes = (uint32_t)gp_round_up(place(p, tile, row, axes, shared), GP_MOVE_RAW_WORD);
    cut->in_words = (uint32_t)gp_divide_up(row + GP_MOVE_RAW_WORD - 1, GP_MOVE_RAW_WORD);
    cut->out_words = (uint32_t)gp_divide_up(tile->extent[o] + form->out - 1, form->out);
    cut->beyond = (int32_t)((cut->in_words - 1) * GP_MOVE_RAW_WORD) - (int32_t)row;
    cut->row = tile->extent[o];
    cut->shared_row = p->axis[o].in < 0 ? -shared[o] : shared[o];
    gp_move_put_digit(load, cut->in_words, GP_MOVE_RAW_WORD, GP_MOVE_RAW_WORD);
    for (uint32_t i = axes; i < p->read; i++) {
        const uint32_t a = p->by_in[i];
        gp_move_put_digit(load, tile->extent[a], (int64_t)gp_move_distance(p->axis[a].in), shared[a]);
    }
    gp_move_put_digit(store, cut->out_words, word, cut->shared_row * (int32_t)form->out);
    for (uint32_t a = 0; a < p->axes; a++) {
        const bool back = p->axis[a].in < 0;
        store->shared += back ? (int32_t)(tile->extent[a] - 1) * shared[a] : 0;
        if (a != o)
            gp_move_put_digit(store, tile->extent[a], p->axis[a].out, back ? -shared[a] : shared[a]);
    }
}
