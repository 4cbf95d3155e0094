/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rearrange_tile is told of its tiles, for made-up GPUs: each tile is walked here in the order in which the
 * kernel does it, and all tiles together move what nested loops do. No word lies outside the arrays, or has no
 * thread.
 */
#include "../../src/host/context.h"
#include "../../src/host/rearrange_array/tiling.h"
#include "../cases.h"
#include "../check.h"
#include "../devices.h"
#include "random_move.h"

#define CALLS 4000
#define TRIPLES 40

/* A tile under way. shared: of one tile, as large as the plan says. */
typedef struct tile {
    const gp_move_cut *cut;
    gp_move_form form;
    const random_move *move;
    const unsigned char *in_memory, *in;
    unsigned char *out_memory, *out, *shared;
    bool first, last; /* of tiles that share rows */
} tile;

typedef struct place {
    int64_t global, shared;
} place;

static place place_of(const gp_move_walk *walk, uint32_t unit) {
    place at = {walk->global, walk->shared};
    for (uint32_t d = 0; d < walk->digits; d++) {
        const gp_move_digit *digit = &walk->digit[d];
        const uint32_t rest = d + 1 == walk->digits ? 0 : (uint32_t)((uint64_t)unit * digit->magic >> 32);
        at.global += (int64_t)(unit - rest * digit->n) * digit->global;
        at.shared += (int64_t)(unit - rest * digit->n) * digit->shared;
        unit = rest;
    }
    return at;
}

static void load(const tile *t, int64_t to, int64_t from, size_t bytes) {
    const unsigned char *at = t->in + from;
    if (at < t->in_memory || at + bytes > t->in_memory + t->move->in.bytes)
        fail_msg("%s: reads outside the input", t->move->label);
    assert_in_range(to, 0, t->cut->tile_bytes - bytes);
    memcpy(t->shared + to, at, bytes);
}

static void store(const tile *t, int64_t to, const void *from, size_t bytes) {
    unsigned char *at = t->out + to;
    if (at < t->out_memory || at + bytes > t->out_memory + t->move->out.bytes)
        fail_msg("%s: writes outside the output", t->move->label);
    memcpy(at, from, bytes);
}

static const unsigned char *shared_at(const tile *t, int64_t at, size_t bytes) {
    assert_in_range(at, 0, t->cut->tile_bytes - bytes);
    return t->shared + at;
}

/* ---- by whole words on both sides ---- */

static void load_words(const tile *t) {
    const uint32_t piece = t->form.piece, in = t->form.in;
    assert_in_range(t->cut->load.units, 1, gp_move_room(&t->form));
    for (uint32_t q = 0; q < t->cut->load.units; q += in) {
        const place at = place_of(&t->cut->load, q);
        load(t, at.shared * piece, at.global, (size_t)in * piece);
    }
}

static void gather(const tile *t) {
    const uint32_t piece = t->form.piece, out = t->form.out;
    assert_in_range(t->cut->store.units, 1, gp_move_room(&t->form));
    assert_int_equal(t->cut->store.units % out, 0);
    for (uint32_t q = 0; q < t->cut->store.units; q++) {
        const int64_t word = place_of(&t->cut->store, q - q % out).global;
        store(t, word + q % out * piece, shared_at(t, place_of(&t->cut->store, q).shared * piece, piece), piece);
    }
}

/* Squares of words: piece i of word j goes to piece j of word i. */
static void turn_squares(const tile *t) {
    const uint32_t piece = t->form.piece, side = t->form.out;
    assert_in_range(t->cut->store.units, 1, gp_move_room(&t->form) / (side * side));
    for (uint32_t q = 0; q < t->cut->store.units; q++) {
        const place at = place_of(&t->cut->store, q);
        for (uint32_t j = 0; j < side; j++) {
            const unsigned char *word =
                shared_at(t, at.shared * piece + (int64_t)j * t->cut->shared_row, (size_t)side * piece);
            for (uint32_t i = 0; i < side; i++)
                store(t, at.global + i * t->cut->out_row + j * piece, word + i * piece, piece);
        }
    }
}

/* Which four of eight bytes, a digit of four bits each. */
static void choose(unsigned char word[4], const unsigned char bytes[8], unsigned which) {
    for (unsigned i = 0; i < 4; i++)
        word[i] = bytes[which >> 4 * i & 7];
}

/* A word of three. */
static void turn_triples(const tile *t) {
    const gp_move_cut *cut = t->cut;
    assert_in_range(cut->store.units, 1, gp_move_room(&t->form) / t->form.out);
    for (uint32_t q = 0; q < cut->store.units; q++) {
        const place at = place_of(&cut->store, q);
        const unsigned which = q / cut->words % 3;
        unsigned char bytes[8], word[4];
        for (unsigned j = 0; j < 2; j++)
            memcpy(bytes + 4 * j, shared_at(t, at.shared * t->form.piece + (int64_t)j * cut->shared_row, 4), 4);
        choose(word, bytes, cut->first[which]);
        memcpy(bytes, word, 4);
        memcpy(bytes + 4, shared_at(t, at.shared * t->form.piece + 2 * (int64_t)cut->shared_row, 4), 4);
        choose(word, bytes, cut->third[which]);
        store(t, at.global, word, 4);
    }
}

