/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_reduce() and gp_reduce_pair() against an oracle: random views, types, operations, data, threads, places in
 * memory, pinned rows and modes of the floating-point unit. GPUPRIM_TEST_CASES: how many, 20000 if unset.
 */
#include "../cases.h"
#include "../check.h"
#include "../harness.h"
#include "../reduce/data_sets.h"
#include "columns.h"
#include "oracle_array.h"
#include "run_calls.h"

static void random_calls(void **state) {
    (void)state;
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    const size_t count = cases_drawn();
    for (size_t i = 0; i < count; i++) {
        random_call call;
        random_call_make(&call, cases_seed() + i, i % 50 == 0 ? 20000 : i % 5 == 0 ? 1000 : 100);
        run_call(&h, &call, i);
        random_call_free(&call);
        h.cases++;
    }
    run_calls_end();
    harness_close(&h);
}

/* Whether the pinned row takes vectors of the type. */
static bool can(harness *h, const subject *s, row *r, gp_type type, const void *data, data_set set) {
    uint64_t bits;
    const gp_array probe = gp_vector(type, data, 1);
    const gp_result any = gp_want(GP_REDUCE_MAX, gp_scalar(type, &bits));
    return harness_ran(h, s, r, gp_reduce(s->context, &probe, &any, 1), GP_OK, data_set_name(set));
}

#define ORDER_RESULTS 4

/* Moments and the greatest of n elements; the sum by itself, which doubles without squares have another way for. */
static void moments_of(gp_context *context, gp_type type, const void *data, size_t n, uint64_t bits[ORDER_RESULTS]) {
    static const uint32_t ops[ORDER_RESULTS] = {GP_REDUCE_SUM, GP_REDUCE_STDDEV, GP_REDUCE_SUM_SQUARES,
                                                GP_REDUCE_MAX};
    gp_array in = gp_vector(type, data, n);
    gp_result results[ORDER_RESULTS];
    memset(bits, 0, ORDER_RESULTS * sizeof *bits);
    for (size_t i = 0; i < ORDER_RESULTS; i++)
        results[i] = gp_want(ops[i], gp_scalar(ops[i] == GP_REDUCE_MAX ? type : GP_F64, &bits[i]));
    assert_int_equal(gp_reduce(context, &in, results, 1), GP_OK);
    assert_int_equal(gp_reduce(context, &in, results + 1, ORDER_RESULTS - 1), GP_OK);
}

/* Large enough for several threads, batches and folds, of a reduced list floats and doubles of every other data set:
   every order, row and number of threads has the same bits. */
static void any_order_any_split(void **state) {
    (void)state;
    static const gp_type types[] = {GP_F32, GP_F64, GP_S16, GP_BF16};
    const size_t most = cases_reduced() ? 150001 : 300007;
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    uint64_t draws = cases_seed(), *data = malloc(most * sizeof *data);
    for (size_t turn = 0; turn < COUNT(types) * DATA_SETS; turn++) {
        const size_t n = cases_reduced() && turn % 8 > 1 ? 20021 : most;
        const gp_type type = types[turn % COUNT(types)];
        const size_t bytes = data_set_element(type);
        const data_set set = (data_set)(turn / COUNT(types));
        uint64_t first[ORDER_RESULTS], now[ORDER_RESULTS];
        data_set_fill(data, type, n, set, draws);
        assert_int_equal(gp_context_pin_kernel(h.subjects[0].context, "reduce_array_cpu", 0), GP_OK);
        moments_of(h.subjects[0].context, type, data, n, first);
        for (size_t i = n; i > 1; i--) { /* another order */
            unsigned char *a = (unsigned char *)data + (i - 1) * bytes,
                          *b = (unsigned char *)data + cases_random(&draws) % i * bytes, swap[8];
            memcpy(swap, a, bytes);
            memcpy(a, b, bytes);
            memcpy(b, swap, bytes);
        }
        for (size_t s = 0; s < h.n_subjects; s++)
            for (size_t k = 0; k < h.n_rows; k++) {
                row *r = &h.rows[k];
                if (h.subjects[s].gpu || !harness_pin(&h, &h.subjects[s], r, turn) || (turn + k) % 3 != 0)
                    continue;
                if (!can(&h, &h.subjects[s], r, type, data, set))
                    continue;
                moments_of(h.subjects[s].context, type, data, n, now);
                if (memcmp(now, first, sizeof now) != 0)
                    harness_fail(&h, &h.subjects[s], r, data_set_name(set), "other bits in another order");
            }
        h.cases++;
    }
    free(data);
    harness_leave(&h);
}

