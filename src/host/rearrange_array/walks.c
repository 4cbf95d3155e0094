/* SPDX-License-Identifier: Apache-2.0 */
/* The walks through a tile: where its pieces lie in the input, in shared memory, in the output. Pure. */
#include "../arithmetic.h"
#include "pieces.h"

gp_move_pieces gp_move_pieces_of(const gp_move *move, uint32_t piece) {
    gp_move_pieces p = {.axes = move->rank + 1};
    p.axis[0] = (gp_move_axis){move->run / piece, piece, piece};
    for (uint32_t a = 1; a < p.axes; a++)
        p.axis[a] = move->axis[move->rank - a];
    for (uint32_t a = 0; a < p.axes; a++) {
        if (p.axis[a].in == 0 || p.axis[a].n == 1)
            continue;
        uint32_t at = p.read++;
        for (; at > 0 && gp_move_distance(p.axis[p.by_in[at - 1]].in) > gp_move_distance(p.axis[a].in); at--)
            p.by_in[at] = p.by_in[at - 1];
        p.by_in[at] = (uint8_t)a;
    }
    return p;
}

uint32_t gp_move_lay_out(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile,
                         int32_t shared[GP_MOVE_AXES]) {
    uint32_t total = 1;
    for (uint32_t a = 0; a < p->axes; a++)
        shared[a] = 0;
    for (uint32_t i = 0; i < p->read; i++) {
        const uint32_t a = p->by_in[i];
        total += i > 0 && a == 1 ? tile->spread : 0;
        shared[a] = form->way == GP_MOVE_DIRECT ? (int32_t)gp_move_distance(p->axis[a].in) : (int32_t)total;
        total *= tile->extent[a];
    }
    return total;
}

static void walk_in(const gp_move_pieces *p, const gp_move_tile *tile, const int32_t *shared, gp_move_walk *walk) {
    *walk = (gp_move_walk){.units = 1};
    for (uint32_t i = 0; i < p->read; i++) {
        const uint32_t a = p->by_in[i];
        gp_move_put_digit(walk, tile->extent[a], (int64_t)gp_move_distance(p->axis[a].in), shared[a]);
    }
}

/*
 * Squares have their sides along the first axes of both sides. Neighbouring lanes take a sector of the output, then
 * squares whose words lie side by side in shared memory: so their words are in different banks.
 */
static void walk_squares(const gp_move_pieces *p, uint32_t side, const int32_t *step, uint32_t *left,
                         gp_move_walk *walk) {
    const uint32_t o = 1, i = p->by_in[0], sector = SECTOR / (uint32_t)p->axis[0].out / side;
    const uint32_t wide = left[o] / side % sector == 0 ? sector : left[o] / side;
    const uint32_t high = left[i] / side % 4 == 0 ? 4 : 1;
    gp_move_put_digit(walk, wide, p->axis[o].out * side, step[o] * (int32_t)side);
    gp_move_put_digit(walk, high, p->axis[i].out * side, step[i] * (int32_t)side);
    gp_move_put_digit(walk, left[o] / side / wide, p->axis[o].out * side * wide, step[o] * (int32_t)(side * wide));
    gp_move_put_digit(walk, left[i] / side / high, p->axis[i].out * side * high, step[i] * (int32_t)(side * high));
    left[o] = left[i] = 1;
}

static void walk_triples(const gp_move_pieces *p, uint32_t side, uint32_t *left, gp_move_walk *walk) {
    const uint32_t x = gp_move_joins_triples(p) ? 2 : 1, c = gp_move_joins_triples(p) ? 1 : p->by_in[0];
    const int64_t word = p->axis[0].out * side;
    if (x == 2) {
        gp_move_put_digit(walk, 3, word, 0);
        gp_move_put_digit(walk, left[x] / side, 3 * word, (int32_t)side);
    } else {
        gp_move_put_digit(walk, left[x] / side, word, 3 * (int32_t)side);
        gp_move_put_digit(walk, 3, p->axis[c].out, 0);
    }
    left[x] = left[c] = 1;
}

static void walk_out(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile,
                     const int32_t *shared, gp_move_walk *walk) {
    int32_t step[GP_MOVE_AXES];
    uint32_t left[GP_MOVE_AXES];
    *walk = (gp_move_walk){.units = 1};
    for (uint32_t a = 0; a < p->axes; a++) {
        const bool back = p->axis[a].in < 0;
        step[a] = back ? -shared[a] : shared[a];
        walk->shared += back ? (int32_t)(tile->extent[a] - 1) * shared[a] : 0;
        left[a] = tile->extent[a];
    }
    if (form->way == GP_MOVE_SQUARES)
        walk_squares(p, form->out, step, left, walk);
    if (form->way == GP_MOVE_TRIPLES)
        walk_triples(p, form->out, left, walk);
    for (uint32_t a = 0; a < p->axes; a++)
        gp_move_put_digit(walk, left[a], p->axis[a].out, step[a]);
}

