/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More than 2^32 elements on the processor. One 64 MiB tile repeats over the address range and the last two tiles are
 * memory of their own with other data, so that an index that wraps at 32 bits reads or writes the wrong one.
 */
#include "../cases.h"
#include "../check.h"
#include "../oracle.h"
#include "../tiled.h"

#define TILE (TILE_BYTES / 4) /* ints: 2^24 */
#define FOUR_G ((size_t)1 << 32)

static gp_context *context;

static int open_context(void **state) {
    (void)state;
    cases_seed();
    context = make_context(GP_BACKEND_CPU, -1, 2);
    return 0;
}

static int close_context(void **state) {
    (void)state;
    gp_context_destroy(context);
    return 0;
}

/* The tile and the tail, each with data of its own. */
static void fill(tiled *t, data_kind kind, uint64_t seed) {
    cases_fill((int32_t *)(void *)t->data, TILE, kind, seed);
    cases_fill((int32_t *)(void *)(t->data + t->shared), (t->bytes - t->shared) / 4, kind, seed + 1);
}

static int64_t reduced(gp_reduce_op op, const void *in, size_t n) {
    int64_t result = 0;
    assert_int_equal(oracle_reduce(op, in, n, &result), GP_OK);
    return result;
}

static void reductions(void **state) {
    (void)state;
    const size_t n = FOUR_G + TILE + 5;
    tiled t = tiled_map(n * 4);
    const int32_t *in = (const int32_t *)(void *)t.data;
    const size_t tiles = t.shared / TILE_BYTES, tail = n - tiles * TILE;
    const void *tail_data = t.data + t.shared;
    int64_t out = 0;
    fill(&t, DATA_RANDOM, cases_seed());
    for (size_t i = 0; i < TILE; i++) /* the lowest stands at the end alone */
        ((int32_t *)(void *)t.data)[i] |= in[i] == INT32_MIN;
    assert_true(tiles % 2 == 0);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, n, &out), GP_OK);
    assert_int_equal(out,
                     (int64_t)tiles * reduced(GP_REDUCE_SUM, in, TILE) + reduced(GP_REDUCE_SUM, tail_data, tail));
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_XOR, in, n, &out), GP_OK);
    assert_int_equal(out, reduced(GP_REDUCE_XOR, tail_data, tail));
    ((int32_t *)(void *)t.data)[n - 1] = INT32_MIN;
    assert_true(reduced(GP_REDUCE_MIN, in, TILE) > INT32_MIN);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_MIN, in, n, &out), GP_OK);
    assert_int_equal(out, INT32_MIN);
    tiled_unmap(&t);
}

/* 2^32 * -2^31 = -2^63 and (2^32 + 2)(2^31 - 1) = 2^63 - 2 still are 64-bit numbers; one element more and not. */
static void sums_past_64_bits(void **state) {
    (void)state;
    tiled t = tiled_map((FOUR_G + 8) * 4);
    const int32_t *in = (const int32_t *)(void *)t.data;
    int64_t out = 11;
    fill(&t, DATA_MIN, 0);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, FOUR_G, &out), GP_OK);
    assert_true(out == INT64_MIN);
    out = 11;
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, FOUR_G + 1, &out), GP_ERR_OVERFLOW);
    assert_int_equal(out, 11);
    assert_non_null(strstr(gp_last_error(), "64 bits"));
    fill(&t, DATA_MAX, 0);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, FOUR_G + 2, &out), GP_OK);
    assert_true(out == INT64_MAX - 1);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, FOUR_G + 3, &out), GP_ERR_OVERFLOW);
    assert_true(out == INT64_MAX - 1);
    tiled_unmap(&t);
}

/* Values at some columns of one row of the result, many past 2^32 elements. */
static void check_columns(const tiled *in, const tiled *out, size_t row_start, size_t cols, size_t window) {
    uint64_t seed = cases_seed();
    const int32_t *image = (const int32_t *)(void *)in->data + row_start;
    const float *square = (const float *)(void *)out->data + row_start;
    for (int i = 0; i < 20000; i++) {
        size_t back = i < 100 ? (size_t)i : (size_t)(cases_random(&seed) % (TILE - 64)), x = cols - 1 - back % cols;
        oracle_int exact_sum, exact_square;
        oracle_window_exact(image, cols, window, GP_BORDER_REFLECT, x, &exact_sum, &exact_square);
        if (square[x] != oracle_float(exact_square))
            fail_msg("column %zu of %zu: %a, not %a", x, cols, (double)square[x], (double)oracle_float(exact_square));
    }
}

/* One endless row; and short rows so far apart that their starts pass 2^32 elements. */
static void windows(void **state) {
    (void)state;
    static const struct {
        size_t rows, cols, pitch;
    } shapes[] = {{1, FOUR_G + TILE + 77, FOUR_G + TILE + 77}, {258, 100, TILE}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const size_t rows = shapes[i].rows, cols = shapes[i].cols, pitch = shapes[i].pitch;
        const size_t n = (rows - 1) * pitch + cols;
        tiled in = tiled_map(n * 4), out = tiled_map(n * 4);
        fill(&in, DATA_RANDOM, cases_seed() + i);
        memset(out.data + out.shared, 0x55, out.bytes - out.shared);
        assert_true(n > FOUR_G);
        assert_int_equal(gp_sum_and_square_window(context, (const int32_t *)(void *)in.data, rows, cols, pitch, 5,
                                                  GP_BORDER_REFLECT, NULL, (float *)(void *)out.data, pitch),
                         GP_OK);
        check_columns(&in, &out, (rows - 1) * pitch, cols, 5);
        tiled_unmap(&in);
        tiled_unmap(&out);
    }
}

static void transposes(void **state) {
    (void)state;
    static const struct {
        size_t rows, cols, in_pitch, out_pitch;
    } shapes[] = {{65537, 65537, 65537, 65537}, {300, 200, 1u << 24, 1u << 25}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const size_t rows = shapes[i].rows, cols = shapes[i].cols, in_pitch = shapes[i].in_pitch;
        const size_t out_pitch = shapes[i].out_pitch, n = (cols - 1) * out_pitch + rows;
        tiled in = tiled_map((rows - 1) * in_pitch + cols), out = tiled_map(n);
        fill(&in, DATA_RANDOM, cases_seed() + i);
        memset(out.data + out.shared, 0x55, out.bytes - out.shared);
        assert_true(n > FOUR_G && in.bytes > FOUR_G);
        assert_int_equal(gp_transpose(context, 1, in.data, rows, cols, in_pitch, out.data, out_pitch), GP_OK);
        for (size_t at = out.shared; at < n; at++) {
            size_t c = at / out_pitch, r = at % out_pitch;
            if (out.data[at] != (r < rows ? in.data[r * in_pitch + c] : 0x55))
                fail_msg("%zu x %zu: byte %zu of the result is wrong", rows, cols, at);
        }
        tiled_unmap(&in);
        tiled_unmap(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(sums_past_64_bits),
        cmocka_unit_test(windows),
        cmocka_unit_test(transposes),
    };
    if (cases_reduced()) {
        printf("skipped: too slow for the reduced list\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, open_context, close_context);
}
