/* SPDX-License-Identifier: Apache-2.0 */
/* On a GPU: streams, graphs, the program's own CUDA state, threads, fork. */
#include "../../src/host/status.h"
#include "../cases.h"
#include "../gpu.h"
#include "../oracle.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS ((size_t)301)
#define COLS ((size_t)1003)
#define N (ROWS * COLS)

enum { REDUCE = 1, WINDOW = 2, TRANSPOSE = 4, ALL = 7 };

static int32_t numbers[2][N]; /* two inputs, so that a replay cannot pass with the first one's results */

static struct answer {
    int64_t total;
    float sum[N], square[N];
    int32_t turned[N];
} answers[2]; /* to each input */

/* All three primitives on device memory. */
typedef struct job {
    gp_context *context;
    int32_t *in;
    int64_t *total;
    float *sum, *square;
    int32_t *turned;
} job;

static job make_job(gp_context *context) {
    job j = {.context = context, .in = gpu_upload(numbers[0], sizeof numbers[0])};
    CUDA_OK(cudaMalloc((void **)&j.total, 8));
    CUDA_OK(cudaMalloc((void **)&j.sum, N * 4));
    CUDA_OK(cudaMalloc((void **)&j.square, N * 4));
    CUDA_OK(cudaMalloc((void **)&j.turned, N * 4));
    return j;
}

static void free_job(job *j) {
    CUDA_OK(cudaFree(j->in));
    CUDA_OK(cudaFree(j->total));
    CUDA_OK(cudaFree(j->sum));
    CUDA_OK(cudaFree(j->square));
    CUDA_OK(cudaFree(j->turned));
}

static gp_status enqueue_some(const job *j, unsigned which) {
    if (which & REDUCE)
        GP_TRY(gp_reduce_int(j->context, GP_REDUCE_SUM, j->in, N, j->total));
    if (which & WINDOW)
        GP_TRY(gp_sum_and_square_window(j->context, j->in, ROWS, COLS, COLS, 15, GP_BORDER_REFLECT_101, j->sum,
                                        j->square, COLS));
    if (which & TRANSPOSE)
        GP_TRY(gp_transpose(j->context, 4, j->in, ROWS, COLS, COLS, j->turned, ROWS));
    return GP_OK;
}

static gp_status enqueue(const job *j) {
    return enqueue_some(j, ALL);
}

static void find_answers(void) {
    for (int i = 0; i < 2; i++) {
        oracle_reduce(GP_REDUCE_SUM, numbers[i], N, &answers[i].total);
        oracle_window(numbers[i], ROWS, COLS, COLS, 15, GP_BORDER_REFLECT_101, answers[i].sum, answers[i].square,
                      COLS);
        oracle_transpose(4, numbers[i], ROWS, COLS, COLS, answers[i].turned, ROWS);
    }
}

static bool differs(const void *on_device, const void *want, size_t bytes) {
    static char seen[N * 4];
    return cudaMemcpy(seen, on_device, bytes, cudaMemcpyDeviceToHost) != cudaSuccess || memcmp(seen, want, bytes);
}

static size_t some_wrong_results(const job *j, unsigned which, int input) {
    const struct answer *want = &answers[input];
    size_t wrong = 0;
    if (which & REDUCE)
        wrong += differs(j->total, &want->total, 8);
    if (which & WINDOW)
        wrong += differs(j->sum, want->sum, N * 4) + differs(j->square, want->square, N * 4);
    if (which & TRANSPOSE)
        wrong += differs(j->turned, want->turned, N * 4);
    return wrong;
}

static size_t wrong_results(const job *j, int input) {
    return some_wrong_results(j, ALL, input);
}

static void other_streams(void **state) {
    (void)state;
    gp_context *context = gpu_open(GP_BACKEND_CUDA);
    job j = make_job(context);
    for (unsigned flags = cudaStreamDefault; flags <= cudaStreamNonBlocking; flags++) {
        cudaStream_t stream;
        CUDA_OK(cudaStreamCreateWithFlags(&stream, flags));
        assert_int_equal(gp_context_set_stream(context, stream), GP_OK);
        for (int i = 0; i < 20; i++)
            assert_int_equal(enqueue(&j), GP_OK);
        assert_int_equal(gp_context_set_stream(context, NULL), GP_OK);
        assert_int_equal(enqueue(&j), GP_OK);
        assert_int_equal(gp_context_synchronize(context), GP_OK);
        assert_int_equal(wrong_results(&j, 0), 0);
        CUDA_OK(cudaStreamDestroy(stream));
    }
    free_job(&j);
    gp_context_destroy(context);
}

