/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of raw rows: rows of any alignment are copied to shared memory in whole words, each to an address that is as
 * far off a word's start as its own. Strides in shared memory are therefore those of the input modulo a word. Pure.
 */
#include "../arithmetic.h"
#include "../problem.h"
#include "pieces.h"

/* The output's row: its first axis. */
static uint32_t first_out(const gp_move_pieces *p) {
    return p->axis[0].n > 1 ? 0 : 1;
}

bool gp_move_raw_can(const gp_move_pieces *p) {
    const uint32_t o = first_out(p);
    return p->read > 0 && o < p->axes && p->axis[o].out == p->axis[0].out &&
           (int64_t)gp_move_distance(p->axis[p->by_in[0]].in) == p->axis[0].out;
}

gp_move_row gp_move_raw_in_row(const gp_move_pieces *p, const uint32_t *t) {
    gp_move_row row = {.length = (uint32_t)p->axis[0].out};
    bool whole = true;
    for (; row.axes < p->read && whole; row.axes++) {
        const uint32_t a = p->by_in[row.axes];
        if (gp_move_distance(p->axis[a].in) != row.length)
            break;
        row.length *= t[a];
        whole = t[a] == p->axis[a].n;
    }
    return row;
}

gp_move_row gp_move_raw_out_row(const gp_move_pieces *p, const gp_move_form *form, const uint32_t *t) {
    gp_move_row row = {.length = 1, .part = 1};
    bool whole = true;
    const uint32_t axes = form->way == GP_MOVE_RUNS ? 1 : p->axes;
    for (; row.axes < axes && whole; row.axes++) {
        const gp_move_axis *axis = &p->axis[row.axes];
        const uint32_t extent = t[row.axes], most = gp_move_raw_row_most(form) / row.length;
        if ((uint64_t)axis->out != row.length * (uint64_t)p->axis[0].out)
            break;
        for (row.part = extent < most ? extent : most; extent % row.part != 0;)
            row.part--;
        row.length *= row.part;
        whole = row.part == axis->n;
    }
    return row;
}

/* Bytes from one to the next along each axis in shared memory; how many there are in all. `axes` make a row. */
static uint32_t place(const gp_move_pieces *p, const uint32_t *t, uint32_t row, uint32_t axes,
                      int32_t shared[GP_MOVE_AXES]) {
    const uint32_t word = GP_MOVE_RAW_WORD;
    uint32_t total = row + word - 1;
    for (uint32_t a = 0; a < p->axes; a++)
        shared[a] = 0;
    for (uint32_t i = 0; i < p->read; i++) {
        const uint32_t a = p->by_in[i], stride = (uint32_t)gp_move_distance(p->axis[a].in);
        uint32_t step = i < axes ? stride : total + (stride - total) % word;
        if (i >= axes && a == first_out(p) && gp_alignment(step + word) < gp_alignment(step))
            step += word; /* in fewer banks else */
        shared[a] = (int32_t)step;
        total += i < axes ? 0 : (t[a] - 1) * step;
    }
    return total + word;
}

/* `words` of a row, two at least, so that its magic number has 32 bits. */
static gp_move_rows rows_of(uint32_t rows, uint32_t length, uint32_t words) {
    const uint32_t some = words > 2 ? words : 2;
    return (gp_move_rows){rows * some, length, some, (uint32_t)((((uint64_t)1 << 32) + some - 1) / some)};
}

/* Which of a word's pieces a thread takes first: words beside each other are so many 4 bytes apart in shared memory.
 */
static void turn_words(const gp_move_form *form, uint32_t stride, gp_move_cut *cut) {
    const uint32_t out = form->out, unit = form->piece > 4 && out == 1 ? form->piece : 4;
    const uint32_t twos = gp_log2(gp_alignment((uint64_t)stride * out / unit | 32));
    cut->turn = 5 - twos;
    cut->turn_up = twos < gp_log2(out) ? gp_log2(out) - twos : 0;
}

bool gp_move_raw_walk(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile, gp_move_cut *cut) {
    const uint32_t word = GP_MOVE_RAW_WORD, out = form->out, sector = SECTOR / form->piece, *t = tile->extent;
    int32_t shared[GP_MOVE_AXES];
    const gp_move_row in_row = gp_move_raw_in_row(p, t), row = gp_move_raw_out_row(p, form, t);
    cut->load = cut->store = cut->pick = (gp_move_walk){.units = 1};
    cut->tile_bytes = gp_to_u32(gp_round_up(place(p, t, in_row.length, in_row.axes, shared), word));
    cut->reach = form->piece;
    for (uint32_t i = 0; i < p->read; i++) {
        const uint32_t a = p->by_in[i];
        const uint64_t stride = gp_move_distance(p->axis[a].in);
        cut->reach += (t[a] - 1) * gp_to_u32(stride);
        if (i >= in_row.axes)
            gp_move_put_digit(&cut->load, t[a], (int64_t)stride, shared[a]);
    }
    for (uint32_t a = 0; a < p->axes; a++) {
        const bool back = p->axis[a].in < 0;
        const uint32_t n = a + 1 < row.axes ? t[a] : a + 1 == row.axes ? row.part : 1;
        const int32_t step = back ? -shared[a] : shared[a];
        cut->pick.shared += back ? (int32_t)(n - 1) * shared[a] : 0;
        cut->store.shared += back ? (int32_t)(t[a] - n) * shared[a] : 0;
        gp_move_put_digit(&cut->pick, n, 0, step);
        gp_move_put_digit(&cut->store, t[a] / n, p->axis[a].out * n, step * (int32_t)n);
    }
    cut->in_rows = rows_of(cut->load.units, in_row.length, (in_row.length + 2 * word - 2) / word);
    cut->out_rows = rows_of(cut->store.units, row.length, (row.length + 2 * out - 2) / out);
    cut->shares_rows = tile->spread > 0;
    cut->own = row.length - row.length / row.part * tile->spread;
    cut->own_words = cut->out_rows.words;
    if (tile->spread > 0)
        cut->own_words = gp_to_u32(gp_least(cut->own_words, (cut->own + sector + 2 * out - 2) / out));
    turn_words(form, (uint32_t)shared[first_out(p)], cut);
    cut->picks = 0;
    if (form->way == GP_MOVE_RAW)
        cut->picks = gp_to_u32(gp_round_up((uint64_t)2 * out * out * cut->out_rows.words, word));
    cut->smem = cut->tile_bytes + cut->picks + 8 * (cut->load.units + cut->store.units) + 4 * SECTOR;
    return cut->tile_bytes <= UINT16_MAX - word && cut->in_rows.units <= UINT16_MAX &&
           cut->out_rows.units <= UINT16_MAX && (form->way == GP_MOVE_RUNS || cut->own_words <= GP_MOVE_RAW_THREADS);
}