static void move_straight(const tile *t) {
    const uint32_t piece = t->form.piece;
    assert_in_range(t->cut->store.units, 1, gp_move_room(&t->form));
    for (uint32_t q = 0; q < t->cut->store.units; q++) {
        const place at = place_of(&t->cut->store, q);
        load(t, 0, at.shared, piece);
        store(t, at.global, t->shared, piece);
    }
}

/* ---- by raw rows ---- */

static void load_rows(const tile *t) {
    const gp_move_cut *cut = t->cut;
    const gp_move_rows *rows = &cut->in_rows;
    const int64_t word = GP_MOVE_RAW_WORD, off = (int64_t)((uintptr_t)t->in % GP_MOVE_RAW_WORD);
    assert_true(cut->begin >= t->in_memory && cut->end <= t->in_memory + t->move->in.bytes);
    const uint32_t units = rows->units + (t->last ? 0 : cut->tail.units * rows->words);
    assert_true(rows->units == cut->load.units * rows->words && units < 1 << 16);
    for (uint32_t q = 0; q < units; q++) {
        const uint32_t row = (uint32_t)((uint64_t)q * rows->magic >> 32);
        const bool own = row < cut->load.units;
        const place at = place_of(own ? &cut->load : &cut->tail, own ? row : row - cut->load.units);
        const int64_t beyond = own ? 0 : cut->beyond;
        const int64_t before = (int64_t)((uintptr_t)(t->in + at.global) % GP_MOVE_RAW_WORD);
        const int64_t first = (q - row * rows->words) * word - before;
        assert_int_equal((at.shared + off) % word, before);
        assert_true(at.global >= (beyond < 0 ? beyond : 0) - (int64_t)cut->below);
        assert_true(at.global + rows->length <= cut->reach + (beyond > 0 ? beyond : 0));
        for (int64_t i = first; i < first + word && first < (int64_t)rows->length; i++)
            if (t->in + at.global + i >= cut->begin && t->in + at.global + i < cut->end)
                load(t, at.shared + off + i, at.global + i, 1);
    }
}

/* What of a row of tiles that share rows is a tile's own: from a sector's start to the next tile's. */
static void store_rows(const tile *t) {
    const gp_move_cut *cut = t->cut;
    const gp_move_rows *rows = &cut->out_rows;
    const size_t piece = t->form.piece, out = t->form.out, off = (uintptr_t)t->in % GP_MOVE_RAW_WORD;
    assert_in_range(rows->length, 1, cut->pick.units);
    assert_in_range(cut->own_words, 1, t->form.way == GP_MOVE_RAW ? GP_MOVE_RAW_THREADS : GP_MOVE_RAW_BYTES);
    for (uint32_t row = 0; row < cut->store.units; row++) {
        const place at = place_of(&cut->store, row);
        const uintptr_t begin = (uintptr_t)(t->out + at.global), next = begin + cut->own * piece;
        const size_t low = t->first ? 0 : (0 - begin) % 32 / piece,
                     before = t->first ? begin % (out * piece) / piece : 0;
        const size_t end = cut->own + (t->last ? 0 : (0 - next) % 32 / piece);
        assert_in_range(end, low, rows->length);
        assert_in_range((before + end - low + out - 1) / out, 0, cut->own_words);
        for (size_t x = low; x < end; x++) {
            const int64_t pick = place_of(&cut->pick, (uint32_t)x).shared;
            assert_true(at.shared >= 0 && pick >= 0 && pick <= UINT16_MAX);
            store(t, at.global + (int64_t)(x * piece), shared_at(t, at.shared + pick + (int64_t)off, piece), piece);
        }
    }
}

static void walk_tile(const tile *t) {
    memset(t->shared, 0xa5, t->cut->tile_bytes);
    switch (t->form.way) {
    case GP_MOVE_DIRECT:
        move_straight(t);
        return;
    case GP_MOVE_RAW:
    case GP_MOVE_RUNS:
        load_rows(t);
        store_rows(t);
        return;
    default:
        load_words(t);
        (t->form.way == GP_MOVE_GATHER ? gather : t->form.way == GP_MOVE_SQUARES ? turn_squares : turn_triples)(t);
    }
}

