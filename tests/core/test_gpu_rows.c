/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every GPU row at every block size it allows: gp_occupancy() agrees with CUDA's occupancy call, the measured
 * registers keep to the plan's ceiling, the plan's numbers are what is launched.
 */
#include "../../src/device/launch.h"
#include "../../src/host/primitive.h"
#include "../gpu.h"
#include "../observe.h"

#include <string.h>

#define IMAGE_ROWS 300
#define IMAGE_COLS 5000
#define INTS ((size_t)IMAGE_ROWS * IMAGE_COLS * 4)

static gp_context *context;
static int32_t *in;
static float *out;

typedef struct request {
    size_t rows, cols, window, elem_bytes;
    bool in_place, one_output;
} request;

static const request requests[] = {
    {1, 1000, 0, 0, false, false},    {1, INTS / 4, 0, 0, false, false},  {300, 5000, 3, 0, false, false},
    {300, 5000, 31, 0, false, true},  {30, 5000, 1001, 0, false, false},  {1, 100, 5000, 0, false, false},
    {512, 1024, 0, 1, false, false},  {512, 1024, 0, 2, false, false},    {512, 1024, 0, 4, false, false},
    {512, 1024, 0, 8, false, false},  {512, 512, 0, 16, false, false},    {511, 1023, 0, 4, false, false},
    {512, 512, 0, 4, true, false},    {512, 512, 0, 1, true, false},      {100, 70, 0, 12, false, false},
    {4096, 33, 0, 4, false, false},   {512, 512, 0, 2, true, false},      {512, 512, 0, 8, true, false},
    {65, 4096, 0, 1, false, false},   {45, 30000, 0, 1, false, false},    {150, 10000, 0, 1, false, false},
    {60, 4096, 0, 1, false, false},   {100, 100, 0, 3, true, false},      {2048, 2048, 0, 1, false, false},
    {2048, 1024, 0, 2, false, false}, {30, 20000, 8000, 0, false, false}, {300, 40, 7, 0, false, false},
    {300, 64, 31, 0, false, true},    {65536, 3, 0, 4, false, false},     {4096, 33, 0, 1, false, false},
    {4000, 4097, 0, 1, false, false}, {640, 32, 0, 1, false, false},      {30001, 41, 0, 4, false, false},
    {512, 24, 0, 16, false, false},   {511, 511, 0, 1, true, false},      {511, 511, 0, 2, true, false},
    {511, 511, 0, 4, true, false},    {1201, 1201, 0, 4, true, false},    {1101, 1101, 0, 8, true, false},
    {511, 511, 0, 12, true, false},   {1101, 1101, 0, 16, true, false},   {2001, 2001, 0, 4, true, false},
    {2001, 2001, 0, 2, true, false},  {100, 725, 15, 0, false, false},    {300, 725, 15, 0, false, false},
    {100, 1025, 31, 0, false, false}, {363, 14001, 0, 1, false, false},   {110, 14001, 0, 2, false, false},
    {65536, 3, 0, 1, false, false},   {65536, 3, 0, 2, false, false},     {3, 65536, 0, 1, false, false},
    {30, 40, 0, 4096, false, false},  {512, 511, 0, 1, false, false},     {512, 511, 0, 2, false, false},
    {63, 64, 0, 4, true, false},
};

