/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each CUDA call of a context's life fails in turn, with several codes, once and for good: the right status in words,
 * nothing left allocated, the thread's device as it was, the context usable if the failure passed.
 */
#include "../cases.h"
#include "../check.h"
#include "../stage/fake_cuda.h"

#include <sys/wait.h>
#include <unistd.h>

/* What each code amounts to for a caller. */
static const struct {
    cudaError_t code;
    gp_status status;
} codes[] = {{cudaErrorInvalidValue, GP_ERR_DEVICE},          {cudaErrorMemoryAllocation, GP_ERR_MEMORY},
             {cudaErrorInitializationError, GP_ERR_DRIVER},   {cudaErrorInsufficientDriver, GP_ERR_DRIVER},
             {cudaErrorDevicesUnavailable, GP_ERR_NO_DEVICE}, {cudaErrorNoDevice, GP_ERR_NO_DEVICE},
             {cudaErrorInvalidDevice, GP_ERR_NO_DEVICE},      {cudaErrorNoKernelImageForDevice, GP_ERR_DEVICE},
             {cudaErrorECCUncorrectable, GP_ERR_DEVICE},      {cudaErrorIllegalAddress, GP_ERR_DEVICE},
             {cudaErrorLaunchTimeout, GP_ERR_DEVICE},         {cudaErrorLaunchFailure, GP_ERR_DEVICE},
             {cudaErrorSystemNotReady, GP_ERR_DRIVER},        {cudaErrorUnknown, GP_ERR_DEVICE}};

/* Failures of these need not fail the call: they free, restore, or there is another way. */
static const char forgivable[] =
    " cuPointerGetAttributes cuStreamSynchronize cuStreamIsCapturing cuCtxGetCurrent"
    " cuThreadExchangeStreamCaptureMode cudaFree cudaFreeHost cudaGetDriverEntryPointByVersion"
    " cudaStreamDestroy cudaEventDestroy cudaThreadExchangeStreamCaptureMode cudaStreamIsCapturing"
    " cudaSetDevice cudaHostAlloc ";

static struct {
    gp_backend backend;
    gp_status owed;     /* to the call in which the fault strikes */
    unsigned failures;  /* calls that failed */
    size_t checked;     /* statuses seen, over all lives */
    bool broken;        /* a fault for good: every later call may fail */
    bool staging;       /* a call on host data: it can do with less device memory than it asks for first */
    const char *struck; /* fake.failed before this call */
} life;

static bool may_be_forgiven(const char *name) {
    if (life.staging && fake.code == cudaErrorMemoryAllocation && strcmp(name, "cudaMalloc") == 0)
        return true;
    char word[64];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(forgivable, word) != NULL;
}

/* After each public call: was the fault in it, and if so, did it say so rightly? */
static bool see(gp_status status, int line) {
    bool here = fake.failed && fake.failed != life.struck;
    life.struck = fake.failed;
    life.checked++;
    if (fake.current != 0 && (!fake.failed || strcmp(fake.failed, "cudaSetDevice") != 0) && !fake.for_good)
        fail_msg("line %d: device %d is left current after a failed %s", line, fake.current, fake.failed);
    fake.current = 0;
    if (status == GP_OK) {
        if (here && !may_be_forgiven(fake.failed))
            fail_msg("line %d: success although %s failed", line, fake.failed);
        return true;
    }
    life.failures++;
    if (!fake.failed)
        fail_msg("line %d: status %d with no fault: %s", line, (int)status, gp_last_error());
    bool freed = strcmp(fake.failed, "cudaFree") == 0 && fake.code == cudaErrorInvalidValue;
    if ((here || life.broken) && status != life.owed && !(freed && status == GP_ERR_ARGUMENT))
        fail_msg("line %d: status %d, not %d, after a failed %s: %s", line, (int)status, (int)life.owed, fake.failed,
                 gp_last_error());
    if (!here && !life.broken)
        fail_msg("line %d: still fails after %s failed once: %s", line, fake.failed, gp_last_error());
    if (strlen(gp_last_error()) < 10)
        fail_msg("line %d: \"%s\" does not say what failed", line, gp_last_error());
    return false;
}
#define SEE(call) see(call, __LINE__)

#define ROWS ((size_t)600)
#define COLS ((size_t)700)
#define N (ROWS * COLS)
static int32_t numbers[N];
static float results[2][N];

