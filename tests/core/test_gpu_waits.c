/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a GPU: every row, pinned, between kernels that write what it reads and read what it writes, never waited for.
 * The launches may overlap; the results must be those of the same calls with a wait after each.
 */
#include "../../src/host/primitive.h"
#include "../../src/host/status.h"
#include "../cases.h"
#include "../gpu.h"

#define SIDE ((size_t)2048) /* of the matrix that is written before the row reads it: several blocks on every SM */
#define BYTES (SIDE * SIDE * 4)
#define KEPT 5 /* results a round: two of each thing that the row wrote, one of what it left alone */
#define KEPT_MAX (64 * KEPT)
#define TURNS 4      /* rounds differ in who writes the input and in where it lies */
#define IN_A_GRAPH 8 /* rounds; each has its own place for what it keeps */
#define OF_REDUCED 1 /* rounds in a reduced run: tools take long over each launch */

typedef struct request {
    gp_operation operation;
    size_t rows, cols, window, elem_bytes;
    gp_border border;
    bool in_place;
    gp_type type; /* of views */
} request;

/* What some row or other asks for; every row must find at least one. All are within BYTES. */
static const request requests[] = {
    {.operation = GP_OPERATION_REDUCE, .cols = 1000},
    {.operation = GP_OPERATION_REDUCE, .cols = SIDE * SIDE},
    {.operation = GP_OPERATION_REDUCE_ARRAY, .cols = 1000, .type = GP_S32},
    {.operation = GP_OPERATION_REDUCE_ARRAY, .cols = SIDE * 100, .type = GP_S32}, /* the plain row is slow */
    {.operation = GP_OPERATION_REDUCE_ARRAY, .cols = SIDE * 100, .type = GP_F32},
    {.operation = GP_OPERATION_REDUCE_ARRAY, .rows = 2, .cols = 1000, .type = GP_F32},
    {.operation = GP_OPERATION_REDUCE_ARRAY, .rows = 2, .cols = SIDE * 100, .type = GP_F32},
    {GP_OPERATION_WINDOW, 300, 5000, 3, 4, GP_BORDER_WRAP, false, GP_S32},
    {GP_OPERATION_WINDOW, 300, 5000, 31, 4, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_WINDOW, 1024, 1024, 15, 4, GP_BORDER_ZERO, false, GP_S32},
    {GP_OPERATION_WINDOW, 300, 40, 7, 4, GP_BORDER_REFLECT, false, GP_S32},
    {GP_OPERATION_WINDOW, 1000, 725, 15, 4, GP_BORDER_REFLECT_101, false, GP_S32},
    {GP_OPERATION_WINDOW, 300, 1001, 101, 4, GP_BORDER_REPLICATE, false, GP_S32},
    {GP_OPERATION_WINDOW, 100, 5000, 301, 4, GP_BORDER_ZERO, false, GP_S32},
    {GP_OPERATION_WINDOW, 8, 5000, 1001, 4, GP_BORDER_REPLICATE, false, GP_S32},
    {GP_OPERATION_WINDOW, 2, 4000, 2500, 4, GP_BORDER_REFLECT_101, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1024, 2048, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 512, 1024, 0, 2, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1600, 1552, 0, 2, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 2048, 2048, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1024, 1024, 0, 4, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1023, 1025, 0, 4, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1023, 1028, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1023, 1025, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1000, 1000, 0, 8, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 512, 2048, 0, 16, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 100000, 3, 0, 4, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 50000, 61, 0, 4, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 500, 700, 0, 12, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 20000, 24, 0, 16, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 40000, 60, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 60, 40000, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 150, 16000, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 301, 12001, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 5, 40000, 0, 2, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 50000, 32, 0, 8, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1024, 1024, 0, 4, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_TRANSPOSE, 2048, 2048, 0, 1, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1001, 1001, 0, 8, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1101, 1101, 0, 4, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1001, 1001, 0, 16, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_TRANSPOSE, 601, 601, 0, 2, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_TRANSPOSE, 701, 701, 0, 1, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_TRANSPOSE, 1501, 1501, 0, 1, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_REARRANGE_ARRAY, 1001, 1001, 0, 4, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_REARRANGE_ARRAY, 1024, 1024, 0, 4, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_REARRANGE_ARRAY, 2048, 1024, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_REARRANGE_ARRAY, 400000, 3, 0, 1, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_REARRANGE_ARRAY, 30, 30, 0, 4096, GP_BORDER_NONE, false, GP_S32},
    {GP_OPERATION_REARRANGE_ARRAY, 1024, 1024, 0, 4, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_REARRANGE_ARRAY, 1024, 768, 0, 4, GP_BORDER_NONE, true, GP_S32},
    {GP_OPERATION_WINDOW_ARRAY, 128, 128, 9, 0, GP_BORDER_REPLICATE, false, GP_S32}, /* the plain row is slow */
    {GP_OPERATION_WINDOW_ARRAY, 1000, 1000, 15, 0, GP_BORDER_REFLECT, false, GP_S32},
};

