/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_window() against an oracle: random views, types, windows, borders, operations, data, threads, places in memory,
 * pinned rows and modes of the floating-point unit. GPUPRIM_TEST_CASES: how many, 20000 if unset.
 */
#include "../cases.h"
#include "../check.h"
#include "../devices.h"
#include "../reduce_array/run_calls.h"
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

#define LONG_WINDOW 31
#define PART 20000 /* of the long row that the oracle computes at once */

/* The mean and the deviation of each window of a row, of which the oracle sees a part at a time. */
static void expect_moments(float *numbers, size_t n, float *to[2]) {
    const gp_window_shape window = {.struct_size = sizeof window, .extent = {LONG_WINDOW}};
    for (size_t begin = 0; begin + LONG_WINDOW <= n; begin += PART) {
        const size_t length = n - begin < PART + LONG_WINDOW - 1 ? n - begin : PART + LONG_WINDOW - 1;
        const gp_array part = gp_vector(GP_F32, numbers + begin, length);
        const gp_result results[] = {gp_want(GP_REDUCE_MEAN, gp_vector(GP_F32, to[0] + begin, length)),
                                     gp_want(GP_REDUCE_STDDEV, gp_vector(GP_F32, to[1] + begin, length))};
        oracle_window_array(&part, &window, results, COUNT(results));
    }
}

/* Every kernel's results, `bytes` each, are those expected. */
static void expect_results(harness *h, const gp_array *in, const gp_window_shape *window, const gp_result *results,
                           size_t count, size_t bytes, float *const *expected, const char *what) {
    for (size_t s = 0; s < h->n_subjects; s++)
        for (size_t k = 0; k < h->n_rows; k++) {
            if ((s != 0 && s != 2 && !h->subjects[s].gpu) || !harness_pin(h, &h->subjects[s], &h->rows[k], 0))
                continue;
            for (size_t r = 0; r < count; r++)
                memset(results[r].to.data, 0, bytes);
            const gp_status status = gp_window(h->subjects[s].context, in, window, results, count);
            if (!harness_ran(h, &h->subjects[s], &h->rows[k], status, GP_OK, what))
                continue;
            for (size_t r = 0; r < count; r++)
                if (memcmp(expected[r], results[r].to.data, bytes) != 0)
                    harness_fail(h, &h->subjects[s], &h->rows[k], what, "other bits than the oracle's");
        }
    h->cases++;
}

/* Floats of both signs from 1e-30 to 1e30: each output is as if its window alone had been computed. */
static void a_long_row_of_floats(void **state) {
    (void)state;
    const size_t n = cases_reduced() || SANITIZED ? 30000 : 1000000;
    const gp_window_shape window = {.struct_size = sizeof window, .extent = {LONG_WINDOW}};
    float *numbers = malloc(n * sizeof *numbers), *memory[4];
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    uint64_t draws = cases_seed();
    for (size_t i = 0; i < COUNT(memory); i++)
        memory[i] = calloc(n, sizeof *memory[i]);
    for (size_t i = 0; i < n; i++) {
        const double magnitude = pow(10, (double)(cases_random(&draws) % 60001) / 1000 - 30);
        numbers[i] = (float)(cases_random(&draws) % 2 ? magnitude : -magnitude);
    }
    expect_moments(numbers, n, memory);
    const gp_array in = gp_vector(GP_F32, numbers, n);
    const gp_result results[] = {gp_want(GP_REDUCE_MEAN, gp_vector(GP_F32, memory[2], n)),
                                 gp_want(GP_REDUCE_STDDEV, gp_vector(GP_F32, memory[3], n))};
    expect_results(&h, &in, &window, results, 2, n * sizeof(float), memory, "a long row");
    harness_close(&h);
    for (size_t i = 0; i < COUNT(memory); i++)
        free(memory[i]);
    free(numbers);
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
        expect_results(&h, &in, &window, results, 2, rows * cols * sizeof(float), memory, "extremes of wide windows");
    }
    harness_close(&h);
    for (size_t i = 0; i < COUNT(memory); i++)
        free(memory[i]);
    free(numbers);
}

