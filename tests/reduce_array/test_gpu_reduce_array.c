/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a GPU: long reductions of every type and data set against the processor's, bit by bit; graphs, streams, managed
 * memory; integers that overflow.
 */
#include "../cases.h"
#include "../gpu.h"
#include "../reduce/data_sets.h"

#define LONG (((size_t)1 << 21) + 77)
#define RESULTS 12
#define FORMS 10 /* of wishes */

static gp_context *gpu, *cpu;
static size_t compared; /* calls with a pinned kernel */

static int open_contexts(void **state) {
    (void)state;
    cases_seed();
    gpu = gpu_open(GP_BACKEND_CUDA);
    cpu = gpu_open(GP_BACKEND_CPU);
    return 0;
}

static int close_contexts(void **state) {
    (void)state;
    gp_context_destroy(gpu);
    gp_context_destroy(cpu);
    return 0;
}

/* What elements of a type are asked for: all that one pass of a kernel of its own can have. */
static size_t wishes(gp_result *results, uint64_t *to, gp_type type, int form) {
    const bool is_float = type >= GP_F16;
    const gp_type sum = is_float ? GP_F64 : GP_S64, one = is_float ? GP_F32 : GP_S64,
                  magnitude = is_float        ? type
                              : type % 2 == 0 ? type - 1
                                              : type;
    const struct {
        int form;
        uint32_t op;
        gp_type type;
    } all[] = {{0, GP_REDUCE_MIN, type},
               {0, GP_REDUCE_MAX, type},
               {0, GP_REDUCE_ARGMIN, GP_S64},
               {0, GP_REDUCE_ARGMAX, GP_U64},
               {0, GP_REDUCE_MAX_ABS, magnitude},
               {1, GP_REDUCE_SUM, sum},
               {1, GP_REDUCE_SUM, GP_F32},
               {1, GP_REDUCE_MEAN, GP_F64},
               {1, GP_REDUCE_MEAN, GP_BF16},
               {1, GP_REDUCE_COUNT, GP_U64},
               {2, GP_REDUCE_SUM_ABS, GP_F64},
               {2, GP_REDUCE_SUM_ABS, GP_F32},
               {3, GP_REDUCE_SUM_SQUARES, GP_F64},
               {3, GP_REDUCE_NORM, GP_F32},
               {3, GP_REDUCE_VARIANCE, GP_F64},
               {3, GP_REDUCE_STDDEV_SAMPLE, GP_F32},
               {4, GP_REDUCE_AND, type},
               {4, GP_REDUCE_OR, type},
               {4, GP_REDUCE_XOR, type},
               {5, GP_REDUCE_COUNT, GP_U64},
               {6, GP_REDUCE_SUM, one},
               {7, GP_REDUCE_MEAN, GP_F32},
               {8, GP_REDUCE_MAX, type},
               {9, GP_REDUCE_MEAN, GP_F32},
               {9, GP_REDUCE_VARIANCE, GP_F32}};
    size_t count = 0;
    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i].form == form && !(form == 4 && is_float)) {
            results[count] = gp_want(all[i].op, gp_scalar(all[i].type, &to[count]));
            count++;
        }
    return count;
}

#define ELEMENTS (((size_t)1 << 22) + 20000) /* enough for units of several columns; and an offset */
#define MATRIX ((size_t)1 << 16)             /* outputs, at most */

/* Each result of each output of a matrix, reduced along an axis. */
static size_t matrix_wishes(gp_result *results, unsigned char *to, gp_type type, int form, size_t rows, size_t cols,
                            unsigned axis) {
    uint64_t unused[RESULTS];
    const size_t count = wishes(results, unused, type, form);
    for (size_t i = 0; i < count; i++) {
        unsigned char *const at = to + i * MATRIX * 8;
        const gp_type of = (gp_type)results[i].to.type;
        results[i].to = axis == 0 ? gp_matrix(of, at, 1, cols, cols) : gp_matrix(of, at, rows, 1, 1);
    }
    return count;
}

