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

/* Rows of the output shorter than a word, such as three channels of four, have nothing to gain. */
bool gp_move_raw_can(const gp_move_pieces *p) {
    const uint32_t o = first_out(p);
    uint64_t row = (uint64_t)p->axis[0].out;
    for (uint32_t a = 0; a < p->axes && (uint64_t)p->axis[a].out == row; a++)
        row *= p->axis[a].n;
    return row >= GP_MOVE_RAW_WORD && p->read > 0 && o < p->axes && p->axis[o].out == p->axis[0].out &&
           (int64_t)gp_move_distance(p->axis[p->by_in[0]].in) == p->axis[0].out;
}

static gp_move_row in_row_of(const gp_move_pieces *p, const uint32_t *t) {
    gp_move_row row = {.length = (uint32_t)p->axis[0].out};
    bool whole = true;
    for (; row.axes < p->read && whole; row.axes++) {
        const uint32_t a = p->by_in[row.axes];
        if (gp_move_distance(p->axis[a].in) != row.length || t[a] < 2)
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

/* A tile's rows on both sides, and the axis at which the output's end. */
typedef struct raw_box {
    gp_move_row in, out;
    uint32_t end, beyond;         /* beyond: steps along that axis into which the next tile's pieces reach */
    int32_t shared[GP_MOVE_AXES]; /* bytes from one to the next along each axis in shared memory */
} raw_box;

static bool is_in_row(const gp_move_pieces *p, const raw_box *box, uint32_t a) {
    bool found = false;
    for (uint32_t i = 0; i < box->in.axes; i++)
        found = found || p->by_in[i] == a;
    return found;
}

/* Whether steps along the axis lead to other rows of the input. */
static bool is_between(const gp_move_pieces *p, const raw_box *box, uint32_t a) {
    return p->axis[a].in != 0 && p->axis[a].n > 1 && !is_in_row(p, box, a);
}

static int32_t step_of(const gp_move_pieces *p, const raw_box *box, uint32_t a, uint32_t total) {
    const uint32_t word = GP_MOVE_RAW_WORD, step = total + ((uint32_t)p->axis[a].in - total) % word;
    const bool pads = a == 1 && gp_alignment(step + word) < gp_alignment(step); /* in fewer banks else */
    return is_in_row(p, box, a) ? (int32_t)gp_move_distance(p->axis[a].in) : (int32_t)(pads ? step + word : step);
}

/*
 * The axes of the output's rows come last and in their order: so of the next tile there need be no more than the rows
 * that hold its first pieces. Returns the tile's own bytes.
 */
static uint32_t place(const gp_move_pieces *p, const uint32_t *t, raw_box *box) {
    uint32_t total = box->in.length + GP_MOVE_RAW_WORD - 1;
    for (uint32_t i = 1; i <= p->axes; i++) {
        const uint32_t a = (box->end + i) % p->axes;
        box->shared[a] = p->axis[a].in != 0 ? step_of(p, box, a, total) : 0;
        total += is_between(p, box, a) ? (t[a] - 1) * (uint32_t)box->shared[a] : 0;
    }
    return total;
}

static raw_box box_of(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile) {
    const uint32_t *t = tile->extent;
    raw_box box = {.in = in_row_of(p, t), .out = gp_move_raw_out_row(p, form, t)};
    box.end = box.out.axes - 1;
    box.beyond = gp_to_u32(gp_divide_up(tile->spread, box.out.length / box.out.part));
    if (is_in_row(p, &box, box.end))
        box.in.length = box.in.length / t[box.end] * (t[box.end] + box.beyond);
    return box;
}

/* Rows that hold the first pieces of the next tile, which lie behind the tile's own; up to where these reach. */
static uint32_t walk_tail(const gp_move_pieces *p, const gp_move_tile *tile, const raw_box *box, gp_move_walk *tail) {
    const uint32_t *t = tile->extent, end = box->end;
    int32_t others = 0, furthest = 0;
    uint32_t most = 0;
    *tail = (gp_move_walk){.units = tile->spread > 0 && is_between(p, box, end)};
    for (uint32_t a = end + 1; a < p->axes; a++)
        if (is_between(p, box, a)) {
            gp_move_put_digit(tail, t[a], p->axis[a].in, box->shared[a]);
            others += (int32_t)(t[a] - 1) * box->shared[a];
        }
    if (tail->units == 0)
        return 0;
    const uint32_t each = tail->units;
    for (uint32_t a = 0; a <= end; a++)
        if (is_between(p, box, a))
            gp_move_put_digit(tail, a < end ? t[a] : box->beyond, p->axis[a].in, box->shared[a]);
    tail->global = (int32_t)t[end] * (int32_t)p->axis[end].in;
    tail->shared = (int32_t)t[end] * box->shared[end];
    for (uint32_t x = 0; x < tile->spread; x++) {
        uint32_t left = x, row = 0, rows = 1;
        int32_t at = tail->shared + others;
        for (uint32_t a = 0; a <= end; a++) {
            const uint32_t c = a < end ? left % t[a] : left;
            left /= t[a];
            if (!is_between(p, box, a))
                continue;
            row += c * rows;
            rows *= t[a];
            at += (int32_t)c * box->shared[a];
        }
        most = row > most ? row : most;
        furthest = at > furthest ? at : furthest;
    }
    tail->units = (most + 1) * each;
    return (uint32_t)furthest + box->in.length + GP_MOVE_RAW_WORD - 1;
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

/* What a tile's loads reach from where it begins. False: it is more than offsets have bits for. */
static bool measure_reach(const gp_move_pieces *p, const gp_move_tile *tile, const raw_box *box, gp_move_cut *cut) {
    const gp_move_axis *end = &p->axis[box->end];
    const bool tail = is_between(p, box, box->end);
    const uint64_t beyond = tail ? gp_times(box->beyond, gp_move_distance(end->in)) : 0;
    uint64_t below = 0, reach = box->in.length;
    cut->lead = 0;
    for (uint32_t i = 0; i < p->read; i++) {
        const uint32_t a = p->by_in[i];
        const uint64_t n = tile->extent[a] + (!tail && a == box->end ? box->beyond : 0),
                       span = gp_times(n - 1, gp_move_distance(p->axis[a].in));
        const bool back = p->axis[a].in < 0;
        if (i >= box->in.axes)
            *(back ? &below : &reach) += span;
        else if (back)
            cut->lead -= (int64_t)span;
    }
    if (gp_plus(gp_plus(below, reach), beyond) > INT32_MAX)
        return false;
    cut->below = (uint32_t)below;
    cut->reach = (uint32_t)reach;
    cut->beyond = end->in < 0 ? -(int32_t)beyond : (int32_t)beyond;
    return true;
}

bool gp_move_raw_walk(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile, gp_move_cut *cut) {
    const uint32_t word = GP_MOVE_RAW_WORD, out = form->out, sector = SECTOR / form->piece, *t = tile->extent;
    raw_box box = box_of(p, form, tile);
    if (!measure_reach(p, tile, &box, cut))
        return false;
    cut->load = cut->store = cut->pick = (gp_move_walk){.units = 1};
    const uint32_t own = place(p, t, &box), tail = walk_tail(p, tile, &box, &cut->tail);
    cut->tile_bytes = gp_to_u32(gp_round_up((own > tail ? own : tail) + word, word));
    for (uint32_t i = box.in.axes; i < p->read; i++)
        gp_move_put_digit(&cut->load, t[p->by_in[i]], p->axis[p->by_in[i]].in, box.shared[p->by_in[i]]);
    for (uint32_t a = 0; a < p->axes; a++) {
        const bool back = p->axis[a].in < 0 && is_in_row(p, &box, a);
        const uint32_t n = a < box.end    ? t[a]
                           : a == box.end ? box.out.part
                                          : 1,
                       all = a == box.end ? n + box.beyond : n;
        const int32_t step = back ? -box.shared[a] : box.shared[a];
        cut->pick.shared += back ? (int32_t)(all - 1) * box.shared[a] : 0;
        cut->store.shared += back ? (int32_t)(t[a] - n) * box.shared[a] : 0;
        gp_move_put_digit(&cut->pick, all, 0, step);
        gp_move_put_digit(&cut->store, t[a] / n, p->axis[a].out * n, step * (int32_t)n);
    }
    cut->own = box.out.length;
    cut->in_rows = rows_of(cut->load.units, box.in.length, (box.in.length + 2 * word - 2) / word);
    cut->out_rows = rows_of(cut->store.units, cut->own + tile->spread, (cut->own + tile->spread + 2 * out - 2) / out);
    cut->own_words = cut->out_rows.words;
    if (tile->spread > 0)
        cut->own_words = gp_to_u32(gp_least(cut->own_words, (cut->own + sector + 2 * out - 2) / out));
    turn_words(form, (uint32_t)box.shared[first_out(p)], cut);
    cut->lanes = cut->turn == 0 && cut->own_words > 8 ? 8 : cut->own_words; /* a row's words are in 8 banks */
    cut->picks = 0;
    if (form->way == GP_MOVE_RAW)
        cut->picks = gp_to_u32(gp_round_up((uint64_t)2 * out * out * cut->out_rows.words, word));
    cut->smem =
        cut->tile_bytes + cut->picks + 8 * (cut->load.units + cut->tail.units + cut->store.units) + 4 * SECTOR;
    return cut->tile_bytes <= UINT16_MAX - word &&
           (cut->load.units + cut->tail.units) * cut->in_rows.words <= UINT16_MAX &&
           cut->out_rows.units <= UINT16_MAX && (form->way == GP_MOVE_RUNS || cut->own_words <= GP_MOVE_RAW_THREADS);
}