static void captured_and_replayed(void **state) {
    (void)state;
    static const enum cudaStreamCaptureMode modes[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                                       cudaStreamCaptureModeRelaxed};
    gp_context *context = gpu_open(GP_BACKEND_CUDA);
    job j = make_job(context);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    assert_int_equal(gp_context_set_stream(context, stream), GP_OK);
    for (size_t m = 0; m < COUNT(modes); m++) {
        cudaGraph_t graph;
        cudaGraphExec_t replay;
        CUDA_OK(cudaMemcpy(j.in, numbers[0], sizeof numbers[0], cudaMemcpyHostToDevice));
        CUDA_OK(cudaMemset(j.turned, 0, N * 4));
        CUDA_OK(cudaDeviceSynchronize()); /* a copy from pageable memory may return before it has arrived */
        CUDA_OK(cudaStreamBeginCapture(stream, modes[m]));
        assert_int_equal(enqueue(&j), GP_OK);
        int64_t on_host = 3;
        assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, numbers[0], N, &on_host), GP_ERR_DEVICE);
        assert_int_equal(gp_context_synchronize(context), GP_ERR_DEVICE);
        assert_int_equal(on_host, 3);
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
        CUDA_OK(cudaGraphInstantiate(&replay, graph, 0));
        for (int i = 0; i < 50; i++) {
            CUDA_OK(cudaMemcpy(j.in, numbers[i % 2], sizeof numbers[0], cudaMemcpyHostToDevice));
            CUDA_OK(cudaDeviceSynchronize());
            CUDA_OK(cudaGraphLaunch(replay, stream));
            CUDA_OK(cudaStreamSynchronize(stream));
            if (i < 4 || i > 47)
                assert_int_equal(wrong_results(&j, i % 2), 0);
        }
        CUDA_OK(cudaGraphExecDestroy(replay));
        CUDA_OK(cudaGraphDestroy(graph));
        assert_int_equal(enqueue(&j), GP_OK);
        assert_int_equal(gp_context_synchronize(context), GP_OK);
        assert_int_equal(wrong_results(&j, 1), 0);
    }
    assert_int_equal(gp_context_set_stream(context, NULL), GP_OK);
    CUDA_OK(cudaStreamDestroy(stream));
    free_job(&j);
    gp_context_destroy(context);
}

/* The input changes between replays, and so must the results. */
static void replayed_a_thousand_times(gp_context *context, cudaStream_t stream, unsigned which) {
    const int replays = cases_reduced() ? 4 : 1000;
    job j = make_job(context);
    int32_t *const inputs[2] = {gpu_upload(numbers[0], sizeof numbers[0]), gpu_upload(numbers[1], sizeof numbers[1])};
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(enqueue_some(&j, which), GP_OK);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&replay, graph, 0));
    CUDA_OK(cudaGraphDestroy(graph));
    for (int i = 0; i < replays; i++) {
        CUDA_OK(cudaMemcpyAsync(j.in, inputs[i % 2], sizeof numbers[0], cudaMemcpyDeviceToDevice, stream));
        CUDA_OK(cudaGraphLaunch(replay, stream));
        if (i < 3 || i % 97 == 0 || i == replays - 1) {
            CUDA_OK(cudaStreamSynchronize(stream));
            assert_int_equal(some_wrong_results(&j, which, i % 2), 0);
        }
    }
    printf("cases: %d replays of%s%s%s\n", replays, which & REDUCE ? " reduce" : "", which & WINDOW ? " window" : "",
           which & TRANSPOSE ? " transpose" : "");
    CUDA_OK(cudaGraphExecDestroy(replay));
    CUDA_OK(cudaFree(inputs[0]));
    CUDA_OK(cudaFree(inputs[1]));
    free_job(&j);
}

static void each_primitive_replayed(void **state) {
    (void)state;
    static const unsigned graphs[] = {REDUCE, WINDOW, TRANSPOSE, ALL};
    gp_context *context = gpu_open(GP_BACKEND_CUDA);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    assert_int_equal(gp_context_set_stream(context, stream), GP_OK);
    for (size_t i = 0; i < COUNT(graphs); i++)
        replayed_a_thousand_times(context, stream, graphs[i]);
    gp_context_destroy(context);
    CUDA_OK(cudaStreamDestroy(stream));
}

/* The program's unread error is neither taken for a failure of the library nor cleared. */
static void a_stale_error_stays_the_programs(void **state) {
    (void)state;
    assert_int_not_equal(cudaSetDevice(12345), cudaSuccess);
    cudaError_t stale = cudaPeekAtLastError();
    assert_int_not_equal(stale, cudaSuccess);
    gp_context *context = gpu_open(GP_BACKEND_CUDA);
    void *memory = NULL;
    int64_t total = 0, right = 0;
    oracle_reduce(GP_REDUCE_SUM, numbers[0], N, &right);
    assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, N * 4, &memory), GP_OK);
    assert_int_equal(gp_copy(context, memory, numbers[0], N * 4), GP_OK);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, memory, N, &total), GP_OK);
    assert_true(total == right);
    assert_int_equal(gp_context_synchronize(context), GP_OK);
    assert_int_equal(cudaPeekAtLastError(), stale);
    assert_int_equal(gp_free(context, memory), GP_OK);
    gp_context_destroy(context);
    assert_int_equal(cudaGetLastError(), stale);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