/* What a GPU row does with rows and columns of each type, narrow and wide, at 16 bytes and not. */
static void matrices(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1000, 64},   {1001, 7},   {3333, 3},   {64, 2000},   {3, 40000},  {17, 1001},
                                       {500, 256},   {10, 9999},  {9999, 10},  {1, 77},      {77, 1},     {40, 3000},
                                       {1400003, 3}, {600001, 7}, {66001, 63}, {4096, 1000}, {12001, 333}};
    unsigned char *host = calloc(ELEMENTS, 8), *want = calloc(RESULTS * MATRIX, 8),
                  *got = malloc(RESULTS * MATRIX * 8);
    unsigned char *device = NULL, *to = NULL;
    size_t cases = 0;
    assert_true(host != NULL && want != NULL && got != NULL);
    CUDA_OK(cudaMalloc((void **)&device, ELEMENTS * 8));
    CUDA_OK(cudaMalloc((void **)&to, RESULTS * MATRIX * 8));
    for (int type = GP_U8; type <= GP_F64; type++)
        for (size_t i = 0; i < COUNT(shapes); i++) {
            const size_t rows = shapes[i][0], cols = shapes[i][1], bytes = data_set_element((gp_type)type);
            const data_set set = (data_set)(((size_t)type + 5 * i) % DATA_SETS);
            const size_t skipped = i % 3 == 0 || rows * cols > (1 << 20) ? 0 : i % 4;
            if (cases_reduced() && ((size_t)type + i) % 4 != 0)
                continue;
            data_set_fill(host, (gp_type)type, rows * cols + skipped, set, 11 + i);
            CUDA_OK(cudaMemcpy(device, host, (rows * cols + skipped) * bytes, cudaMemcpyHostToDevice));
            for (int form = 0; form < FORMS; form++)
                for (unsigned axis = 0; axis < (rows > MATRIX ? 1 : 2); axis++) {
                    gp_result results[RESULTS];
                    gp_array in = gp_matrix((gp_type)type, host + skipped * bytes, rows, cols, cols);
                    size_t count = matrix_wishes(results, want, (gp_type)type, form, rows, cols, axis);
                    if (count == 0)
                        continue;
                    memset(want, 0, count * MATRIX * 8);
                    const gp_status status = gp_reduce(cpu, &in, results, count);
                    in.data = device + skipped * bytes;
                    CUDA_OK(cudaMemset(to, 0, count * MATRIX * 8));
                    count = matrix_wishes(results, to, (gp_type)type, form, rows, cols, axis);
                    gp_status on_gpu = gp_reduce(gpu, &in, results, count);
                    on_gpu = on_gpu == GP_OK ? gp_context_synchronize(gpu) : on_gpu;
                    assert_int_equal(on_gpu, status);
                    CUDA_OK(cudaMemcpy(got, to, count * MATRIX * 8, cudaMemcpyDeviceToHost));
                    for (size_t r = 0; r < count; r++)
                        if (memcmp(got + r * MATRIX * 8, want + r * MATRIX * 8, MATRIX * 8) != 0)
                            fail_msg("type %d, data set %d, %zu x %zu + %zu over axis %u, op %u to %d", type,
                                     (int)set, rows, cols, skipped, axis, results[r].op, results[r].to.type);
                    cases++;
                }
        }
    printf("cases: %zu matrices\n", cases);
    CUDA_OK(cudaFree(device));
    CUDA_OK(cudaFree(to));
    free(host);
    free(want);
    free(got);
}

#define MANY_ROWS ((size_t)3000018) /* so many tiles that the last are drawn; of floats, some variances are ties */
#define IMAGE(type, data, n) gp_image((gp_type)(type), data, (n)[0], (n)[1], (n)[2], (n)[3])

/* Short rows by the million; columns whose inner reduced axis is shorter than a block has threads for one; pictures
   of few channels, each by itself. */