#define LONG_RESULTS 10

/* Of one vector: sums, alone and of the narrowest type, extremes and their places, moments. */
static void results_of(gp_context *context, const gp_array *in, uint64_t bits[LONG_RESULTS]) {
    const gp_type type = (gp_type)in->type, narrow = type >= GP_F16 ? GP_BF16 : GP_F32;
    const struct {
        size_t count; /* of results, in a call of its own */
        uint32_t op;
        gp_type to;
    } wanted[LONG_RESULTS] = {{1, GP_REDUCE_SUM, type < GP_U64 ? GP_S64 : GP_F64},
                              {1, GP_REDUCE_SUM, narrow},
                              {1, GP_REDUCE_SUM, GP_F32},
                              {4, GP_REDUCE_MIN, type},
                              {0, GP_REDUCE_MAX, type},
                              {0, GP_REDUCE_ARGMIN, GP_S64},
                              {0, GP_REDUCE_ARGMAX, GP_U64},
                              {1, GP_REDUCE_SUM_SQUARES, GP_F32},
                              {2, GP_REDUCE_MEAN, GP_F32},
                              {0, GP_REDUCE_VARIANCE, GP_F32}};
    gp_result results[LONG_RESULTS];
    memset(bits, 0, LONG_RESULTS * sizeof *bits);
    for (size_t i = 0; i < LONG_RESULTS; i++)
        results[i] = gp_want(wanted[i].op, gp_scalar(wanted[i].to, &bits[i]));
    for (size_t i = 0; i < LONG_RESULTS; i++)
        if (wanted[i].count > 0)
            assert_int_equal(gp_reduce(context, in, results + i, wanted[i].count), GP_OK);
}

/* Long enough for pieces of eight pages, and now and then for prefetching and several threads; from any element on,
   forwards and backwards: every row has the bits of the reference, which is the last with a name. */
static void long_runs(void **state) {
    (void)state;
    const size_t most = (size_t)9 << 18;
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    unsigned char *data = malloc(most + 64);
    for (size_t turn = 0; turn < (size_t)(GP_F64 - GP_U8 + 1) * DATA_SETS; turn++) {
        const gp_type type = (gp_type)(GP_U8 + turn % (GP_F64 - GP_U8 + 1));
        const data_set set = (data_set)(turn / (GP_F64 - GP_U8 + 1));
        const size_t bytes = data_set_element(type), first = turn % 5;
        const bool large = !cases_reduced() && set == DATA_SET_NAN;
        const size_t n = large ? most / bytes : 32768 + 97 * turn % 9001;
        uint64_t wanted[LONG_RESULTS], now[LONG_RESULTS];
        data_set_fill(data, type, n + first, set, cases_seed() + turn);
        gp_array in = gp_vector(type, data + first * bytes, n);
        if (turn % 3 == 0) {
            in.data = data + (first + n - 1) * bytes;
            in.stride[0] = -1;
        }
        assert_int_equal(gp_context_pin_kernel(h.subjects[0].context, "reduce_array_cpu", 0), GP_OK);
        results_of(h.subjects[0].context, &in, wanted);
        for (size_t i = 0; i < h.n_subjects * h.n_rows; i++) {
            const subject *s = &h.subjects[i / h.n_rows];
            row *r = &h.rows[i % h.n_rows];
            if (s->gpu || i % h.n_rows + 2 >= h.n_rows || !harness_takes_turn(&h, i / h.n_rows, turn) ||
                !harness_pin(&h, s, r, turn))
                continue;
            if (!can(&h, s, r, type, data, set))
                continue;
            results_of(s->context, &in, now);
            if (memcmp(now, wanted, sizeof now) != 0)
                harness_fail(&h, s, r, data_set_name(set), "other bits of a long run");
        }
        h.cases++;
    }
    free(data);
    harness_leave(&h);
}

#define LARGE_ROWS ((size_t)20000) /* of which what comes next is prefetched */
#define LARGE_COLS ((size_t)77)
#define MOST_ELEMENTS (LARGE_ROWS * LARGE_COLS)

/* Of elements of a type, what the operation's results have here. */
static gp_type result_type(gp_reduce_op op, gp_type type) {
    const bool is_float = type >= GP_F16;
    if (op == GP_REDUCE_ARGMIN || op == GP_REDUCE_ARGMAX || op == GP_REDUCE_COUNT)
        return GP_S64;
    if (op == GP_REDUCE_MAX || op == GP_REDUCE_MIN || op == GP_REDUCE_XOR)
        return type;
    return type == GP_F64 || !is_float ? GP_F64 : GP_F32;
}

