/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AUTO contexts on a made-up GPU: where calls on host data go, what they teach, what the driver is asked. Link as
 * fake_cuda.h says, with fake_pieces.c.
 */
#include "../../src/device/gpu.h"
#include "../../src/device/stage/stage.h"
#include "../check.h"
#include "fake_cuda.h"

#include <string.h>

#define SIDE ((size_t)1500) /* 9 MB: large enough to be asked where it is to be computed */
static int32_t numbers[SIDE * SIDE], turned[SIDE * SIDE];

static gp_context *open_promised(uint32_t promises) {
    gp_options options = {.struct_size = sizeof options, .device = 1, .cpu_threads = 2, .promises = promises};
    gp_context *made = NULL;
    assert_int_equal(gp_context_create(&made, &options), GP_OK);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        numbers[i] = (int32_t)i;
    return made;
}

static gp_context *open_auto(void) {
    return open_promised(0);
}

/* True: pieces were staged. */
static bool turn_on(gp_context *made, gp_status *status) {
    const size_t before = fake_pieces;
    memset(turned, 0x11, sizeof turned);
    *status = gp_transpose(made, 4, numbers, SIDE, SIDE, SIDE, turned, SIDE);
    for (size_t i = 0; *status == GP_OK && i < SIDE * SIDE; i++)
        assert_int_equal(turned[i % SIDE * SIDE + i / SIDE], numbers[i]);
    return fake_pieces > before;
}

/* The processor's time of such calls, as if it had done them. */
static void teach(gp_context *made, double seconds, int times) {
    gp_problem p;
    assert_int_equal(gp_problem_transpose(&p, 4, numbers, SIDE, SIDE, SIDE, turned, SIDE), GP_OK);
    const gp_traffic t = {sizeof numbers, sizeof turned, 2 * sizeof numbers};
    const gp_place place = gp_place_choose(&p, &t, &made->rates);
    for (int i = 0; i < times; i++)
        gp_rates_note(&made->rates, &place, &p, seconds);
}

static void auto_goes_where_it_is_faster(void **state) {
    (void)state;
    const gp_bus fast = {1e15, 1e15, 1e15, 1e-9, 1e15};
    char text[8192];
    gp_status status;
    gp_context *made = open_auto();
    assert_false(turn_on(made, &status));
    made->rates.bus = fast;
    teach(made, 10, GP_PLACE_SAMPLES);
    assert_true(turn_on(made, &status));
    assert_int_equal(status, GP_OK);
    assert_in_range(gp_context_explain(made, text, sizeof text), 1, sizeof text - 1);
    assert_non_null(strstr(text, "host data: on the GPU"));
    const gp_pace *staged = &made->rates.pace[GP_SPACE_GPU][made->place.class_number];
    for (int i = 0; i < 12 && staged->samples == 0; i++) /* the first prepare, and touch new memory */
        assert_true(turn_on(made, &status));
    assert_true(staged->samples > 0 && staged->median > 0);
    fake.capturing = true; /* nothing can be staged: the processor does it */
    assert_false(turn_on(made, &status));
    assert_int_equal(status, GP_OK);
    fake.capturing = false;
    assert_int_equal(gp_context_pin_kernel(made, "transpose_cpu", 0), GP_OK);
    assert_false(turn_on(made, &status));
    gp_context_destroy(made);
}

