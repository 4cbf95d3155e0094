/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host data staged for a made-up GPU: cut in pieces, moved, computed, moved back. Every piece is computed by the
 * oracle, so that a wrong cut, address or copy shows on a machine without a GPU; and as late as it may, so that a
 * wait that is missing does. Link as fake_cuda.h says, with fake_pieces.c.
 */
#include "../../src/device/gpu.h"
#include "../../src/device/stage/stage.h"
#include "../buffers.h"
#include "../cases.h"
#include "../check.h"
#include "../oracle.h"
#include "fake_memory.h"
#include "fake_pieces.h"

/* An array's turn to be pageable or device memory; never all on the device, which would not be staged. */
static buffer_kind place(unsigned mix, unsigned bit) {
    return mix >> bit & 1 ? BUFFER_CONTEXT : BUFFER_PAGE_AFTER;
}

static void check(buffer *b, const void *answer, size_t bytes, const char *label) {
    if (answer)
        memcpy(b->expected, answer, bytes);
    if (!buffer_check(b, label) || fake.out_of_bounds)
        fail_msg("%s: staged wrongly, %u copies out of bounds", label, fake.out_of_bounds);
}

static void reduce_one(const reduce_case *c, void *user) {
    (void)user;
    buffer in;
    char label[160];
    int64_t out = 0, want = 0;
    cases_reduce_label(c, label, sizeof label);
    buffer_make(&in, fake_context, BUFFER_PAGE_AFTER, c->n * 4, 0);
    cases_fill(in.expected, c->n, c->data, c->seed);
    buffer_send(&in);
    for (int op = GP_REDUCE_SUM; op <= GP_REDUCE_XOR; op++) {
        if (c->n > 70000 && op != GP_REDUCE_SUM && c->seed % 5 + 1 != (uint64_t)op)
            continue;
        gp_status status = oracle_reduce((gp_reduce_op)op, in.expected, c->n, &want);
        assert_int_equal(gp_reduce_int(fake_context, (gp_reduce_op)op, in.data, c->n, &out), status);
        if (status == GP_OK && out != want)
            fail_msg("op %d of %s: %lld, not %lld", op, label, (long long)out, (long long)want);
    }
    check(&in, NULL, 0, label);
    buffer_free(&in);
}

static void reductions(void **state) {
    (void)state;
    cases_reduce(reduce_one, NULL);
    printf("cases: %zu pieces\n", fake_pieces);
}

static void window_one(const window_case *c, void *user) {
    unsigned *turn = user, mix = *turn % 7;
    size_t in_n = (c->rows - 1) * (c->cols + c->image_pad) + c->cols;
    size_t out_n = (c->rows - 1) * (c->cols + c->out_pad) + c->cols;
    buffer image, sum, square;
    char label[260];
    if ((*turn)++ % 11 && in_n < 700000) /* small ones are one piece: some are enough */
        return;
    int used = cases_window_label(c, label, sizeof label);
    snprintf(label + used, sizeof label - (size_t)used, ", places %u", mix);
    buffer_make(&image, fake_context, place(mix, 0), in_n * 4, c->offset * 4);
    buffer_make(&sum, fake_context, place(mix, 1), out_n * 4, 4);
    buffer_make(&square, fake_context, place(mix, 2), out_n * 4, 8);
    cases_fill(image.expected, in_n, c->data, c->seed);
    buffer_send(&image);
    buffer_send(&sum);
    buffer_send(&square);
    fake.no_pinned = *turn % 4 == 0;
    gp_status status = gp_sum_and_square_window(fake_context, image.data, c->rows, c->cols, c->cols + c->image_pad,
                                                c->window, c->border, c->want_sum ? sum.data : NULL,
                                                c->want_square ? square.data : NULL, c->cols + c->out_pad);
    if (status != GP_OK)
        fail_msg("%s: %s", label, gp_last_error());
    oracle_window(image.expected, c->rows, c->cols, c->cols + c->image_pad, c->window, c->border,
                  c->want_sum ? sum.expected : NULL, c->want_square ? square.expected : NULL, c->cols + c->out_pad);
    check(&image, NULL, 0, label);
    check(&sum, NULL, 0, label);
    check(&square, NULL, 0, label);
    buffer_free(&image);
    buffer_free(&sum);
    buffer_free(&square);
}

static void windows(void **state) {
    (void)state;
    unsigned turn = 0;
    fake_pieces = 0;
    cases_window(window_one, &turn);
    printf("cases: %u calls, %zu pieces\n", turn, fake_pieces);
}

static void transpose_one(const transpose_case *c, void *user) {
    unsigned *turn = user, mix = c->in_place ? 0 : *turn % 3;
    size_t in_pitch = c->cols + c->in_pad, out_pitch = c->rows + c->out_pad;
    size_t in_bytes = ((c->rows - 1) * in_pitch + c->cols) * c->elem_bytes;
    size_t out_bytes = ((c->cols - 1) * out_pitch + c->rows) * c->elem_bytes;
    buffer in, out = {0};
    char label[240];
    if ((*turn)++ % 7 && in_bytes < 700000)
        return;
    int used = cases_transpose_label(c, label, sizeof label);
    snprintf(label + used, sizeof label - (size_t)used, ", places %u", mix);
    buffer_make(&in, fake_context, place(mix, 0), in_bytes, c->in_offset);
    cases_fill_bytes(in.expected, in_bytes, c->seed);
    buffer_send(&in);
    if (!c->in_place) {
        buffer_make(&out, fake_context, place(mix, 1), out_bytes, c->out_offset);
        buffer_send(&out);
    }
    buffer *result = c->in_place ? &in : &out;
    unsigned char *answer = malloc(out_bytes);
    assert_non_null(answer);
    memcpy(answer, result->expected, out_bytes);
    oracle_transpose(c->elem_bytes, in.expected, c->rows, c->cols, in_pitch, answer, out_pitch);
    fake.no_pinned = *turn % 4 == 0;
    if (gp_transpose(fake_context, c->elem_bytes, in.data, c->rows, c->cols, in_pitch, result->data, out_pitch) !=
        GP_OK)
        fail_msg("%s: %s", label, gp_last_error());
    check(result, answer, out_bytes, label);
    if (!c->in_place) {
        check(&in, NULL, 0, label);
        buffer_free(&out);
    }
    buffer_free(&in);
    free(answer);
}