/* The result of each row of a processor whose turn it is; with: partners, or NULL. */
static void compare_rows(harness *h, size_t turn, const gp_array *in, const gp_array *with, const gp_result *result,
                         const void *wanted, size_t bytes, data_set set) {
    for (size_t i = 0; i < h->n_subjects * h->n_rows; i++) {
        const subject *s = &h->subjects[i / h->n_rows];
        row *r = &h->rows[i % h->n_rows];
        if (s->gpu || !harness_takes_turn(h, i / h->n_rows, turn) || !harness_pin(h, s, r, turn))
            continue;
        memset(result->to.data, 0, bytes);
        const gp_status status =
            with != NULL ? gp_reduce_pair(s->context, in, with, result, 1) : gp_reduce(s->context, in, result, 1);
        if (harness_ran(h, s, r, status, GP_OK, data_set_name(set)) && memcmp(result->to.data, wanted, bytes) != 0)
            harness_fail(h, s, r, data_set_name(set), "another result of a row or column");
    }
}

/* Rows and columns have loops that calls drawn at random seldom ask for all of: chunks of rows, blocks that threads
   share, rows of several blocks, more rows of bytes than 16 bits take the sum of. */
static void rows_and_columns(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{37, 9},    {37, 33},    {37, 100},  {37, 1024}, {19, 2000},
                                       {4100, 33}, {130, 2100}, {300, 900}, {9, 4100}};
    static const gp_type types[] = {GP_F32, GP_F64, GP_U8, GP_F16, GP_S64, GP_S16, GP_BF16, GP_U32};
    static const gp_reduce_op ops[] = {GP_REDUCE_SUM, GP_REDUCE_MEAN,    GP_REDUCE_MAX,         GP_REDUCE_ARGMIN,
                                       GP_REDUCE_SUM, GP_REDUCE_SUM_ABS, GP_REDUCE_SUM_SQUARES, GP_REDUCE_MIN,
                                       GP_REDUCE_XOR, GP_REDUCE_COUNT,   GP_REDUCE_ARGMAX,      GP_REDUCE_VARIANCE,
                                       GP_REDUCE_NORM};
    static double data[MOST_ELEMENTS], wanted[LARGE_ROWS], results[LARGE_ROWS];
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    for (size_t turn = 0, turns = cases_reduced() ? 99 : 792; turn < turns; turn++) {
        const gp_type type = types[turn / 4 % COUNT(types)];
        const bool large = turn % 23 == 22;
        const size_t rows = large ? LARGE_ROWS : shapes[turn / 2 % COUNT(shapes)][0],
                     cols = large ? LARGE_COLS : shapes[turn / 2 % COUNT(shapes)][1];
        const gp_reduce_op drawn = ops[turn / 2 % COUNT(ops)];
        const gp_reduce_op op = drawn == GP_REDUCE_XOR && type >= GP_F16 ? GP_REDUCE_MAX_ABS : drawn;
        const bool along = turn % 2;
        const gp_type to = op == GP_REDUCE_MAX_ABS ? type : result_type(op, type);
        const size_t outputs = along ? rows : cols, bytes = outputs * data_set_element(to);
        const data_set set = (data_set)(turn / 3 % DATA_SETS);
        const gp_array in = gp_matrix(type, data, rows, cols, cols);
        const gp_result owed =
                            gp_want(op, gp_matrix(to, wanted, along ? rows : 1, along ? 1 : cols, along ? 1 : cols)),
                        result =
                            gp_want(op, gp_matrix(to, results, along ? rows : 1, along ? 1 : cols, along ? 1 : cols));
        data_set_fill(data, type, rows * cols, set, cases_seed() + turn);
        assert_int_equal(oracle_array(&in, NULL, &owed), GP_OK);
        compare_rows(&h, turn, &in, NULL, &result, wanted, bytes, set);
    }
    harness_leave(&h);
}

/* An infinity, or the greatest int: nothing is after it, so that an element which does not count may hide as one. */
static void fill_with_greatest(void *data, gp_type type, size_t n) {
    static const uint64_t of_floats[] = {0x7c00, 0x7f80, 0x7f800000, UINT64_C(0x7ff) << 52};
    const size_t bytes = data_set_element(type);
    const uint64_t most =
        type >= GP_F16 ? of_floats[type - GP_F16] : UINT64_MAX >> (64 - 8 * bytes + (type % 2 == 0));
    for (size_t i = 0; i < n; i++)
        memcpy((unsigned char *)data + i * bytes, &most, bytes);
}

