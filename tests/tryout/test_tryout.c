/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new primitive is a folder and one word in a table: everything that serves reductions, windows and rearrangements
 * serves one that none of it has heard of. __wrap_gp_primitive_at() stands for the word.
 */
#include "../check.h"
#include "../devices.h"
#include "negate.h"
#include <string.h>

const gp_primitive *__real_gp_primitive_at(size_t index);
const gp_primitive *__wrap_gp_primitive_at(size_t index);

const gp_primitive *__wrap_gp_primitive_at(size_t index) {
    const gp_primitive *shipped = __real_gp_primitive_at(index);
    const bool next = shipped == NULL && (index == 0 || __real_gp_primitive_at(index - 1) != NULL);
    return next ? &gp_primitive_negate : shipped;
}

#define N 1000

static void it_computes_and_is_explained(void **state) {
    (void)state;
    static int32_t in[N], out[N];
    for (int i = 0; i < N; i++)
        in[i] = i * 7 - 1000;
    gp_context *context = make_context(GP_BACKEND_CPU, -1, 0);
    assert_int_equal(negate(context, in, N, out), GP_OK);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], -in[i]);
    gp_plan_info plan = {.struct_size = sizeof plan};
    assert_int_equal(gp_context_plan(context, &plan), GP_OK);
    assert_string_equal(plan.kernel, "negate_cpu");
    assert_int_equal(plan.operation, NEGATE_OPERATION);
    assert_int_equal(plan.bytes_written, sizeof in);
    char text[2000];
    assert_in_range(gp_context_explain(context, text, sizeof text), 1, sizeof text - 1);
    assert_non_null(strstr(text, "negate 1000 int32\n"));
    assert_non_null(strstr(text, "negate_grid"));
    assert_int_equal(negate(context, in, N, in + 1), GP_ERR_OVERLAP);
    assert_int_equal(gp_context_pin_kernel(context, "negate_grid", 0), GP_OK);
    assert_int_equal(negate(context, in, N, out), GP_ERR_NO_KERNEL);
    int64_t sum;
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, N, &sum), GP_OK); /* its pin is nobody else's */
    gp_context_destroy(context);
}

static void it_is_in_the_catalogue(void **state) {
    (void)state;
    size_t found = 0;
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info kernel = {.struct_size = sizeof kernel};
        assert_int_equal(gp_kernel_at(i, &kernel), GP_OK);
        assert_int_equal(kernel.operation == NEGATE_OPERATION, strncmp(kernel.name, "negate_", 7) == 0);
        found += kernel.operation == NEGATE_OPERATION;
    }
    assert_int_equal(found, 2);
}

static void it_is_planned_for_a_gpu(void **state) {
    (void)state;
    gp_context *context = devices_open(&devices[DEVICE_HOPPER]);
    assert_int_equal(negate(context, (const int32_t *)4096, N, (int32_t *)65536), GP_OK);
    gp_plan_info plan = {.struct_size = sizeof plan};
    assert_int_equal(gp_context_plan(context, &plan), GP_OK);
    assert_string_equal(plan.kernel, "negate_grid");
    assert_int_equal(plan.grid, 4);
    gp_context_destroy(context);
}

static void it_is_cut_into_pieces(void **state) {
    (void)state;
    static int32_t in[N], out[N];
    static unsigned char slot[4096];
    gp_problem problem;
    gp_split split;
    gp_part part[2];
    size_t next = 0;
    assert_int_equal(negate_problem(&problem, in, N, out), GP_OK);
    gp_split_make(&split, &problem, (gp_staged){.in = true, .out = {true, false}}, 1024);
    for (gp_piece piece = {0}; gp_split_next(&split, &piece);) {
        assert_int_equal(gp_split_parts(&split, &piece, slot, part), 1);
        assert_ptr_equal(part[0].in.host, in + next);
        assert_ptr_equal(part[0].out[0].host, out + next);
        assert_int_equal(part[0].problem.bytes_read, part[0].in.width);
        next += part[0].problem.n;
    }
    assert_int_equal(next, N);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_computes_and_is_explained),
        cmocka_unit_test(it_is_in_the_catalogue),
        cmocka_unit_test(it_is_planned_for_a_gpu),
        cmocka_unit_test(it_is_cut_into_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