static gp_context *pinned, *helper; /* the row's, and that of the kernels around it: two workspaces, one stream */
static cudaStream_t stream;
static char *source[2], *in, *out, *turned[2];
static int64_t *kept;      /* KEPT a round */
static size_t side = SIDE; /* few in a reduced run: nothing is to overlap there */
static bool waits;         /* after each call: how the right results come about */

static gp_status then(gp_status status) {
    if (status == GP_OK && waits && cudaStreamSynchronize(stream) != cudaSuccess)
        return GP_ERR_DEVICE;
    return status;
}

/* Writes all of `in' from a source, by two kernels in turns. */
static gp_status produce(int which, unsigned turn) {
    if (turn % TURNS < 2)
        return then(gp_transpose(helper, 4, source[which], side, side, side, in, side));
    return then(gp_sum_and_square_window(helper, (const int32_t *)(const void *)source[which], side, side, side, 31,
                                         GP_BORDER_ZERO, (float *)(void *)in, NULL, side));
}

static bool is_reduction(const request *r) {
    return r->operation == GP_OPERATION_REDUCE || r->operation == GP_OPERATION_REDUCE_ARRAY;
}

/* To 8 bytes, as gp_reduce_int() has it: of `cols` elements in all, or of each half of them. */
static gp_status reduce_view(const request *r, const void *from, void *to) {
    const gp_array halves = gp_matrix(r->type, from, 2, r->cols / 2, r->cols / 2);
    const gp_result sums = gp_want(GP_REDUCE_SUM, gp_matrix(GP_F32, to, 2, 1, 1));
    if (r->rows == 2)
        return gp_reduce(pinned, &halves, &sums, 1);
    const gp_array in_view = gp_vector(r->type, from, r->cols);
    const gp_result sum = gp_want(GP_REDUCE_SUM, gp_scalar(r->type == GP_F32 ? GP_F64 : GP_S64, to));
    return gp_reduce(pinned, &in_view, &sum, 1);
}

/* A transpose as a view. */
static gp_status rearrange(const request *r, const void *from, void *to) {
    gp_array rows = gp_matrix(GP_BYTES, from, r->rows, r->cols, r->cols);
    gp_array turned_rows = gp_matrix(GP_BYTES, to, r->cols, r->rows, r->rows);
    rows.elem_bytes = turned_rows.elem_bytes = r->elem_bytes;
    rows = gp_permuted(rows, (const unsigned[]){1, 0});
    return gp_rearrange(pinned, &rows, &turned_rows);
}

/* Square windows. */
static gp_status box(const request *r, const void *from, float *to) {
    const gp_array image = gp_matrix(GP_S32, from, r->rows, r->cols, r->cols);
    const gp_window_shape window = {
        .struct_size = sizeof window, .extent = {r->window, r->window}, .border = (int32_t)r->border};
    const gp_result results[] = {
        gp_want(GP_REDUCE_SUM, gp_matrix(GP_F32, to, r->rows, r->cols, r->cols)),
        gp_want(GP_REDUCE_SUM_SQUARES, gp_matrix(GP_F32, to + r->rows * r->cols, r->rows, r->cols, r->cols))};
    return gp_window(pinned, &image, &window, results, 2);
}

static gp_status run_row(const request *r, const void *from, void *to) {
    if (r->operation == GP_OPERATION_REDUCE)
        return then(gp_reduce_int(pinned, GP_REDUCE_SUM, from, r->cols, to));
    if (r->operation == GP_OPERATION_REDUCE_ARRAY)
        return then(reduce_view(r, from, to));
    if (r->operation == GP_OPERATION_REARRANGE_ARRAY)
        return then(rearrange(r, from, to));
    if (r->operation == GP_OPERATION_WINDOW_ARRAY)
        return then(box(r, from, to));
    if (r->operation == GP_OPERATION_WINDOW)
        return then(gp_sum_and_square_window(pinned, from, r->rows, r->cols, r->cols, r->window, r->border, to,
                                             (float *)to + r->rows * r->cols, r->cols));
    return then(gp_transpose(pinned, r->elem_bytes, from, r->rows, r->cols, r->cols, to, r->rows));
}