static void walk_tiles(tile *t) {
    for (uint32_t number = 0; number < t->cut->tiles; number++) {
        uint32_t left = number;
        t->first = t->last = true;
        t->in = t->cut->in;
        t->out = t->cut->out;
        for (uint32_t s = 0; s < t->cut->steps; s++) {
            const gp_move_step *step = &t->cut->step[s];
            const uint32_t rest = s + 1 < t->cut->steps ? (uint32_t)((uint128)left * step->magic >> 64) : 0;
            const uint32_t at = left - rest * step->tiles;
            uint64_t first = (uint64_t)at * step->extent;
            if (s == t->cut->sharing) {
                t->first = at == 0;
                t->last = at + 1 == step->tiles;
            }
            first = first < step->last ? first : step->last;
            t->in += (int64_t)first * step->in;
            t->out += (int64_t)first * step->out;
            left = rest;
        }
        walk_tile(t);
    }
}

static size_t walked[GP_MOVE_RUNS + 1]; /* calls, by the way that was planned */

/* Of the plan for these memories, which a model's call does not touch. */
static void walk_plan(const gp_context *context, const random_move *move, const unsigned char *in,
                      unsigned char *out) {
    gp_move_tile planned;
    gp_move_cut cut = {0};
    const gp_tiling *tiling = &context->plan.tiling;
    tile t = {.cut = &cut, .form = gp_move_form_at(tiling->form), .move = move, .in_memory = in, .out_memory = out};
    memcpy(&planned, tiling->t, sizeof planned);
    gp_move_cut_make(&context->whole.move, &t.form, &planned, &cut);
    if (t.form.way == GP_MOVE_DIRECT)
        cut.tile_bytes = GP_ALIGN_MAX; /* none is needed; a piece passes through it here */
    else
        assert_in_range(cut.tile_bytes, 1, /* of two tiles, but where a block has one */
                        tiling->smem / (t.form.way >= GP_MOVE_RAW || tiling->blocks == cut.tiles ? 1 : 2));
    t.shared = malloc(cut.tile_bytes);
    assert_non_null(t.shared);
    walk_tiles(&t);
    walked[t.form.way]++;
    free(t.shared);
}

static void run_move(gp_context *context, const random_move *move, uint64_t seed) {
    unsigned char *memory[3]; /* input, output, and what this is to be */
    for (int i = 0; i < 3; i++) {
        const size_t bytes = (i == 0 ? move->in.bytes : move->out.bytes) + 64 + move->offset[i > 0];
        memory[i] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        assert_non_null(memory[i]);
        cases_fill_bytes(memory[i], bytes, i == 0 ? seed : seed + 1);
    }
    unsigned char *const in = memory[0] + move->offset[0], *const out = memory[1] + move->offset[1],
                         *const wanted = memory[2] + move->offset[1];
    const gp_array from = random_move_in(move, in), to = random_move_out(move, out);
    random_move_oracle(move, in, wanted);
    assert_int_equal(gp_context_pin_kernel(context, "rearrange_tile", 0), GP_OK);
    if (gp_rearrange(context, &from, &to) == GP_OK && context->has_plan) {
        walk_plan(context, move, in, out);
        if (memcmp(out, wanted, move->out.bytes) != 0)
            fail_msg("%s: other bytes", move->label);
    }
    for (int i = 0; i < 3; i++)
        free(memory[i]);
}

static void cuts_move_everything(void **state) {
    (void)state;
    for (unsigned device = DEVICE_TURING; device <= DEVICE_HOPPER; device += DEVICE_HOPPER - DEVICE_TURING) {
        gp_context *context = devices_open(&devices[device]);
        random_move move;
        for (size_t i = 0; i < (cases_reduced() ? CALLS / 10 : CALLS); i++) {
            random_move_make(&move, cases_seed() + i, i % 10 == 0 ? 20000 : 1000);
            if (!move.in_place)
                run_move(context, &move, cases_seed() + i);
        }
        for (size_t i = 0; i < TRIPLES; i++) { /* channels from pixels and back, and squares of all sizes */
            const size_t many = 4 * (10 + 37 * i), extent[] = {3 + i % 5, i % 2 ? many : 3, i % 2 ? 3 : many},
                         square[] = {2, 32 + 4 * i, 64 + 8 * (i % 7)};
            random_move_permutation(&move, 1 + i / 2 % 2, 3, extent, (const unsigned[]){0, 2, 1});
            run_move(context, &move, i);
            random_move_permutation(&move, (size_t)1 << i % 3, 3, square, (const unsigned[]){0, 2, 1});
            run_move(context, &move, i);
            random_move_permutation(&move, 1024 + 4 * i, 2, square, (const unsigned[]){1, 0});
            run_move(context, &move, i);
        }
        gp_context_destroy(context);
    }
    printf("calls: %zu straight, %zu gathered, %zu by squares, %zu by triples, %zu by raw rows, %zu of runs\n",
           walked[GP_MOVE_DIRECT], walked[GP_MOVE_GATHER], walked[GP_MOVE_SQUARES], walked[GP_MOVE_TRIPLES],
           walked[GP_MOVE_RAW], walked[GP_MOVE_RUNS]);
    for (int way = GP_MOVE_DIRECT; way <= GP_MOVE_RUNS; way++)
        assert_in_range(walked[way], 20, SIZE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cuts_move_everything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
