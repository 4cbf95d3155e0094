/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of floats whose spread, size or kind decides how they are summed. */
#include "../cases.h"
#include "../check.h"
#include "../devices.h"
#include "expect_windows.h"
#include "oracle_window_array.h"
#include <float.h>
#include <math.h>

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

/* Floats of both signs from 1e-30 to 1e30: each output is as if its window alone had been computed. */
void a_long_row_of_floats(void **state) {
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
    expect_windows(&h, &in, &window, results, 2, n * sizeof(float), memory, "a long row");
    harness_close(&h);
    for (size_t i = 0; i < COUNT(memory); i++)
        free(memory[i]);
    free(numbers);
}

/* Variances of 0 and of what rounds to it are +0, however small the elements. */
void variances_of_almost_equal_floats(void **state) {
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
    expect_windows(&h, &in, &window, &result, 1, sizeof memory, expected, "variances of almost equal floats");
    harness_close(&h);
}

/* Most elements are equal and a thousand times as far from 0 as from each other; the zeros around them keep a GPU
 * from taking them less one. The difference of n Q and S^2, each beyond 53 bits, is then all that decides. */
void variances_of_floats_far_from_zero(void **state) {
    (void)state;
    enum { ROWS = 300, COLS = 8 };
    static const struct {
        size_t rows, cols, window[2];
    } pictures[] = {
        {ROWS, COLS, {3, 4}}, {ROWS / 15, 15 * COLS, {4, 3}}, {1, ROWS * COLS, {1, 12}}, {1, 4100, {1, 7}}};
    static float numbers[4100], wanted[4100], memory[4100];
    float *expected[] = {wanted};
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    uint64_t draws = cases_seed();
    for (size_t k = 0; k < COUNT(pictures); k++) {
        const size_t rows = pictures[k].rows, cols = pictures[k].cols;
        const gp_window_shape window = {.struct_size = sizeof window,
                                        .extent = {pictures[k].window[0], pictures[k].window[1]},
                                        .border = GP_BORDER_ZERO};
        for (size_t i = 0; i < rows * cols; i++)
            numbers[i] = 0x1.f46792p+9f + (i % 11 == 0 ? (float)(cases_random(&draws) % 1000) * 0x1p-14f : 0);
        const gp_array in = gp_matrix(GP_F32, numbers, rows, cols, cols);
        const gp_result owed = gp_want(GP_REDUCE_VARIANCE, gp_matrix(GP_F32, wanted, rows, cols, cols)),
                        result = gp_want(GP_REDUCE_VARIANCE, gp_matrix(GP_F32, memory, rows, cols, cols));
        oracle_window_array(&in, &window, &owed, 1);
        expect_windows(&h, &in, &window, &result, 1, rows * cols * sizeof *memory, expected,
                       "variances of floats far from zero");
    }
    harness_close(&h);
}

/* Means of f32: whole numbers, some of them halfway, floats of all bits, of many decades, without numbers among them,
 * and of growing magnitude, from subnormal numbers to the largest. */
void means_that_warps_walk_down(void **state) {
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
        if (windows_left_out(k))
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
        expect_windows(&h, &from, &window, &result, 1, sizeof(float) * ROWS * cols, expected, "means of floats");
    }
    harness_close(&h);
}

/* Windows that see NaNs, infinities of either sign or of both, and such that see none beside them; some see the
 * largest floats. */
void windows_that_see_no_numbers(void **state) {
    (void)state;
    enum { ROWS = 24, COLS = 400, MOST = ROWS * COLS };
    static const uint32_t ops[] = {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE, GP_REDUCE_SUM, GP_REDUCE_SUM_SQUARES};
    static const size_t windows[][2] = {{3, 3}, {5, 31}, {4, 230}, {45, 7}, {1, 70}};
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
                         : j / COLS < 8 && j % COLS > 350 ? -FLT_MAX
                                                          : (float)(random >> 40) / 16777216.0f;
        }
        for (size_t r = 0; r < results; r++) {
            expected[r] = owed[r];
            wanted[r] = gp_want(ops[r], gp_matrix(GP_F32, owed[r], ROWS, COLS, COLS));
            result[r] = gp_want(ops[r], gp_matrix(GP_F32, memory[r], ROWS, COLS, COLS));
        }
        oracle_window_array(&in, &window, wanted, results);
        expect_windows(&h, &in, &window, result, results, sizeof owed[0], expected, "windows that see no numbers");
    }
    harness_close(&h);
}
