/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls drawn by chance, on the GPU and on the processor: each row gets some that it takes, found by asking a model
 * of the same device, and the free choice gets some under limits. What the GPU leaves, a page to either side
 * included, is compared with the processor's copy of the same memory. GPUPRIM_TEST_SECONDS: how long, default 8.
 */
#include "../cases.h"
#include "../gpu.h"

#include <time.h>

#define SPAN ((size_t)48 << 20) /* bytes of an array's memory */
#define EDGE ((size_t)4096)     /* of it that no call is given, at either end */
#define MOST ((size_t)16 << 20) /* bytes of an array that is given, at most; smaller ones are likelier */
#define TRIES 3000              /* calls drawn for one that a row takes */
#define CONTENTS 5

typedef struct call {
    gp_operation operation;
    gp_reduce_op op;
    gp_border border;
    size_t rows, cols, window, elem_bytes, in_pitch, out_pitch;
    size_t content;       /* which of the inputs */
    size_t at, out_at[2]; /* bytes from the memory's start */
    size_t out_bytes;     /* that an output spans */
    bool in_place, wanted[2];
} call;

/* Memory on the device and the processor's copy of what it should hold. */
typedef struct memory {
    unsigned char *device, *host;
} memory;

static gp_context *gpu, *processor, *model;
static memory input[CONTENTS], output[2];
static unsigned char *seen;
static uint64_t seed;

static size_t below(size_t n) {
    return (size_t)(cases_random(&seed) >> 16) % n;
}

/* Lengths at which something changes, or of any magnitude. */
static size_t draw_length(void) {
    static const size_t special[] = {1,    2,    3,     4,     7,     8,     9,     15,    16,    17,    31,   32,
                                     33,   45,   63,    64,    65,    91,    100,   127,   128,   129,   181,  255,
                                     256,  257,  300,   363,   511,   512,   513,   725,   1000,  1023,  1024, 1025,
                                     1280, 1449, 2047,  2048,  2049,  2897,  4095,  4096,  4097,  5112,  5793, 8191,
                                     8192, 8193, 10000, 11585, 16384, 23170, 46341, 65536, 92682, 131072};
    if (below(2) == 0)
        return special[below(COUNT(special))];
    const size_t power = (size_t)1 << below(18), length = power + below(power);
    return below(2) == 0 && length >= 16 ? length / 16 * 16 : length;
}

static size_t draw_pitch(size_t cols) {
    const size_t padded = cols + (below(3) == 0 ? below(70) : 0);
    return below(5) == 0 ? (padded + 63) / 64 * 64 : padded;
}

/* For an array that spans so many bytes: a multiple of `unit`, less than EDGE, or of 256. */
static size_t draw_place(size_t bytes, size_t unit) {
    const size_t alignment = below(3) == 0 ? unit : 256, at = EDGE + below(SPAN - bytes - 3 * EDGE);
    return (at + alignment - 1) / alignment * alignment;
}

static bool has_room(size_t rows, size_t pitch, size_t elem_bytes) {
    return rows * pitch * elem_bytes + 3 * EDGE < SPAN;
}

/* Thin, square and other shapes; false: too large for this draw. */
static bool draw_shape(call *c) {
    const size_t most = MOST >> below(14), shape = below(4);
    c->rows = shape == 0 ? 1 + below(500) : draw_length();
    c->cols = shape == 1 ? 1 + below(500) : shape == 2 ? c->rows : draw_length();
    c->in_pitch = draw_pitch(c->cols);
    return c->rows * c->cols * c->elem_bytes <= most && has_room(c->rows, c->in_pitch, c->elem_bytes);
}

static bool draw_transpose(call *c) {
    static const size_t sizes[] = {1, 1, 1, 2, 2, 2, 4, 4, 8, 16, 12, 3, 6, 20, 5, 24, 7, 100, 1500};
    c->elem_bytes = sizes[below(COUNT(sizes))];
    if (!draw_shape(c))
        return false;
    c->in_place = c->rows == c->cols && below(4) > 0;
    c->out_pitch = c->in_place ? c->in_pitch : draw_pitch(c->rows);
    if (!has_room(c->cols, c->out_pitch, c->elem_bytes))
        return false;
    const size_t unit = below(2) == 0 ? c->elem_bytes : 1;
    c->out_bytes = ((c->cols - 1) * c->out_pitch + c->rows) * c->elem_bytes;
    c->at = draw_place(((c->rows - 1) * c->in_pitch + c->cols) * c->elem_bytes, unit);
    c->out_at[0] = draw_place(c->out_bytes, unit);
    c->wanted[0] = true;
    return true;
}

