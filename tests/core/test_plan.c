/* SPDX-License-Identifier: Apache-2.0 */
/* The planner over made-up devices: what it chooses keeps to the device, less never yields more, models are alike. */
#include "../../src/host/occupancy.h"
#include "../../src/host/plan.h"
#include "../../src/host/primitive.h"
#include "../cases.h"
#include "../check.h"
#include "../devices.h"

/* Calls of all sizes; a model context reads no address, so that these are made up. */
#define IN ((void *)(uintptr_t)0x100000000000)
#define OUT ((void *)(uintptr_t)0x200000000000)
#define OUT2 ((void *)(uintptr_t)0x300000000000)

typedef struct request {
    gp_operation operation;
    size_t rows, cols, window, elem_bytes, shift; /* reduce: cols elements; shift: bytes off alignment */
    bool in_place;
} request;

static const request requests[] = {
    {GP_OPERATION_REDUCE, 1, 1, 0, 0, 0, false},           {GP_OPERATION_REDUCE, 1, 1000, 0, 0, 4, false},
    {GP_OPERATION_REDUCE, 1, 16385, 0, 0, 0, false},       {GP_OPERATION_REDUCE, 1, 1u << 24, 0, 0, 8, false},
    {GP_OPERATION_REDUCE, 1, 5000000000, 0, 0, 0, false},  {GP_OPERATION_WINDOW, 1, 1, 1, 0, 0, false},
    {GP_OPERATION_WINDOW, 480, 640, 15, 0, 0, false},      {GP_OPERATION_WINDOW, 4096, 4096, 3, 0, 4, false},
    {GP_OPERATION_WINDOW, 7, 100003, 1001, 0, 0, false},   {GP_OPERATION_WINDOW, 1, 300, 100000, 0, 0, false},
    {GP_OPERATION_WINDOW, 3000000, 1000, 31, 0, 0, false}, {GP_OPERATION_TRANSPOSE, 1, 1, 0, 4, 0, false},
    {GP_OPERATION_TRANSPOSE, 1000, 1003, 0, 1, 0, false},  {GP_OPERATION_TRANSPOSE, 4096, 4096, 0, 2, 2, false},
    {GP_OPERATION_TRANSPOSE, 4096, 4096, 0, 4, 0, true},   {GP_OPERATION_TRANSPOSE, 16384, 16384, 0, 8, 0, false},
    {GP_OPERATION_TRANSPOSE, 100, 50000, 0, 16, 8, true},  {GP_OPERATION_TRANSPOSE, 333, 333, 0, 7, 1, true},
    {GP_OPERATION_TRANSPOSE, 65, 100001, 0, 3, 0, false},  {GP_OPERATION_TRANSPOSE, 70000, 70001, 0, 4, 4, false},
};

static gp_status ask(gp_context *context, const request *r) {
    char *in = (char *)IN + r->shift, *out = (char *)OUT + r->shift;
    switch (r->operation) {
    case GP_OPERATION_REDUCE:
        return gp_reduce_int(context, GP_REDUCE_SUM, (const int32_t *)(const void *)in, r->cols, OUT);
    case GP_OPERATION_WINDOW:
        return gp_sum_and_square_window(context, (const int32_t *)(const void *)in, r->rows, r->cols, r->cols,
                                        r->window, GP_BORDER_REFLECT, (float *)(void *)out, OUT2, r->cols);
    default:
        return gp_transpose(context, r->elem_bytes, in, r->rows, r->cols, r->cols,
                            r->in_place && r->rows == r->cols ? in : out, r->rows);
    }
}

static void describe(const request *r, gp_problem *p) {
    char *in = (char *)IN + r->shift, *out = (char *)OUT + r->shift;
    gp_status status;
    if (r->operation == GP_OPERATION_REDUCE)
        status = gp_problem_reduce(p, GP_REDUCE_SUM, (const int32_t *)(const void *)in, r->cols, OUT);
    else if (r->operation == GP_OPERATION_WINDOW)
        status = gp_problem_window(p, (const int32_t *)(const void *)in, r->rows, r->cols, r->cols, r->window,
                                   GP_BORDER_REFLECT, (float *)(void *)out, OUT2, r->cols);
    else
        status = gp_problem_transpose(p, r->elem_bytes, in, r->rows, r->cols, r->cols,
                                      r->in_place && r->rows == r->cols ? in : out, r->rows);
    assert_int_equal(status, GP_OK);
    p->space = GP_SPACE_GPU;
}

