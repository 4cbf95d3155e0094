/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How reduce_many shares outputs among threads and blocks, for made-up GPUs: where parts of columns are joined, a
 * block has a thread for each of them.
 */
#include "../../src/host/context.h"
#include "../../src/host/reduce_array/tiling.h"
#include "../cases.h"
#include "../check.h"
#include "../devices.h"

#define CALLS 40000
#define MOST ((size_t)1 << 28) /* elements */
#define DATA ((unsigned char *)((uintptr_t)1 << 40))

/* Axes that are kept and reduced, of all sizes. */
static gp_array any_array(uint64_t *draws, gp_array *to) {
    static const size_t most[] = {4, 70, 3000, 200000};
    gp_array in = {.data = DATA, .type = GP_U8 + (int32_t)(cases_random(draws) % GP_F64), .rank = 2};
    in.rank += (uint32_t)(cases_random(draws) % 3);
    size_t all = 1;
    *to = in;
    to->data = DATA + MOST * 16;
    for (unsigned axis = 0; axis < in.rank; axis++) {
        const size_t extent = 1 + cases_random(draws) % most[cases_random(draws) % COUNT(most)];
        in.extent[axis] = extent > MOST / all ? MOST / all : extent;
        all *= in.extent[axis];
        to->extent[axis] = cases_random(draws) % 2 ? in.extent[axis] : 1;
    }
    for (unsigned axis = in.rank; axis-- > 0;) {
        const unsigned next = axis + 1;
        in.stride[axis] = next < in.rank ? in.stride[next] * (ptrdiff_t)in.extent[next] : 1;
        to->stride[axis] = next < in.rank ? to->stride[next] * (ptrdiff_t)to->extent[next] : 1;
    }
    return in;
}

static void columns_have_a_thread_each(void **state) {
    (void)state;
    static const uint32_t ops[] = {GP_REDUCE_SUM, GP_REDUCE_MEAN, GP_REDUCE_MIN, GP_REDUCE_VARIANCE};
    uint64_t draws = cases_seed();
    size_t planned = 0, shared = 0;
    for (unsigned device = DEVICE_TURING; device <= DEVICE_BLACKWELL_SMALL; device++) {
        gp_context *context = devices_open(&devices[device]);
        for (size_t i = 0; i < (cases_reduced() ? CALLS / 10 : CALLS); i++) {
            gp_result result = {.op = ops[cases_random(&draws) % COUNT(ops)]};
            const gp_array in = any_array(&draws, &result.to);
            if (result.op != GP_REDUCE_MIN)
                result.to.type = result.op == GP_REDUCE_SUM && in.type < GP_F16 ? GP_S64 : GP_F32;
            if (gp_reduce(context, &in, &result, 1) != GP_OK || strcmp(context->plan.row->name, "reduce_many") != 0)
                continue;
            gp_many_cut cut;
            memcpy(&cut, context->plan.tiling.t, sizeof cut);
            const unsigned threads = context->plan.tiling.threads;
            planned++;
            shared += cut.splits > 1;
            assert_in_range(threads, cut.lanes * cut.slices * cut.outputs, GP_REDUCE_MANY_THREADS);
            if (cut.splits > 1)
                assert_true(cut.by_columns);
            if (cut.by_columns)
                assert_in_range(cut.rows, 1, threads);
        }
        gp_context_destroy(context);
    }
    printf("%zu plans, %zu of blocks that share outputs\n", planned, shared);
    assert_in_range(shared, 20, SIZE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_have_a_thread_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