/* Primitives on device memory, with the result there and on the host; then all on the host, which is staged. */
static void use(gp_context *context, int32_t *in, float *out) {
    int64_t sum;
    float *out2 = out + N;
    void *result = in;
    SEE(gp_copy(context, in, numbers, sizeof numbers));
    SEE(gp_reduce_int(context, GP_REDUCE_SUM, in + 2, N - 2, result));
    SEE(gp_reduce_int(context, GP_REDUCE_MAX, in, N, &sum));
    SEE(gp_sum_and_square_window(context, in, ROWS, COLS, COLS, 15, GP_BORDER_REFLECT, out, out2, COLS));
    SEE(gp_transpose(context, 4, in, ROWS, COLS, COLS, out, ROWS));
    SEE(gp_copy(context, results, out, sizeof results));
    SEE(gp_context_synchronize(context));
    life.staging = true;
    SEE(gp_reduce_int(context, GP_REDUCE_SUM, numbers, N, &sum));
    SEE(gp_sum_and_square_window(context, numbers, ROWS, COLS, COLS, 15, GP_BORDER_ZERO, results[0], results[1],
                                 COLS));
    SEE(gp_transpose(context, 4, numbers, ROWS, COLS, COLS, results[0], ROWS));
    SEE(gp_transpose(context, 4, numbers, ROWS, COLS, COLS, out, ROWS));
    life.staging = false;
}

/* Pinned memory on an AUTO context: the processor computes, once what is on the stream is done. */
static void use_pinned(gp_context *context) {
    int32_t *pinned = fake_cuda_pin(sizeof numbers);
    int64_t sum = 0;
    for (size_t i = 0; i < N; i++)
        pinned[i] = (int32_t)i;
    fake.busy = fake.contextless = true;
    const unsigned waits = fake.waits;
    if (SEE(gp_reduce_int(context, GP_REDUCE_SUM, pinned, N, &sum))) {
        assert_true(fake.waits > waits && !fake.busy);
        assert_true(sum == (int64_t)(N / 2 * (N - 1)));
    }
    if (SEE(gp_transpose(context, 4, pinned, ROWS, COLS, COLS, results[0], ROWS)))
        assert_memory_equal(&results[0][ROWS], &pinned[1], 4);
    fake.busy = false;
    fake_cuda_unpin(pinned);
}

/* A whole life on device 1 while the thread's device is 0. True: the fault struck. */
static bool live(unsigned k, size_t code, bool for_good) {
    gp_options options = {
        .struct_size = sizeof options, .backend = (int32_t)life.backend, .device = 1, .cpu_threads = 1};
    gp_context *context = NULL;
    void *in = NULL, *out = NULL;
    int stream;
    life.owed = codes[code].status;
    life.failures = 0;
    life.struck = NULL;
    life.broken = false;
    fake_cuda_arm(k, codes[code].code, for_good);
    bool made = SEE(gp_context_create(&context, &options));
    life.broken = for_good;
    if (made) {
        bool have = SEE(gp_alloc(context, GP_MEMORY_DEVICE, N * 4, &in));
        have = SEE(gp_alloc(context, GP_MEMORY_DEVICE, 2 * N * 4, &out)) && have;
        if (have)
            use(context, in, out);
        if (life.backend == GP_BACKEND_AUTO)
            use_pinned(context);
        SEE(gp_context_set_stream(context, (struct CUstream_st *)(void *)&stream));
        if (life.backend == GP_BACKEND_AUTO)
            use_pinned(context);
        SEE(gp_context_set_stream(context, NULL));
        if (in)
            SEE(gp_free(context, in));
        if (out)
            SEE(gp_free(context, out));
        gp_context_destroy(context);
        if (!for_good)
            assert_int_equal(fake.current == 0 || strcmp(fake.failed, "cudaSetDevice") == 0, 1);
        fake.current = 0;
    } else {
        assert_null(context);
    }
    return fake.failed != NULL;
}

/* What gp_free() refused to free is the caller's to lose; all else must be gone. */
static void check_nothing_left(unsigned k, bool for_good, int left_by_caller) {
    if (fake.live > left_by_caller)
        fail_msg("call %u (%s)%s: %d things are left", k, fake.failed != NULL ? fake.failed : "none failed",
                 for_good ? " for good" : "", fake.live);
    fake_cuda_forget();
}

static const gp_backend backends[] = {GP_BACKEND_CUDA, GP_BACKEND_AUTO};

static void lives_without_faults(void **state) {
    (void)state;
    static const unsigned launches[] = {7, 4}; /* at least: AUTO computes on host data without */
    for (size_t i = 0; i < COUNT(backends); i++) {
        life.backend = backends[i];
        fake.launches = fake.windows = 0;
        assert_false(live(0, 0, false));
        assert_int_equal(life.failures, 0);
        assert_int_equal(fake.live, 0);
        assert_int_equal(fake.out_of_bounds, 0);
        assert_true(fake.launches >= launches[i]);
        assert_true(fake.windows > 0 && fake.windows < fake.launches); /* on staging memory alone */
    }
}

/* Every call with the first two codes, every fifth with each of the others; where cases are few, every call with the
 * first, every twentieth with each of the others. */