/* Bytes that the row writes: both outputs of a window, one after the other. */
static size_t written(const request *r) {
    return r->rows * r->cols * (r->window ? 2 * sizeof(float) : r->elem_bytes);
}

/* Reads all that the row wrote, as another kernel does; a reduction's result is what is kept. */
static gp_status read_back(const request *r, const char *from, int which, int64_t *to) {
    if (is_reduction(r))
        return then(gp_transpose(helper, 8, from, 1, 1, 1, &to[2 * which], 1));
    const size_t words = written(r) / 4;
    const size_t cols = words % r->cols == 0 ? r->cols : 1;
    return then(gp_transpose(helper, 4, from, words / cols, cols, cols, turned[which], words / cols));
}

/* The second of half the words, as the sum of all does not change with their order. */
static gp_status total(const request *r, int which, int64_t *to) {
    const int32_t *words = (const int32_t *)(const void *)turned[which];
    if (is_reduction(r))
        return GP_OK;
    GP_TRY(then(gp_reduce_int(helper, GP_REDUCE_SUM, words, written(r) / 4, &to[2 * which])));
    return then(gp_reduce_int(helper, GP_REDUCE_SUM, words, written(r) / 8, &to[2 * which + 1]));
}

static size_t input_bytes(const request *r) {
    return is_reduction(r) ? r->cols * sizeof(int32_t)
           : r->window > 0 ? r->rows * r->cols * sizeof(int32_t)
                           : r->rows * r->cols * r->elem_bytes;
}

/* Of the matrix that is written: less for tools, but all that a row in place reads. */
static size_t side_for(const request *r) {
    size_t least = 256;
    while (r->in_place && least * least * 4 < input_bytes(r))
        least += 256;
    return cases_reduced() ? least : SIDE;
}

/* Where in `in' the row's input begins: at its start and at its end in turns, as blocks that start late write late.
 */
static char *place(const request *r, unsigned turn) {
    const size_t room = r->in_place ? side * side * 4 : BYTES;
    return turn % 2 ? in + (room - input_bytes(r)) / 256 * 256 : in;
}

/*
 * The row reads what is just being written; overwrites what is just being read; and stands, with nothing to do with
 * either, between a kernel that writes and one that reads: it must not end before the first has.
 */
static gp_status one_round(const request *r, unsigned turn, int64_t *to) {
    char *const from = place(r, turn), *const result = r->in_place ? from : out;
    GP_TRY(produce(0, turn));
    GP_TRY(run_row(r, from, result));
    GP_TRY(read_back(r, result, 0, to));
    if (r->in_place)
        GP_TRY(produce(1, turn));
    GP_TRY(run_row(r, r->in_place ? from : source[1], result));
    GP_TRY(total(r, 0, to));
    GP_TRY(read_back(r, result, 1, to));
    GP_TRY(total(r, 1, to));
    GP_TRY(produce(r->in_place ? 0 : 1, turn));
    if (!r->in_place)
        GP_TRY(run_row(r, source[0], result));
    return then(gp_reduce_int(helper, GP_REDUCE_SUM, (const int32_t *)(const void *)in, side * side, &to[4]));
}

static void start(void) {
    CUDA_OK(cudaMemsetAsync(in, 0, BYTES, stream));
    CUDA_OK(cudaMemsetAsync(out, 0, BYTES, stream));
    CUDA_OK(cudaMemsetAsync(kept, 0, KEPT_MAX * sizeof *kept, stream));
}

