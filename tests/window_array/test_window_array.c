/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_window() against an oracle: random views, types, windows, borders, operations, data, threads, places in memory,
 * pinned rows and modes of the floating-point unit. GPUPRIM_TEST_CASES: how many, 20000 if unset.
 */
#include "../cases.h"
#include "../check.h"
#include "../devices.h"
#include "../reduce_array/run_calls.h"
#include "expect_windows.h"
#include "oracle_window_array.h"
#include "random_window.h"
#include <math.h>

static void random_calls(void **state) {
    (void)state;
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    const size_t count = cases_drawn();
    for (size_t i = 0; i < count; i++) {
        random_call call;
        random_window_make(&call, cases_seed() + i, i % 100 == 0 ? 100000 : i % 10 == 0 ? 20000 : 1000);
        run_call(&h, &call, i);
        random_call_free(&call);
        h.cases++;
    }
    run_calls_end();
    harness_close(&h);
}

/* The least and greatest of those elements of a window that lie inside. */
static void expect_extremes(const float *numbers, size_t rows, size_t cols, size_t high, size_t wide, float **to) {
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < cols; x++) {
            float least = INFINITY, greatest = -INFINITY;
            for (size_t i = y < high / 2 ? 0 : y - high / 2; i < rows && i < y + high - high / 2; i++)
                for (size_t j = x < wide / 2 ? 0 : x - wide / 2; j < cols && j < x + wide - wide / 2; j++) {
                    least = fminf(least, numbers[i * cols + j]);
                    greatest = fmaxf(greatest, numbers[i * cols + j]);
                }
            to[0][y * cols + x] = least;
            to[1][y * cols + x] = greatest;
        }
}

/* Extremes of windows so wide that a block of a GPU has more words of a row than threads, and of ones so high that
   many rows go by before the first is done. */
static void wide_and_high_windows(void **state) {
    (void)state;
    static const size_t shapes[][4] = {{9, 2600, 3, 700}, {400, 37, 150, 5}};
    const size_t most = 2600 * 9;
    float *numbers = malloc(most * sizeof *numbers), *memory[4];
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    uint64_t draws = cases_seed();
    for (size_t i = 0; i < most; i++)
        numbers[i] = (float)(cases_random(&draws) % 2000001) - 1e6f;
    for (size_t i = 0; i < COUNT(memory); i++)
        memory[i] = calloc(most, sizeof *memory[i]);
    for (size_t k = 0; k < COUNT(shapes); k++) {
        const size_t rows = shapes[k][0], cols = shapes[k][1], high = shapes[k][2], wide = shapes[k][3];
        const gp_window_shape window = {
            .struct_size = sizeof window, .extent = {high, wide}, .border = GP_BORDER_SHRINK};
        const gp_array in = gp_matrix(GP_F32, numbers, rows, cols, cols);
        const gp_result results[] = {gp_want(GP_REDUCE_MIN, gp_matrix(GP_F32, memory[2], rows, cols, cols)),
                                     gp_want(GP_REDUCE_MAX, gp_matrix(GP_F32, memory[3], rows, cols, cols))};
        expect_extremes(numbers, rows, cols, high, wide, memory);
        expect_windows(&h, &in, &window, results, 2, rows * cols * sizeof(float), memory, "extremes of wide windows");
    }
    harness_close(&h);
    for (size_t i = 0; i < COUNT(memory); i++)
        free(memory[i]);
    free(numbers);
}

