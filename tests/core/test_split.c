/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems cut as they are for staging, with the processor as the device: each piece's boxes are copied to a slot,
 * computed there and copied back. All together give what the whole call does, and touch nothing besides.
 */
#include "../../src/host/primitive.h"
#include "../../src/host/run.h"
#include "../cases.h"
#include "../check.h"

#define CASES 1500
#define SIDE 60
#define ARRAY ((size_t)SIDE * (SIDE + 3) * 8)
#define GUARD 64 /* bytes behind a slot */

static size_t several; /* calls of more than one piece */

/* In copies of at most `limit` bytes. */
static void copy_box(const gp_box *box, size_t limit, bool to_device) {
    size_t copied = 0;
    gp_box part;
    for (size_t at = 0; gp_box_next(box, limit, &at, &part);) {
        assert_in_range(part.width * part.height, 1, limit);
        for (size_t row = 0; row < part.height; row++) {
            unsigned char *host = part.host + row * part.host_pitch, *device = part.device + row * part.device_pitch;
            memcpy(to_device ? device : host, to_device ? host : device, part.width);
        }
        copied += part.width * part.height;
    }
    assert_int_equal(copied, box->width * box->height);
}

/* What a reduction's pieces come to. */
static gp_total run_pieces(gp_context *context, const gp_problem *whole, gp_staged staged, size_t target,
                           size_t limit) {
    const gp_primitive *primitive = whole->primitive;
    gp_split split;
    gp_total total = 0;
    size_t pieces = 0;
    gp_split_make(&split, whole, staged, target);
    const size_t bytes = gp_slot_bytes(split.slot_bytes + GUARD);
    unsigned char *slot = aligned_alloc(GP_SLOT_ALIGNMENT, bytes);
    assert_non_null(slot);
    for (gp_piece piece = {0}; gp_split_next(&split, &piece); pieces++) {
        gp_part part[2];
        memset(slot, 0xa5, bytes);
        const unsigned parts = gp_split_parts(&split, &piece, slot, part);
        for (unsigned i = 0; i < parts; i++)
            copy_box(&part[i].in, limit, true);
        for (unsigned i = 0; i < parts; i++) {
            int64_t result;
            part[i].problem.result = &result;
            assert_int_equal(gp_run(context, &part[i].problem), GP_OK);
            if (primitive->combine != NULL)
                total = pieces == 0 ? result : primitive->combine(whole, total, result);
        }
        for (unsigned i = 0; i < parts; i++)
            for (unsigned k = 0; k < COUNT(part[i].out); k++)
                copy_box(&part[i].out[k], limit, false);
        for (size_t i = split.slot_bytes; i < bytes; i++)
            assert_int_equal(slot[i], 0xa5);
    }
    several += pieces > 1;
    free(slot);
    return total;
}

static uint64_t draws;

static size_t below(size_t limit) {
    return cases_random(&draws) % limit;
}

/* Arrays before the call, and as the whole call and the pieces leave them. */
static _Alignas(64) unsigned char in[ARRAY], whole[2][ARRAY], pieces[2][ARRAY];

static void reduce(gp_context *context, gp_staged staged, size_t target, size_t limit) {
    gp_problem problem;
    int64_t result;
    const size_t n = 1 + below(ARRAY / 4);
    const gp_reduce_op op = (gp_reduce_op)below(GP_REDUCE_XOR + 1);
    staged.in = true;
    assert_int_equal(gp_reduce_int(context, op, (int32_t *)(void *)in, n, &result), GP_OK);
    assert_int_equal(gp_problem_reduce(&problem, op, (int32_t *)(void *)in, n, &result), GP_OK);
    assert_true(run_pieces(context, &problem, staged, target, limit) == result);
}

static void window(gp_context *context, gp_staged staged, size_t target, size_t limit) {
    gp_problem problem;
    const size_t rows = 1 + below(SIDE), cols = 1 + below(SIDE), in_pitch = cols + below(4),
                 out_pitch = cols + below(4), width = 1 + below(2 * SIDE), wants = 1 + below(3);
    const gp_border border = (gp_border)below(GP_BORDER_WRAP + 1);
    float *to[2][2];
    for (unsigned k = 0; k < 2; k++) {
        to[k][0] = wants & 1 ? (float *)(void *)(k == 0 ? whole[0] : pieces[0]) : NULL;
        to[k][1] = wants & 2 ? (float *)(void *)(k == 0 ? whole[1] : pieces[1]) : NULL;
    }
    for (unsigned i = 0; i < 2; i++)
        staged.out[i] = staged.out[i] && to[1][i] != NULL;
    const int32_t *image = (const int32_t *)(const void *)in;
    assert_int_equal(
        gp_sum_and_square_window(context, image, rows, cols, in_pitch, width, border, to[0][0], to[0][1], out_pitch),
        GP_OK);
    assert_int_equal(
        gp_problem_window(&problem, image, rows, cols, in_pitch, width, border, to[1][0], to[1][1], out_pitch),
        GP_OK);
    if (!problem.primitive->is_empty(&problem))
        (void)run_pieces(context, &problem, staged, target, limit);
}

static void transpose(gp_context *context, gp_staged staged, size_t target, size_t limit) {
    gp_problem problem;
    const bool square = below(3) == 0;
    const size_t elem = 1 + below(8), rows = 1 + below(SIDE), cols = square ? rows : 1 + below(SIDE),
                 in_pitch = cols + below(4), out_pitch = square ? in_pitch : rows + below(4);
    const void *from = in;
    if (square) {
        memcpy(whole[0], in, ARRAY);
        memcpy(pieces[0], in, ARRAY);
        staged.in = staged.out[0] = true;
    }
    assert_int_equal(gp_transpose(context, elem, square ? whole[0] : from, rows, cols, in_pitch, whole[0], out_pitch),
                     GP_OK);
    assert_int_equal(
        gp_problem_transpose(&problem, elem, square ? pieces[0] : from, rows, cols, in_pitch, pieces[0], out_pitch),
        GP_OK);
    assert_true(problem.in_place == square);
    (void)run_pieces(context, &problem, staged, target, limit);
}

static void pieces_make_the_whole(void **state) {
    (void)state;
    static void (*const calls[])(gp_context *, gp_staged, size_t, size_t) = {reduce, window, transpose};
    gp_context *context = make_context(GP_BACKEND_CPU, -1, 1);
    draws = cases_seed();
    cases_fill_bytes(in, sizeof in, draws);
    for (size_t i = 0; i < CASES; i++) {
        const size_t staged = 1 + below(15);
        for (unsigned k = 0; k < 2; k++) {
            memset(whole[k], 0x5a, ARRAY);
            memset(pieces[k], 0x5a, ARRAY);
        }
        const gp_staged of = {staged & 1, {staged >> 1 & 1, staged >> 2 & 1}, staged >> 3};
        calls[i % COUNT(calls)](context, of, gp_split_target(ARRAY, 1 + below(i % 2 ? 200 : ARRAY)), 1 + below(3000));
        for (unsigned k = 0; k < 2; k++)
            if (memcmp(whole[k], pieces[k], ARRAY) != 0)
                fail_msg("case %zu: the pieces leave something else in output %u", i, k);
    }
    printf("cases: %d, %zu in several pieces\n", CASES, several);
    assert_in_range(several, CASES / 3, CASES);
    gp_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_make_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
