/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU that pretends to be small: under each limit of shared memory and registers every primitive still runs, on the
 * real device, with the processor's bits, by a kernel that keeps to the limit and works in tiles.
 */
#include "../../src/device/launch.h"
#include "../cases.h"
#include "../gpu.h"
#include "../observe.h"

#define WORDS ((size_t)1 << 22) /* of input; outputs have twice as many */

typedef struct request {
    gp_operation operation;
    size_t rows, cols, window, elem_bytes; /* reduce: cols elements */
    bool in_place;
} request;

static const request requests[] = {
    {GP_OPERATION_REDUCE, 1, 1000, 0, 4, false},       {GP_OPERATION_REDUCE, 1, WORDS, 0, 4, false},
    {GP_OPERATION_WINDOW, 1000, 1500, 3, 4, false},    {GP_OPERATION_WINDOW, 1000, 1500, 31, 4, false},
    {GP_OPERATION_WINDOW, 1000, 1500, 301, 4, false},  {GP_OPERATION_WINDOW, 100, 15000, 1001, 4, false},
    {GP_OPERATION_WINDOW, 50000, 20, 5, 4, false},     {GP_OPERATION_TRANSPOSE, 1024, 2048, 0, 1, false},
    {GP_OPERATION_TRANSPOSE, 1001, 1503, 0, 1, false}, {GP_OPERATION_TRANSPOSE, 2201, 2503, 0, 1, false},
    {GP_OPERATION_TRANSPOSE, 2201, 2504, 0, 1, false}, {GP_OPERATION_TRANSPOSE, 1600, 1552, 0, 2, false},
    {GP_OPERATION_TRANSPOSE, 1024, 2048, 0, 4, false}, {GP_OPERATION_TRANSPOSE, 1001, 1503, 0, 4, false},
    {GP_OPERATION_TRANSPOSE, 1001, 1503, 0, 8, false}, {GP_OPERATION_TRANSPOSE, 512, 1024, 0, 16, false},
    {GP_OPERATION_TRANSPOSE, 100000, 3, 0, 4, false},  {GP_OPERATION_TRANSPOSE, 1024, 1024, 0, 4, true},
    {GP_OPERATION_TRANSPOSE, 1001, 1001, 0, 8, true},
};

/* A tile of 8-byte elements and its mirror image, in place, take 16.5 KiB. */
#define TILES_FIT ((size_t)17 << 10)

static const struct {
    size_t smem;
    unsigned regs;
} limits[] = {{TILES_FIT, 16384}, {48 << 10, 0}, {4 << 10, 8192},  {0, 0},
              {TILES_FIT, 0},     {0, 16384},    {48 << 10, 16384}};

static gp_context *gpu, *processor;
static int32_t *words;    /* the input */
static void *in, *out;    /* on the device */
static char *want, *seen; /* outputs: the processor's, the device's */

static gp_status ask(gp_context *context, const request *r, const void *from, void *to) {
    if (r->operation == GP_OPERATION_REDUCE)
        return gp_reduce_int(context, GP_REDUCE_SUM, from, r->cols, to);
    if (r->operation == GP_OPERATION_WINDOW)
        return gp_sum_and_square_window(context, from, r->rows, r->cols, r->cols, r->window, GP_BORDER_REFLECT, to,
                                        (float *)to + r->rows * r->cols, r->cols);
    const bool in_place = r->in_place && context == gpu; /* the same bits, whatever the way */
    return gp_transpose(context, r->elem_bytes, from, r->rows, r->cols, r->cols, in_place ? in : to, r->rows);
}

static size_t written(const request *r) {
    return r->operation == GP_OPERATION_REDUCE   ? sizeof(int64_t)
           : r->operation == GP_OPERATION_WINDOW ? r->rows * r->cols * 2 * sizeof(float)
                                                 : r->rows * r->cols * r->elem_bytes;
}