/* Pairs, masks and skipped NaNs in long runs, rows and columns, of each type and data. */
static void pairs_and_masks(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 5000}, {3, 2100}, {3, 2100}, {70, 65}, {65, 70}, {5000, 1}};
    static const uint32_t ops[] = {GP_REDUCE_DOT,
                                   GP_REDUCE_SUM_ABS_DIFF,
                                   GP_REDUCE_SUM_SQUARE_DIFF,
                                   GP_REDUCE_MAX_ABS_DIFF,
                                   GP_REDUCE_COUNT_DIFF,
                                   GP_REDUCE_SUM | GP_WHERE,
                                   GP_REDUCE_MAX | GP_WHERE,
                                   GP_REDUCE_ARGMIN | GP_WHERE,
                                   GP_REDUCE_MEAN | GP_WHERE,
                                   GP_REDUCE_SUM_SQUARES | GP_WHERE,
                                   GP_REDUCE_XOR | GP_WHERE};
    static double data[2][3 * 2100], wanted[2100], results[2100];
    harness h;
    harness_open(&h, GP_OPERATION_REDUCE_ARRAY);
    for (size_t turn = 0, turns = cases_reduced() ? 264 : 2112; turn < turns; turn++) {
        const gp_type type = (gp_type)(GP_U8 + turn % 12), mask = (gp_type)(GP_U8 + turn / 12 % 12);
        const uint32_t drawn = ops[turn % COUNT(ops)];
        const uint32_t op =
            drawn == (GP_REDUCE_XOR | GP_WHERE) && type >= GP_F16 ? GP_REDUCE_COUNT | GP_WHERE : drawn;
        const bool where = op & GP_WHERE, skips = type >= GP_F16 && turn / 24 % 3 == 0,
                   extreme = (op & 0xff) == GP_REDUCE_MAX_ABS_DIFF;
        const size_t rows = shapes[turn % COUNT(shapes)][0], cols = shapes[turn % COUNT(shapes)][1];
        const bool along = rows < cols || rows == 65;
        const gp_type magnitude = type >= GP_F16 || type % 2 == 1 ? type : (gp_type)(type - 1);
        const gp_type to = extreme                               ? magnitude
                           : (op & 0xff) == GP_REDUCE_COUNT_DIFF ? GP_S64
                                                                 : result_type((gp_reduce_op)(op & 0xff), type);
        const size_t outputs = along ? rows : cols, bytes = outputs * data_set_element(to);
        const data_set set = (data_set)(turn / 7 % DATA_SETS),
                       other = turn % 5 == 0 ? set : (data_set)(turn / 3 % DATA_SETS);
        const gp_array in = gp_matrix(type, data[0], rows, cols, cols),
                       with = gp_matrix(where ? mask : type, data[1], rows, cols, cols);
        const size_t first = along ? rows : 1, second = along ? 1 : cols;
        const uint32_t asked = op | (skips ? GP_SKIP_NAN : 0);
        const gp_result owed = gp_want(asked, gp_matrix(to, wanted, first, second, second)),
                        result = gp_want(asked, gp_matrix(to, results, first, second, second));
        data_set_fill(data[0], type, rows * cols, set, cases_seed() + turn);
        data_set_fill(data[1], where ? mask : type, rows * cols, where ? DATA_SET_HALF_ZEROS : other,
                      cases_seed() + turn / 2);
        if (drawn == (GP_REDUCE_ARGMIN | GP_WHERE) && turn / COUNT(ops) % 2 == 0)
            fill_with_greatest(data[0], type, rows * cols);
        assert_int_equal(oracle_array(&in, &with, &owed), GP_OK);
        compare_rows(&h, turn, &in, &with, &result, wanted, bytes, set);
    }
    harness_leave(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls),
                                       cmocka_unit_test(any_order_any_split),
                                       cmocka_unit_test(long_runs),
                                       cmocka_unit_test(rows_and_columns),
                                       cmocka_unit_test(pairs_and_masks),
                                       cmocka_unit_test(rounding_of_columns),
                                       cmocka_unit_test(means_that_round_to_zero),
                                       cmocka_unit_test(extremes_of_columns),
                                       cmocka_unit_test(few_rows_of_floats),
                                       cmocka_unit_test(boxes_of_pictures),
                                       cmocka_unit_test(spreads_of_integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
