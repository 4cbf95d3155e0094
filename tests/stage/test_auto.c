/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AUTO contexts on a made-up GPU: a call's place follows from where its data lives and what is pinned, from nothing
 * that happened before. Link as fake_cuda.h says, with fake_pieces.c.
 */
#include "../cases.h"
#include "../check.h"
#include "fake_cuda.h"
#include "fake_pieces.h"

#include <fenv.h>
#include <string.h>

#define CALLS 1000
#define SIDE_MAX ((size_t)300)

/* Memory of each kind, of the largest size that a call needs. */
enum { PAGEABLE, PINNED, DEVICE, KINDS };
static char *in[KINDS], *out[KINDS];
static char pageable[2][SIDE_MAX * SIDE_MAX * 8];

typedef struct asked {
    int operation, in, out, pin; /* operations 0 to 2; pin: 0 none, 1 processor, 2 GPU */
    size_t side;
} asked;

static gp_context *open_auto(void) {
    return make_context(GP_BACKEND_AUTO, 1, 2);
}

static void make_memory(gp_context *context) {
    for (int i = 0; i < 2; i++) {
        char **side = i == 0 ? in : out;
        side[PAGEABLE] = pageable[i];
        void *memory;
        assert_int_equal(gp_alloc(context, GP_MEMORY_HOST, sizeof pageable[i], &memory), GP_OK);
        side[PINNED] = memory;
        assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, sizeof pageable[i], &memory), GP_OK);
        side[DEVICE] = memory;
    }
}

static void free_memory(gp_context *context) {
    for (int i = 0; i < 2; i++)
        for (int kind = PINNED; kind < KINDS; kind++)
            assert_int_equal(gp_free(context, (i == 0 ? in : out)[kind]), GP_OK);
}

static gp_status call(gp_context *context, const asked *a) {
    static const char *const rows[][3] = {{NULL, "reduce_cpu", "reduce_grid"},
                                          {NULL, "window_cpu", "window_naive"},
                                          {NULL, "transpose_cpu", "transpose_naive"}};
    const size_t side = a->side;
    assert_int_equal(gp_context_pin_kernel(context, rows[a->operation][a->pin], 0), GP_OK);
    if (a->operation == 0)
        return gp_reduce_int(context, GP_REDUCE_SUM, (int32_t *)in[a->in], side * side, (int64_t *)out[a->out]);
    if (a->operation == 1)
        return gp_sum_and_square_window(context, (int32_t *)in[a->in], side, side, side, 15, GP_BORDER_ZERO,
                                        (float *)out[a->out], NULL, side);
    return gp_transpose(context, 8, in[a->in], side, side, side, out[a->out], side);
}

/* By the words of the header: what lies on the GPU decides, then what is pinned, then host memory. */
static bool on_gpu(const asked *a) {
    return a->in == DEVICE || a->out == DEVICE || a->pin == 2;
}

static char place(gp_context *context, const asked *a) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    const gp_status status = call(context, a);
    if (on_gpu(a) && a->pin == 1) { /* the pinned kernel cannot reach the data */
        assert_int_equal(status, GP_ERR_NO_KERNEL);
        (void)gp_context_pin_kernel(context, NULL, 0);
        return 'n';
    }
    assert_int_equal(status, GP_OK);
    assert_int_equal(gp_context_plan(context, &plan), GP_OK);
    assert_int_equal(plan.backend, on_gpu(a) ? GP_BACKEND_CUDA : GP_BACKEND_CPU);
    assert_int_equal(gp_context_pin_kernel(context, NULL, 0), GP_OK);
    return on_gpu(a) ? 'g' : 'p';
}