/* What calls teach: after some the processor's rate is known, and the bus's is measured if that is slow. */
static void auto_learns(void **state) {
    (void)state;
    gp_status status;
    gp_context *made = open_auto();
    made->rates.bus_tried = made->rates.pack_tried = true;
    for (int i = 0; i < 12 && !(made->place.processor_seconds > 0); i++)
        assert_false(turn_on(made, &status));
    assert_true(made->place.processor_seconds > 0 && made->place.processor_seconds < 10);
    gp_context_destroy(made);

    made = open_auto();
    teach(made, 1e3, GP_PLACE_SAMPLES);
    fake.capturing = true;
    assert_false(turn_on(made, &status)); /* not measured now */
    assert_false(made->rates.bus_tried);
    fake.capturing = false;
    assert_true(turn_on(made, &status)); /* the made-up bus beats 1000 seconds */
    const gp_bus *bus = &made->rates.bus;
    assert_true(bus->up > 0 && bus->down > 0 && bus->both > 0 && bus->call > 0 && bus->pack > 0);
    bool quiet = true;
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++)
        quiet = quiet && atomic_load(&made->gpu->stage->input.chunk[i].left) == 0;
    assert_true(quiet);
    const gp_bus first = *bus;
    assert_true(turn_on(made, &status));
    assert_memory_equal(bus, &first, sizeof first);
    gp_context_destroy(made);
}

/* A failed measurement leaves the call to the processor; another failure fails it. Nothing is left either way. */
static void auto_measures_in_vain(void **state) {
    (void)state;
    const int live = fake.live;
    unsigned done = 0, failed = 0;
    for (unsigned k = 1;; k++) {
        gp_status status;
        gp_context *made = open_auto();
        teach(made, 1e3, GP_PLACE_SAMPLES);
        fake_cuda_arm(k, cudaErrorIllegalAddress, false);
        (void)turn_on(made, &status);
        const bool struck = fake.failed != NULL;
        fake_cuda_arm(0, cudaSuccess, false);
        assert_true(status == GP_OK || status == GP_ERR_DEVICE);
        done += status == GP_OK;
        failed += status != GP_OK;
        gp_context_destroy(made);
        fake.current = 0;
        assert_int_equal(fake.live, live);
        if (!struck)
            break;
    }
    assert_true(done > 20 && failed > 20);
    gp_status status;
    gp_context *made = open_auto();
    teach(made, 1e3, GP_PLACE_SAMPLES);
    fake.no_pinned = true;
    assert_false(turn_on(made, &status));
    assert_int_equal(status, GP_OK);
    assert_true(made->rates.bus_tried);
    fake.no_pinned = false;
    gp_context_destroy(made);
}

/* A call that only waits for the stream does not take the report of an earlier sum's overflow. */
static void auto_leaves_reports_alone(void **state) {
    (void)state;
    int64_t sum = 0;
    gp_context *made = open_auto();
    int32_t *pinned = fake_cuda_pin(400);
    memset(pinned, 0, 400);
    made->gpu->slot->overflow = 1;
    assert_int_equal(gp_reduce_int(made, GP_REDUCE_SUM, pinned, 100, &sum), GP_OK);
    assert_int_equal(gp_context_synchronize(made), GP_ERR_OVERFLOW);
    assert_int_equal(gp_context_synchronize(made), GP_OK);
    fake_cuda_unpin(pinned);
    gp_context_destroy(made);
}

/* Kernels, pointers and streams asked about by a sum of 100 on pageable, then on pinned memory of a busy stream. */
static unsigned questions(gp_context *made) {
    int32_t *pinned = fake_cuda_pin(400);
    int64_t sums[2] = {0};
    for (int i = 0; i < 100; i++)
        pinned[i] = numbers[i];
    fake_cuda_arm(0, cudaSuccess, false);
    fake.busy = true;
    assert_int_equal(gp_reduce_int(made, GP_REDUCE_SUM, numbers, 100, &sums[0]), GP_OK);
    assert_int_equal(gp_reduce_int(made, GP_REDUCE_SUM, pinned, 100, &sums[1]), GP_OK);
    fake.busy = false;
    const unsigned calls = fake.calls;
    assert_true(sums[0] == 4950 && sums[1] == 4950);
    fake_cuda_unpin(pinned);
    return calls;
}