/* One of each form of reduce_all, reduce_short and reduce_many, and views of other kinds. */
static const struct view {
    size_t rows, cols;
    gp_type type;
    gp_reduce_op op;
    bool columns; /* axis 0 is reduced */
} views[] = {
    {.rows = 1, .cols = 1000000, .type = GP_S32, .op = GP_REDUCE_XOR},
    {.rows = 1, .cols = 1000000, .type = GP_U8, .op = GP_REDUCE_ARGMIN},
    {.rows = 1, .cols = 1000000, .type = GP_F16, .op = GP_REDUCE_ARGMAX},
    {.rows = 1, .cols = 1000000, .type = GP_F32, .op = GP_REDUCE_MAX_ABS},
    {.rows = 1, .cols = 500000, .type = GP_F64, .op = GP_REDUCE_ARGMAX},
    {.rows = 1, .cols = 1000000, .type = GP_S8, .op = GP_REDUCE_MEAN},
    {.rows = 1, .cols = 1000000, .type = GP_S16, .op = GP_REDUCE_VARIANCE},
    {.rows = 1, .cols = 1000000, .type = GP_U32, .op = GP_REDUCE_MEAN},
    {.rows = 1, .cols = 500000, .type = GP_S64, .op = GP_REDUCE_NORM},
    {.rows = 1, .cols = 1000000, .type = GP_BF16, .op = GP_REDUCE_MEAN},
    {.rows = 1, .cols = 1000000, .type = GP_F32, .op = GP_REDUCE_MEAN},
    {.rows = 1, .cols = 500000, .type = GP_F64, .op = GP_REDUCE_MEAN},
    {.rows = 1, .cols = 1000000, .type = GP_F16, .op = GP_REDUCE_NORM},
    {.rows = 1, .cols = 1000000, .type = GP_F32, .op = GP_REDUCE_VARIANCE},
    {.rows = 1, .cols = 500000, .type = GP_F64, .op = GP_REDUCE_VARIANCE},
    {.rows = 10000, .cols = 7, .type = GP_F32, .op = GP_REDUCE_NORM},
    {.rows = 100, .cols = 1000, .type = GP_S32, .op = GP_REDUCE_MEAN},
    {.rows = 1000, .cols = 7, .type = GP_U32, .op = GP_REDUCE_AND},
    {.rows = 1000, .cols = 7, .type = GP_U8, .op = GP_REDUCE_ARGMAX},
    {.rows = 1000, .cols = 7, .type = GP_F16, .op = GP_REDUCE_ARGMAX},
    {.rows = 1000, .cols = 7, .type = GP_F32, .op = GP_REDUCE_ARGMIN},
    {.rows = 1000, .cols = 7, .type = GP_F64, .op = GP_REDUCE_MAX},
    {.rows = 1000, .cols = 7, .type = GP_F32, .op = GP_REDUCE_MAX},
    {.rows = 1000, .cols = 7, .type = GP_U8, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 7, .type = GP_S16, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 7, .type = GP_S32, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 7, .type = GP_S64, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 7, .type = GP_BF16, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 7, .type = GP_F32, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 7, .type = GP_F64, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 7, .type = GP_BF16, .op = GP_REDUCE_VARIANCE},
    {.rows = 1000, .cols = 7, .type = GP_F32, .op = GP_REDUCE_VARIANCE},
    {.rows = 100, .cols = 1000, .type = GP_U32, .op = GP_REDUCE_AND},
    {.rows = 100, .cols = 1000, .type = GP_U8, .op = GP_REDUCE_ARGMAX},
    {.rows = 100, .cols = 1000, .type = GP_F16, .op = GP_REDUCE_ARGMAX},
    {.rows = 100, .cols = 1000, .type = GP_F32, .op = GP_REDUCE_ARGMIN},
    {.rows = 100, .cols = 1000, .type = GP_F64, .op = GP_REDUCE_MAX},
    {.rows = 100, .cols = 1000, .type = GP_F32, .op = GP_REDUCE_MAX},
    {.rows = 100, .cols = 1000, .type = GP_U8, .op = GP_REDUCE_SUM},
    {.rows = 100, .cols = 1000, .type = GP_S16, .op = GP_REDUCE_SUM},
    {.rows = 100, .cols = 1000, .type = GP_S32, .op = GP_REDUCE_SUM},
    {.rows = 100, .cols = 1000, .type = GP_S64, .op = GP_REDUCE_SUM},
    {.rows = 100, .cols = 1000, .type = GP_BF16, .op = GP_REDUCE_SUM},
    {.rows = 100, .cols = 1000, .type = GP_F32, .op = GP_REDUCE_SUM},
    {.rows = 100, .cols = 1000, .type = GP_F64, .op = GP_REDUCE_SUM},
    {.rows = 100, .cols = 1000, .type = GP_BF16, .op = GP_REDUCE_VARIANCE},
    {.rows = 100, .cols = 1000, .type = GP_F32, .op = GP_REDUCE_VARIANCE},
    {.rows = 1000, .cols = 64, .type = GP_F32, .op = GP_REDUCE_MAX},
    {.rows = 1000, .cols = 64, .type = GP_S32, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 64, .type = GP_F32, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 64, .type = GP_F32, .op = GP_REDUCE_VARIANCE},
    {.rows = 1000, .cols = 64, .type = GP_U8, .op = GP_REDUCE_SUM},
    {.rows = 1000, .cols = 64, .type = GP_S16, .op = GP_REDUCE_SUM},
    {.rows = 2048, .cols = 2048, .type = GP_F32, .op = GP_REDUCE_MAX, .columns = true},
    {.rows = 2048, .cols = 2048, .type = GP_S32, .op = GP_REDUCE_SUM, .columns = true},
    {.rows = 2048, .cols = 2048, .type = GP_F32, .op = GP_REDUCE_SUM, .columns = true},
    {.rows = 2048, .cols = 2048, .type = GP_U8, .op = GP_REDUCE_SUM, .columns = true},
    {.rows = 2048, .cols = 2048, .type = GP_S16, .op = GP_REDUCE_SUM, .columns = true},
    {.rows = 100, .cols = 4096, .type = GP_U8, .op = GP_REDUCE_SUM},
    {.rows = 2048, .cols = 65536, .type = GP_U8, .op = GP_REDUCE_SUM, .columns = true},
};