static gp_device filled(const gp_device_info *info) {
    gp_device device = *info;
    gp_device_fill_defaults(&device);
    return device;
}

static unsigned blocks_held(const gp_kernel *row, const gp_tiling *t, const gp_device *d) {
    gp_occupancy_info o = {.struct_size = sizeof o};
    assert_int_equal(
        gp_occupancy(d, t->threads, t->regs ? t->regs : row->regs_per_thread, row->smem_static + t->smem, &o), GP_OK);
    return o.blocks_per_sm;
}

/* A verdict that fits keeps to every limit of block, SM and grid, by a count of its own. */
static void check_fits(const gp_verdict *v, const gp_device *d) {
    const gp_tiling *t = &v->tiling;
    gp_occupancy_info o = {.struct_size = sizeof o};
    assert_int_equal(gp_occupancy(d, t->threads, t->regs, v->row->smem_static + t->smem, &o), GP_OK);
    assert_true(v->row->space == GP_SPACE_GPU);
    assert_true(t->threads <= d->threads_per_block && v->row->smem_static + t->smem <= d->smem_per_block_optin);
    assert_int_equal(v->blocks_per_sm, o.blocks_per_sm);
    assert_int_equal(v->limited_by, o.limited_by);
    assert_true(o.blocks_per_sm > 0 && t->blocks >= 1 && t->blocks <= 0x7fffffff);
}

/* The first of a row's tilings that the device has room for is taken; a row is refused only if it has room for none.
 */
static void check_first(const gp_verdict *v, const gp_problem *p, const gp_device *d) {
    gp_tiling t = {0};
    unsigned attempts = 0;
    for (; v->row->fit(p, d, attempts, &t); attempts++, t = (gp_tiling){0}) {
        assert_true(attempts < 64 && t.threads > 0);
        if (blocks_held(v->row, &t, d) == 0)
            continue;
        if (v->code != GP_VERDICT_FITS && v->code != GP_VERDICT_GRID)
            fail_msg("%s is refused on %s, but %u threads fit", v->row->name, d->name, t.threads);
        assert_int_equal(v->tiling.threads, t.threads);
        assert_int_equal(v->tiling.smem, t.smem);
        assert_memory_equal(v->tiling.t, t.t, sizeof t.t);
        return;
    }
    assert_int_equal(v->code == GP_VERDICT_SHAPE, attempts == 0);
}

static void check_plan(const request *r, const gp_device *d) {
    gp_problem p;
    gp_plan plan, quick;
    gp_verdict verdicts[GP_ROWS_MAX];
    const gp_pin free_choice = {NULL, 0};
    describe(r, &p);
    gp_rows rows = gp_primitive_rows(p.primitive);
    assert_in_range(rows.count + rows.study_count, 1, GP_ROWS_MAX); /* gp_context_explain() has room for no more */
    bool found = gp_plan_make(&p, d, rows, free_choice, &plan, verdicts);
    assert_int_equal(gp_plan_make(&p, d, rows, free_choice, &quick, NULL), found);
    assert_ptr_equal(plan.row, quick.row);
    assert_memory_equal(plan.tiling.t, quick.tiling.t, sizeof plan.tiling.t);
    size_t first = rows.count;
    for (size_t i = rows.count; i-- > 0;) {
        const gp_verdict *v = &verdicts[i];
        assert_ptr_equal(v->row, &rows.row[i]);
        if (v->code == GP_VERDICT_FITS) {
            check_fits(v, d);
            first = i;
        }
        if (v->row->space == GP_SPACE_GPU && !(v->row->flags & GP_KERNEL_STUDY))
            check_first(v, &p, d);
        if (v->row->flags & GP_KERNEL_STUDY)
            assert_int_equal(v->code, GP_VERDICT_STUDY);
        else
            assert_int_equal(v->code == GP_VERDICT_OTHER_SPACE, v->row->space != GP_SPACE_GPU);
    }
    assert_int_equal(found, first < rows.count);
    assert_ptr_equal(plan.row, found ? &rows.row[first] : NULL);
    if (found && (plan.tiling.threads != verdicts[first].tiling.threads ||
                  plan.tiling.blocks != verdicts[first].tiling.blocks))
        fail_msg("plan and verdict differ for %s", plan.row->name);
}

static void plans_keep_to_every_device(void **state) {
    (void)state;
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        gp_device device = filled(&devices[i]);
        for (size_t k = 0; k < COUNT(requests); k++)
            check_plan(&requests[k], &device);
    }
}

/* More tiles than 32 bits count: no row that would need them is chosen, and nothing divides by what is left of them.
 */
