/* SPDX-License-Identifier: Apache-2.0 */
/* Windows along long lines, of which a GPU carries the sums from output to output. */
#include "../../src/host/reduce_array/pass.h"
#include "../cases.h"
#include "../check.h"
#include "expect_windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OPS 2

typedef struct line {
    gp_type type, to; /* results are of type `to`, but for means in the elements' own */
    size_t window;
    ptrdiff_t shift;
    gp_reduce_op op[OPS];
    int32_t border; /* a gp_border */
    bool own;       /* the first result is of the elements' type */
} line;

static const line lines[] = {
    {GP_U8, GP_F32, 37, 0, {GP_REDUCE_MEAN, GP_REDUCE_STDDEV}, GP_BORDER_SHRINK, true},
    {GP_U8, GP_F32, 700, 5, {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE}, GP_BORDER_REFLECT, false},
    {GP_S8, GP_F64, 1900, -900, {GP_REDUCE_SUM, GP_REDUCE_STDDEV_SAMPLE}, GP_BORDER_WRAP, false},
    {GP_U16, GP_F32, 400, 0, {GP_REDUCE_SUM, GP_REDUCE_SUM_SQUARES}, GP_BORDER_REPLICATE, false},
    {GP_S16, GP_F32, 1900, 0, {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE_SAMPLE}, GP_BORDER_ZERO, true},
    {GP_S32, GP_F32, 401, 0, {GP_REDUCE_MEAN, GP_REDUCE_STDDEV}, GP_BORDER_REFLECT_101, true},
    {GP_U32, GP_F32, 1801, 100, {GP_REDUCE_SUM, GP_REDUCE_MEAN}, GP_BORDER_SHRINK, false},
    {GP_F16, GP_F32, 300, 0, {GP_REDUCE_MEAN, GP_REDUCE_SUM}, GP_BORDER_REFLECT_101, false},
    {GP_F16, GP_F64, 55, 0, {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE}, GP_BORDER_WRAP, false},
    {GP_F32, GP_F32, 2, 0, {GP_REDUCE_MEAN, GP_REDUCE_SUM}, GP_BORDER_ZERO, false},
    {GP_F32, GP_F32, 700, -340, {GP_REDUCE_MEAN, GP_REDUCE_STDDEV}, GP_BORDER_SHRINK, false},
    {GP_F32, GP_F32, 1900, 0, {GP_REDUCE_VARIANCE_SAMPLE, GP_REDUCE_SUM_SQUARES}, GP_BORDER_REFLECT, false},
    {GP_F32, GP_F64, 260, 3, {GP_REDUCE_MEAN, GP_REDUCE_STDDEV}, GP_BORDER_REPLICATE, false},
};

/* Floats grow by a thousand along the lines, twice from one to the next; one in 16,384 is no number. */
static void fill(const line *l, unsigned char *numbers, size_t n, uint64_t *draws) {
    const unsigned bytes = gp_type_bytes(l->type);
    for (size_t i = 0; i < n; i++) {
        const uint64_t random = cases_random(draws);
        const float number = ldexpf((float)(random % (1 << 24)) / (1 << 24) - 0.25f, (int)(i / 3001 % 10));
        const uint32_t bits = (uint32_t)random;
        if (l->type == GP_F32)
            memcpy(numbers + i * bytes, random >> 50 == 0 ? &(float){NAN} : &number, bytes);
        else if (l->type == GP_F16) /* up to 2 */
            memcpy(numbers + i * bytes, &(uint16_t){random >> 50 == 0 ? 0x7c00 : bits & 0xbfff}, bytes);
        else
            memcpy(numbers + i * bytes, &bits, bytes);
    }
}

static gp_array view(gp_type type, const void *data, size_t rows, size_t cols) {
    return gp_matrix(type, data, rows, cols, cols);
}

static size_t results_of(const line *l, void *const *to, size_t rows, size_t cols, gp_result *results) {
    for (size_t r = 0; r < OPS; r++)
        results[r] = gp_want((uint32_t)l->op[r], view(r == 0 && l->own ? l->type : l->to, to[r], rows, cols));
    return rows * cols * sizeof(double); /* room of one */
}

/* All kernels have the results of the processor's choice. */
void windows_along_lines(void **state) {
    (void)state;
    enum { ROWS = 2, COLS = 4203, BYTES = ROWS * COLS * sizeof(double) };
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    uint64_t draws = cases_seed();
    unsigned char *const numbers = malloc(BYTES);
    void *memory[2 * OPS];
    for (size_t i = 0; i < 2 * OPS; i++)
        assert_non_null(memory[i] = calloc(1, BYTES));
    assert_non_null(numbers);
    for (size_t k = 0; k < COUNT(lines); k++) {
        const line *l = &lines[k];
        const gp_window_shape window = {
            .struct_size = sizeof window, .extent = {1, l->window}, .shift = {0, l->shift}, .border = l->border};
        gp_result results[OPS];
        if (windows_left_out(k))
            continue;
        fill(l, numbers, ROWS * COLS, &draws);
        const gp_array in = view(l->type, numbers, ROWS, COLS);
        for (size_t r = 0; r < OPS; r++)
            memset(memory[r], 0, BYTES);
        results_of(l, memory, ROWS, COLS, results);
        assert_int_equal(gp_window(h.subjects[0].context, &in, &window, results, OPS), GP_OK);
        const size_t bytes = results_of(l, memory + OPS, ROWS, COLS, results);
        expect_windows(&h, &in, &window, results, OPS, bytes, (float *const *)memory, "lines");
    }
    harness_close(&h);
    for (size_t i = 0; i < 2 * OPS; i++)
        free(memory[i]);
    free(numbers);
}

