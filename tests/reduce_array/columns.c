/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"
#include "../cases.h"
#include "../check.h"
#include "../harness.h"
#include "../reduce/data_sets.h"
#include "oracle_array.h"
#include <stdlib.h>

#define MANY_ROWS (((size_t)1 << 22) + 1)

/* Columns whose rounding hangs on what is far below: ties and 2^-1074, zeros with a sign, sums past 2^86. */
void rounding_of_columns(void **state) {
    (void)state;
    static const double ties[] = {2 + 0x1p-23, -2 - 0x1p-23, -1e-60, -0.0, 0x1p-1074, -0x1p-1074, 0, -0.0};
    static const double thirds[3][4] = {/* of these a third lies close to the middle of two doubles, or there */
                                        {3, 3, 3, -3},
                                        {3 * 0x1p-53, 3 * 0x1p-53, 3 * 0x1p-53, -3 * 0x1p-53},
                                        {0x1p-105, 0, -0x1p-105, -0x1p-106}};
    uint64_t *many = malloc(2 * MANY_ROWS * sizeof *many);
    assert_non_null(many);
    for (size_t i = 0; i < 2 * MANY_ROWS; i++) /* sums of 2^86 + 2^33 + 5 */
        many[i] = i < 2 * (MANY_ROWS - 1) ? UINT64_MAX : ((uint64_t)1 << 33) + 5 + (MANY_ROWS - 1);
    const struct {
        gp_array in;
        gp_type to;
        gp_reduce_op op;
    } calls[] = {{gp_matrix(GP_F64, ties, 2, 4, 4), GP_F32, GP_REDUCE_MEAN},
                 {gp_matrix(GP_F64, ties, 2, 4, 4), GP_F32, GP_REDUCE_SUM},
                 {gp_matrix(GP_F64, ties, 2, 4, 4), GP_F64, GP_REDUCE_MEAN},
                 {gp_matrix(GP_F64, thirds, 3, 4, 4), GP_F64, GP_REDUCE_MEAN},
                 {gp_matrix(GP_U64, many, MANY_ROWS, 2, 2), GP_F64, GP_REDUCE_SUM},
                 {gp_matrix(GP_U64, many, MANY_ROWS, 2, 2), GP_F64, GP_REDUCE_MEAN},
                 {gp_matrix(GP_U64, many, MANY_ROWS, 2, 2), GP_F32, GP_REDUCE_SUM}};
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    for (size_t turn = 0; turn < COUNT(calls); turn++) {
        const gp_array *in = &calls[turn].in;
        uint64_t wanted[4] = {0}, results[4];
        const size_t cols = in->extent[1];
        const bool high = in->extent[0] == MANY_ROWS;
        if (high && cases_reduced() && (turn + cases_seed()) % 3 != 0)
            continue;
        const gp_result owed = gp_want(calls[turn].op, gp_matrix(calls[turn].to, wanted, 1, cols, cols)),
                        result = gp_want(calls[turn].op, gp_matrix(calls[turn].to, results, 1, cols, cols));
        assert_int_equal(oracle_array(in, NULL, &owed), GP_OK);
        for (size_t i = 0; i < h.n_subjects * h.n_rows; i++) {
            const subject *s = &h.subjects[i / h.n_rows];
            row *r = &h.rows[i % h.n_rows];
            if (s->gpu || (high && i % h.n_rows + 1 == h.n_rows) || !harness_pin(&h, s, r, turn))
                continue;
            memset(results, 0, sizeof results);
            if (harness_ran(&h, s, r, gp_reduce(s->context, in, &result, 1), GP_OK, "columns") &&
                memcmp(results, wanted, sizeof results) != 0)
                harness_fail(&h, s, r, "columns", "another result");
        }
    }
    free(many);
    harness_leave(&h);
}

/* What each row makes of `count` results, all of which lie in `bytes` from `results` on. */
static void expect(harness *h, size_t turn, const char *what, const gp_array *in, const gp_result *result,
                   size_t count, void *results, const void *wanted, size_t bytes) {
    for (size_t i = 0; i < h->n_subjects * h->n_rows; i++) {
        const subject *s = &h->subjects[i / h->n_rows];
        row *r = &h->rows[i % h->n_rows];
        if (!harness_pin(h, s, r, turn))
            continue;
        memset(results, 0, bytes);
        if (harness_ran(h, s, r, gp_reduce(s->context, in, result, count), GP_OK, what) &&
            memcmp(results, wanted, bytes) != 0)
            harness_fail(h, s, r, what, "another result");
    }
}