static void many_rows(void **state) {
    (void)state;
    static const size_t all[][4] = {
        {MANY_ROWS, 1, 3, 3}, {4000, 2, 512, 1100}, {183, 16381, 3, 49143}, {900, 2000, 5, 10000}};
    static const size_t left[][4] = {{MANY_ROWS, 1, 1, 1}, {1, 1, 512, 512}, {183, 1, 3, 3}, {900, 1, 5, 5}};
    static const unsigned asked[][4] = {{GP_F32, GP_F32, GP_REDUCE_MEAN, GP_REDUCE_VARIANCE},
                                        {GP_F32, GP_F32, GP_REDUCE_SUM, GP_REDUCE_SUM},
                                        {GP_F32, GP_F32, GP_REDUCE_MAX, GP_REDUCE_MIN},
                                        {GP_S32, GP_S64, GP_REDUCE_SUM, GP_REDUCE_SUM},
                                        {GP_U8, GP_F32, GP_REDUCE_MEAN, GP_REDUCE_MEAN}};
    const size_t n = MANY_ROWS * 3, bytes = MANY_ROWS * 8;
    unsigned char *host = malloc(n * 4 + 2 * bytes), *device = NULL, *got = malloc(2 * bytes);
    assert_true(host != NULL && got != NULL);
    CUDA_OK(cudaMalloc((void **)&device, n * 4 + 2 * bytes));
    for (size_t i = 0; i < COUNT(all) * COUNT(asked); i++) {
        const unsigned *ask = asked[i / COUNT(all)];
        memset(host, 0, n * 4 + 2 * bytes);
        data_set_fill(host, (gp_type)ask[0], n, DATA_SET_UNIFORM, 5);
        CUDA_OK(cudaMemcpy(device, host, n * 4 + 2 * bytes, cudaMemcpyHostToDevice));
        for (unsigned on = 0; on < 2; on++) {
            unsigned char *const in = on ? device : host, *const to = in + n * 4;
            const gp_array view = IMAGE(ask[0], in, all[i % COUNT(all)]);
            const gp_result rows[] = {gp_want(ask[2], IMAGE(ask[1], to, left[i % COUNT(all)])),
                                      gp_want(ask[3], IMAGE(ask[1], to + bytes, left[i % COUNT(all)]))};
            assert_int_equal(gp_reduce(on ? gpu : cpu, &view, rows, ask[2] == ask[3] ? 1 : 2), GP_OK);
        }
        assert_int_equal(gp_context_synchronize(gpu), GP_OK);
        CUDA_OK(cudaMemcpy(got, device + n * 4, 2 * bytes, cudaMemcpyDeviceToHost));
        assert_memory_equal(got, host + n * 4, 2 * bytes);
    }
    CUDA_OK(cudaFree(device));
    free(host);
    free(got);
}