/* With two GPUs or more: a context of the other one leaves the thread's current device alone. */
static void the_current_device_is_left(void **state) {
    (void)state;
    int count = gp_device_count(), device = -1;
    for (int current = 0; current < count; current++) {
        CUDA_OK(cudaSetDevice(current));
        gp_options options = {
            .struct_size = sizeof options, .backend = GP_BACKEND_CUDA, .device = (current + 1) % count};
        gp_context *context = NULL;
        void *memory = NULL;
        int64_t total = 0, right = 0;
        oracle_reduce(GP_REDUCE_SUM, numbers[0], N, &right);
        assert_int_equal(gp_context_create(&context, &options), GP_OK);
        assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, N * 4, &memory), GP_OK);
        assert_int_equal(gp_copy(context, memory, numbers[0], N * 4), GP_OK);
        assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, memory, N, &total), GP_OK);
        assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, numbers[0], N, &total), GP_OK);
        assert_true(total == right);
        assert_int_equal(gp_free(context, memory), GP_OK);
        gp_context_destroy(context);
        CUDA_OK(cudaGetDevice(&device));
        assert_int_equal(device, current);
    }
    CUDA_OK(cudaSetDevice(0));
    printf("cases: %d devices%s\n", count, count < 2 ? "; no second one: nothing proved about switching" : "");
}

static void *work_in_a_thread(void *wrong) {
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CUDA, .device = -1};
    const int lives = cases_reduced() ? 1 : 4, calls = cases_reduced() ? 3 : 25;
    for (int i = 0; i < lives; i++) {
        gp_context *context = NULL;
        int64_t total = 0, right = 0;
        oracle_reduce(GP_REDUCE_SUM, numbers[i % 2], N, &right);
        if (gp_context_create(&context, &options) != GP_OK) {
            *(size_t *)wrong += 1;
            return NULL;
        }
        for (int k = 0; k < calls; k++) {
            gp_status status = gp_reduce_int(context, GP_REDUCE_SUM, numbers[i % 2], N, &total);
            *(size_t *)wrong += status != GP_OK || total != right;
        }
        gp_context_destroy(context);
    }
    return NULL;
}

/*
 * At once, save on the reduced list: with two threads at once racecheck stood still in some runs, at nothing that the
 * program did, as far as could be seen; other tools and plain runs never did.
 */
static void several_contexts_in_several_threads(void **state) {
    (void)state;
    pthread_t threads[6];
    size_t wrong[6] = {0};
    for (size_t i = 0; i < COUNT(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work_in_a_thread, &wrong[i]), 0);
        if (cases_reduced())
            pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        if (!cases_reduced())
            pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
}

static void a_forked_child_is_told(void **state) {
    (void)state;
    gp_context *context = gpu_open(GP_BACKEND_CUDA);
    job j = make_job(context);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(30);
        int64_t total = 5;
        gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CPU, .device = -1};
        bool right = enqueue(&j) == GP_ERR_FORKED && gp_context_synchronize(context) == GP_ERR_FORKED;
        right = right && gp_reduce_int(context, GP_REDUCE_SUM, numbers[0], N, &total) == GP_ERR_FORKED && total == 5;
        gp_context_destroy(context);
        right = right && gp_context_create(&context, &options) == GP_OK;
        right = right && gp_reduce_int(context, GP_REDUCE_SUM, numbers[0], N, &total) == GP_OK && total != 5;
        _exit(right ? 0 : 1);
    }
    int ended = 1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_int_equal(enqueue(&j), GP_OK);
    assert_int_equal(gp_context_synchronize(context), GP_OK);
    assert_int_equal(wrong_results(&j, 0), 0);
    free_job(&j);
    gp_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_streams),
        cmocka_unit_test(captured_and_replayed),
        cmocka_unit_test(each_primitive_replayed),
        cmocka_unit_test(a_stale_error_stays_the_programs),
        cmocka_unit_test(the_current_device_is_left),
        cmocka_unit_test(several_contexts_in_several_threads),
        cmocka_unit_test(a_forked_child_is_told),
    };
    if (gpu_is_missing())
        return 77;
    cases_fill(numbers[0], N, DATA_RANDOM, cases_seed());
    cases_fill(numbers[1], N, DATA_EXTREMES, cases_seed());
    find_answers();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
