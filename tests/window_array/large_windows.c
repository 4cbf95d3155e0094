/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over so many pixels that a GPU's kernels share them out as they do not with few. */
#include "../../src/host/reduce_array/pass.h"
#include "../cases.h"
#include "../check.h"
#include "expect_windows.h"

#include <stdlib.h>
#include <string.h>

/* A row writes nothing behind its results, on a GPU in its own memory. These are so many that window_any takes 32 at
   a time, and 3 are left. */
void nothing_behind_many_results(void **state) {
    (void)state;
    enum { ROWS = 201, COLS = 203, BEHIND = 64, ALL = ROWS * COLS + BEHIND };
    static float numbers[ROWS * COLS], results[ALL];
    const size_t bytes = sizeof results;
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    for (size_t i = 0; i < ROWS * COLS; i++)
        numbers[i] = (float)(i % 1000);
    for (size_t i = 0; i < h.n_subjects * h.n_rows * 2; i++) {
        const subject *s = &h.subjects[i / h.n_rows % h.n_subjects];
        row *r = &h.rows[i % h.n_rows];
        const bool sum = i / h.n_rows / h.n_subjects;
        void *in = NULL, *to = NULL;
        const gp_memory own = s->gpu ? GP_MEMORY_DEVICE : GP_MEMORY_HOST;
        if (!harness_pin(&h, s, r, 0))
            continue;
        assert_int_equal(gp_alloc(s->context, own, sizeof numbers, &in), GP_OK);
        assert_int_equal(gp_alloc(s->context, own, bytes, &to), GP_OK);
        memset(results, 0xa5, bytes);
        assert_int_equal(gp_copy(s->context, in, numbers, sizeof numbers), GP_OK);
        assert_int_equal(gp_copy(s->context, to, results, bytes), GP_OK);
        const gp_array picture = gp_matrix(GP_F32, in, ROWS, COLS, COLS);
        const gp_window_shape window = {.struct_size = sizeof window, .extent = {3, 5}, .border = GP_BORDER_REFLECT};
        const gp_result result =
            gp_want(sum ? GP_REDUCE_SUM : GP_REDUCE_MAX, gp_matrix(GP_F32, to, ROWS, COLS, COLS));
        const gp_status status = gp_window(s->context, &picture, &window, &result, 1);
        assert_int_equal(gp_copy(s->context, results, to, bytes), GP_OK);
        const unsigned char *behind = (const unsigned char *)(results + ROWS * COLS);
        bool kept = harness_ran(&h, s, r, status, GP_OK, "results by the thousand");
        for (size_t k = 0; kept && k < BEHIND * sizeof *results; k++)
            if (behind[k] != 0xa5) {
                harness_fail(&h, s, r, "results by the thousand", "something is written behind them");
                kept = false;
            }
        assert_int_equal(gp_free(s->context, in), GP_OK);
        assert_int_equal(gp_free(s->context, to), GP_OK);
    }
    harness_close(&h);
}

#define OPS 2

/* What is asked of a large picture of `channels`. */
typedef struct large {
    gp_type type, to;
    size_t channels, high, wide;
    ptrdiff_t shift;
    gp_reduce_op op[OPS];
    size_t count;
    int32_t border; /* a gp_border */
    size_t lacks;   /* columns of WIDE that are not there */
} large;

enum { HIGH = 1100, WIDE = 1000 };

static gp_status call(const large *l, gp_context *context, const void *in, void *const *to) {
    const size_t cols = WIDE - l->lacks, pitch = cols * l->channels;
    const gp_array picture = gp_image(l->type, in, HIGH, cols, l->channels, pitch);
    const gp_window_shape window = {
        .struct_size = sizeof window, .extent = {l->high, l->wide}, .shift = {0, l->shift}, .border = l->border};
    gp_result results[OPS];
    for (size_t r = 0; r < l->count; r++)
        results[r] = gp_want((uint32_t)l->op[r], gp_image(l->to, to[r], HIGH, cols, l->channels, pitch));
    return gp_window(context, &picture, &window, results, l->count);
}

