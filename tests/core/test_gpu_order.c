/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a GPU: calls on one stream whose data depend on the calls before, none of them waited for, launched one by one
 * and replayed from graphs. Launches may overlap (programmatic dependent launch): a kernel that reads or writes
 * before it has waited for the one before it shows here as a wrong result. And calls of all kinds in any order.
 */
#include "../../src/host/status.h"
#include "../cases.h"
#include "../gpu.h"
#include <math.h>

#define SLOTS 4 /* totals a step */

/*
 * A state that each step turns into the next: transposed, summed up in windows, reduced, and the bytes of the float
 * results scattered over the next state. One element that was stale changes nine tenths and more of the state eight
 * steps on, and of every later one (tried on the processor), so that comparing a late state proves all steps.
 */
typedef struct chain {
    gp_context *context;
    size_t rows, cols, window;
    int32_t *state, *turned;
    float *sum, *square;
    int64_t *totals;
} chain;

static const chain chains[] = {
    {.rows = 97, .cols = 1009, .window = 15},  /* odd pitches: skewed tiles */
    {.rows = 16, .cols = 64, .window = 3},     /* one block each */
    {.rows = 128, .cols = 512, .window = 101}, /* whole vectors */
    {.rows = 33, .cols = 3001, .window = 31},  /* long rows: several tiles each */
};

static size_t area(const chain *c) {
    return c->rows * c->cols;
}

static void *allot(gp_context *context, size_t bytes) {
    void *memory = NULL;
    assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, bytes, &memory), GP_OK);
    return memory;
}

static chain make_chain(const chain *shape, gp_context *context, const int32_t *first) {
    chain c = *shape;
    c.context = context;
    c.state = allot(context, area(&c) * 4);
    c.turned = allot(context, area(&c) * 4);
    c.sum = allot(context, area(&c) * 4);
    c.square = allot(context, area(&c) * 4);
    c.totals = allot(context, SLOTS * 8);
    assert_int_equal(gp_copy(context, c.state, first, area(&c) * 4), GP_OK);
    return c;
}

static void free_chain(chain *c) {
    void *const all[] = {c->state, c->turned, c->sum, c->square, c->totals};
    for (size_t i = 0; i < COUNT(all); i++)
        assert_int_equal(gp_free(c->context, all[i]), GP_OK);
}

#define CALLS_A_STEP 10

/* Sums, then squares become the state; reductions follow each other, as they share the context's workspace. */
static gp_status step(const chain *c) {
    const size_t n = area(c);
    const int32_t *sum_bits = (const int32_t *)(const void *)c->sum;
    const int32_t *square_bits = (const int32_t *)(const void *)c->square;
    GP_TRY(gp_transpose(c->context, 4, c->state, c->rows, c->cols, c->cols, c->turned, c->rows));
    GP_TRY(gp_sum_and_square_window(c->context, c->turned, c->cols, c->rows, c->rows, c->window, GP_BORDER_WRAP,
                                    c->sum, c->square, c->rows));
    GP_TRY(gp_reduce_int(c->context, GP_REDUCE_XOR, sum_bits, n, &c->totals[0]));
    GP_TRY(gp_reduce_int(c->context, GP_REDUCE_SUM, square_bits, n / 2, &c->totals[1]));
    GP_TRY(gp_transpose(c->context, 1, c->sum, c->rows * 4, c->cols, c->cols, c->state, c->rows * 4));
    GP_TRY(gp_sum_and_square_window(c->context, c->state, c->rows, c->cols, c->cols, 2, GP_BORDER_REPLICATE, c->sum,
                                    c->square, c->cols));
    GP_TRY(gp_reduce_int(c->context, GP_REDUCE_SUM, c->state, n, &c->totals[2]));
    GP_TRY(gp_transpose(c->context, 2, c->square, c->rows, c->cols * 2, c->cols * 2, c->turned, c->rows));
    GP_TRY(gp_reduce_int(c->context, GP_REDUCE_MIN, c->turned, n, &c->totals[3]));
    return gp_transpose(c->context, 1, c->turned, c->rows, c->cols * 4, c->cols * 4, c->state, c->rows);
}

/* The state and the totals that both have reached are the same, bit for bit. */
static void compare(const chain *gpu, const chain *processor, unsigned steps) {
    const size_t bytes = area(gpu) * 4;
    unsigned char *seen = malloc(bytes);
    int64_t totals[SLOTS];
    assert_non_null(seen);
    assert_int_equal(gp_copy(gpu->context, seen, gpu->state, bytes), GP_OK);
    assert_int_equal(gp_copy(gpu->context, totals, gpu->totals, sizeof totals), GP_OK);
    if (memcmp(seen, processor->state, bytes) != 0 || memcmp(totals, processor->totals, sizeof totals) != 0)
        fail_msg("%zu x %zu, window %zu: other bits than the processor's after %u steps", gpu->rows, gpu->cols,
                 gpu->window, steps);
    free(seen);
}

