/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of gp_reduce() and gp_reduce_pair(): the status, the words, and that nothing is written. */
#include "misuse.h"

static int32_t in_data[64];
static int64_t out_data[2][64], out_before[2][64];

static int begin(void **state) {
    for (int i = 0; i < 64; i++) {
        in_data[i] = i;
        out_data[0][i] = out_data[1][i] = -1 - i;
    }
    memcpy(out_before, out_data, sizeof out_data);
    return open_contexts(state);
}

/* A call that is good as it stands: 4 x 6 int32, columns summed to 64 bits, and the places of their greatest. */
typedef struct call {
    gp_array in, with;
    gp_result results[2];
    size_t count;
    bool pair;
} call;

static call good(void) {
    return (call){.in = gp_matrix(GP_S32, in_data, 4, 6, 8),
                  .with = gp_matrix(GP_S32, in_data + 32, 4, 6, 8),
                  .results = {gp_want(GP_REDUCE_SUM, gp_matrix(GP_S64, out_data[0], 1, 6, 6)),
                              gp_want(GP_REDUCE_ARGMAX, gp_matrix(GP_S64, out_data[1], 1, 6, 6))},
                  .count = 2};
}

static void expect(const call *c, gp_status want, const char *words, int line) {
    gp_context *const contexts[] = {cpu, model};
    for (size_t i = 0; i < COUNT(contexts); i++) {
        fails_as(c->pair ? gp_reduce_pair(contexts[i], &c->in, &c->with, c->results, c->count)
                         : gp_reduce(contexts[i], &c->in, c->results, c->count),
                 want, words, true, line);
        assert_memory_equal(out_data, out_before, sizeof out_data);
    }
}

/* The good call with one change. */
#define EXPECT(change, status, words)        \
    do {                                     \
        call c = good();                     \
        change;                              \
        expect(&c, status, words, __LINE__); \
    } while (0)
#define BAD(change, words) EXPECT(change, GP_ERR_ARGUMENT, words)
#define OP(value) c.results[1].op = (value)
#define PAIR(value) c.pair = (c.results[0].op = c.results[1].op = (value)) != 0

static void bad_pointers(void **state) {
    (void)state;
    const call fine = good();
    assert_int_equal(gp_reduce(NULL, &fine.in, fine.results, 2), GP_ERR_ARGUMENT);
    assert_string_equal(gp_last_error(), "context is NULL");
    assert_int_equal(gp_reduce(cpu, NULL, fine.results, 2), GP_ERR_ARGUMENT);
    assert_string_equal(gp_last_error(), "in is NULL");
    assert_int_equal(gp_reduce(cpu, &fine.in, NULL, 2), GP_ERR_ARGUMENT);
    assert_string_equal(gp_last_error(), "results is NULL");
    assert_int_equal(gp_reduce_pair(cpu, &fine.in, NULL, fine.results, 2), GP_ERR_ARGUMENT);
    assert_string_equal(gp_last_error(), "with is NULL");
    BAD(c.count = 0, "count: 0, not 1 to 64");
    BAD(c.count = 65, "count: 65, not 1 to 64");
    BAD(c.in.data = NULL, "in is NULL");
    BAD(c.results[1].to.data = NULL, "results[1].to is NULL");
    BAD(c.in.data = (char *)c.in.data + 2, "in: the address is not a multiple of 4 bytes");
    BAD(c.results[1].to.data = (char *)c.results[1].to.data + 4,
        "results[1].to: the address is not a multiple of 8 bytes");
}

static void bad_views(void **state) {
    (void)state;
    BAD(c.in.type = GP_BYTES, "in: type GP_BYTES (0) is for gp_rearrange()");
    BAD(c.in.type = 13, "in: type 13 is no gp_type");
    BAD(c.results[1].to.type = -1, "results[1].to: type -1 is no gp_type");
    BAD(c.in.rank = 9, "in: rank 9, at most 8");
    BAD(c.in.elem_bytes = 4, "in: elem_bytes 4, not 0");
    BAD(c.results[1].reserved = 1, "results[1]: reserved is 1, not 0");
    BAD(c.results[1].to.rank = 1, "results[1].to: rank 1, not 0 or 2");
    BAD(c.results[1].to.extent[0] = 3, "results[1].to: extent 3 on axis 0, not 1 or 4");
    BAD(c.results[1].to.extent[1] = 7, "results[1].to: extent 7 on axis 1, not 1 or 6");
    BAD(c.results[1].to.extent[1] = 1, "results[1].to: extent 1 on axis 1, but 6 in results[0]");
    BAD(c.results[0].to.rank = 0, "results[1].to: extent 6 on axis 1, but 1 in results[0]");
    EXPECT(c.in.extent[0] = SIZE_MAX / 4;
           c.in.stride[0] = 0, GP_ERR_OVERFLOW, "in: its extents multiply past 2^63 at axis 1");
    EXPECT(c.in.extent[0] = SIZE_MAX / 16, GP_ERR_OVERFLOW,
           "in: stride 8 of axis 0, 1152921504606846975 elements, passes the address space");
    EXPECT(c.in.stride[1] = PTRDIFF_MIN, GP_ERR_OVERFLOW,
           "in: stride -9223372036854775808 of axis 1, 6 elements, passes the address space");
    EXPECT(c.in.stride[1] = -PTRDIFF_MAX / 64, GP_ERR_OVERFLOW, "in: its strides pass the address space");
}