/* The plan, and the kernel as it is compiled, keep to the limit; what it is to run with is the plan's. */
static void check_plan(const request *r, size_t smem, unsigned regs, gp_plan_info *plan) {
    gp_occupancy_info block = {.struct_size = sizeof block};
    gp_device_info device = {.struct_size = sizeof device};
    observe_only = true;
    assert_int_equal(ask(gpu, r, in, out), GP_OK);
    observe_only = false;
    const observed launch = observed_last;
    assert_int_equal(gp_context_plan(gpu, plan), GP_OK);
    assert_int_equal(gp_context_device(gpu, &device), GP_OK);
    assert_int_equal(gp_occupancy(&device, launch.threads, plan->regs_per_thread, plan->smem_dynamic, &block), GP_OK);
    assert_true(launch.threads == plan->block && launch.smem_dynamic == plan->smem_dynamic);
    assert_true(launch.regs <= plan->regs_per_thread && launch.smem_static <= plan->smem_static);
    assert_true(smem == 0 || plan->smem_static + plan->smem_dynamic <= smem);
    assert_true(regs == 0 || block.regs_per_block <= regs);
    if ((smem == 0 || smem >= TILES_FIT) && strstr(plan->kernel, "_naive"))
        fail_msg("%s: elements one by one, though tiles fit %zu bytes", plan->kernel, smem);
}

static void print_plan(const request *r, const gp_plan_info *plan) {
    char shape[64];
    if (r->operation == GP_OPERATION_REDUCE)
        snprintf(shape, sizeof shape, "reduce %zu", r->cols);
    else if (r->operation == GP_OPERATION_WINDOW)
        snprintf(shape, sizeof shape, "window %zu x %zu, %zu wide", r->rows, r->cols, r->window);
    else
        snprintf(shape, sizeof shape, "transpose %zu x %zu of %zu bytes%s", r->rows, r->cols, r->elem_bytes,
                 r->in_place ? " in place" : "");
    printf("  %-44s %-22s %4u threads, %3u registers, %6zu bytes shared, %2u blocks an SM\n", shape, plan->kernel,
           plan->block, plan->regs_per_thread, plan->smem_static + plan->smem_dynamic, plan->blocks_per_sm);
}

static void check_bits(const request *r, const gp_plan_info *plan) {
    const size_t bytes = written(r);
    assert_true(bytes <= 2 * WORDS * 4);
    CUDA_OK(cudaMemcpy(in, words, WORDS * 4, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemset(out, 0xa5, bytes));
    assert_int_equal(ask(gpu, r, in, out), GP_OK);
    assert_int_equal(gp_context_synchronize(gpu), GP_OK);
    CUDA_OK(cudaMemcpy(seen, r->in_place ? in : out, bytes, cudaMemcpyDeviceToHost));
    if (memcmp(seen, want, bytes) != 0)
        fail_msg("%s: other bits than the processor's", plan->kernel);
}

static void under(size_t smem, unsigned regs) {
    char text[2][32] = {"all", "all"};
    if (smem)
        snprintf(text[0], sizeof text[0], "%zu KiB", smem >> 10);
    if (regs)
        snprintf(text[1], sizeof text[1], "%u", regs);
    printf("a block may have %s of shared memory, %s registers\n", text[0], text[1]);
    assert_int_equal(gp_context_limit(gpu, smem, regs), GP_OK);
    for (size_t k = 0; k < COUNT(requests); k++) {
        const request *r = &requests[k];
        gp_plan_info plan = {.struct_size = sizeof plan};
        check_plan(r, smem, regs, &plan);
        print_plan(r, &plan);
        assert_int_equal(ask(processor, r, words, want), GP_OK);
        check_bits(r, &plan);
    }
}

static void small_devices(void **state) {
    (void)state;
    const size_t count = cases_reduced() ? 3 : COUNT(limits);
    for (size_t i = 0; i < count; i++)
        under(limits[i].smem, limits[i].regs);
    assert_int_equal(gp_context_limit(gpu, 0, 0), GP_OK);
    printf("cases: %zu problems under %zu limits\n", COUNT(requests), count);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_devices)};
    if (gpu_is_missing())
        return 77;
    gpu = gpu_open(GP_BACKEND_CUDA);
    processor = gpu_open(GP_BACKEND_CPU);
    words = malloc(WORDS * 4);
    want = malloc(WORDS * 8);
    seen = malloc(WORDS * 8);
    if (!words || !want || !seen || cudaMalloc(&in, WORDS * 4) != cudaSuccess ||
        cudaMalloc(&out, WORDS * 8) != cudaSuccess)
        return 1;
    cases_fill(words, WORDS, DATA_RANDOM, cases_seed());
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gp_context_destroy(gpu);
    gp_context_destroy(processor);
    cudaFree(in);
    cudaFree(out);
    free(words);
    free(want);
    free(seen);
    return failed;
}