static bool draw_window(call *c) {
    c->elem_bytes = sizeof(float);
    c->out_pitch = 0;
    if (!draw_shape(c))
        return false;
    c->out_pitch = draw_pitch(c->cols);
    if (!has_room(c->rows, c->out_pitch, c->elem_bytes))
        return false;
    c->window = below(3) == 0 ? draw_length() : 1 + below(40);
    c->border = (gp_border)below(GP_BORDER_WRAP + 1);
    c->content = below(CONTENTS);
    c->out_bytes = ((c->rows - 1) * c->out_pitch + c->cols) * sizeof(float);
    c->at = draw_place(((c->rows - 1) * c->in_pitch + c->cols) * sizeof(int32_t), sizeof(int32_t));
    c->out_at[0] = draw_place(c->out_bytes, sizeof(float));
    c->out_at[1] = below(2) == 0 ? c->out_at[0] : draw_place(c->out_bytes, sizeof(float));
    c->wanted[0] = below(3) > 0;
    c->wanted[1] = !c->wanted[0] || below(3) > 0;
    return (double)c->rows * (double)c->cols * (double)c->window < 4e9; /* some rows add up every pixel */
}

static bool draw_reduce(call *c) {
    const size_t n = draw_length() * (below(3) == 0 ? 1 + below(100) : 1);
    if (n * sizeof(int32_t) > MOST)
        return false;
    *c = (call){.operation = GP_OPERATION_REDUCE, .op = (gp_reduce_op)below(GP_REDUCE_XOR + 1), .rows = 1, .cols = n};
    c->content = below(CONTENTS);
    c->at = draw_place(n * sizeof(int32_t), sizeof(int32_t));
    c->out_bytes = sizeof(int64_t);
    c->out_at[0] = draw_place(c->out_bytes, sizeof(int64_t));
    c->wanted[0] = true;
    return true;
}

static bool draw(call *c, gp_operation operation) {
    *c = (call){.operation = operation};
    if (operation == GP_OPERATION_REDUCE)
        return draw_reduce(c);
    return operation == GP_OPERATION_WINDOW ? draw_window(c) : draw_transpose(c);
}

static gp_status make(gp_context *context, const call *c, unsigned char *in, unsigned char *out[2]) {
    void *const to[2] = {out[0] + c->out_at[0], out[1] + c->out_at[1]};
    const void *from = c->in_place ? to[0] : in + c->at;
    if (c->operation == GP_OPERATION_REDUCE)
        return gp_reduce_int(context, c->op, from, c->cols, to[0]);
    if (c->operation == GP_OPERATION_WINDOW)
        return gp_sum_and_square_window(context, from, c->rows, c->cols, c->in_pitch, c->window, c->border,
                                        c->wanted[0] ? to[0] : NULL, c->wanted[1] ? to[1] : NULL, c->out_pitch);
    return gp_transpose(context, c->elem_bytes, from, c->rows, c->cols, c->in_pitch, to[0], c->out_pitch);
}

static gp_status make_on_device(gp_context *context, const call *c) {
    return make(context, c, input[c->content].device, (unsigned char *[]){output[0].device, output[1].device});
}

static void fail_call(const call *c, const char *kernel, const char *what, size_t byte) {
    fail_msg(
        "%s: %s at byte %zu; operation %d, op %d, border %d, %zu x %zu, window %zu, %zu bytes an element, pitches "
        "%zu, %zu, content %zu, at %zu, %zu, %zu, outputs %d %d, in place %d",
        kernel, what, byte, (int)c->operation, (int)c->op, (int)c->border, c->rows, c->cols, c->window, c->elem_bytes,
        c->in_pitch, c->out_pitch, c->content, c->at, c->out_at[0], c->out_at[1], c->wanted[0], c->wanted[1],
        c->in_place);
}

static void compare(const call *c, const char *kernel) {
    if (make_on_device(gpu, c) != GP_OK)
        fail_call(c, kernel, gp_last_error(), 0);
    assert_int_equal(make(processor, c, input[c->content].host, (unsigned char *[]){output[0].host, output[1].host}),
                     GP_OK);
    for (int i = 0; i < 2; i++) {
        const size_t begin = c->out_at[i] - EDGE, bytes = c->out_bytes + 2 * EDGE;
        const unsigned char *right = output[i].host + begin;
        if (!c->wanted[i])
            continue;
        CUDA_OK(cudaMemcpy(seen, output[i].device + begin, bytes, cudaMemcpyDeviceToHost));
        size_t k = memcmp(seen, right, bytes) == 0 ? bytes : 0;
        while (k < bytes && seen[k] == right[k])
            k++;
        if (k < bytes)
            fail_call(c, kernel, i == 0 ? "out or sum differs" : "square differs", k);
    }
}