static void compare(const gp_kernel *row, const request *r, const int64_t *want, unsigned rounds, const char *how) {
    static int64_t seen[KEPT_MAX];
    CUDA_OK(cudaMemcpyAsync(seen, kept, rounds * KEPT * sizeof *seen, cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    for (unsigned i = 0; i < rounds * KEPT; i++)
        if (seen[i] != want[i % (TURNS * KEPT)])
            fail_msg("%s, %zu x %zu, window %zu, %zu bytes, %s: result %u of round %u is not that of waiting calls",
                     row->name, r->rows, r->cols, r->window, r->elem_bytes, how, i % KEPT, i / KEPT);
}

static void replayed(const gp_kernel *row, const request *r, const int64_t *want) {
    const unsigned rounds = cases_reduced() ? OF_REDUCED : IN_A_GRAPH;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (unsigned i = 0; i < rounds; i++)
        assert_int_equal(one_round(r, i, kept + i * KEPT), GP_OK);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&replay, graph, 0));
    CUDA_OK(cudaGraphDestroy(graph));
    for (unsigned i = 0; i < (cases_reduced() ? 1u : 10u); i++) {
        start();
        CUDA_OK(cudaGraphLaunch(replay, stream));
        compare(row, r, want, rounds, "replayed");
    }
    CUDA_OK(cudaGraphExecDestroy(replay));
}

/* False: the row does not do this. */
static bool row_between_others(const gp_kernel *row, const request *r) {
    const unsigned turns = cases_reduced() ? OF_REDUCED : TURNS, rounds = cases_reduced() ? turns : 60;
    int64_t want[TURNS * KEPT];
    gp_status status = GP_OK;
    side = side_for(r);
    start();
    waits = true;
    for (unsigned i = 0; i < turns && status == GP_OK; i++)
        status = one_round(r, i, kept + i * KEPT);
    waits = false;
    if (status == GP_ERR_NO_KERNEL)
        return false;
    assert_int_equal(status, GP_OK);
    CUDA_OK(cudaMemcpy(want, kept, sizeof want, cudaMemcpyDeviceToHost));
    start();
    for (unsigned i = 0; i < rounds; i++)
        assert_int_equal(one_round(r, i, kept + i * KEPT), GP_OK);
    compare(row, r, want, rounds, "called");
    if (!(row->flags & GP_KERNEL_MODULO_32)) /* those allocate and wait: nothing to capture */
        replayed(row, r, want);
    return true;
}

static void every_row_waits(void **state) {
    (void)state;
    size_t series = 0;
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        const gp_primitive *of;
        const gp_kernel *row = gp_catalogue_at(i, &of);
        size_t ran = 0;
        if (row->space != GP_SPACE_GPU)
            continue;
        assert_int_equal(gp_context_pin_kernel(pinned, NULL, 0), GP_OK);
        assert_int_equal(gp_context_pin_kernel(pinned, row->name, 0), GP_OK);
        for (size_t k = 0; k < COUNT(requests) && (ran == 0 || !cases_reduced()); k++)
            ran += requests[k].operation == of->operation && row_between_others(row, &requests[k]);
        printf("%-28s %2zu problems\n", row->name, ran);
        if (ran == 0)
            fail_msg("%s: no request of this test is for it; add one", row->name);
        series += ran;
    }
    printf("cases: %zu rows and problems\n", series);
}

static bool allot(char **memory) {
    return cudaMalloc((void **)memory, BYTES) == cudaSuccess;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_waits)};
    int32_t *random = malloc(BYTES);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is done is told also by a run that is stopped */
    if (gpu_is_missing())
        return 77;
    pinned = gpu_open(GP_BACKEND_CUDA);
    helper = gpu_open(GP_BACKEND_CUDA);
    if (!random || !allot(&source[0]) || !allot(&source[1]) || !allot(&in) || !allot(&out) || !allot(&turned[0]) ||
        !allot(&turned[1]) || cudaMalloc((void **)&kept, KEPT_MAX * sizeof *kept) != cudaSuccess ||
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        gp_context_set_stream(pinned, stream) != GP_OK || gp_context_set_stream(helper, stream) != GP_OK)
        return 1;
    for (int i = 0; i < 2; i++) {
        cases_fill(random, BYTES / 4, DATA_RANDOM, cases_seed() + (uint64_t)i);
        if (cudaMemcpy(source[i], random, BYTES, cudaMemcpyHostToDevice) != cudaSuccess)
            return 1;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char *const all[] = {source[0], source[1], in, out, turned[0], turned[1], (char *)kept};
    gp_context_destroy(pinned);
    gp_context_destroy(helper);
    for (size_t i = 0; i < COUNT(all); i++)
        cudaFree(all[i]);
    cudaStreamDestroy(stream);
    free(random);
    return failed;
}