static void each_call_fails(gp_backend backend) {
    const unsigned all = cases_reduced() ? 1 : 2, some = cases_reduced() ? 20 : 5;
    unsigned sites = 0;
    life.backend = backend;
    for (size_t code = 0; code < COUNT(codes); code++) {
        unsigned k = code < all ? 1 : 1 + (unsigned)code % some, step = code < all ? 1 : some;
        for (; live(k, code, false); k += step)
            check_nothing_left(k, false, strcmp(fake.failed, "cudaFree") == 0 || life.failures ? 2 : 0);
        assert_int_equal(life.failures, 0);
        check_nothing_left(k, false, 0);
        sites = code == 0 ? k - 1 : sites;
    }
    printf("cases: %u call sites x %zu codes, %zu statuses looked at\n", sites, COUNT(codes), life.checked);
    assert_true(sites > 100);
}

static void each_call_fails_in_turn(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(backends); i++)
        each_call_fails(backends[i]);
}

static void all_later_calls_fail(gp_backend backend) {
    static const size_t chosen[] = {0, 1};
    life.backend = backend;
    for (size_t i = 0; i < (cases_reduced() ? 1 : COUNT(chosen)); i++) {
        unsigned k = 1;
        for (; live(k, chosen[i], true); k++)
            check_nothing_left(k, true, 2);
        check_nothing_left(k, true, 0);
    }
}

static void all_later_calls_fail_too(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(backends); i++)
        all_later_calls_fail(backends[i]);
}

/* The probe's answer stands for the whole process, so each answer needs a process of its own. */
static void probe_in_child(int driver, int devices, unsigned k, cudaError_t code, gp_status want, const char *word) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CUDA, .device = -1};
        gp_context *context = NULL;
        gp_device_info info = {.struct_size = sizeof info};
        fake.driver = driver;
        fake.devices = devices;
        fake_cuda_arm(k, code, false);
        gp_status status = gp_context_create(&context, &options);
        bool right = status == want && strstr(gp_last_error(), word) != NULL;
        unsigned calls = fake.calls;
        right = right && gp_device_count() == 0 && strstr(gp_last_error(), word) != NULL;
        right = right && gp_context_create(&context, NULL) == GP_OK;
        right = right && gp_context_device(context, &info) == GP_OK && info.backend == GP_BACKEND_CPU;
        right = right && strstr(info.no_gpu_reason, word) != NULL;
        right = right && fake.calls == calls; /* after a failed probe no CUDA call is made */
        gp_context_destroy(context);
        if (!right)
            fprintf(stderr, "driver %d, %d devices, call %u fails with %d: status %d, \"%s\"\n", driver, devices, k,
                    (int)code, (int)status, gp_last_error());
        _exit(right ? 0 : 1);
    }
    int ended = 1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

static void why_no_gpu_is_usable(void **state) {
    (void)state;
    probe_in_child(0, 2, 0, cudaSuccess, GP_ERR_DRIVER, "no NVIDIA driver");
    probe_in_child(12090, 2, 0, cudaSuccess, GP_ERR_DRIVER, "too old");
    probe_in_child(9000, 2, 0, cudaSuccess, GP_ERR_DRIVER, "9.0");
    probe_in_child(CUDART_VERSION, 0, 0, cudaSuccess, GP_ERR_NO_DEVICE, "no CUDA device");
    for (size_t code = 0; code < COUNT(codes); code++) {
        const char *name = cudaGetErrorName(codes[code].code);
        bool none = codes[code].code == cudaErrorNoDevice;
        probe_in_child(CUDART_VERSION, 2, 1, codes[code].code, codes[code].status, name);
        gp_status counting = codes[code].status == GP_ERR_DEVICE ? GP_ERR_DRIVER : codes[code].status;
        probe_in_child(CUDART_VERSION, 2, 2, codes[code].code, counting, none ? "no CUDA device" : name);
    }
}