static gp_type result_type(const struct view *v) {
    if (v->op == GP_REDUCE_ARGMIN || v->op == GP_REDUCE_ARGMAX)
        return GP_S64;
    if (v->op == GP_REDUCE_SUM)
        return v->type >= GP_F16 ? v->type : GP_S64;
    return v->rows == 1 && v->op >= GP_REDUCE_NORM ? GP_F64 : v->op >= GP_REDUCE_NORM ? GP_F32 : v->type;
}

static gp_status ask_view(const struct view *v) {
    const gp_array view = gp_matrix(v->type, in, v->rows, v->cols, v->cols);
    const gp_result result = gp_want((uint32_t)v->op, v->columns ? gp_matrix(result_type(v), out, 1, v->cols, v->cols)
                                                                 : gp_matrix(result_type(v), out, v->rows, 1, 1));
    return gp_reduce(context, &view, &result, 1);
}

static gp_status ask(const request *r, gp_operation operation) {
    if (operation == GP_OPERATION_REDUCE)
        return gp_reduce_int(context, GP_REDUCE_SUM, in, r->cols, (int64_t *)(void *)out);
    if (operation == GP_OPERATION_WINDOW) /* study rows do without a border only */
        return gp_sum_and_square_window(context, in, r->rows, r->cols, r->cols, r->window,
                                        r->one_output ? GP_BORDER_NONE : GP_BORDER_REPLICATE, out,
                                        r->one_output ? NULL : out + INTS / 2, r->cols);
    return gp_transpose(context, r->elem_bytes, in, r->rows, r->cols, r->cols, r->in_place ? (void *)in : (void *)out,
                        r->rows);
}

/* The same transpose as a view. */
static gp_status ask_move(const request *r) {
    gp_array from = gp_matrix(GP_BYTES, in, r->rows, r->cols, r->cols);
    gp_array to = gp_matrix(GP_BYTES, r->in_place ? (void *)in : (void *)out, r->cols, r->rows, r->rows);
    from.elem_bytes = to.elem_bytes = r->elem_bytes;
    from = gp_permuted(from, (const unsigned[]){1, 0});
    return gp_rearrange(context, &from, &to);
}

/* A window as high as three rows. */
static gp_status ask_box(const request *r) {
    const gp_array image = gp_matrix(GP_S32, in, r->rows, r->cols, r->cols);
    const gp_window_shape window = {
        .struct_size = sizeof window, .extent = {3, r->window}, .border = GP_BORDER_REPLICATE};
    const gp_result sums = gp_want(r->one_output ? GP_REDUCE_MAX : GP_REDUCE_SUM,
                                   gp_matrix(r->one_output ? GP_S32 : GP_F32, out, r->rows, r->cols, r->cols));
    return gp_window(context, &image, &window, &sums, 1);
}

static gp_operation operation_of(const request *r) {
    return r->window ? GP_OPERATION_WINDOW : r->elem_bytes ? GP_OPERATION_TRANSPOSE : GP_OPERATION_REDUCE;
}