/* Windows of so many bytes that sums of their squares pass 32 bits, or do so unless they are taken less 128. */
static void windows_of_many_bytes(void **state) {
    (void)state;
    enum { ROWS = 150, COLS = 3 };
    static const struct {
        size_t high, wide;
        int32_t border;
        uint32_t op[3];
    } shapes[] = {{300, 250, GP_BORDER_WRAP, {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE, GP_REDUCE_SUM}},
                  {300, 260, GP_BORDER_ZERO, {GP_REDUCE_STDDEV_SAMPLE, GP_REDUCE_MEAN, GP_REDUCE_VARIANCE}},
                  {300, 257, GP_BORDER_SHRINK, {GP_REDUCE_SUM, GP_REDUCE_VARIANCE, GP_REDUCE_MEAN}},
                  {301, 301, GP_BORDER_REFLECT, {GP_REDUCE_VARIANCE_SAMPLE, GP_REDUCE_SUM, GP_REDUCE_STDDEV}},
                  {300, 250, GP_BORDER_WRAP, {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE, GP_REDUCE_SUM_SQUARES}}};
    static uint8_t numbers[ROWS * COLS];
    static float owed[3][ROWS * COLS], memory[3][ROWS * COLS];
    float *expected[] = {owed[0], owed[1], owed[2]};
    uint64_t draws = cases_seed();
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    for (size_t k = 0; k < COUNT(shapes); k++) {
        const gp_window_shape window = {
            .struct_size = sizeof window, .extent = {shapes[k].high, shapes[k].wide}, .border = shapes[k].border};
        const gp_array in = gp_matrix(GP_U8, numbers, ROWS, COLS, COLS);
        gp_result wanted[3], results[3];
        if (windows_left_out(k))
            continue;
        for (size_t i = 0; i < COUNT(numbers); i++)
            numbers[i] = (uint8_t)(k % 2 == 0 ? 255 - cases_random(&draws) % 40 : cases_random(&draws));
        for (size_t r = 0; r < COUNT(results); r++) {
            wanted[r] = gp_want(shapes[k].op[r], gp_matrix(GP_F32, owed[r], ROWS, COLS, COLS));
            results[r] = gp_want(shapes[k].op[r], gp_matrix(GP_F32, memory[r], ROWS, COLS, COLS));
        }
        oracle_window_array(&in, &window, wanted, COUNT(wanted));
        expect_windows(&h, &in, &window, results, COUNT(results), sizeof owed[0], expected, "windows of many bytes");
    }
    harness_close(&h);
}

/* Aligned pictures of ints with the results that warps make by themselves, in windows up to the widest of a form. */
static void pictures_that_warps_walk_down(void **state) {
    (void)state;
    enum { ROWS = 24, COLS = 320, MOST = ROWS * COLS * 3 };
    static const struct {
        gp_type type;
        size_t bytes, channels;
        uint32_t mask;
    } pictures[] = {{GP_U8, 1, 1, ~0u},          {GP_S8, 1, 1, ~0u},   {GP_U8, 1, 3, ~0u},     {GP_U16, 2, 1, ~0u},
                    {GP_S32, 4, 1, 0x800000ffu}, {GP_U32, 4, 1, 0xff}, {GP_S32, 4, 1, 0xfffff}};
    static const size_t windows[][2] = {{3, 5}, {9, 40}, {4, 79}, {3, 128}, {2, 250}};
    static const gp_reduce_op ops[][2] = {{GP_REDUCE_MEAN, GP_REDUCE_VARIANCE},
                                          {GP_REDUCE_SUM, GP_REDUCE_SUM_SQUARES}};
    static uint32_t numbers[MOST];
    static float owed[2][MOST], memory[2][MOST];
    float *expected[] = {owed[0], owed[1]};
    uint64_t draws = cases_seed();
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    for (size_t k = 0; k < COUNT(pictures) * COUNT(windows); k++) {
        if (windows_left_out(k))
            continue;
        const size_t i = k / COUNT(windows), w = k % COUNT(windows), channels = pictures[i].channels;
        const gp_window_shape window = {.struct_size = sizeof window,
                                        .extent = {windows[w][0], windows[w][1]},
                                        .border = (int32_t)(GP_BORDER_ZERO + k % 5)};
        const gp_array in = gp_image(pictures[i].type, numbers, ROWS, COLS, channels, COLS * channels);
        gp_result wanted[2], results[2];
        for (size_t j = 0; j < MOST; j++)
            numbers[j] = (uint32_t)cases_random(&draws) & pictures[i].mask;
        if (k % 2 == 0) /* the last rows need wider sums */
            for (size_t j = ROWS * COLS * 3 / 4; j < ROWS * COLS; j++)
                numbers[j] |= (uint32_t)cases_random(&draws);
        for (size_t r = 0; r < COUNT(results); r++) {
            const uint32_t op = (uint32_t)ops[k / 2 % 2][r];
            wanted[r] = gp_want(op, gp_image(GP_F32, owed[r], ROWS, COLS, channels, COLS * channels));
            results[r] = gp_want(op, gp_image(GP_F32, memory[r], ROWS, COLS, channels, COLS * channels));
        }
        oracle_window_array(&in, &window, wanted, COUNT(wanted));
        expect_windows(&h, &in, &window, results, COUNT(results), sizeof(float) * ROWS * COLS * channels, expected,
                       "pictures that warps walk down");
        wanted[0] =
            gp_want(GP_REDUCE_MEAN, gp_image(pictures[i].type, owed[0], ROWS, COLS, channels, COLS * channels));
        results[0] =
            gp_want(GP_REDUCE_MEAN, gp_image(pictures[i].type, memory[0], ROWS, COLS, channels, COLS * channels));
        oracle_window_array(&in, &window, wanted, 1);
        expect_windows(&h, &in, &window, results, 1, pictures[i].bytes * ROWS * COLS * channels, expected,
                       "means of pictures that warps walk down");
    }
    harness_close(&h);
}