/* With the kernel pinned, if it does that; NULL: the planner's choice. */
static void compare(const gp_array *in, const void *device, int form, uint64_t *to, const char *label,
                    const char *kernel) {
    uint64_t got[RESULTS] = {0}, want[RESULTS] = {0};
    gp_result results[RESULTS];
    gp_array there = *in;
    there.data = (void *)(uintptr_t)device;
    size_t count = wishes(results, want, (gp_type)in->type, form);
    if (count == 0)
        return;
    const gp_status status = gp_reduce(cpu, in, results, count);
    CUDA_OK(cudaMemset(to, 0, sizeof got));
    CUDA_OK(cudaDeviceSynchronize());
    count = wishes(results, to, (gp_type)in->type, form);
    assert_int_equal(gp_context_pin_kernel(gpu, kernel, 0), GP_OK);
    gp_status on_gpu = gp_reduce(gpu, &there, results, count);
    assert_int_equal(gp_context_pin_kernel(gpu, NULL, 0), GP_OK);
    if (on_gpu == GP_ERR_NO_KERNEL && kernel != NULL)
        return;
    compared += kernel != NULL;
    if (on_gpu == GP_OK)
        on_gpu = gp_context_synchronize(gpu);
    assert_int_equal(on_gpu, status);
    CUDA_OK(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        if (got[i] != want[i])
            fail_msg("%s, %s, op %u to %d: %llx, not %llx", label, kernel != NULL ? kernel : "free", results[i].op,
                     results[i].to.type, (unsigned long long)got[i], (unsigned long long)want[i]);
}

/* The kernels for devices with many lanes of FP64 and with few give the same bits. */
static void long_ones(void **state) {
    (void)state;
    static const char *const kernels[] = {NULL, "reduce_all", "reduce_all_singles"};
    unsigned char *host = calloc(LONG, 8), *device = NULL;
    uint64_t *to = NULL;
    size_t cases = 0;
    assert_non_null(host);
    CUDA_OK(cudaMalloc((void **)&device, LONG * 8));
    CUDA_OK(cudaMalloc((void **)&to, RESULTS * sizeof *to));
    for (int type = GP_U8; type <= GP_F64; type++)
        for (int set = 0; set < DATA_SETS; set++) {
            const size_t bytes = data_set_element((gp_type)type), skipped = cases % 5;
            const gp_array in = gp_vector((gp_type)type, host + skipped * bytes, LONG - skipped - cases % 3);
            char label[160];
            if (cases_reduced() && (type + set) % 4 != 0)
                continue;
            data_set_label((gp_type)type, LONG, (data_set)set, 7, label, sizeof label);
            data_set_fill(host, (gp_type)type, LONG, (data_set)set, 7);
            CUDA_OK(cudaMemcpy(device, host, LONG * bytes, cudaMemcpyHostToDevice));
            for (int form = 0; form < FORMS; form++)
                for (size_t k = 0; k < COUNT(kernels); k++)
                    compare(&in, device + skipped * bytes, form, to, label, kernels[k]);
            cases++;
        }
    printf("cases: %zu data sets of %zu elements, %zu calls with a pinned kernel\n", cases, LONG, compared);
    CUDA_OK(cudaFree(device));
    CUDA_OK(cudaFree(to));
    free(host);
}

#define N 100000

/* Sums, places and rows of a matrix in one call: several passes, and kernels that are launched behind others. */
static gp_status enqueue(const float *in, uint64_t *to) {
    const gp_array view = gp_vector(GP_F32, in, N), columns = gp_matrix(GP_F32, in, N / 100, 100, 100);
    const gp_result results[] = {gp_want(GP_REDUCE_SUM, gp_scalar(GP_F64, to)),
                                 gp_want(GP_REDUCE_ARGMAX, gp_scalar(GP_S64, to + 1)),
                                 gp_want(GP_REDUCE_STDDEV, gp_scalar(GP_F64, to + 2))};
    const gp_result sums = gp_want(GP_REDUCE_SUM, gp_matrix(GP_F64, to + 3, 1, 100, 100));
    const gp_status status = gp_reduce(gpu, &view, results, COUNT(results));
    return status != GP_OK ? status : gp_reduce(gpu, &columns, &sums, 1);
}

static void answers(const float *in, uint64_t *to) {
    gp_context *there = gpu;
    gpu = cpu;
    assert_int_equal(enqueue(in, to), GP_OK);
    gpu = there;
}

static void captured_and_replayed(void **state) {
    (void)state;
    static float numbers[2][N];
    static uint64_t want[2][103], got[103];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    uint64_t *to = NULL;
    for (int i = 0; i < 2; i++) {
        data_set_fill(numbers[i], GP_F32, N, i == 0 ? DATA_SET_60_DECADES : DATA_SET_NORMAL, 3);
        answers(numbers[i], want[i]);
    }
    float *in = gpu_upload(numbers[0], sizeof numbers[0]);
    CUDA_OK(cudaMalloc((void **)&to, sizeof got));
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaDeviceSynchronize());
    assert_int_equal(gp_context_set_stream(gpu, stream), GP_OK);
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(enqueue(in, to), GP_OK);
    assert_int_equal(enqueue(numbers[0], to), GP_ERR_DEVICE); /* host memory */
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&replay, graph, 0));
    for (int i = 0; i < 100; i++) {
        CUDA_OK(cudaMemcpy(in, numbers[i % 2], sizeof numbers[0], cudaMemcpyHostToDevice));
        CUDA_OK(cudaMemset(to, 0xee, sizeof got));
        CUDA_OK(cudaDeviceSynchronize());
        CUDA_OK(cudaGraphLaunch(replay, stream));
        CUDA_OK(cudaStreamSynchronize(stream));
        CUDA_OK(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost));
        assert_memory_equal(got, want[i % 2], sizeof got);
    }
    assert_int_equal(gp_context_set_stream(gpu, NULL), GP_OK);
    CUDA_OK(cudaGraphExecDestroy(replay));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(to));
}