/* Variances of 0 and of what rounds to it are +0, however small the elements. */
static void variances_of_almost_equal_floats(void **state) {
    (void)state;
    enum { ROWS = 12, COLS = 70 };
    const gp_window_shape window = {.struct_size = sizeof window, .extent = {3, 3}, .border = GP_BORDER_REFLECT_101};
    float numbers[ROWS * COLS], wanted[ROWS * COLS], memory[ROWS * COLS], *expected[] = {wanted};
    for (size_t i = 0; i < COUNT(numbers); i++)
        numbers[i] = i == COUNT(numbers) / 2 ? 0x1p-60f : 0x1.8p-52f;
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    const gp_array in = gp_matrix(GP_F32, numbers, ROWS, COLS, COLS);
    const gp_result owed = gp_want(GP_REDUCE_VARIANCE, gp_matrix(GP_F32, wanted, ROWS, COLS, COLS)),
                    result = gp_want(GP_REDUCE_VARIANCE, gp_matrix(GP_F32, memory, ROWS, COLS, COLS));
    oracle_window_array(&in, &window, &owed, 1);
    expect_results(&h, &in, &window, &result, 1, sizeof memory, expected, "variances of almost equal floats");
    harness_close(&h);
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
        for (size_t i = 0; i < COUNT(numbers); i++)
            numbers[i] = (uint8_t)(k % 2 == 0 ? 255 - cases_random(&draws) % 40 : cases_random(&draws));
        for (size_t r = 0; r < COUNT(results); r++) {
            wanted[r] = gp_want(shapes[k].op[r], gp_matrix(GP_F32, owed[r], ROWS, COLS, COLS));
            results[r] = gp_want(shapes[k].op[r], gp_matrix(GP_F32, memory[r], ROWS, COLS, COLS));
        }
        oracle_window_array(&in, &window, wanted, COUNT(wanted));
        expect_results(&h, &in, &window, results, COUNT(results), sizeof owed[0], expected, "windows of many bytes");
    }
    harness_close(&h);
}

/* Where few cases are wanted, three pictures of four; another seed leaves out others. */
static bool is_left_out(size_t picture) {
    return cases_reduced() && (picture + cases_seed()) % 4 != 0;
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
        if (is_left_out(k))
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
        expect_results(&h, &in, &window, results, COUNT(results), sizeof(float) * ROWS * COLS * channels, expected,
                       "pictures that warps walk down");
        wanted[0] =
            gp_want(GP_REDUCE_MEAN, gp_image(pictures[i].type, owed[0], ROWS, COLS, channels, COLS * channels));
        results[0] =
            gp_want(GP_REDUCE_MEAN, gp_image(pictures[i].type, memory[0], ROWS, COLS, channels, COLS * channels));
        oracle_window_array(&in, &window, wanted, 1);
        expect_results(&h, &in, &window, results, 1, pictures[i].bytes * ROWS * COLS * channels, expected,
                       "means of pictures that warps walk down");
    }
    harness_close(&h);
}

/* Means of f32: whole numbers, some of them halfway, floats of all bits, of many decades, without numbers among them,
 * and of growing magnitude, from subnormal numbers to the largest. */