/* Only AUTO heeds the promise, and a pinned kernel of the GPU's is used all the same. */
static void promised_host_data_is_not_asked_about(void **state) {
    (void)state;
    gp_context *made = open_auto();
    assert_true(questions(made) > 4);
    gp_context_destroy(made);
    made = open_promised(GP_PROMISE_HOST_DATA);
    assert_int_equal(questions(made), 0);
    assert_int_equal(gp_context_pin_kernel(made, "reduce_cpu", 0), GP_OK);
    assert_int_equal(questions(made), 0);
    assert_int_equal(gp_context_pin_kernel(made, "reduce_block", 0), GP_OK);
    const size_t before = fake_pieces;
    assert_true(questions(made) > 4);
    assert_int_equal(fake_pieces, before + 2);
    gp_context_destroy(made);
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CUDA, .device = 1, .cpu_threads = 1};
    options.promises = GP_PROMISE_HOST_DATA;
    assert_int_equal(gp_context_create(&made, &options), GP_OK);
    assert_true(questions(made) > 4);
    gp_context_destroy(made);
}

/* Waits for the stream that a call of 128 KiB on pinned memory takes, whose kind it has to ask for. */
static unsigned waits(gp_context *made) {
    const size_t n = 2 * GP_PLACE_LEAST / 4;
    int64_t sum = 0;
    int32_t *pinned = fake_cuda_pin(n * 4);
    memset(pinned, 0, n * 4);
    fake_cuda_arm(0, cudaSuccess, false);
    fake.waits = 0;
    fake.busy = true;
    assert_int_equal(gp_reduce_int(made, GP_REDUCE_SUM, pinned, n, &sum), GP_OK);
    fake.busy = false;
    assert_true(fake.calls > 0);
    fake_cuda_unpin(pinned);
    return fake.waits;
}

static void explained(gp_context *made, const char *words, bool said) {
    char text[8192];
    assert_in_range(gp_context_explain(made, text, sizeof text), 1, sizeof text - 1);
    assert_int_equal(strstr(text, words) != NULL, said);
}

/* Longer calls are: for the choice, which is made as without the promise. Streams are not waited for. */
static void promised_host_data_is_placed_like_other(void **state) {
    (void)state;
    const gp_bus fast = {1e15, 1e15, 1e15, 1e-9, 1e15};
    gp_status status;
    gp_context *made = open_auto();
    assert_int_equal(waits(made), 1);
    gp_context_destroy(made);
    made = open_promised(GP_PROMISE_HOST_DATA);
    assert_int_equal(waits(made), 0);
    assert_false(turn_on(made, &status));
    made->rates.bus = fast;
    teach(made, 10, GP_PLACE_SAMPLES);
    assert_true(turn_on(made, &status));
    assert_int_equal(status, GP_OK);
    explained(made, "host data: on the GPU", true);
    gp_context_destroy(made);

    made = open_promised(GP_PROMISE_HOST_DATA);
    teach(made, GP_PLACE_LEAST_SECONDS / 2, GP_PLACE_SAMPLES_MOST); /* short ones: known to be the processor's */
    made->rates.bus = fast;
    fake_cuda_arm(0, cudaSuccess, false);
    assert_false(turn_on(made, &status));
    assert_true(status == GP_OK && fake.calls == 0);
    explained(made, "host data: on the processor", true);
    explained(made, "too short for the GPU", true);
    assert_int_equal(gp_context_pin_kernel(made, "transpose_cpu", 0), GP_OK);
    assert_false(turn_on(made, &status));
    assert_int_equal(fake.calls, 0);
    explained(made, "host data", false); /* the question did not arise */
    gp_context_destroy(made);
}

