/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_window() against an oracle: random views, types, windows, borders, operations, data, threads, places in memory,
 * pinned rows and modes of the floating-point unit. GPUPRIM_TEST_CASES: how many, 20000 if unset.
 */
#include "../cases.h"
#include "../check.h"
#include "../reduce_array/run_calls.h"
#include "random_window.h"

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
        random_window_make(&call, cases_seed() + i, i % 100 == 0 ? 200000 : i % 10 == 0 ? 20000 : 1000);
        run_call(&h, &call, i);
        random_call_free(&call);
        h.cases++;
    }
    run_calls_end();
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