static void managed_memory(void **state) {
    (void)state;
    static uint64_t want[103];
    float *in = NULL;
    uint64_t *to = NULL;
    CUDA_OK(cudaMallocManaged((void **)&in, N * sizeof *in, cudaMemAttachGlobal));
    CUDA_OK(cudaMallocManaged((void **)&to, sizeof want, cudaMemAttachGlobal));
    data_set_fill(in, GP_F32, N, DATA_SET_12_DECADES, 5);
    answers(in, want);
    assert_int_equal(enqueue(in, to), GP_OK);
    assert_int_equal(gp_context_synchronize(gpu), GP_OK);
    assert_memory_equal(to, want, sizeof want);
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(to));
}

static int until_lost; /* launches up to one that fails; 0: none does */

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments);

cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    if (until_lost > 0 && --until_lost == 0)
        return cudaErrorLaunchOutOfResources;
    return __real_cudaLaunchKernelExC(config, function, arguments);
}

#define LINES ((size_t)1000)

/* Means and variances of so many lines of 100, which are listed where they are open. */
static gp_status moments(gp_context *context, const float *in, size_t lines, float *to) {
    const gp_array view = gp_matrix(GP_F32, in, lines, 100, 100);
    const gp_result results[] = {
        gp_want(GP_REDUCE_MEAN | GP_SKIP_NAN, gp_matrix(GP_F32, to, lines, 1, 1)),
        gp_want(GP_REDUCE_VARIANCE | GP_SKIP_NAN, gp_matrix(GP_F32, to + LINES, lines, 1, 1))};
    return gp_reduce(context, &view, results, 2);
}

/* What a kernel left to another that could not be launched is not taken for what the next call leaves. */
static void a_lost_launch_misleads_no_other(void **state) {
    (void)state;
    static float numbers[2][N], want[2 * LINES], got[2 * LINES];
    const size_t lines[][2] = {{LINES, 10}, {LINES, LINES}};
    data_set_fill(numbers[0], GP_F32, N, DATA_SET_60_DECADES, 3);
    for (size_t i = 0; i < N; i++)
        numbers[1][i] = (float)(i % 64);
    float *in = gpu_upload(numbers, sizeof numbers), *to = gpu_upload(want, sizeof want);
    for (size_t i = 0; i < COUNT(lines); i++) {
        memset(want, 0, sizeof want);
        assert_int_equal(moments(cpu, numbers[1], lines[i][1], want), GP_OK);
        until_lost = 2;
        assert_int_not_equal(moments(gpu, in, lines[i][0], to), GP_OK);
        assert_int_equal(until_lost, 0);
        CUDA_OK(cudaDeviceSynchronize());
        CUDA_OK(cudaMemset(to, 0, sizeof got));
        assert_int_equal(moments(gpu, in + N, lines[i][1], to), GP_OK);
        assert_int_equal(gp_context_synchronize(gpu), GP_OK);
        CUDA_OK(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost));
        assert_memory_equal(got, want, sizeof got);
    }
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(to));
}

/* On the device it is told by the next synchronization, on the host by the call. */
static void overflow(void **state) {
    (void)state;
    const uint64_t numbers[] = {UINT64_MAX, 3};
    uint64_t *in = gpu_upload(numbers, sizeof numbers), got = 0, *to = gpu_upload(&got, sizeof got);
    const gp_array view = gp_vector(GP_U64, in, 2);
    const gp_result far = gp_want(GP_REDUCE_SUM, gp_scalar(GP_U64, to)),
                    near = gp_want(GP_REDUCE_SUM, gp_scalar(GP_U64, &got));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gp_reduce(gpu, &view, &far, 1), GP_OK);
        assert_int_equal(gp_reduce(gpu, &view, &near, 1), GP_ERR_OVERFLOW);
        assert_int_equal(got, 2);
        assert_int_equal(gp_context_synchronize(gpu), GP_ERR_OVERFLOW);
        assert_int_equal(gp_context_synchronize(gpu), GP_OK);
        CUDA_OK(cudaMemcpy(&got, to, sizeof got, cudaMemcpyDeviceToHost));
        assert_int_equal(got, 2);
    }
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(to));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overflow),       cmocka_unit_test(captured_and_replayed),
        cmocka_unit_test(managed_memory), cmocka_unit_test(a_lost_launch_misleads_no_other),
        cmocka_unit_test(matrices),       cmocka_unit_test(long_ones),
        cmocka_unit_test(many_rows)};
    if (gpu_is_missing())
        return 77;
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