/* A block has four warps there, and one or more than four where floats have sums of 64 bits. */
static void means_are_planned_by_warps(void **state) {
    (void)state;
    void *const in = (void *)(uintptr_t)0x100000000000, *const to = (void *)(uintptr_t)0x200000000000;
    const gp_array from = gp_matrix(GP_F32, in, 4096, 4096, 4096);
    const gp_result result = gp_want(GP_REDUCE_MEAN, gp_matrix(GP_F32, to, 4096, 4096, 4096));
    const gp_window_shape window = {.struct_size = sizeof window, .extent = {15, 15}, .border = GP_BORDER_ZERO};
    gp_plan_info plan = {.struct_size = sizeof plan};
    gp_context *context = devices_open(&devices[DEVICE_HOPPER]);
    assert_int_equal(gp_window(context, &from, &window, &result, 1), GP_OK);
    assert_int_equal(gp_context_plan(context, &plan), GP_OK);
    assert_int_equal(plan.block, 128);
    gp_context_destroy(context);
}

/* Both extremes, of bytes, halves and words, side by side or of three channels, with constant parts. */
static void extremes_of_wide_windows(void **state) {
    (void)state;
    enum { ROWS = 34, COLS = 360, MOST = ROWS * COLS };
    static const size_t windows[][2] = {{3, 5}, {8, 33}, {5, 34}, {21, 101}, {2, 280}};
    static const gp_type types[] = {GP_U8, GP_S16, GP_F32};
    static const size_t bytes[] = {1, 2, 4};
    static uint32_t numbers[MOST], owed[2][MOST], memory[2][MOST];
    float *expected[] = {(float *)(void *)owed[0], (float *)(void *)owed[1]};
    uint64_t draws = cases_seed();
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    for (size_t k = 0; k < COUNT(types) * COUNT(windows); k++) {
        if (windows_left_out(k))
            continue;
        const gp_type type = types[k % COUNT(types)];
        const size_t w = k / COUNT(types), channels = k % 2 ? 3 : 1, cols = COLS / channels;
        const gp_window_shape window = {.struct_size = sizeof window,
                                        .extent = {windows[w][0], windows[w][1]},
                                        .border = (int32_t)(GP_BORDER_ZERO + k % 6)};
        for (size_t j = 0; j < MOST; j++)
            numbers[j] = j % 1000 < 500 ? (uint32_t)cases_random(&draws) : 0x3f4d4d4d;
        const gp_array in = gp_image(type, numbers, ROWS, cols, channels, COLS);
        gp_result wanted[2], results[2];
        for (size_t r = 0; r < 2; r++) {
            const uint32_t op = r == 0 ? GP_REDUCE_MIN : GP_REDUCE_MAX;
            wanted[r] = gp_want(op, gp_image(type, owed[r], ROWS, cols, channels, COLS));
            results[r] = gp_want(op, gp_image(type, memory[r], ROWS, cols, channels, COLS));
        }
        oracle_window_array(&in, &window, wanted, 2);
        expect_windows(&h, &in, &window, results, 2, bytes[k % COUNT(types)] * MOST, expected,
                       "extremes of wide windows");
    }
    harness_close(&h);
}

/* Rows so long that a processor does them in pieces, which see each other's elements and, with a border that wraps,
 * those of the row's other end; windows to either side of their places. */