static void vast_matrices_are_planned(void **state) {
    (void)state;
    static const size_t rows[] = {(size_t)1 << 39, (size_t)1 << 40, ((size_t)1 << 40) + 12345, (size_t)1 << 42};
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        gp_device device = filled(&devices[i]);
        for (size_t k = 0; k < COUNT(rows); k++)
            for (size_t cols = 1; cols <= 5 && rows[k] * cols < (size_t)1 << 43; cols += 2)
                for (size_t bytes = 1; bytes <= 2; bytes++) {
                    check_plan(&(request){GP_OPERATION_TRANSPOSE, rows[k], cols, 0, bytes, 0, false}, &device);
                    check_plan(&(request){GP_OPERATION_TRANSPOSE, cols, rows[k], 0, bytes, 0, false}, &device);
                }
    }
}

/* Devices drawn by chance, many too small for anything. */
static void plans_keep_to_random_devices(void **state) {
    (void)state;
    uint64_t seed = cases_seed();
    for (int i = 0; i < (cases_reduced() ? 200 : 20000); i++) {
        uint64_t r = cases_random(&seed);
        gp_device d = {.struct_size = sizeof d,
                       .name = "random",
                       .multiprocessors = 1 + (uint32_t)(r % 150),
                       .threads_per_sm = 32u << (r >> 8) % 7,
                       .blocks_per_sm = 1 + (uint32_t)((r >> 12) % 32),
                       .regs_per_sm = 256u << (r >> 20) % 9,
                       .reg_unit = (r >> 24) % 2 ? 256 : 0,
                       .sm_partitions = 1u << (r >> 25) % 3,
                       .smem_per_sm = (size_t)256 << (r >> 28) % 11,
                       .smem_reserved = (r >> 32) % 2 ? 1024 : 0,
                       .smem_unit = (r >> 33) % 2 ? 128 : 0};
        gp_device_fill_defaults(&d);
        check_plan(&requests[(r >> 36) % COUNT(requests)], &d);
    }
}

static gp_plan_info plan_of(gp_context *context) {
    gp_plan_info plan = {.struct_size = sizeof plan};
    assert_int_equal(gp_context_plan(context, &plan), GP_OK);
    return plan;
}

static void models_plan_as_the_planner_does(void **state) {
    (void)state;
    for (size_t i = 0; i < DEVICE_COUNT; i++) {
        gp_context *context = devices_open(&devices[i]);
        gp_device device = filled(&devices[i]);
        for (size_t k = 0; k < COUNT(requests); k++) {
            gp_problem p;
            gp_plan plan;
            describe(&requests[k], &p);
            bool found = gp_plan_make(&p, &device, gp_primitive_rows(p.primitive), (gp_pin){NULL, 0}, &plan, NULL);
            gp_status status = ask(context, &requests[k]);
            assert_int_equal(status, found ? GP_OK : GP_ERR_NO_KERNEL);
            gp_plan_info info = plan_of(context);
            assert_int_equal(info.operation, p.primitive->operation);
            assert_int_equal(info.bytes_read, p.bytes_read);
            assert_int_equal(info.bytes_written, p.bytes_written);
            if (!found) {
                assert_null(info.kernel);
                continue;
            }
            assert_string_equal(info.kernel, plan.row->name);
            assert_int_equal(info.backend, GP_BACKEND_MODEL);
            assert_true(info.grid == plan.tiling.blocks && info.block == plan.tiling.threads &&
                        info.smem_dynamic == plan.tiling.smem);
            assert_int_equal(info.smem_static, plan.row->smem_static);
            assert_int_equal(info.regs_per_thread, plan.tiling.regs);
            assert_true(info.blocks_per_sm == plan.blocks_per_sm && info.limited_by == (int)plan.limited_by);
        }
        gp_context_destroy(context);
    }
}

/* A model context executes nothing, also where the arrays are real. */
static void models_touch_no_data(void **state) {
    (void)state;
    static const int32_t in[16] = {1, 2, 3};
    float out[16], before[16];
    int64_t sum = -5;
    memset(out, 0x55, sizeof out);
    memcpy(before, out, sizeof out);
    gp_context *context = devices_open(&devices[DEVICE_HOPPER]);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, 16, &sum), GP_OK);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, 0, &sum), GP_OK);
    assert_int_equal(gp_sum_and_square_window(context, in, 4, 4, 4, 3, GP_BORDER_ZERO, out, NULL, 4), GP_OK);
    assert_int_equal(gp_transpose(context, 4, in, 4, 4, 4, out, 4), GP_OK);
    assert_int_equal(gp_context_set_stream(context, NULL), GP_OK);
    assert_int_equal(gp_context_synchronize(context), GP_OK);
    assert_int_equal(sum, -5);
    assert_memory_equal(out, before, sizeof out);
    gp_context_destroy(context);
}

