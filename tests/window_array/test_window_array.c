/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_window() against an oracle: random views, types, windows, borders, operations, data, threads, places in memory,
 * pinned rows and modes of the floating-point unit. GPUPRIM_TEST_CASES: how many, 20000 if unset.
 */
#include "../cases.h"
#include "../check.h"
#include "../reduce_array/run_calls.h"
#include "oracle_window_array.h"
#include "random_window.h"
#include <math.h>

static size_t cases(void) {
    const char *text = getenv("GPUPRIM_TEST_CASES");
    return text ? (size_t)strtoull(text, NULL, 0) : cases_reduced() ? 2000 : 20000;
}

static void random_calls(void **state) {
    (void)state;
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    const size_t count = cases();
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
    for (size_t s = 0; s < h.n_subjects; s++)
        for (size_t k = 0; k < h.n_rows; k++) {
            if ((s != 0 && s != 2 && !h.subjects[s].gpu) || !harness_pin(&h, &h.subjects[s], &h.rows[k], 0))
                continue;
            const gp_status status = gp_window(h.subjects[s].context, &in, &window, results, COUNT(results));
            if (!harness_ran(&h, &h.subjects[s], &h.rows[k], status, GP_OK, "a long row"))
                continue;
            for (size_t r = 0; r < 2; r++)
                if (memcmp(memory[r], memory[r + 2], n * sizeof(float)) != 0)
                    harness_fail(&h, &h.subjects[s], &h.rows[k], "a long row", "other bits than the oracle's");
        }
    h.cases++;
    harness_close(&h);
    for (size_t i = 0; i < COUNT(memory); i++)
        free(memory[i]);
    free(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls), cmocka_unit_test(a_long_row_of_floats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
