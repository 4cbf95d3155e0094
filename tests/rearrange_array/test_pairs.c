/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves in place by way of the workspace, as a GPU has them: the parts' steps, done here element by element, do what
 * gp_rearrange() does between two memories.
 */
#include "../../src/host/rearrange_array/array.h"
#include "../../src/host/rearrange_array/pairs.h"
#include "../../src/host/rearrange_array/walk.h"
#include "../check.h"
#include <stdlib.h>

#define ROOM ((size_t)6 << 20)

typedef struct pairs_case {
    size_t bytes;
    unsigned rank;
    size_t extent[4], gap; /* gap: elements between the rows of the last axis */
    unsigned axes[4];
    bool reversed[4];
} pairs_case;

static const pairs_case cases[] = {
    {1, 3, {9, 1024, 1024}, 0, {0, 2, 1}, {false}},
    {1, 2, {3001, 3001}, 0, {1, 0}, {true, true}},
    {1, 2, {2000, 4999}, 1, {0, 1}, {false, true}},
    {2, 2, {2111, 2999}, 0, {0, 1}, {true, true}},
    {3, 3, {150, 151, 150}, 0, {2, 1, 0}, {false}},
    {4, 3, {130, 151, 130}, 3, {2, 1, 0}, {false, true, false}},
    {16, 4, {3, 101, 40, 101}, 0, {0, 3, 2, 1}, {false, false, true, false}},
    {1, 4, {50, 60, 50, 60}, 5, {2, 3, 0, 1}, {false}},
    {100001, 2, {40, 40}, 0, {1, 0}, {true, true}}, /* of which no part is longer than an element or a few */
};

/* Both views of memory that begins at `in` and at `out`. */
static void views(const pairs_case *c, unsigned char *in, unsigned char *out, gp_array *from, gp_array *to) {
    ptrdiff_t stride[4], step = 1;
    *from = (gp_array){.data = in, .type = GP_BYTES, .rank = c->rank, .elem_bytes = c->bytes};
    *to = *from;
    to->data = out;
    for (unsigned i = c->rank; i-- > 0;) {
        stride[i] = step;
        step *= (ptrdiff_t)(c->extent[i] + (i + 1 == c->rank ? c->gap : 0));
    }
    for (unsigned i = 0; i < c->rank; i++) {
        const ptrdiff_t apart = stride[c->axes[i]];
        from->extent[i] = to->extent[i] = c->extent[c->axes[i]];
        to->stride[i] = stride[i];
        from->stride[i] = c->reversed[i] ? -apart : apart;
        if (c->reversed[i])
            from->data = (unsigned char *)from->data + (from->extent[i] - 1) * (size_t)apart * c->bytes;
    }
}

static void do_step(const gp_move *move) {
    gp_move_place at;
    gp_move_go_to(move, move->rank, 0, &at);
    for (uint64_t i = 0; i < move->count; i++, gp_move_next(move, move->rank, &at))
        memcpy(at.out, at.in, move->run);
}

static unsigned do_parts(const gp_move *whole, const gp_pairs *pairs) {
    unsigned char *const space = malloc(ROOM);
    uint32_t at[GP_AXES] = {0}, other[GP_AXES];
    unsigned parts = 0;
    assert_non_null(space);
    do {
        const int order = gp_pairs_other(pairs, whole, at, other);
        for (unsigned step = 0; step < GP_PAIRS_STEPS && order <= 0; step++) {
            gp_move move;
            if (step == GP_PAIRS_STRAIGHT && order == 0)
                continue;
            gp_pairs_move(pairs, whole, step == GP_PAIRS_STRAIGHT ? other : at, (gp_pairs_step)step, space, &move);
            assert_in_range(move.count * move.run, 1, ROOM);
            do_step(&move);
        }
        parts++;
    } while (gp_pairs_next(pairs, whole, at));
    free(space);
    return parts;
}

static unsigned char drawn(size_t i) {
    return (unsigned char)(i * 2654435761u >> 13);
}

/* From what a call makes of the bytes that were drawn, another call makes these again. */
static void check_calls(unsigned threads, const pairs_case *c, unsigned char *data, const unsigned char *wanted,
                        size_t bytes) {
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CPU, .cpu_threads = threads};
    gp_context *context;
    gp_array from, to;
    size_t wrong = 0;
    assert_int_equal(gp_context_create(&context, &options), GP_OK);
    views(c, data, data, &from, &to);
    assert_int_equal(gp_rearrange(context, &from, &to), GP_OK);
    for (size_t i = 0; i < bytes; i++)
        wrong += data[i] != drawn(i);
    assert_int_equal(wrong, 0);
    assert_int_equal(gp_rearrange(context, &from, &to), GP_OK);
    assert_memory_equal(data, wanted, bytes);
    gp_context_destroy(context);
}

static void parts_change_places(void **state) {
    (void)state;
    gp_context *context;
    assert_int_equal(gp_context_create(&context, NULL), GP_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const pairs_case *c = &cases[k];
        size_t bytes = c->bytes * c->gap;
        for (unsigned i = c->rank; i-- > 0;)
            bytes = i + 1 == c->rank ? c->bytes * (c->extent[i] + c->gap) : bytes * c->extent[i];
        unsigned char *const data = malloc(bytes), *const wanted = malloc(bytes);
        gp_array from, to;
        gp_move move;
        gp_pairs pairs;
        assert_true(data != NULL && wanted != NULL);
        for (size_t i = 0; i < bytes; i++)
            data[i] = wanted[i] = drawn(i);
        views(c, data, wanted, &from, &to);
        assert_int_equal(gp_rearrange(context, &from, &to), GP_OK);
        views(c, data, data, &from, &to);
        gp_move_make(&move, &from, &to, true);
        assert_true(gp_pairs_make(&pairs, &move, ROOM));
        const unsigned parts = do_parts(&move, &pairs);
        if (memcmp(data, wanted, bytes) != 0)
            fail_msg("case %zu, in %u parts", k, parts);
        assert_true(parts > 1);
        for (unsigned threads = 1; threads <= 3; threads += 2)
            check_calls(threads, c, data, wanted, bytes);
        free(data);
        free(wanted);
    }
    gp_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_change_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