/* Verdict of a row under a limit: how many threads it gets, 0 if it does not fit. */
static unsigned threads_under(gp_context *context, const request *r, const char *row, size_t smem, unsigned regs) {
    assert_int_equal(gp_context_limit(context, smem, regs), GP_OK);
    assert_int_equal(gp_context_pin_kernel(context, row, 0), GP_OK);
    return ask(context, r) == GP_OK ? plan_of(context).block : 0;
}

/* A row that lost its place under some limit does not regain it under a tighter one, nor get more threads. */
static void tighter_limits_never_give_more(void **state) {
    (void)state;
    gp_context *context = devices_open(&devices[DEVICE_HOPPER]);
    for (size_t k = 0; k < COUNT(requests); k++) {
        for (size_t i = 0; i < gp_kernel_count(); i++) {
            const gp_primitive *of;
            const gp_kernel *row = gp_catalogue_at(i, &of);
            if (of->operation != requests[k].operation || row->space != GP_SPACE_GPU)
                continue;
            unsigned before = UINT32_MAX;
            for (size_t smem = 227 * 1024; smem >= 16; smem = smem * 3 / 4) {
                unsigned now = threads_under(context, &requests[k], row->name, smem, 0);
                if (now > before)
                    fail_msg("%s: %u threads with %zu bytes, %u with more", row->name, now, smem, before);
                before = now;
            }
            before = UINT32_MAX;
            for (unsigned regs = 65536; regs >= 64; regs = regs * 3 / 4) {
                unsigned now = threads_under(context, &requests[k], row->name, 0, regs);
                assert_true(now <= before);
                before = now;
            }
        }
    }
    gp_context_destroy(context);
}

/* With next to no shared memory the rows that stage a tile fall away, and a row without shared memory is left. */
static void little_shared_memory_falls_to_a_plain_row(void **state) {
    (void)state;
    gp_context *context = devices_open(&devices[DEVICE_HOPPER]);
    for (size_t k = 0; k < COUNT(requests); k++) {
        assert_int_equal(gp_context_limit(context, 0, 0), GP_OK);
        assert_int_equal(ask(context, &requests[k]), GP_OK);
        if (requests[k].operation == GP_OPERATION_REDUCE)
            continue;
        assert_int_equal(gp_context_limit(context, 16, 0), GP_OK);
        assert_int_equal(ask(context, &requests[k]), GP_OK);
        gp_plan_info plan = plan_of(context);
        assert_true(plan.smem_static + plan.smem_dynamic <= 16);
    }
    gp_context_destroy(context);
}

/* A size of block that a row has no use for is not chosen for want of a bound, and is named when pinned. */
static void useless_block_sizes_are_not_chosen(void **state) {
    (void)state;
    char text[8192];
    gp_device_info endless = devices[DEVICE_HOPPER];
    endless.smem_per_block = endless.smem_per_block_optin = endless.smem_per_sm = SIZE_MAX;
    gp_context *context = devices_open(&endless);
    for (unsigned threads = 0; threads <= 64; threads += 64) {
        assert_int_equal(gp_context_pin_kernel(context, "window_rows", threads), GP_OK);
        assert_int_equal(
            gp_sum_and_square_window(context, IN, 4096, 64, 64, 15, GP_BORDER_REFLECT_101, OUT, NULL, 64), GP_OK);
        assert_int_equal(plan_of(context).block, 64);
    }
    assert_int_equal(gp_context_pin_kernel(context, "window_rows", 128), GP_OK);
    assert_int_equal(gp_sum_and_square_window(context, IN, 4096, 64, 64, 15, GP_BORDER_REFLECT_101, OUT, NULL, 64),
                     GP_ERR_NO_KERNEL);
    gp_context_explain(context, text, sizeof text);
    assert_non_null(strstr(text, "blocks of 128 threads are no use for this shape"));
    gp_context_destroy(context);
}