/* A GPU context of the parent: told apart in the child, which may still destroy it. */
static void a_forked_child_is_told(void **state) {
    (void)state;
    if (SANITIZED_THREADS)
        skip();
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CUDA, .device = 0};
    gp_context *context = NULL;
    void *memory = NULL;
    int64_t sum = 4;
    fake_cuda_forget();
    fake_cuda_arm(0, cudaSuccess, false);
    assert_int_equal(gp_context_create(&context, &options), GP_OK);
    assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, 64, &memory), GP_OK);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        unsigned calls = fake.calls;
        bool right = gp_reduce_int(context, GP_REDUCE_SUM, memory, 4, &sum) == GP_ERR_FORKED && sum == 4;
        right = right && gp_transpose(context, 4, numbers, 2, 2, 2, results, 2) == GP_ERR_FORKED;
        right = right && gp_alloc(context, GP_MEMORY_DEVICE, 4, &memory) == GP_ERR_FORKED;
        right = right && gp_copy(context, memory, numbers, 4) == GP_ERR_FORKED;
        right = right && gp_free(context, memory) == GP_ERR_FORKED;
        right = right && gp_context_synchronize(context) == GP_ERR_FORKED;
        right = right && gp_context_set_stream(context, NULL) == GP_ERR_FORKED;
        gp_context_destroy(context);
        right = right && gp_device_count() == 0 && fake.calls == calls;
        options.backend = GP_BACKEND_CPU;
        right = right && gp_context_create(&context, &options) == GP_OK;
        right = right && gp_reduce_int(context, GP_REDUCE_SUM, numbers, N, &sum) == GP_OK && sum == 0;
        _exit(right ? 0 : 1);
    }
    int ended = 1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_int_equal(gp_free(context, memory), GP_OK);
    gp_context_destroy(context);
    assert_int_equal(fake.live, 0);
}

static gp_context *context_on(gp_backend backend, int32_t device) {
    return make_context(backend, device, 1);
}

static void check_names(gp_status status, const char *name) {
    assert_int_equal(status, GP_ERR_ARGUMENT);
    assert_ptr_equal(strstr(gp_last_error(), name), gp_last_error());
    assert_non_null(strstr(gp_last_error(), "memory of device 0"));
}

static void memory_of_another_device_is_named(void **state) {
    (void)state;
    fake_cuda_arm(0, cudaSuccess, false);
    gp_context *other = context_on(GP_BACKEND_CUDA, 0);
    void *memory = NULL;
    int64_t sum = 5;
    assert_int_equal(gp_alloc(other, GP_MEMORY_DEVICE, N * 4, &memory), GP_OK);
    for (size_t i = 0; i < COUNT(backends); i++) {
        gp_context *context = context_on(backends[i], 1);
        check_names(gp_reduce_int(context, GP_REDUCE_SUM, memory, N, &sum), "in: ");
        check_names(gp_reduce_int(context, GP_REDUCE_SUM, numbers, N, memory), "out: ");
        check_names(gp_sum_and_square_window(context, memory, ROWS, COLS, COLS, 15, GP_BORDER_ZERO, results[0],
                                             results[1], COLS),
                    "image: ");
        check_names(gp_sum_and_square_window(context, numbers, ROWS, COLS, COLS, 15, GP_BORDER_ZERO, memory,
                                             results[1], COLS),
                    "sum: ");
        check_names(gp_sum_and_square_window(context, numbers, ROWS, COLS, COLS, 15, GP_BORDER_ZERO, results[0],
                                             memory, COLS),
                    "square: ");
        check_names(gp_transpose(context, 4, numbers, ROWS, COLS, COLS, memory, ROWS), "out: ");
        check_names(gp_copy(context, memory, numbers, 4), "to: ");
        check_names(gp_copy(context, results, memory, 4), "from: ");
        assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, memory, 0, &sum), GP_OK);
        assert_int_equal(sum, 0);
        sum = 5;
        gp_context_destroy(context);
    }
    assert_int_equal(gp_free(other, memory), GP_OK);
    gp_context_destroy(other);
}

/* Pinned memory is waited for in any thread, in fewer calls where the context's device is in use. */
static void pinned_memory_is_waited_for(void **state) {
    (void)state;
    unsigned calls[4];
    gp_context *context = context_on(GP_BACKEND_AUTO, 1);
    int32_t *pinned = fake_cuda_pin(64);
    memset(pinned, 0, 64);
    fake.mode = cudaStreamCaptureModeGlobal;
    for (int i = 0; i < 4; i++) {
        int64_t sum = 5;
        fake_cuda_arm(0, cudaSuccess, false);
        fake.current = i % 2;
        fake.contextless = i / 2;
        fake.busy = true;
        assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, pinned, 16, &sum), GP_OK);
        calls[i] = fake.calls;
        assert_true(sum == 0 && !fake.busy && fake.mode == cudaStreamCaptureModeGlobal && fake.current == i % 2);
        fake.capturing = true;
        assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, pinned, 16, &sum), GP_ERR_DEVICE);
        fake.capturing = fake.contextless = false;
    }
    assert_true(calls[1] < calls[0] && calls[1] < calls[2] && calls[1] < calls[3]);
    fake.current = 0;
    fake_cuda_unpin(pinned);
    gp_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_no_gpu_is_usable), /* first: before this process has its answer */
        cmocka_unit_test(lives_without_faults),    cmocka_unit_test(memory_of_another_device_is_named),
        cmocka_unit_test(each_call_fails_in_turn), cmocka_unit_test(all_later_calls_fail_too),
        cmocka_unit_test(a_forked_child_is_told),  cmocka_unit_test(pinned_memory_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
