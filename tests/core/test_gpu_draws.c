/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions on a GPU of so many elements that each block has several chunks: sizes around whole rounds and whole
 * chunks, several calls each, as every call is to leave the counters as it found them.
 */
#include "../../src/host/reduce/tiling.h"
#include "../cases.h"
#include "../gpu.h"
#include "../oracle.h"

#define OFFSETS 4
#define ROUNDS 5
#define CALLS 3
#define MANY ((size_t)1 << 24)

static gp_context *context;

static int64_t ask(gp_reduce_op op, const int32_t *in, size_t n) {
    int64_t out = 0;
    assert_int_equal(gp_reduce_int(context, op, in, n, &out), GP_OK);
    return out;
}

static int64_t want(gp_reduce_op op, const int32_t *in, size_t n) {
    int64_t out = 0;
    assert_int_equal(oracle_reduce(op, in, n, &out), GP_OK);
    return out;
}

/* As many as the device holds at once. */
static int64_t most_blocks(void) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    int32_t *in = NULL;
    CUDA_OK(cudaMalloc((void **)&in, MANY * 4));
    CUDA_OK(cudaMemset(in, 0, MANY * 4));
    assert_int_equal(ask(GP_REDUCE_SUM, in, MANY), 0);
    assert_int_equal(gp_context_plan(context, &plan), GP_OK);
    CUDA_OK(cudaFree(in));
    return (int64_t)plan.grid;
}

static void sizes_around_whole_rounds(void **state) {
    (void)state;
    const unsigned threads = cases_reduced() ? 32 : 64; /* the fewer, the sooner */
    const int64_t chunk = (int64_t)threads * GP_REDUCE_LOADS * 4;
    assert_int_equal(gp_context_pin_kernel(context, "reduce_grid", threads), GP_OK);
    const int64_t round = most_blocks() * chunk, first = ROUNDS * round;
    const int64_t more[] = {-chunk - 1, -1, 0, 1, 33, chunk, chunk + 31, round, round + 5 * chunk + 7, first};
    const size_t n_max = (size_t)(2 * first) + OFFSETS, n_more = cases_reduced() ? 3 : COUNT(more);
    int32_t *host = malloc(n_max * 4);
    assert_non_null(host);
    cases_fill(host, n_max, DATA_EXTREMES, cases_seed());
    int32_t *in = gpu_upload(host, n_max * 4);
    for (size_t i = 0; i < n_more; i++) {
        const size_t n = (size_t)(first + more[i]), offset = i % OFFSETS;
        const int64_t sum = want(GP_REDUCE_SUM, host + offset, n);
        const int64_t all_xor = want(GP_REDUCE_XOR, host + offset, n);
        for (int call = 0; call < CALLS; call++) {
            assert_true(ask(GP_REDUCE_SUM, in + offset, n) == sum);
            assert_true(ask(GP_REDUCE_XOR, in + offset, n) == all_xor);
        }
    }
    printf("cases: %zu sizes from %lld on\n", n_more, (long long)(first + more[0]));
    CUDA_OK(cudaFree(in));
    free(host);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_around_whole_rounds)};
    if (gpu_is_missing())
        return 77;
    context = gpu_open(GP_BACKEND_CUDA);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gp_context_destroy(context);
    return failed;
}