/* Windows that have all elements and such that lack some, with the bits of the processor. */
void edges_of_large_pictures(void **state) {
    (void)state;
    static const large all[] = {
        {GP_U8, GP_F32, 1, 31, 31, 0, {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE}, 2, GP_BORDER_SHRINK, 0},
        {GP_U8, GP_U8, 1, 5, 1, 0, {GP_REDUCE_MEAN}, 1, GP_BORDER_SHRINK, 0},
        {GP_U8, GP_U8, 1, 9, 14, -3, {GP_REDUCE_MEAN}, 1, GP_BORDER_REFLECT_101, 0},
        {GP_U8, GP_U8, 1, 100, 31, 0, {GP_REDUCE_MEAN}, 1, GP_BORDER_REPLICATE, 3},
        {GP_U8, GP_U8, 3, 6, 5, 0, {GP_REDUCE_MEAN}, 1, GP_BORDER_ZERO, 0},
        {GP_U8, GP_U8, 3, 3, 31, 2, {GP_REDUCE_MEAN}, 1, GP_BORDER_REFLECT, 1},
        {GP_U8, GP_U8, 4, 4, 4, 0, {GP_REDUCE_MEAN}, 1, GP_BORDER_REFLECT_101, 0},
        {GP_U8, GP_U8, 4, 5, 9, 1, {GP_REDUCE_MEAN}, 1, GP_BORDER_WRAP, 5},
        {GP_U8, GP_U8, 1, 3, 3, 0, {GP_REDUCE_MEAN}, 1, GP_BORDER_REFLECT_101, 971}, /* narrow: parts side by side */
        {GP_U8, GP_U8, 3, 5, 3, 0, {GP_REDUCE_MEAN}, 1, GP_BORDER_ZERO, 970},
        {GP_U8, GP_U8, 1, 4, 3, 1, {GP_REDUCE_MAX}, 1, GP_BORDER_REPLICATE, 937},
        {GP_U16, GP_U16, 1, 3, 5, 0, {GP_REDUCE_MIN, GP_REDUCE_MAX}, 2, GP_BORDER_REFLECT, 887},
        {GP_F32, GP_F32, 1, 3, 3, -1, {GP_REDUCE_MAX, GP_REDUCE_MIN}, 2, GP_BORDER_REFLECT_101, 983},
        {GP_U8, GP_F32, 3, 7, 9, 0, {GP_REDUCE_MEAN, GP_REDUCE_STDDEV}, 2, GP_BORDER_SHRINK, 0},
        {GP_U16, GP_F64, 1, 1, 101, 7, {GP_REDUCE_MEAN, GP_REDUCE_STDDEV}, 2, GP_BORDER_SHRINK, 0},
        {GP_S32, GP_F32, 1, 15, 64, -31, {GP_REDUCE_SUM, GP_REDUCE_SUM_SQUARES}, 2, GP_BORDER_SHRINK, 0},
        {GP_U8, GP_U8, 1, 3, 3, 0, {GP_REDUCE_MIN, GP_REDUCE_MAX}, 2, GP_BORDER_SHRINK, 0},
        {GP_U8, GP_U8, 3, 6, 3, -1, {GP_REDUCE_MIN, GP_REDUCE_MAX}, 2, GP_BORDER_SHRINK, 0},
        {GP_F32, GP_F32, 1, 5, 5, 1, {GP_REDUCE_MAX, GP_REDUCE_MIN}, 2, GP_BORDER_SHRINK, 0},
        {GP_F32, GP_F32, 1, 15, 15, 0, {GP_REDUCE_MEAN}, 1, GP_BORDER_SHRINK, 0},
        {GP_F32, GP_F64, 1, 4, 8, 4, {GP_REDUCE_SUM_SQUARES, GP_REDUCE_VARIANCE_SAMPLE}, 2, GP_BORDER_SHRINK, 0},
        {GP_F32, GP_F32, 1, 700, 3, 0, {GP_REDUCE_MEAN}, 1, GP_BORDER_SHRINK, 0}, /* more edges than inside */
        /* too large for units of 2^-24 */
        {GP_F16, GP_F64, 1, 1500, 1500, 0, {GP_REDUCE_SUM, GP_REDUCE_MEAN}, 2, GP_BORDER_SHRINK, 0},
    };
    harness h;
    harness_open(&h, GP_OPERATION_WINDOW_ARRAY);
    const bool has_gpu = h.subjects[h.n_subjects - 1].gpu;
    for (size_t k = 0; has_gpu && k < sizeof all / sizeof *all; k++) {
        const large *l = &all[k];
        if (cases_reduced() && (k + cases_seed()) % 3 != 0)
            continue;
        const size_t n = HIGH * (WIDE - l->lacks) * l->channels, in_bytes = n * gp_type_bytes(l->type),
                     to_bytes = n * gp_type_bytes(l->to);
        unsigned char *const numbers = malloc(in_bytes), *const got = malloc(to_bytes);
        void *owed[OPS] = {malloc(to_bytes), malloc(to_bytes)};
        assert_true(numbers != NULL && got != NULL && owed[0] != NULL && owed[1] != NULL);
        uint32_t random = 1;
        for (size_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            const float number = (float)(random >> 8) / 16777216;
            if (l->type == GP_F32)
                ((float *)numbers)[i] = number;
            else if (l->type == GP_F16)
                ((uint16_t *)numbers)[i] = (uint16_t)(random >> 16 & 0xfbff); /* up to 65504 */
            else
                memcpy(numbers + i * gp_type_bytes(l->type), (unsigned char *)&random + 4 - gp_type_bytes(l->type),
                       gp_type_bytes(l->type));
        }
        assert_int_equal(call(l, h.subjects[0].context, numbers, owed), GP_OK);
        gp_context *const context = h.subjects[h.n_subjects - 1].context;
        void *in, *to[OPS];
        assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, in_bytes, &in), GP_OK);
        for (size_t r = 0; r < OPS; r++)
            assert_int_equal(gp_alloc(context, GP_MEMORY_DEVICE, to_bytes, &to[r]), GP_OK);
        assert_int_equal(gp_copy(context, in, numbers, in_bytes), GP_OK);
        assert_int_equal(call(l, context, in, to), GP_OK);
        for (size_t r = 0; r < l->count; r++) {
            assert_int_equal(gp_copy(context, got, to[r], to_bytes), GP_OK);
            assert_memory_equal(got, owed[r], to_bytes);
        }
        assert_int_equal(gp_free(context, in), GP_OK);
        for (size_t r = 0; r < OPS; r++)
            assert_int_equal(gp_free(context, to[r]), GP_OK);
        free(numbers);
        free(got);
        free(owed[0]);
        free(owed[1]);
    }
    for (size_t j = 0; j < h.n_subjects; j++)
        gp_context_destroy(h.subjects[j].context);
}