/* Means of the least floats of either sign, which round to a zero of that sign, beside sums that are zero. */
void means_that_round_to_zero(void **state) {
    (void)state;
    enum { ROWS = 6, COLS = 36, MOST = ROWS * COLS };
    static const gp_type types[] = {GP_F32, GP_F16, GP_BF16, GP_F64};
    static uint64_t data[MOST], wanted[2][COLS], results[2][COLS];
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    for (size_t turn = 0; turn < COUNT(types) * 3 * 2; turn++) {
        const gp_type type = types[turn % COUNT(types)], to = type == GP_F64 ? GP_F64 : GP_F32;
        const size_t axis = turn / COUNT(types) % 3, count = 1 + turn / COUNT(types) / 3,
                     bytes = data_set_element(type);
        const size_t rows = axis == 1 ? ROWS : 1, cols = axis == 2 ? COLS : 1;
        memset(data, 0, sizeof data);
        for (size_t i = 0; i < MOST; i++) {
            const uint64_t sign = (i / COLS + i % COLS) % 3 == 0 ? (uint64_t)1 << (8 * bytes - 1) : 0;
            const uint64_t bits = i % COLS == i / COLS || i / COLS == 1 ? sign | 1 : i % 2 ? sign : 0;
            memcpy((unsigned char *)data + i * bytes, &bits, bytes);
        }
        const gp_array in = gp_matrix(type, data, ROWS, COLS, COLS);
        gp_result owed[2], result[2];
        for (size_t r = 0; r < count; r++) {
            const gp_reduce_op op = r == 0 ? GP_REDUCE_MEAN : GP_REDUCE_VARIANCE;
            owed[r] = gp_want(op, gp_matrix(to, wanted[r], rows, cols, cols));
            result[r] = gp_want(op, gp_matrix(to, results[r], rows, cols, cols));
        }
        memset(wanted, 0, sizeof wanted);
        assert_int_equal(oracle_array(&in, NULL, &owed[0]), GP_OK);
        if (count > 1)
            assert_int_equal(oracle_array(&in, NULL, &owed[1]), GP_OK);
        expect(&h, turn, "least floats", &in, result, count, results, wanted, sizeof results);
    }
    harness_leave(&h);
}

/* NaNs of either sign, infinities and zeros of either sign among numbers; extremes of columns next to each other. */
void extremes_of_columns(void **state) {
    (void)state;
    enum { ROWS = 5, COLS = 300, MOST = ROWS * COLS, RESULTS = 2 };
    static uint64_t data[MOST], wanted[RESULTS][COLS], results[RESULTS][COLS];
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    for (gp_type type = GP_U8; type <= GP_F64; type++) {
        const size_t bytes = data_set_element(type);
        const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
        const uint64_t special[] = {sign - 1, 2 * sign - 1, 0, sign}; /* of floats NaNs and zeros */
        data_set_fill(data, type, MOST, DATA_SET_NORMAL, cases_seed());
        for (size_t i = 0; i < MOST; i += 7)
            memcpy((unsigned char *)data + i * bytes, &special[i / 7 % 4], bytes);
        const gp_array in = gp_matrix(type, data, ROWS, COLS, COLS);
        gp_result owed[RESULTS], result[RESULTS];
        memset(wanted, 0, sizeof wanted);
        for (size_t r = 0; r < RESULTS; r++) {
            const gp_reduce_op op = r == 0 ? GP_REDUCE_MIN : GP_REDUCE_MAX;
            owed[r] = gp_want(op, gp_matrix(type, wanted[r], 1, COLS, COLS));
            result[r] = gp_want(op, gp_matrix(type, results[r], 1, COLS, COLS));
            assert_int_equal(oracle_array(&in, NULL, &owed[r]), GP_OK);
        }
        expect(&h, type, "extremes", &in, result, RESULTS, results, wanted, sizeof results);
    }
    harness_leave(&h);
}

/* Sums and means of 1 to 13 rows of floats of all data sets, in the middle of an array, and the least floats, whose
 * means round to a zero of their sign. */