static void same_places_in_any_order(void **state) {
    (void)state;
    static asked list[CALLS];
    static char first[CALLS], second[CALLS];
    uint64_t seed = cases_seed();
    for (size_t i = 0; i < CALLS; i++)
        list[i] = (asked){(int)(cases_random(&seed) % 3), (int)(cases_random(&seed) % KINDS),
                          (int)(cases_random(&seed) % KINDS), (int)(cases_random(&seed) % 8 % 3),
                          1 + cases_random(&seed) % SIDE_MAX};
    gp_context *forwards = open_auto(), *backwards = open_auto();
    make_memory(forwards);
    for (size_t i = 0; i < CALLS; i++)
        first[i] = place(forwards, &list[i]);
    for (size_t i = CALLS; i-- > 0;)
        second[i] = place(backwards, &list[i]);
    assert_memory_equal(first, second, CALLS);
    assert_true(memchr(first, 'g', CALLS) && memchr(first, 'p', CALLS) && memchr(first, 'n', CALLS));
    free_memory(forwards);
    gp_context_destroy(forwards);
    gp_context_destroy(backwards);
}

/* A stream that is being captured changes nothing of a call that the processor does on pageable memory. */
static void capture_does_not_move_a_call(void **state) {
    (void)state;
    const asked host = {0, PAGEABLE, PAGEABLE, 0, 100}, device = {0, DEVICE, DEVICE, 0, 100};
    gp_context *context = open_auto();
    make_memory(context);
    fake.capturing = true;
    assert_int_equal(place(context, &host), 'p');
    assert_int_equal(place(context, &device), 'g');
    fake.capturing = false;
    free_memory(context);
    gp_context_destroy(context);
}

static void memory_is_of_the_kind_asked_for(void **state) {
    (void)state;
    const int live = fake.live;
    gp_context *context = open_auto();
    void *memory = NULL;
    int numbers[16];
    assert_int_equal(gp_alloc(context, (gp_memory)2, 64, &memory), GP_ERR_ARGUMENT);
    assert_non_null(strstr(gp_last_error(), "memory"));
    for (int kind = GP_MEMORY_DEVICE; kind <= GP_MEMORY_HOST; kind++) {
        struct cudaPointerAttributes attributes = {0};
        assert_int_equal(gp_alloc(context, (gp_memory)kind, 1000, &memory), GP_OK);
        assert_true(fake_cuda_memory(memory, &attributes));
        assert_int_equal(attributes.type, kind == GP_MEMORY_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice);
        assert_int_equal(gp_free(context, memory), GP_OK);
    }
    fake.no_pinned = true;
    assert_int_equal(gp_alloc(context, GP_MEMORY_HOST, 1 << 20, &memory), GP_ERR_MEMORY);
    fake.no_pinned = false;
    assert_int_equal(gp_free(context, numbers), GP_ERR_ARGUMENT);
    gp_context_destroy(context);
    assert_int_equal(fake.live, live);
}

/* The made-up functions compute what is inexact, as the driver does. */
static void nothing_inexact_signals(void **state) {
    (void)state;
#if defined(__x86_64__)
    gp_context *context = open_auto();
    const asked on_gpu = {.operation = 2, .in = DEVICE, .out = DEVICE, .pin = 2, .side = 16};
    void *memory = NULL;
    char bytes[64] = {0};
    make_memory(context);
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
    const gp_status status[] = {gp_alloc(context, GP_MEMORY_DEVICE, sizeof bytes, &memory),
                                gp_copy(context, memory, bytes, sizeof bytes),
                                gp_context_set_stream(context, NULL),
                                call(context, &on_gpu),
                                gp_context_synchronize(context),
                                gp_free(context, memory)};
    const int enabled = fedisableexcept(FE_ALL_EXCEPT);
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        assert_int_equal(status[i], GP_OK);
    assert_int_equal(enabled, FE_ALL_EXCEPT);
    free_memory(context);
    gp_context_destroy(context);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_places_in_any_order), cmocka_unit_test(nothing_inexact_signals),
        cmocka_unit_test(capture_does_not_move_a_call), cmocka_unit_test(memory_is_of_the_kind_asked_for)};
    fake_streams_be_late(cases_seed());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
