/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions and windows of host data on a made-up GPU: which bytes are copied, where results go, what lies between
 * them, what is waited for. Passes and boxes are computed by the processor's reference rows. Link as fake_cuda.h
 * says, with fake_pieces.c.
 */
#include "../../src/device/gpu.h"
#include "../cases.h"
#include "../check.h"
#include "../stage/fake_memory.h"
#include "../stage/fake_pieces.h"
#include "../window_array/random_window.h"
#include "random_call.h"

#define CALLS 3000

static void *device_memory(size_t bytes) {
    void *memory = NULL;
    assert_int_equal(gp_alloc(fake_context, GP_MEMORY_DEVICE, bytes, &memory), GP_OK);
    return memory;
}

static bool has_no_elements(const random_call *call) {
    for (unsigned axis = 0; axis < call->in.view.rank; axis++)
        if (call->in.view.extent[axis] == 0)
            return true;
    return false;
}

/*
 * A call with host memory among its arrays returns when its results are there, and has no more use for the input. One
 * on the device alone, or with its only output in pinned memory, may still be under way.
 */
static void run_one(random_call *call, size_t turn) {
    const fake_kind from = turn % FAKE_KINDS, to = turn / FAKE_KINDS % FAKE_KINDS;
    const size_t in_bytes = random_call_input_bytes(call), out_bytes = random_call_result_bytes(call);
    unsigned char *in = fake_memory_make(fake_context, from, in_bytes), *in_start = malloc(in_bytes + 1);
    unsigned char *out = fake_memory_make(fake_context, to, out_bytes), *out_start = malloc(out_bytes + 1);
    const size_t before = fake_pieces;
    char words[160];
    random_call moved;
    random_call_reset(call);
    random_call_move(call, in, out, &moved);
    random_call_pack(call, in_start, out_start);
    fake_memory_fill(from, in, in_start, in_bytes, NULL);
    fake_memory_fill(to, out, out_start, out_bytes, NULL);
    gp_status status = random_call_run(&moved, fake_context);
    if (status == GP_OK && from == FAKE_DEVICE && to != FAKE_PAGEABLE)
        status = gp_context_synchronize(fake_context);
    if (status != call->status || fake.out_of_bounds || fake.too_early)
        fail_msg("%s, places %d %d: status %d, not %d: %s", call->label, from, to, (int)status, (int)call->status,
                 gp_last_error());
    memset(in, RANDOM_FILL, in_bytes);
    if (has_no_elements(call) || fake_pieces == before) /* no host memory among the arrays, or nothing to do */
        assert_int_equal(gp_context_synchronize(fake_context), GP_OK);
    random_call_unpack(call, out); /* the made-up GPU's memory is the host's */
    if (!random_call_check(call, words, sizeof words))
        fail_msg("%s, places %d %d: %s", call->label, from, to, words);
    fake_memory_free(fake_context, from, in);
    fake_memory_free(fake_context, to, out);
    free(in_start);
    free(out_start);
}

static void random_calls(void **state) {
    (void)state;
    for (size_t i = 0; i < CALLS; i++) {
        random_call call;
        random_call_make(&call, cases_seed() + i, i % 50 == 0 ? 20000 : i % 5 == 0 ? 1000 : 100);
        run_one(&call, i);
        random_call_free(&call);
    }
    printf("cases: %d calls, %zu passes\n", CALLS, fake_pieces);
}

static bool gpu_has(gp_operation operation) {
    gp_kernel_info info = {.struct_size = sizeof info};
    for (size_t i = 0; gp_kernel_at(i, &info) == GP_OK; i++)
        if (info.operation == (int32_t)operation && (info.flags & GP_KERNEL_GPU))
            return true;
    return false;
}

static void random_windows(void **state) {
    (void)state;
    if (!gpu_has(GP_OPERATION_WINDOW_ARRAY))
        skip();
    const size_t before = fake_pieces;
    for (size_t i = 0; i < CALLS; i++) {
        random_call call;
        random_window_make(&call, cases_seed() + i, i % 50 == 0 ? 20000 : 1000);
        run_one(&call, i);
        random_call_free(&call);
    }
    printf("cases: %d windows, %zu boxes\n", CALLS, fake_pieces - before);
}

/* Results in pageable memory of data on the device: no memory is asked for, and the call has waited. */
static void scalars_need_no_memory(void **state) {
    (void)state;
    float *in = device_memory(1000 * sizeof *in);
    float most = 0;
    int64_t place = -1;
    for (int i = 0; i < 1000; i++)
        in[i] = (float)((i * 7) % 1000);
    const gp_array view = gp_vector(GP_F32, in, 1000);
    const gp_result results[] = {gp_want(GP_REDUCE_MAX, gp_scalar(GP_F32, &most)),
                                 gp_want(GP_REDUCE_ARGMAX, gp_scalar(GP_S64, &place))};
    const int live = fake.live;
    assert_int_equal(gp_reduce(fake_context, &view, results, 2), GP_OK);
    assert_true(most == 999 && in[place] == 999);
    assert_int_equal(fake.live, live);
    assert_int_equal(gp_free(fake_context, in), GP_OK);
}

#define TIMES 30 /* whether work is left when a call fails is up to chance */

/* One CUDA call after the other fails; then none. */
static void no_memory_is_said_in_words(void **state) {
    (void)state;
    static float in[4096];
    float sums[64] = {0};
    const gp_array view = gp_matrix(GP_F32, in, 64, 64, 64);
    const gp_result result = gp_want(GP_REDUCE_SUM, gp_matrix(GP_F32, sums, 64, 1, 1));
    for (unsigned i = 0; i < TIMES; i++) {
        bool failed = true;
        fake_streams_be_late(cases_seed() + i);
        for (unsigned k = 1; failed; k++) {
            assert_true(k < 100);
            fake_cuda_arm(k, cudaErrorMemoryAllocation, false);
            const gp_status status = gp_reduce(fake_context, &view, &result, 1);
            failed = fake.failed != NULL;
            if (failed && strcmp(fake.failed, "cudaMalloc") == 0)
                assert_int_equal(status, GP_ERR_MEMORY);
            fake_cuda_arm(0, cudaSuccess, false);
            fake.current = 0; /* the call that puts it back may be the one that fails */
            assert_true(fake_streams_are_idle());
            assert_true(failed || status == GP_OK);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_is_said_in_words), cmocka_unit_test(random_calls),
                                       cmocka_unit_test(random_windows), cmocka_unit_test(scalars_need_no_memory)};
    return cmocka_run_group_tests(tests, fake_open_context, fake_close_context);
}