static void bad_operations(void **state) {
    (void)state;
    BAD(OP(18), "results[1].op: 0x12 is no operation");
    BAD(OP(37), "results[1].op: 0x25 is no operation");
    BAD(OP(0x400), "results[1].op: 0x400 is no operation");
    BAD(OP(UINT32_MAX), "results[1].op: 0xffffffff is no operation");
    BAD(OP(GP_REDUCE_DOT), "results[1].op: DOT is for gp_reduce_pair(), without GP_WHERE");
    BAD(OP(GP_REDUCE_SUM | GP_WHERE), "results[1].op: GP_WHERE is for gp_reduce_pair()");
    BAD(c.pair = true, "results[0].op: SUM of a pair needs GP_WHERE");
    BAD(PAIR(GP_REDUCE_DOT | GP_WHERE), "results[0].op: DOT is for gp_reduce_pair(), without GP_WHERE");
    BAD(PAIR(GP_REDUCE_DOT);
        c.with.type = GP_U32, "with: type u32, but in has s32 and results[].op DOT needs one type");
    BAD(PAIR(GP_REDUCE_DOT); c.with.extent[1] = 5, "with: extent 5 on axis 1, but in has 6");
    BAD(PAIR(GP_REDUCE_DOT); c.with.rank = 1, "with: rank 1, but in has 2");
    BAD(PAIR(GP_REDUCE_DOT); c.with.rank = 10, "with: rank 10, at most 8");
    BAD(c.results[1].to.type = GP_F64, "results[1].to: type f64 cannot be that of ARGMAX of s32");
    BAD(c.results[1].to.type = GP_S32; OP(GP_REDUCE_SUM), "results[1].to: type s32 cannot be that of SUM of s32");
    BAD(c.results[0].op = GP_REDUCE_XOR; c.in.type = GP_F32, "results[0].op: f32 has no XOR");
    BAD(c.in.type = GP_F32, "results[0].to: type s64 cannot be that of SUM of f32");
    BAD(OP(GP_REDUCE_MAX_ABS), "results[1].to: type s64 cannot be that of MAX_ABS of s32");
    EXPECT(c.in.extent[0] = 0, GP_ERR_EMPTY, "results[1]: in has extent 0 on axis 0: no elements have no ARGMAX");
}

static void overlaps(void **state) {
    (void)state;
    EXPECT(c.results[1].to.data = out_data[0] + 5, GP_ERR_OVERLAP, "results[0].to and results[1].to overlap");
    EXPECT(c.results[1].to.data = in_data + 26, GP_ERR_OVERLAP, "results[1].to and in overlap");
    EXPECT(PAIR(GP_REDUCE_DOT);
           c.results[1].to.data = in_data + 32, GP_ERR_OVERLAP, "results[1].to and with overlap");
    EXPECT(c.results[1].to.stride[1] = 0, GP_ERR_OVERLAP, "results[1].to: its strides fold it onto itself");
}

/* What looks like an overlap and is none: results in each other's gaps, in the input's padding, backwards. */
static void neighbours(void **state) {
    (void)state;
    static int64_t pairs[12];
    call c = good();
    c.results[0].to.data = pairs;
    c.results[1].to.data = pairs + 11;
    c.results[0].to.stride[1] = 2;
    c.results[1].to.stride[1] = -2;
    assert_int_equal(gp_reduce(cpu, &c.in, c.results, 2), GP_OK);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(pairs[2 * i], 4 * i + 8 * 6);
        assert_int_equal(pairs[2 * i + 1], 3);
    }
    static int64_t rows[4][6] = {{5, 1, 2, 3, 4}, {5, 5, 5}, {0}, {-7}}; /* five numbers, and room for their sum */
    gp_array in = gp_matrix(GP_S64, rows, 4, 5, 6);
    gp_result sum = gp_want(GP_REDUCE_SUM, gp_matrix(GP_S64, &rows[0][5], 4, 1, 6));
    assert_int_equal(gp_reduce(cpu, &in, &sum, 1), GP_OK);
    assert_true(rows[0][5] == 15 && rows[1][5] == 15 && rows[2][5] == 0 && rows[3][5] == -7);
}