/*
 * Which bytes make a word: of two words with bytes 0 to 3 and 4 to 7, and of these chosen and the third word.
 * Channels apart from pixels, and pixels from channels; of single bytes, and of pairs of bytes.
 */
static void choose_bytes(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile,
                         gp_move_cut *cut) {
    static const uint16_t first[2][2][3] = {{{0x0630, 0x0741, 0x0052}, {0x7610, 0x0032, 0x0054}},
                                            {{0x1040, 0x6205, 0x0730}, {0x5410, 0x3200, 0x0076}}};
    static const uint16_t third[2][2][3] = {{{0x5210, 0x6210, 0x7410}, {0x3210, 0x5410, 0x7610}},
                                            {{0x3410, 0x3250, 0x7216}, {0x3210, 0x3254, 0x7610}}};
    const bool joins = gp_move_joins_triples(p), pairs = form->piece == 2;
    for (uint32_t i = 0; i < 3; i++) {
        cut->first[i] = first[joins][pairs][i];
        cut->third[i] = third[joins][pairs][i];
    }
    cut->words = joins ? 1 : tile->extent[1] / form->out;
    cut->shared_row = joins ? cut->shared_row : 4;
}

/* Several tiles along an axis. */
static void put_step(gp_move_cut *cut, const gp_move_axis *axis, uint32_t extent) {
    const uint32_t count = (uint32_t)gp_divide_up(axis->n, extent);
    cut->tiles *= count;
    if (count > 1)
        cut->step[cut->steps++] =
            (gp_move_step){UINT64_MAX / count + 1, axis->n - extent, axis->in, axis->out, count, extent};
}

/*
 * Tiles that share lines of memory come soon after each other: first along axes that are cut, those with the fewest
 * tiles before others; then along those whose steps are shortest.
 */
static void put_steps(const gp_move_pieces *p, const uint32_t *extent, uint32_t sharing, gp_move_cut *cut) {
    uint64_t key[GP_MOVE_AXES];
    uint8_t order[GP_MOVE_AXES];
    for (uint32_t a = 0; a < p->axes; a++) {
        const gp_move_axis *axis = &p->axis[a];
        const uint64_t near = gp_least(gp_move_distance(axis->in), (uint64_t)axis->out);
        uint32_t at = a;
        key[a] = extent[a] > 1 ? gp_divide_up(axis->n, extent[a]) : gp_plus(UINT32_MAX, near);
        for (; at > 0 && key[order[at - 1]] > key[a]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)a;
    }
    for (uint32_t i = 0; i < p->axes; i++) {
        if (order[i] == sharing)
            cut->sharing = cut->steps;
        put_step(cut, &p->axis[order[i]], extent[order[i]]);
    }
}

void gp_move_cut_make(const gp_move *move, const gp_move_form *form, const gp_move_tile *tile, gp_move_cut *cut) {
    const gp_move_pieces p = gp_move_pieces_of(move, form->piece);
    int32_t shared[GP_MOVE_AXES];
    cut->in = cut->begin = move->in;
    cut->out = move->out;
    cut->tiles = 1;
    cut->steps = 0;
    cut->sharing = GP_MOVE_AXES;
    if (form->way >= GP_MOVE_RAW) {
        (void)gp_move_raw_walk(&p, form, tile, cut);
        cut->in += cut->lead;
    } else {
        cut->tile_bytes = (uint32_t)gp_round_up(gp_move_lay_out(&p, form, tile, shared) * form->piece, 16);
        walk_in(&p, tile, shared, &cut->load);
        walk_out(&p, form, tile, shared, &cut->store);
        if (form->way != GP_MOVE_DIRECT) /* bytes in the input there */
            cut->shared_row = (p.axis[1].in < 0 ? -shared[1] : shared[1]) * (int32_t)form->piece;
        cut->out_row = p.axis[p.by_in[0]].out;
    }
    if (form->way == GP_MOVE_TRIPLES)
        choose_bytes(&p, form, tile, cut);
    for (uint32_t a = 0; a < p.axes; a++)
        if (p.axis[a].in < 0) {
            cut->in += form->way < GP_MOVE_RAW ? (int64_t)(tile->extent[a] - 1) * p.axis[a].in : 0;
            cut->begin += (int64_t)(p.axis[a].n - 1) * p.axis[a].in;
        }
    cut->end = cut->begin + p.axis[0].out;
    for (uint32_t a = 0; a < p.axes; a++)
        cut->end += (p.axis[a].n - 1) * gp_move_distance(p.axis[a].in);
    const bool shares = form->way == GP_MOVE_RAW && tile->spread > 0;
    put_steps(&p, tile->extent, shares ? gp_move_raw_out_row(&p, form, tile->extent).axes - 1 : GP_MOVE_AXES, cut);
}