static void transposes(void **state) {
    (void)state;
    unsigned turn = 0;
    fake_pieces = 0;
    cases_transpose(transpose_one, &turn);
    printf("cases: %u calls, %zu pieces\n", turn, fake_pieces);
}

/* Shapes cut in many pieces, in rows, in columns, in place, or by their pitch. */
static void large_shapes(void **state) {
    (void)state;
    static const window_case images[] = {
        {1300, 2100, 9, GP_BORDER_REFLECT, true, true, 3, 5, 1, DATA_RANDOM, 1},
        {3, 1500011, 9, GP_BORDER_WRAP, true, false, 0, 7, 0, DATA_EXTREMES, 2},
        {2000, 3, 5, GP_BORDER_NONE, false, true, 5000, 3, 0, DATA_RANDOM, 3},
        {1, 5001, 9, GP_BORDER_ZERO, true, true, 0, ((size_t)1 << 62) - 5001, 0, DATA_RANDOM, 4}, /* 2^64 bytes */
    };
    static const transpose_case matrices[] = {
        {4, 2000, 3000, 0, 0, 0, 0, false, 1},    {4, 2100, 2100, 0, 0, 0, 0, true, 2},
        {4, 2100, 2100, 11, 11, 0, 0, true, 3},   {1, 3, 9000001, 0, 2, 0, 0, false, 4},
        {8, 2000003, 2, 1, 0, 8, 0, false, 5},    {3, 1999, 2777, 5, 9, 1, 2, false, 6},
        {16, 900, 1000, 2000, 0, 0, 0, false, 7}, {400, 300, 301, 0, 0, 0, 0, false, 8},
        {5000000, 2, 3, 0, 1, 0, 0, false, 9},
    };
    for (size_t i = 0; i < COUNT(images); i++) {
        unsigned turn = images[i].rows > 1 ? 0 : 11; /* of the single row the squares on the device */
        window_one(&images[i], &turn);
    }
    for (size_t i = 0; i < COUNT(matrices); i++)
        for (unsigned mix = 0; mix < (matrices[i].in_place ? 1 : 3); mix++) {
            unsigned turn = mix;
            transpose_one(&matrices[i], &turn);
        }
}

/* A large square: rows of so many bytes in pinned tiles on both sides, two pieces under way, every element once. */
static void check_tiles(size_t elem, size_t side, bool in_place, size_t in_row, size_t out_row) {
    unsigned char *const in = (unsigned char *)(uintptr_t)0x100000000000, *const out = in + ((uint64_t)1 << 40);
    gp_staged staged = {true, {true, false}, true};
    gp_problem p;
    gp_split split;
    uint64_t covered = 0;
    assert_int_equal(gp_problem_transpose(&p, elem, in, side, side, side, in_place ? in : out, side), GP_OK);
    gp_split_make(&split, &p, staged, gp_split_target(p.bytes_read, GP_PIECE_BYTES));
    if (!in_place || elem > 1)
        assert_true(split.piece_rows * elem % out_row == 0 && split.piece_cols * elem % in_row == 0);
    for (gp_piece piece = {0}; gp_split_next(&split, &piece);)
        covered += (uint64_t)piece.rows * piece.cols * (piece.pair ? 2 : 1);
    assert_true(covered == (uint64_t)side * side && 2 * split.slot_bytes <= GP_SLOTS_BYTES_MOST);
    staged.pinned = false;
    gp_split_make(&split, &p, staged, gp_split_target(p.bytes_read, GP_PIECE_BYTES));
    assert_true(in_place || (split.piece_cols * elem % 8192 == 0 && split.in_bytes <= GP_PIECE_BYTES));
}

/* Pitches of no particular length, of 128 KiB, of 32 KiB. */
static void tiles_have_long_rows(void **state) {
    (void)state;
    for (size_t elem = 1; elem <= 16; elem *= 2) {
        check_tiles(elem, 131072 / elem + 64, false, 8192, 8192);
        check_tiles(elem, 131072 / elem, false, 8192, elem < 4 ? 8192 : 16384);
        check_tiles(elem, 32768 / elem, false, 4096, 4096);
        check_tiles(elem, 131072 / elem + 64, true, 8192, 8192);
        check_tiles(elem, 32768 / elem, true, 8192, 8192);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),           cmocka_unit_test(windows),
        cmocka_unit_test(transposes),           cmocka_unit_test(large_shapes),
        cmocka_unit_test(tiles_have_long_rows),
    };
    return cmocka_run_group_tests(tests, fake_open_context, fake_close_context);
}