void few_rows_of_floats(void **state) {
    (void)state;
    enum { PLANES = 3, ROWS = 13, COLS = 85, WIDE = PLANES * COLS, MOST = ROWS * WIDE, RESULTS = 2 };
    static uint64_t data[MOST], wanted[RESULTS][WIDE], results[RESULTS][WIDE];
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    for (size_t turn = 0; turn < (size_t)2 * ROWS * (DATA_SETS + 1); turn++) {
        const size_t rows = 1 + turn / 2 % ROWS, set = turn / (2 * ROWS);
        const gp_type type = turn % 2 ? GP_F64 : GP_F32;
        const size_t bytes = data_set_element(type);
        if (cases_reduced() && (turn + cases_seed()) % 3 != 0)
            continue;
        if (set < DATA_SETS)
            data_set_fill(data, type, MOST, (data_set)set, cases_seed() + turn);
        for (size_t i = 0; i < MOST && set == DATA_SETS; i++) {
            const uint64_t bits = i % 5 > 1 ? 0 : (uint64_t)(i % 3 != 0) << (8 * bytes - 1) | (i % 5 == 0);
            memcpy((unsigned char *)data + i * bytes, &bits, bytes);
        }
        gp_array in = gp_matrix(type, data, PLANES, rows, 0), to = in;
        in.rank = to.rank = 3;
        in.extent[2] = to.extent[2] = COLS;
        to.extent[1] = 1;
        in.stride[2] = to.stride[2] = 1;
        in.stride[0] = (ptrdiff_t)(rows * COLS), in.stride[1] = COLS;
        to.stride[0] = to.stride[1] = COLS;
        gp_result owed[RESULTS], result[RESULTS];
        memset(wanted, 0, sizeof wanted);
        for (size_t r = 0; r < RESULTS; r++) {
            const gp_reduce_op op = r == 0 ? GP_REDUCE_SUM : GP_REDUCE_MEAN;
            owed[r] = result[r] = gp_want(op, to);
            owed[r].to.data = wanted[r], result[r].to.data = results[r];
            assert_int_equal(oracle_array(&in, NULL, &owed[r]), GP_OK);
        }
        expect(&h, turn, "few rows", &in, result, RESULTS, results, wanted, sizeof results);
    }
    harness_leave(&h);
}

/* Boxes that tile pictures: small and large ones, one and thousands side by side. */
void boxes_of_pictures(void **state) {
    (void)state;
    static const gp_reduce_op ops[] = {GP_REDUCE_MAX,   GP_REDUCE_MEAN, GP_REDUCE_VARIANCE, GP_REDUCE_SUM_SQUARES,
                                       GP_REDUCE_COUNT, GP_REDUCE_MIN,  GP_REDUCE_ARGMAX};
    static const size_t shapes[][5] = {{3, 5, 2, 7, 2},    {2, 3, 3, 300, 3}, {1, 4, 4, 64, 4},  {5, 1, 8, 9, 8},
                                       {1, 2, 2, 9000, 2}, {40, 6, 2, 33, 6}, {2, 2, 16, 3, 16}, {7, 9, 5, 1, 40}};
    enum { MOST = 96000, RESULTS = 20000 };
    uint64_t *data = malloc(MOST * sizeof *data), *wanted = malloc(2 * RESULTS * sizeof *wanted);
    assert_true(data != NULL && wanted != NULL);
    uint64_t *results = wanted + RESULTS;
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    const size_t step = cases_reduced() ? 23 : 5;
    for (size_t turn = 0; turn < COUNT(shapes) * COUNT(ops) * GP_F64; turn += step) {
        const size_t *n = shapes[turn % COUNT(shapes)], outputs = n[0] * n[1] * n[3], width = n[3] * n[4];
        const gp_reduce_op op = ops[turn / COUNT(shapes) % COUNT(ops)];
        const gp_type type = (gp_type)(GP_U8 + turn % GP_F64), to = op == GP_REDUCE_MAX || op == GP_REDUCE_MIN ? type
                                                                    : op == GP_REDUCE_COUNT || op == GP_REDUCE_ARGMAX
                                                                        ? GP_S64
                                                                    : turn % 3 == 0 ? GP_F64
                                                                                    : GP_F32;
        const size_t bytes = outputs * data_set_element(to);
        data_set_fill(data, type, outputs * n[2] * n[4], (data_set)(turn / 3 % DATA_SETS), cases_seed() + turn);
        gp_array in = {.data = data, .type = (int32_t)type, .rank = 5},
                 out = {.data = wanted, .type = (int32_t)to, .rank = 5};
        for (size_t axis = 0; axis < 5; axis++) {
            in.extent[axis] = n[axis];
            out.extent[axis] = axis == 2 || axis == 4 ? 1 : n[axis];
        }
        in.stride[4] = 1, in.stride[3] = (ptrdiff_t)n[4], in.stride[2] = (ptrdiff_t)width;
        in.stride[1] = (ptrdiff_t)(n[2] * width), in.stride[0] = (ptrdiff_t)(n[1] * n[2] * width);
        out.stride[3] = 1, out.stride[1] = (ptrdiff_t)n[3], out.stride[0] = (ptrdiff_t)(n[1] * n[3]);
        const gp_result owed = gp_want(op, out);
        assert_int_equal(oracle_array(&in, NULL, &owed), GP_OK);
        out.data = results;
        const gp_result result = gp_want(op, out);
        expect(&h, turn, "boxes", &in, &result, 1, results, wanted, bytes);
    }
    free(data);
    free(wanted);
    harness_leave(&h);
}