static void compare(const gp_kernel *row, unsigned threads, const observed *o, const gp_device_info *device) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    gp_occupancy_info ours = {.struct_size = sizeof ours};
    assert_int_equal(gp_context_plan(context, &plan), GP_OK);
    assert_string_equal(plan.kernel, row->name);
    assert_int_equal(gp_occupancy(device, o->threads, o->regs, o->smem_static + o->smem_dynamic, &ours), GP_OK);
    if (ours.blocks_per_sm != o->blocks_per_sm || o->regs > plan.regs_per_thread || o->smem_static > row->smem_static)
        fail_msg("%s, %u threads: %u registers (ceiling %u), %zu static bytes (%zu); %u blocks an SM, CUDA says %u",
                 row->name, threads, o->regs, plan.regs_per_thread, o->smem_static, row->smem_static,
                 ours.blocks_per_sm, o->blocks_per_sm);
    if (plan.blocks_per_sm > o->blocks_per_sm || plan.blocks_per_sm == 0)
        fail_msg("%s, %u threads: %u blocks an SM are planned, CUDA says %u", row->name, threads, plan.blocks_per_sm,
                 o->blocks_per_sm);
    if (plan.block != o->threads || plan.grid != o->grid || plan.smem_dynamic != o->smem_dynamic)
        fail_msg("%s: %u threads, %llu blocks, %zu bytes are planned, %u, %llu, %zu launched", row->name, plan.block,
                 (unsigned long long)plan.grid, plan.smem_dynamic, o->threads, (unsigned long long)o->grid,
                 o->smem_dynamic);
    assert_int_equal(o->threads, threads);
}

static void every_row_at_every_block_size(void **state) {
    (void)state;
    gp_device_info device = {.struct_size = sizeof device};
    size_t compared = 0;
    assert_int_equal(gp_context_device(context, &device), GP_OK);
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        const gp_primitive *of;
        const gp_kernel *row = gp_catalogue_at(i, &of);
        size_t ran = 0;
        if (row->space != GP_SPACE_GPU)
            continue;
        observe_only = !(row->flags & GP_KERNEL_STUDY); /* the host reads what study kernels write */
        for (unsigned threads = 32; threads <= 1024; threads += threads < 512 ? 32 : 512) {
            assert_int_equal(gp_context_pin_kernel(context, row->name, threads), GP_OK);
            for (size_t k = 0; k < COUNT(requests) + COUNT(views); k++) {
                const bool is_view = k >= COUNT(requests);
                size_t before = observed_last.launches;
                const gp_operation operation = is_view ? GP_OPERATION_REDUCE_ARRAY : operation_of(&requests[k]);
                const bool is_move =
                    of->operation == GP_OPERATION_REARRANGE_ARRAY && operation == GP_OPERATION_TRANSPOSE;
                const bool is_box = of->operation == GP_OPERATION_WINDOW_ARRAY && operation == GP_OPERATION_WINDOW;
                if (operation != of->operation && !is_move && !is_box)
                    continue;
                if (!is_view && !is_move && requests[k].in_place && requests[k].rows != requests[k].cols)
                    continue; /* gp_transpose() turns squares in place */
                if (is_move && requests[k].in_place && strcmp(row->name, "rearrange_tile") == 0)
                    continue; /* moved part by part, each with a plan of its own */
                gp_status status = is_view   ? ask_view(&views[k - COUNT(requests)])
                                   : is_move ? ask_move(&requests[k])
                                   : is_box  ? ask_box(&requests[k])
                                             : ask(&requests[k], of->operation);
                assert_true(status == GP_OK || status == GP_ERR_NO_KERNEL);
                if (status != GP_OK || observed_last.launches == before)
                    continue;
                /* behind a view's kernel there may be another */
                compare(row, threads, is_view || is_move ? observed_launch(before) : &observed_last, &device);
                ran++;
            }
        }
        printf("%-28s %3zu launches observed\n", row->name, ran);
        compared += ran;
        assert_true(ran > 0);
    }
    printf("cases: %zu launches compared with CUDA's occupancy call\n", compared);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_at_every_block_size)};
    if (gpu_is_missing())
        return 77;
    context = gpu_open(GP_BACKEND_CUDA);
    if (cudaMalloc((void **)&in, INTS * 4) != cudaSuccess || cudaMalloc((void **)&out, INTS * 4) != cudaSuccess)
        return 1;
    CUDA_OK(cudaMemset(in, 0, INTS * 4)); /* study kernels read it */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gp_context_destroy(context);
    cudaFree(in);
    cudaFree(out);
    return failed;
}
