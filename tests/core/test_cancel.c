/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that is cancelled within a call ends after it. Each thread here cancels itself beforehand, and is then to
 * come through the calls that wait; with the toolkit on made-up GPUs too, whose functions are cancellation points.
 */
#include "../../src/host/cpu/threads.h"
#include "../check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#ifdef CANCEL_ON_FAKE_GPU
#include "../stage/fake_cuda.h"
#endif

enum { PARTS = 3, ROWS = 64, COLS = 1000 };

/* How far the thread came. */
static struct {
    int step;
    gp_status worst;
    atomic_uint parts_done;
} seen;

static void see(gp_status status) {
    seen.step++;
    seen.worst = status != GP_OK ? status : seen.worst;
}

/* The caller's part is done at once: it waits for the others, asleep. */
static void sleep_a_while(void *work, unsigned part, unsigned parts) {
    const struct timespec while_away = {.tv_nsec = 100000000};
    (void)work;
    (void)parts;
    if (part > 0)
        nanosleep(&while_away, NULL);
    seen.parts_done++;
}

static void call_everything(gp_backend backend) {
    static int32_t in[ROWS * COLS], turned[ROWS * COLS];
    const gp_options options = {.struct_size = sizeof options, .backend = (int32_t)backend, .device = -1};
    gp_context *context = NULL;
    void *memory = NULL;
    int64_t sum;
    see(gp_context_create(&context, &options));
    gp_threads_run(context, PARTS, sleep_a_while, NULL);
    see(gp_context_set_stream(context, NULL));
    see(gp_reduce_int(context, GP_REDUCE_SUM, in, ROWS * COLS, &sum));
    see(gp_transpose(context, sizeof *in, in, ROWS, COLS, COLS, turned, ROWS));
    see(gp_alloc(context, GP_MEMORY_DEVICE, sizeof in, &memory));
    see(gp_copy(context, memory, in, sizeof in));
    see(gp_context_synchronize(context));
    see(gp_free(context, memory));
    gp_context_destroy(context);
    seen.step++;
    seen.step += gp_device_count() >= 0;
}

static void *cancelled(void *backend) {
    pthread_cancel(pthread_self());
    call_everything(*(const gp_backend *)backend);
    pthread_testcancel();
    return backend;
}

static void check(gp_backend backend) {
    pthread_t thread;
    void *end = NULL;
    memset(&seen, 0, sizeof seen);
    assert_int_equal(pthread_create(&thread, NULL, cancelled, &backend), 0);
    assert_int_equal(pthread_join(thread, &end), 0);
    assert_ptr_equal(end, PTHREAD_CANCELED);
    assert_int_equal(seen.step, 10);
    assert_int_equal(seen.parts_done, PARTS);
    assert_int_equal(seen.worst, GP_OK);
}

static void calls_end_before_their_cancelled_thread(void **state) {
    (void)state;
    check(GP_BACKEND_CPU);
    check(GP_BACKEND_AUTO);
#ifdef CANCEL_ON_FAKE_GPU
    check(GP_BACKEND_CUDA);
    assert_int_equal(fake.live, 0);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_end_before_their_cancelled_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