/*
 * Rows and columns of integers of 4 and 8 bytes: all equal, small ones whose variances tie between floats, sums about
 * 2^53, 2^63 and multiples of 2^64, one more than what ties, squares past 64 and 128 bits. For SUM what its type may
 * not hold is left out.
 */
void spreads_of_integers(void **state) {
    (void)state;
    enum { OUTPUTS = 120, LONGEST = 100, MOST = OUTPUTS * LONGEST };
    static const gp_type types[] = {GP_S32, GP_U32, GP_S64, GP_U64};
    static const size_t lengths[] = {2, 4, 64, LONGEST};
    static const gp_reduce_op ops[][2] = {{GP_REDUCE_MEAN, GP_REDUCE_STDDEV},
                                          {GP_REDUCE_VARIANCE, GP_REDUCE_MEAN},
                                          {GP_REDUCE_STDDEV_SAMPLE, GP_REDUCE_VARIANCE_SAMPLE},
                                          {GP_REDUCE_SUM, GP_REDUCE_SUM},
                                          {GP_REDUCE_SUM_SQUARES, GP_REDUCE_NORM}};
    static uint64_t bits[MOST], data[MOST], wanted[2][OUTPUTS], results[2][OUTPUTS];
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    for (size_t turn = 0; turn < COUNT(types) * COUNT(lengths) * COUNT(ops) * 2; turn++) {
        const gp_type type = types[turn % COUNT(types)];
        const gp_reduce_op *op = ops[turn / COUNT(types) % COUNT(ops)];
        const size_t n = lengths[turn / COUNT(types) / COUNT(ops) % COUNT(lengths)], bytes = data_set_element(type);
        const bool columns = turn / COUNT(types) / COUNT(ops) / COUNT(lengths) == 1, sum = op[0] == GP_REDUCE_SUM;
        const bool squares = op[0] == GP_REDUCE_SUM_SQUARES && bytes == 4 && columns;
        const size_t most = 8 * bytes - (sum ? 7 : squares ? 4 : 0);
        const uint64_t top = (uint64_t)1 << (8 * bytes - 1), tie = (top >> 3) + (top >> 3 >> 24);
        data_set_fill(bits, GP_U64, MOST, DATA_SET_ALL_BITS, cases_seed() + turn);
        for (size_t i = 0; i < OUTPUTS * n; i++) {
            const size_t output = columns ? i % OUTPUTS : i / n, kept = output / 2 % most + 1;
            const size_t place = columns ? i / OUTPUTS : i % n;
            uint64_t x = bits[output % 2 == 0 ? output : i] >> (64 - kept);
            x -= type == GP_S32 || type == GP_S64 ? (uint64_t)1 << kept >> 1 : 0;
            if (!sum && !squares && output % 10 >= 7)
                x = output % 10 == 7   ? (place == 0 ? tie : place == 1)
                    : output % 10 == 8 ? (place % 2 == 0 ? top - 1 : 0 - (top - 1))
                                       : top;
            memcpy((unsigned char *)data + i * bytes, &x, bytes);
        }
        const size_t down = columns ? 1 : OUTPUTS, across = columns ? OUTPUTS : 1, count = 1 + turn / 8 % 2;
        const size_t width = columns ? OUTPUTS : n;
        const gp_array in = gp_matrix(type, data, columns ? n : OUTPUTS, width, width);
        gp_result owed[2], result[2];
        memset(wanted, 0, sizeof wanted);
        for (size_t r = 0; r < count; r++) {
            const gp_type to = r == 1 ? GP_F32 : squares ? GP_U64 : !sum ? GP_F32 : bytes == 4 ? GP_S64 : type;
            owed[r] = gp_want(op[r], gp_matrix(to, wanted[r], down, across, across));
            result[r] = gp_want(op[r], gp_matrix(to, results[r], down, across, across));
            assert_int_equal(oracle_array(&in, NULL, &owed[r]), GP_OK);
        }
        expect(&h, turn, "integers", &in, result, count, results, wanted, sizeof results);
    }
    harness_leave(&h);
}