static cudaGraphExec_t capture(const chain *c, cudaStream_t stream) {
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(step(c), GP_OK);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&replay, graph, 0));
    CUDA_OK(cudaGraphDestroy(graph));
    return replay;
}

static void advance(const chain *c, unsigned steps, cudaGraphExec_t replay, cudaStream_t stream) {
    for (unsigned i = 0; i < steps; i++) {
        if (replay)
            CUDA_OK(cudaGraphLaunch(replay, stream));
        else
            assert_int_equal(step(c), GP_OK);
    }
}

/*
 * The GPU by replays of one captured step, or by calls; then the processor. Compared after 1, 2, 4, 8 ... steps, so
 * that the GPU always has many steps enqueued.
 */
static void run_chain(const chain *shape, unsigned steps, bool replayed) {
    gp_context *gpu_context = gpu_open(GP_BACKEND_CUDA), *cpu_context = gpu_open(GP_BACKEND_CPU);
    int32_t *first = malloc(area(shape) * 4);
    cudaStream_t stream;
    assert_non_null(first);
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    assert_int_equal(gp_context_set_stream(gpu_context, stream), GP_OK);
    cases_fill(first, area(shape), DATA_RANDOM, cases_seed());
    chain gpu = make_chain(shape, gpu_context, first), processor = make_chain(shape, cpu_context, first);
    const cudaGraphExec_t replay = replayed ? capture(&gpu, stream) : NULL;
    for (unsigned done = 0, next = 1; done < steps; done = next, next = 2 * next < steps ? 2 * next : steps) {
        advance(&gpu, next - done, replay, stream);
        advance(&processor, next - done, NULL, NULL);
        compare(&gpu, &processor, next);
    }
    if (replayed)
        CUDA_OK(cudaGraphExecDestroy(replay));
    free_chain(&gpu);
    free_chain(&processor);
    gp_context_destroy(gpu_context);
    gp_context_destroy(cpu_context);
    CUDA_OK(cudaStreamDestroy(stream));
    free(first);
    printf("cases: %zu x %zu, window %zu: %u steps of %d dependent calls %s\n", shape->rows, shape->cols,
           shape->window, steps, CALLS_A_STEP, replayed ? "replayed" : "called");
}

static void dependent_calls_replayed(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(chains); i++)
        run_chain(&chains[i], cases_reduced() ? 5 : 1000, true);
}

/* 10000 calls of each shape. */
static void dependent_calls_one_by_one(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(chains); i++)
        run_chain(&chains[i], cases_reduced() ? 5 : 1000, false);
}

/* ---- kernels that share the workspace ---- */

#define ROWS 256
#define COLS 1024
#define AREA (ROWS * COLS)
#define SMALL_ROWS 30
#define SMALL_COLS 100
#define DOUBLES 1000000

/* What the jobs read, and where they write; `out` is compared. */
typedef struct jobs {
    float *plain, *special;              /* far from 0; with NaNs */
    float wild[SMALL_ROWS * SMALL_COLS]; /* of many decades, so that most windows are left to a kernel behind */
    double *doubles;
    float *out;
} jobs;

#define OUT (2 * AREA)

static gp_status windows(gp_context *context, const jobs *j, const float *in, uint32_t first, uint32_t second) {
    const size_t rows = in == j->wild ? SMALL_ROWS : ROWS, cols = in == j->wild ? SMALL_COLS : COLS;
    const gp_window_shape window = {.struct_size = sizeof window, .extent = {5, 5}, .border = GP_BORDER_REPLICATE};
    const gp_array from = gp_matrix(GP_F32, in, rows, cols, cols);
    const gp_result to[] = {gp_want(first, gp_matrix(GP_F32, j->out, rows, cols, cols)),
                            gp_want(second, gp_matrix(GP_F32, j->out + AREA, rows, cols, cols))};
    return gp_window(context, &from, &window, to, COUNT(to));
}

static gp_status sums_of_doubles(gp_context *context, const jobs *j) {
    const gp_array in = gp_vector(GP_F64, j->doubles, DOUBLES);
    const gp_result to[] = {gp_want(GP_REDUCE_VARIANCE, gp_scalar(GP_F32, j->out)),
                            gp_want(GP_REDUCE_COUNT, gp_scalar(GP_S64, j->out + 2)),
                            gp_want(GP_REDUCE_SUM, gp_scalar(GP_F64, j->out + 4))};
    return gp_reduce(context, &in, to, COUNT(to));
}