/* A call that the model's plan finds a kernel for, by its pin and limits. */
static bool find(call *c, gp_operation operation) {
    for (int i = 0; i < TRIES; i++)
        if (draw(c, operation) && make_on_device(model, c) == GP_OK)
            return true;
    return false;
}

static size_t try_row(const gp_kernel_info *row) {
    call c;
    assert_int_equal(gp_context_pin_kernel(model, row->name, 0), GP_OK);
    assert_int_equal(gp_context_pin_kernel(gpu, row->name, 0), GP_OK);
    if (!find(&c, (gp_operation)row->operation))
        return 0;
    compare(&c, row->name);
    return 1;
}

static size_t try_limits(void) {
    static const size_t smem[] = {0, 1024, 16384, 49152, 100000};
    static const unsigned regs[] = {0, 8192, 16384, 32768};
    const size_t bytes = smem[below(COUNT(smem))];
    const unsigned registers = regs[below(COUNT(regs))];
    call c;
    gp_context *const both[] = {model, gpu};
    for (size_t i = 0; i < COUNT(both); i++) {
        assert_int_equal(gp_context_pin_kernel(both[i], NULL, 0), GP_OK);
        assert_int_equal(gp_context_limit(both[i], bytes, registers), GP_OK);
    }
    const bool found = find(&c, (gp_operation)(GP_OPERATION_REDUCE + below(3)));
    if (found)
        compare(&c, "free choice under limits");
    for (size_t i = 0; i < COUNT(both); i++)
        assert_int_equal(gp_context_limit(both[i], 0, 0), GP_OK);
    return found;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void random_calls_agree(void **state) {
    (void)state;
    static size_t ran[256];
    const char *asked = getenv("GPUPRIM_TEST_SECONDS");
    const double end = now() + (cases_reduced() ? 2 : asked ? strtod(asked, NULL) : 8);
    size_t all = 0, limited = 0;
    assert_in_range(gp_kernel_count(), 1, COUNT(ran));
    do {
        for (size_t i = 0; i < gp_kernel_count(); i++) {
            gp_kernel_info row = {.struct_size = sizeof row};
            assert_int_equal(gp_kernel_at(i, &row), GP_OK);
            if (!(row.flags & GP_KERNEL_GPU) || (row.flags & GP_KERNEL_STUDY))
                continue;
            ran[i] += try_row(&row);
            all++;
        }
        limited += try_limits();
    } while (now() < end);
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info row = {.struct_size = sizeof row};
        assert_int_equal(gp_kernel_at(i, &row), GP_OK);
        if (ran[i] > 0)
            printf("%-28s %6zu calls\n", row.name, ran[i]);
    }
    printf("cases: %zu calls of rows drawn, %zu under limits\n", all, limited);
}

static void fill(memory *m, data_kind kind) {
    m->host = malloc(SPAN);
    assert_non_null(m->host);
    cases_fill((int32_t *)(void *)m->host, SPAN / sizeof(int32_t), kind, cases_random(&seed));
    m->device = gpu_upload(m->host, SPAN);
}

static int prepare(void **state) {
    (void)state;
    static const data_kind kinds[CONTENTS] = {DATA_RANDOM, DATA_8_BIT, DATA_16_BIT, DATA_24_BIT, DATA_EXTREMES};
    gp_device_info device = {.struct_size = sizeof device};
    seed = cases_seed();
    gpu = gpu_open(GP_BACKEND_CUDA);
    processor = gpu_open(GP_BACKEND_CPU);
    assert_int_equal(gp_context_device(gpu, &device), GP_OK);
    const gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_MODEL, .model = &device};
    assert_int_equal(gp_context_create(&model, &options), GP_OK);
    for (size_t i = 0; i < CONTENTS; i++)
        fill(&input[i], kinds[i]);
    for (size_t i = 0; i < COUNT(output); i++)
        fill(&output[i], DATA_RANDOM);
    seen = malloc(SPAN);
    return seen == NULL;
}

static void drop(memory *m) {
    free(m->host);
    CUDA_OK(cudaFree(m->device));
}

static int clean_up(void **state) {
    (void)state;
    for (size_t i = 0; i < CONTENTS; i++)
        drop(&input[i]);
    for (size_t i = 0; i < COUNT(output); i++)
        drop(&output[i]);
    free(seen);
    gp_context_destroy(model);
    gp_context_destroy(processor);
    gp_context_destroy(gpu);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls_agree)};
    if (gpu_is_missing())
        return 77;
    return cmocka_run_group_tests(tests, prepare, clean_up);
}