/* Memory of the processor and of a GPU for some lines and their results. */
typedef struct lines_memory {
    gp_context *context;
    unsigned char *numbers, *got;
    void *in, *owed[OPS], *to[OPS];
} lines_memory;

/* A GPU has the results of the processor, in its own memory. */
static void compare_lines(const harness *h, const lines_memory *m, const line *l, size_t rows, size_t cols,
                          uint64_t *draws) {
    const size_t n = rows * cols;
    const gp_window_shape window = {
        .struct_size = sizeof window, .extent = {1, l->window}, .shift = {0, l->shift}, .border = l->border};
    const gp_array here = view(l->type, m->numbers, rows, cols), there = view(l->type, m->in, rows, cols);
    gp_result results[OPS];
    fill(l, m->numbers, n, draws);
    results_of(l, m->owed, rows, cols, results);
    assert_int_equal(gp_window(h->subjects[0].context, &here, &window, results, OPS), GP_OK);
    assert_int_equal(gp_copy(m->context, m->in, m->numbers, n * gp_type_bytes(l->type)), GP_OK);
    results_of(l, m->to, rows, cols, results);
    assert_int_equal(gp_window(m->context, &there, &window, results, OPS), GP_OK);
    for (size_t r = 0; r < OPS; r++) {
        const size_t bytes = n * gp_type_bytes((gp_type)results[r].to.type);
        assert_int_equal(gp_copy(m->context, m->got, m->to[r], bytes), GP_OK);
        assert_memory_equal(m->got, m->owed[r], bytes);
    }
}

/* So many lines that a warp of a GPU has one whole; extremes along a few that are long. */
void windows_along_many_lines(void **state) {
    (void)state;
#define BOTH \
    { GP_REDUCE_MIN, GP_REDUCE_MAX }
    static const line extremes[] = {
        {GP_U8, GP_U8, 100, 0, BOTH, GP_BORDER_REFLECT, false},
        {GP_U8, GP_U8, 5000, 70, BOTH, GP_BORDER_SHRINK, false},
        {GP_S16, GP_S16, 31, -3, BOTH, GP_BORDER_ZERO, false},
        {GP_F16, GP_F16, 2047, 0, BOTH, GP_BORDER_WRAP, false},
        {GP_U16, GP_U16, 2049, 0, BOTH, GP_BORDER_REPLICATE, false},
        {GP_F32, GP_F32, 3071, -1500, BOTH, GP_BORDER_REFLECT_101, false},
        {GP_S32, GP_S32, 2, 0, BOTH, GP_BORDER_ZERO, false},
    };
    enum { ROWS = 2300, COLS = 4203, LONG = 300007 };
    const size_t n = (size_t)ROWS * COLS, bytes = n * sizeof(double);
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    lines_memory m = {.context = h.subjects[h.n_subjects - 1].context};
    const bool has_gpu = h.subjects[h.n_subjects - 1].gpu;
    uint64_t draws = cases_seed();
    if (has_gpu) {
        m.numbers = malloc(n * 4);
        m.got = malloc(bytes);
        assert_true(m.numbers != NULL && m.got != NULL);
        assert_int_equal(gp_alloc(m.context, GP_MEMORY_DEVICE, n * 4, &m.in), GP_OK);
        for (size_t r = 0; r < OPS; r++) {
            assert_non_null(m.owed[r] = malloc(bytes));
            assert_int_equal(gp_alloc(m.context, GP_MEMORY_DEVICE, bytes, &m.to[r]), GP_OK);
        }
    }
    for (size_t k = 0; has_gpu && k < COUNT(lines); k++)
        if (!windows_left_out(k))
            compare_lines(&h, &m, &lines[k], ROWS, COLS, &draws);
    for (size_t k = 0; has_gpu && k < COUNT(extremes); k++)
        for (size_t rows = 1; rows < 4; rows += 2)
            compare_lines(&h, &m, &extremes[k], rows, LONG, &draws);
    for (size_t r = 0; r < OPS; r++) {
        assert_int_equal(gp_free(m.context, m.to[r]), GP_OK);
        free(m.owed[r]);
    }
    assert_int_equal(gp_free(m.context, m.in), GP_OK);
    free(m.numbers);
    free(m.got);
    harness_leave(&h);
}