static void rows_in_pieces(void **state) {
    (void)state;
    enum { ROWS = 3, COLS = 4101, MOST = ROWS * COLS * 3, BORDERS = GP_BORDER_SHRINK + 1 };
    static const struct {
        gp_type type;
        size_t channels, high, wide;
        ptrdiff_t shift;
        uint32_t mask;
    } kinds[] = {{GP_U8, 1, 2, 31, 0, ~0u},     {GP_U8, 3, 2, 24, 12, ~0u},       {GP_S32, 1, 3, 23, -11, ~0u},
                 {GP_S32, 1, 1, 40, -19, 0xff}, {GP_F32, 1, 2, 20, 10, 0xffffff}, {GP_S16, 3, 1, 900, 450, ~0u}};
    static uint32_t numbers[MOST];
    static float owed[2][MOST], memory[2][MOST];
    float *expected[] = {owed[0], owed[1]};
    uint64_t draws = cases_seed();
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    for (size_t k = 0; k < COUNT(kinds) * BORDERS; k++) {
        if (windows_left_out(k))
            continue;
        const size_t i = k / BORDERS, channels = kinds[i].channels, rows = kinds[i].wide > 100 ? 1 : ROWS;
        const gp_window_shape window = {.struct_size = sizeof window,
                                        .extent = {kinds[i].high, kinds[i].wide},
                                        .shift = {0, kinds[i].shift},
                                        .border = (int32_t)(k % BORDERS)};
        const gp_array in = gp_image(kinds[i].type, numbers, rows, COLS, channels, COLS * channels);
        gp_result wanted[2], results[2];
        memset(owed, 0, sizeof owed);
        for (size_t j = 0; j < MOST; j++)
            numbers[j] =
                ((uint32_t)cases_random(&draws) & kinds[i].mask) | (kinds[i].type == GP_F32 ? 0x3f000000 : 0);
        for (size_t r = 0; r < COUNT(results); r++) {
            const uint32_t op = (uint32_t)(r == 0  ? GP_REDUCE_SUM
                                           : k % 2 ? GP_REDUCE_VARIANCE
                                                   : GP_REDUCE_SUM_SQUARES);
            wanted[r] = gp_want(op, gp_image(GP_F32, owed[r], rows, COLS, channels, COLS * channels));
            results[r] = gp_want(op, gp_image(GP_F32, memory[r], rows, COLS, channels, COLS * channels));
        }
        oracle_window_array(&in, &window, wanted, COUNT(wanted));
        expect_windows(&h, &in, &window, results, COUNT(results), sizeof(float) * rows * COLS * channels, expected,
                       "rows in pieces");
    }
    harness_close(&h);
}

/* Windows of up to 2^62 elements: those that wrap see the whole array so many times, the others see it once. */
static void windows_beyond_the_array(void **state) {
    (void)state;
    enum { ROWS = 6, COLS = 10, MOST = ROWS * COLS };
    static const struct {
        gp_type type;
        uint32_t least, most;
        double mean; /* halfway, and as far from both as the deviation is */
    } numbers[] = {
        {GP_U32, 0, UINT32_MAX, 0x1.fffffffep30}, {GP_S32, 1u << 31, INT32_MAX, -0.5}, {GP_U8, 0, UINT8_MAX, 127.5}};
    static const size_t extents[][2] = {
        {48, 100}, {6u << 16, 10u << 16}, {6u << 20, (size_t)10 << 32}, {(size_t)6 << 27, (size_t)10 << 27}};
    static double owed[2][MOST], memory[2][MOST];
    float *expected[] = {(float *)(void *)owed[0], (float *)(void *)owed[1]};
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    for (size_t k = 0; k < COUNT(numbers) * COUNT(extents); k++) {
        const size_t i = k / COUNT(extents), e = k % COUNT(extents);
        const double half = numbers[i].type == GP_U8 ? 127.5 : 0x1.fffffffep30;
        const gp_window_shape window = {.struct_size = sizeof window,
                                        .extent = {extents[e][0], extents[e][1]},
                                        .border = k % 2 ? GP_BORDER_WRAP : GP_BORDER_SHRINK};
        uint32_t wide[MOST];
        uint8_t bytes[MOST];
        for (size_t j = 0; j < MOST; j++) {
            wide[j] = j % 2 ? numbers[i].most : numbers[i].least;
            bytes[j] = (uint8_t)wide[j];
            owed[0][j] = numbers[i].mean;
            owed[1][j] = half;
        }
        const gp_array in =
            gp_matrix(numbers[i].type, numbers[i].type == GP_U8 ? (void *)bytes : wide, ROWS, COLS, COLS);
        const gp_result results[] = {gp_want(GP_REDUCE_MEAN, gp_matrix(GP_F64, memory[0], ROWS, COLS, COLS)),
                                     gp_want(GP_REDUCE_STDDEV, gp_matrix(GP_F64, memory[1], ROWS, COLS, COLS))};
        expect_windows(&h, &in, &window, results, 2, sizeof owed[0], expected, "windows beyond the array");
    }
    harness_close(&h);
}