/* Nor are calls that the processor is known to do sooner, but for one in a while. */
static void what_is_settled_is_not_asked_about(void **state) {
    (void)state;
    const gp_bus slow = {1e6, 1e6, 1e6, 1, 1e6};
    const gp_bus fast = {1e15, 1e15, 1e15, 1e-9, 1e15};
    gp_place place;
    gp_problem p;
    gp_context *made = open_promised(GP_PROMISE_HOST_DATA);
    teach(made, GP_PLACE_SETTLED_SECONDS / 2, GP_PLACE_SAMPLES_MOST);
    made->rates.bus = slow;
    for (int i = 1; i <= 2 * GP_PLACE_UNASKED; i++) {
        fake_cuda_arm(0, cudaSuccess, false);
        assert_int_equal(gp_transpose(made, 4, numbers, SIDE, SIDE, SIDE, turned, SIDE), GP_OK);
        assert_int_equal(fake.calls > 0, i % GP_PLACE_UNASKED == 0);
    }
    explained(made, "host data: on the processor", true);
    assert_int_equal(gp_problem_transpose(&p, 4, numbers, SIDE, SIDE, SIDE, turned, SIDE), GP_OK);
    assert_true(gp_place_is_settled(&p, &made->rates, &place));
    made->rates.bus = (gp_bus){0}; /* pageable memory, too short for packing to be measured */
    assert_true(gp_place_is_settled(&p, &made->rates, &place));
    made->rates.bus = fast;
    assert_false(gp_place_is_settled(&p, &made->rates, &place));
    made->rates = (gp_rates){.bus = slow};
    teach(made, 2 * GP_PLACE_SETTLED_SECONDS, GP_PLACE_SAMPLES_MOST);
    assert_false(gp_place_is_settled(&p, &made->rates, &place));
    made->rates = (gp_rates){.bus = slow};
    const gp_traffic pinned = {sizeof numbers, sizeof turned, 0};
    const gp_place class_of_pinned = gp_place_choose(&p, &pinned, &made->rates);
    for (int i = 0; i < GP_PLACE_SAMPLES_MOST; i++)
        gp_rates_note(&made->rates, &class_of_pinned, &p, GP_PLACE_SETTLED_SECONDS / 2);
    assert_true(gp_place_is_settled(&p, &made->rates, &place));
    made->rates.bus = (gp_bus){0}; /* the bus is to be measured, once such calls have taken long enough */
    assert_false(gp_place_is_settled(&p, &made->rates, &place));
    gp_context_destroy(made);
}

/* The argument is named, nothing written, and what is told of the last plan stays: device memory where host data was
 * promised. */
static void broken_promises_are_found_in_longer_calls(void **state) {
    (void)state;
    gp_status status;
    void *memory = NULL;
    gp_context *made = open_promised(GP_PROMISE_HOST_DATA);
    assert_int_equal(gp_alloc(made, sizeof numbers, &memory), GP_OK);
    made->rates.bus = (gp_bus){1e15, 1e15, 1e15, 1e-9, 1e15};
    teach(made, 10, GP_PLACE_SAMPLES);
    assert_true(turn_on(made, &status) && status == GP_OK);
    memset(memory, 0x22, sizeof numbers);
    for (int out = 0; out < 2; out++) {
        void *to = out ? memory : (void *)turned;
        const void *from = out ? (const void *)numbers : memory;
        turned[0] = 7;
        assert_int_equal(gp_transpose(made, 4, from, SIDE, SIDE, SIDE, to, SIDE), GP_ERR_ARGUMENT);
        assert_int_equal(strncmp(gp_last_error(), out ? "out: device" : "in: device", out ? 11 : 10), 0);
        assert_true(turned[0] == 7 && *(int32_t *)memory == 0x22222222);
        explained(made, "host data: on the GPU", true);
    }
    assert_int_equal(gp_free(made, memory), GP_OK);
    gp_context_destroy(made);
}

static int nothing_is_left(void **state) {
    (void)state;
    return fake.live == 0 && fake.out_of_bounds == 0 && fake.current == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_goes_where_it_is_faster),
        cmocka_unit_test(auto_learns),
        cmocka_unit_test(auto_measures_in_vain),
        cmocka_unit_test(auto_leaves_reports_alone),
        cmocka_unit_test(promised_host_data_is_not_asked_about),
        cmocka_unit_test(promised_host_data_is_placed_like_other),
        cmocka_unit_test(what_is_settled_is_not_asked_about),
        cmocka_unit_test(broken_promises_are_found_in_longer_calls),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_is_left);
}