/* An element of 2^32 + 12 bytes is not taken for one of 12, nor any other for what is left of it in 32 bits. */
static void large_elements_are_not_taken_for_small_ones(void **state) {
    (void)state;
    gp_context *context = devices_open(&devices[DEVICE_HOPPER]);
    for (size_t small = 0; small <= 16; small++)
        for (size_t cols = 15; cols <= 16; cols++) {
            void *out = cols == 16 ? IN : OUT;
            const gp_status status = gp_transpose(context, ((size_t)1 << 32) + small, IN, 16, cols, cols, out, 16);
            if (status != GP_ERR_NO_KERNEL)
                assert_int_equal(status, GP_OK);
            const char *kernel = plan_of(context).kernel;
            assert_true(kernel == NULL || strcmp(kernel, "transpose_naive") == 0);
        }
    gp_context_destroy(context);
}

/* Rows of 2^36 bytes and shared memory of 2^62: nothing is divided by what 32 bits leave of them, nor counted up. */
static void wide_rows_are_not_taken_for_narrow_ones(void **state) {
    (void)state;
    const gp_window_shape window = {.struct_size = sizeof window, .extent = {9, 9}, .border = GP_BORDER_ZERO};
    const gp_array image = gp_matrix(GP_U8, IN, 999, 999, 999), to = gp_matrix(GP_U8, OUT, 999, 999, 999);
    const size_t cols = (size_t)1 << 36;
    gp_device_info endless = devices[DEVICE_HOPPER];
    endless.smem_per_block = endless.smem_per_block_optin = endless.smem_per_sm = (size_t)1 << 62;
    gp_context *context = devices_open(&endless);
    assert_int_equal(gp_transpose(context, 1, IN, 363, cols, cols, (char *)IN + 512 * cols, 363), GP_OK);
    assert_true(plan_of(context).grid >= cols / 1024);
    assert_int_equal(gp_window(context, &image, &window, &(gp_result){.op = GP_REDUCE_MIN, .to = to}, 1), GP_OK);
    gp_context_destroy(context);
}

static void single_rows_have_no_pitch(void **state) {
    (void)state;
    static const size_t pitches[] = {5003, (size_t)1 << 62, SIZE_MAX};
    for (size_t i = 0; i < COUNT(pitches); i++) {
        const size_t n = 5001, pitch = pitches[i];
        gp_problem plain, wild;
        assert_int_equal(gp_problem_window(&plain, IN, 1, n, n, 9, GP_BORDER_ZERO, OUT, OUT2, n), GP_OK);
        assert_int_equal(gp_problem_window(&wild, IN, 1, n, pitch, 9, GP_BORDER_ZERO, OUT, OUT2, pitch), GP_OK);
        assert_true(gp_problem_same_shape(&plain, &wild));
        assert_int_equal(gp_problem_transpose(&plain, 4, IN, 1, n, n, OUT, 1), GP_OK);
        assert_int_equal(gp_problem_transpose(&wild, 4, IN, 1, n, pitch, OUT, 1), GP_OK);
        assert_true(gp_problem_same_shape(&plain, &wild));
        assert_int_equal(gp_problem_transpose(&plain, 4, IN, n, 1, 1, OUT, n), GP_OK);
        assert_int_equal(gp_problem_transpose(&wild, 4, IN, n, 1, 1, OUT, pitch), GP_OK);
        assert_true(gp_problem_same_shape(&plain, &wild));
    }
}

/* No two problems that differ before the data share a plan: every byte but padding counts. */
static void shapes_differ_in_every_member(void **state) {
    (void)state;
    gp_problem a, b;
    memset(&a, 0, sizeof a);
    size_t counted = 0;
    for (size_t i = 0; i < sizeof a; i++) {
        memcpy(&b, &a, sizeof a);
        ((unsigned char *)&b)[i] ^= 1;
        const bool same = gp_problem_same_shape(&a, &b), data = i >= offsetof(gp_problem, in);
        assert_true(same || !data);
        counted += !same;
    }
    assert_int_equal(counted, offsetof(gp_problem, in) - 1); /* a byte after the flags */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_elements_are_not_taken_for_small_ones),
        cmocka_unit_test(wide_rows_are_not_taken_for_narrow_ones),
        cmocka_unit_test(single_rows_have_no_pitch),
        cmocka_unit_test(plans_keep_to_every_device),
        cmocka_unit_test(vast_matrices_are_planned),
        cmocka_unit_test(plans_keep_to_random_devices),
        cmocka_unit_test(models_plan_as_the_planner_does),
        cmocka_unit_test(models_touch_no_data),
        cmocka_unit_test(tighter_limits_never_give_more),
        cmocka_unit_test(little_shared_memory_falls_to_a_plain_row),
        cmocka_unit_test(useless_block_sizes_are_not_chosen),
        cmocka_unit_test(shapes_differ_in_every_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