/* Elements that are no numbers, a few and many, among such as have one unit and such as have none; matrices that lie
 * side by side, of rows so short that they are done together. */
static void specials_of_any_spread(void **state) {
    (void)state;
    enum { MATRICES = 37, ROWS = 9, COLS = 21, MOST = MATRICES * ROWS * COLS };
    static const uint32_t ops[] = {GP_REDUCE_SUM, GP_REDUCE_MEAN, GP_REDUCE_SUM_SQUARES, GP_REDUCE_STDDEV_SAMPLE};
    static float numbers[MOST], owed[2][MOST], memory[2][MOST];
    float *expected[] = {owed[0], owed[1]};
    uint64_t draws = cases_seed();
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    for (size_t k = 0; k < 24; k++) {
        const gp_window_shape window = {.struct_size = sizeof window,
                                        .extent = {0, k % 3 == 0 ? 1 : 5, 4},
                                        .border = k % 2 ? GP_BORDER_SHRINK : GP_BORDER_REFLECT};
        const unsigned one_in = k % 4 < 2 ? 5 : 200, spread = k % 8 < 4 ? 20 : 180;
        gp_array in = gp_dense(GP_F32, numbers, 3, (const size_t[]){MATRICES, ROWS, COLS}), to = in;
        gp_result wanted[2], results[2];
        for (size_t j = 0; j < MOST; j++) {
            static const uint32_t specials[] = {0x7f800000, 0xff800000, 0x7fc00001, 0xff800001};
            const uint64_t x = cases_random(&draws);
            const uint32_t exponent = 120 - spread / 2 + (uint32_t)(x >> 32) % spread;
            const uint32_t bits =
                x % one_in == 0 ? specials[x >> 60 & 3] : ((uint32_t)x & 0x807fffff) | exponent << 23;
            memcpy(&numbers[j], &bits, sizeof bits);
        }
        for (size_t r = 0; r < COUNT(results); r++) {
            to.data = owed[r];
            wanted[r] = gp_want(ops[(k / 3 + r) % COUNT(ops)], to);
            to.data = memory[r];
            results[r] = gp_want(ops[(k / 3 + r) % COUNT(ops)], to);
        }
        oracle_window_array(&in, &window, wanted, COUNT(wanted));
        expect_windows(&h, &in, &window, results, COUNT(results), sizeof owed[0], expected, "specials of any spread");
    }
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls),
                                       cmocka_unit_test(specials_of_any_spread),
                                       cmocka_unit_test(rows_in_pieces),
                                       cmocka_unit_test(a_long_row_of_floats),
                                       cmocka_unit_test(wide_and_high_windows),
                                       cmocka_unit_test(variances_of_almost_equal_floats),
                                       cmocka_unit_test(variances_of_floats_far_from_zero),
                                       cmocka_unit_test(windows_of_many_bytes),
                                       cmocka_unit_test(pictures_that_warps_walk_down),
                                       cmocka_unit_test(means_that_warps_walk_down),
                                       cmocka_unit_test(windows_that_see_no_numbers),
                                       cmocka_unit_test(means_are_planned_by_warps),
                                       cmocka_unit_test(extremes_of_wide_windows),
                                       cmocka_unit_test(windows_beyond_the_array),
                                       cmocka_unit_test(nothing_behind_many_results),
                                       cmocka_unit_test(edges_of_large_pictures),
                                       cmocka_unit_test(windows_along_lines),
                                       cmocka_unit_test(windows_along_many_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