/* Nothing to be done, with whatever pointers. */
static void no_elements(void **state) {
    (void)state;
    gp_array in = gp_matrix(GP_F32, NULL, 5, 0, 7);
    double mean[5] = {1, 1, 1, 1, 1}, sum[5] = {1, 1, 1, 1, 1};
    gp_result none = gp_want(GP_REDUCE_MAX, gp_matrix(GP_F32, NULL, 1, 0, 1));
    assert_int_equal(gp_reduce(cpu, &in, &none, 1), GP_OK);
    gp_result results[] = {gp_want(GP_REDUCE_MEAN, gp_matrix(GP_F64, mean, 5, 1, 1)),
                           gp_want(GP_REDUCE_SUM, gp_matrix(GP_F64, sum, 5, 1, 1))};
    assert_int_equal(gp_reduce(cpu, &in, results, 2), GP_OK);
    for (int i = 0; i < 5; i++)
        assert_true(mean[i] != mean[i] && sum[i] == 0);
    gp_array eight = {.type = GP_F32, .rank = 8}; /* with gaps, so that no axes become one */
    for (unsigned axis = 0; axis < eight.rank; axis++) {
        eight.extent[axis] = axis == 5 ? 0 : 2;
        eight.stride[axis] = (ptrdiff_t)3 << 2 * axis;
    }
    none = gp_want(GP_REDUCE_MAX, eight);
    assert_int_equal(gp_reduce(cpu, &eight, &none, 1), GP_OK);
}

/* What a call says, and how it is planned; the bits that it writes. */
typedef struct outcome {
    gp_status status;
    char words[2048];
    int64_t written;
} outcome;

static outcome outcome_of(gp_context *context, gp_array in, gp_result result, int64_t *to) {
    const int64_t before = *to;
    outcome o = {.status = gp_reduce(context, &in, &result, 1)};
    o.written = *to;
    *to = before;
    if (o.status == GP_OK)
        gp_context_explain(context, o.words, sizeof o.words);
    else
        snprintf(o.words, sizeof o.words, "%s", gp_last_error());
    return o;
}

/* Vectors are taken in one step where nothing is to be said against them, matrices of one row are not. */
static void vectors_are_rows(void **state) {
    (void)state;
    static int64_t data[10] = {3, -5, INT64_MAX, 0, 1, 0x7ff0000000000001, 12, -1, 9, 7};
    unsigned good_calls = 0;
    for (unsigned op = 0; op <= GP_REDUCE_COUNT_DIFF + 1; op++)
        for (unsigned types = 0; types < 14 * 14; types++)
            for (unsigned variant = 0; variant < 8; variant++) {
                const size_t n = variant == 0 ? 1 : variant == 1 ? 2 : 8;
                const char *at = variant == 7 ? NULL : (char *)data + (variant == 3 ? 1 : variant == 6 ? 4 : 0);
                int64_t *to = &data[variant == 4 ? 1 : variant == 6 ? 0 : 9];
                gp_array scalar = gp_scalar((gp_type)(types % 14), (char *)to + (variant == 5));
                const gp_result result = gp_want(op, scalar);
                const gp_array vector = gp_vector((gp_type)(types / 14), at, n);
                const gp_array row = gp_matrix((gp_type)(types / 14), at, 1, n, n);
                for (int i = 0; i < 2; i++) {
                    const outcome a = outcome_of(i == 0 ? cpu : model, vector, result, to);
                    const outcome b = outcome_of(i == 0 ? cpu : model, row, result, to);
                    if (a.status != b.status || strcmp(a.words, b.words) != 0 || a.written != b.written)
                        fail_msg("op %u, types %u, variant %u: %d \"%s\" and %d \"%s\"", op, types, variant, a.status,
                                 a.words, b.status, b.words);
                    good_calls += a.status == GP_OK;
                }
            }
    assert_true(good_calls > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_pointers),     cmocka_unit_test(bad_views),  cmocka_unit_test(bad_operations),
        cmocka_unit_test(overlaps),         cmocka_unit_test(neighbours), cmocka_unit_test(no_elements),
        cmocka_unit_test(vectors_are_rows),
    };
    return cmocka_run_group_tests(tests, begin, close_contexts);
}