static void means_that_warps_walk_down(void **state) {
    (void)state;
    enum { ROWS = 20, COLS = 320, MOST = ROWS * COLS, KINDS = 6 };
    static const size_t windows[][2] = {{4, 4}, {3, 5}, {31, 31}, {2, 128}, {45, 90}};
    static union {
        uint32_t bits[MOST];
        float number[MOST];
    } in;
    static float owed[MOST], memory[MOST];
    float *expected[] = {owed};
    uint64_t draws = cases_seed();
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    for (size_t k = 0; k < KINDS * COUNT(windows); k++) {
        if (is_left_out(k))
            continue;
        const size_t kind = k % KINDS, w = k / KINDS, cols = k % 2 ? COLS : COLS - 2;
        for (size_t j = 0; j < MOST; j++) {
            const uint32_t random = (uint32_t)cases_random(&draws), exponent = (uint32_t)(j * 254 / MOST);
            if (kind == 0)
                in.number[j] = (float)(random % 1024) / 4;
            else
                in.bits[j] = kind == 1   ? (random & 0x80ffffff) | 0x3f000000
                             : kind == 2 ? (random & 0x8fffffff) | 0x30000000
                             : kind == 5 ? (random % 16 == 0 ? 0x80000001 : random % 256 == 1)
                             : kind == 3
                                 ? (random % 999 == 0 ? 0x7f800000 | random >> 31 : (random & 0xffffff) | 0x3f000000)
                                 : (random & 0x807fffff) | exponent << 23;
        }
        const gp_window_shape window = {.struct_size = sizeof window,
                                        .extent = {windows[w][0], windows[w][1]},
                                        .border = (int32_t)(GP_BORDER_ZERO + k % 5)};
        const gp_array from = gp_matrix(GP_F32, in.number, ROWS, cols, COLS);
        const gp_result wanted = gp_want(GP_REDUCE_MEAN, gp_matrix(GP_F32, owed, ROWS, cols, cols)),
                        result = gp_want(GP_REDUCE_MEAN, gp_matrix(GP_F32, memory, ROWS, cols, cols));
        oracle_window_array(&from, &window, &wanted, 1);
        expect_results(&h, &from, &window, &result, 1, sizeof(float) * ROWS * cols, expected, "means of floats");
    }
    harness_close(&h);
}

/* Windows that see NaNs, infinities of either sign or of both, and such that see none beside them. */
static void windows_that_see_no_numbers(void **state) {
    (void)state;
    enum { ROWS = 24, COLS = 400, MOST = ROWS * COLS };
    static const uint32_t ops[] = {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE, GP_REDUCE_SUM, GP_REDUCE_SUM_SQUARES};
    static const size_t windows[][2] = {{3, 3}, {5, 31}, {4, 230}};
    static float numbers[MOST], owed[COUNT(ops)][MOST], memory[COUNT(ops)][MOST];
    float *expected[COUNT(ops)];
    uint64_t draws = cases_seed();
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    for (size_t k = 0; k < 2 * COUNT(windows); k++) {
        const size_t w = k / 2, results = k % 2 ? COUNT(ops) : 2;
        const gp_window_shape window = {
            .struct_size = sizeof window, .extent = {windows[w][0], windows[w][1]}, .border = (int32_t)(1 + k % 6)};
        const gp_array in = gp_matrix(GP_F32, numbers, ROWS, COLS, COLS);
        gp_result wanted[COUNT(ops)], result[COUNT(ops)];
        for (size_t j = 0; j < MOST; j++) {
            const uint64_t random = cases_random(&draws);
            numbers[j] = random % 500 == 0                ? NAN
                         : random % 501 == 0              ? INFINITY
                         : random % 502 == 0              ? -INFINITY
                         : j / COLS > 12 && j % COLS < 60 ? NAN
                                                          : (float)(random >> 40) / 16777216.0f;
        }
        for (size_t r = 0; r < results; r++) {
            expected[r] = owed[r];
            wanted[r] = gp_want(ops[r], gp_matrix(GP_F32, owed[r], ROWS, COLS, COLS));
            result[r] = gp_want(ops[r], gp_matrix(GP_F32, memory[r], ROWS, COLS, COLS));
        }
        oracle_window_array(&in, &window, wanted, results);
        expect_results(&h, &in, &window, result, results, sizeof owed[0], expected, "windows that see no numbers");
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
        if (is_left_out(k))
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
        expect_results(&h, &in, &window, results, 2, bytes[k % COUNT(types)] * MOST, expected,
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
        expect_results(&h, &in, &window, results, COUNT(results), sizeof(float) * rows * COLS * channels, expected,
                       "rows in pieces");
    }
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls),
                                       cmocka_unit_test(rows_in_pieces),
                                       cmocka_unit_test(a_long_row_of_floats),
                                       cmocka_unit_test(wide_and_high_windows),
                                       cmocka_unit_test(variances_of_almost_equal_floats),
                                       cmocka_unit_test(windows_of_many_bytes),
                                       cmocka_unit_test(pictures_that_warps_walk_down),
                                       cmocka_unit_test(means_that_warps_walk_down),
                                       cmocka_unit_test(windows_that_see_no_numbers),
                                       cmocka_unit_test(means_are_planned_by_warps),
                                       cmocka_unit_test(extremes_of_wide_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