/* Along rows of 64, or columns. */
static gp_status moments(gp_context *context, const jobs *j, bool rows) {
    const size_t n = rows ? 64 : ROWS;
    const gp_array in = gp_matrix(GP_F32, j->plain, AREA / n, n, n);
    const size_t high = rows ? AREA / n : 1, wide = rows ? 1 : n;
    const gp_result to[] = {gp_want(GP_REDUCE_MEAN, gp_matrix(GP_F32, j->out, high, wide, wide)),
                            gp_want(GP_REDUCE_VARIANCE, gp_matrix(GP_F64, j->out + AREA, high, wide, wide))};
    return gp_reduce(context, &in, to, COUNT(to));
}

static gp_status turn_in_place(gp_context *context, const jobs *j) {
    const gp_array in = gp_matrix(GP_F32, j->out, ROWS - 3, COLS - 3, COLS - 3);
    const uint32_t order[] = {1, 0};
    gp_array out = gp_matrix(GP_F32, j->out, COLS - 3, ROWS - 3, ROWS - 3);
    memcpy(j->out, j->plain, AREA * sizeof *j->out);
    out = gp_permuted(out, order);
    return gp_rearrange(context, &in, &out);
}

#define JOBS 8

static gp_status run_job(gp_context *context, const jobs *j, unsigned job) {
    memset(j->out, 0, OUT * sizeof *j->out);
    switch (job) {
    case 0:
        return windows(context, j, j->plain, GP_REDUCE_MEAN, GP_REDUCE_STDDEV);
    case 1:
        return windows(context, j, j->special, GP_REDUCE_MEAN, GP_REDUCE_SUM);
    case 2:
        return windows(context, j, j->plain, GP_REDUCE_MIN, GP_REDUCE_MAX);
    case 3:
        return sums_of_doubles(context, j);
    case 4:
        return moments(context, j, true);
    case 5:
        return moments(context, j, false);
    case 6:
        return windows(context, j, j->wild, GP_REDUCE_MEAN, GP_REDUCE_VARIANCE);
    default:
        return turn_in_place(context, j);
    }
}

/* What a call leaves in the workspace is not taken for something by the next, of whatever kind that is. */
static void calls_of_all_kinds_in_any_order(void **state) {
    (void)state;
    gp_context *gpu = gpu_open(GP_BACKEND_CUDA), *processor = gpu_open(GP_BACKEND_CPU);
    uint64_t draws = cases_seed();
    static jobs j;
    j.plain = malloc(AREA * sizeof(float));
    j.special = malloc(AREA * sizeof(float));
    j.doubles = malloc(DOUBLES * sizeof(double));
    j.out = malloc(OUT * sizeof(float));
    float *wanted[JOBS];
    for (size_t i = 0; i < AREA; i++) {
        j.plain[i] = 1000 + (float)(cases_random(&draws) % 65536) / 65536;
        j.special[i] = cases_random(&draws) % 5000 == 0 ? NAN : j.plain[i];
    }
    for (size_t i = 0; i < COUNT(j.wild); i++)
        j.wild[i] = ldexpf(1 + (float)(cases_random(&draws) % 65536) / 65536, (int)(cases_random(&draws) % 80) - 40);
    for (size_t i = 0; i < DOUBLES; i++)
        j.doubles[i] = 1 + (double)(cases_random(&draws) % 1024) * 0x1p-50;
    for (unsigned job = 0; job < JOBS; job++) {
        wanted[job] = malloc(OUT * sizeof(float));
        assert_non_null(wanted[job]);
        assert_int_equal(run_job(processor, &j, job), GP_OK);
        memcpy(wanted[job], j.out, OUT * sizeof(float));
    }
    unsigned before = JOBS;
    for (unsigned i = 0; i < (cases_reduced() ? 40 : 400); i++) {
        const unsigned job = (unsigned)(cases_random(&draws) % JOBS);
        assert_int_equal(run_job(gpu, &j, job), GP_OK);
        if (memcmp(wanted[job], j.out, OUT * sizeof(float)) != 0)
            fail_msg("call %u, job %u behind job %u: other bits than the processor's", i, job, before);
        before = job;
    }
    for (unsigned job = 0; job < JOBS; job++)
        free(wanted[job]);
    free(j.plain);
    free(j.special);
    free(j.doubles);
    free(j.out);
    gp_context_destroy(gpu);
    gp_context_destroy(processor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_all_kinds_in_any_order),
        cmocka_unit_test(dependent_calls_replayed),
        cmocka_unit_test(dependent_calls_one_by_one),
    };
    if (gpu_is_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
