/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of gp_rearrange(), and of gp_reduce() with elements that only it takes. Nothing is written then. */
#include "misuse.h"

#define BYTES 4096

static unsigned char memory[2][BYTES], before[2][BYTES];

static int begin(void **state) {
    for (size_t i = 0; i < BYTES; i++)
        memory[0][i] = memory[1][i] = (unsigned char)(i * 7);
    memcpy(before, memory, sizeof memory);
    return open_contexts(state);
}

static void expect(const gp_array *in, const gp_array *out, gp_status want, const char *word, int line) {
    fails_as(gp_rearrange(cpu, in, out), want, word, false, line);
    assert_memory_equal(memory, before, sizeof memory);
}
#define EXPECT(in, out, status, word) expect(in, out, status, word, __LINE__)
#define BAD(in, out, word) expect(in, out, GP_ERR_ARGUMENT, word, __LINE__)

static gp_array cube(unsigned which) {
    return gp_dense(GP_U16, memory[which], 3, (const size_t[]){4, 5, 6});
}

static void bad_views(void **state) {
    (void)state;
    const gp_array good[2] = {cube(0), cube(1)};
    assert_int_equal(gp_rearrange(NULL, &good[0], &good[1]), GP_ERR_ARGUMENT);
    BAD(NULL, &good[1], "in is NULL");
    BAD(&good[0], NULL, "out is NULL");
    for (int i = 0; i < 2; i++) {
        gp_array a[2] = {good[0], good[1]};
        const char *name = i == 0 ? "in:" : "out:";
        a[i].type = 13;
        BAD(&a[0], &a[1], name);
        a[i].type = -1;
        BAD(&a[0], &a[1], name);
        a[i].type = GP_BYTES;
        BAD(&a[0], &a[1], "elem_bytes is 0");
        a[i].type = GP_U16;
        a[i].elem_bytes = 2;
        BAD(&a[0], &a[1], "elem_bytes 2");
        a[i] = good[i];
        a[i].rank = 9;
        BAD(&a[0], &a[1], "rank 9");
        a[i] = good[i];
        a[i].data = NULL;
        BAD(&a[0], &a[1], i == 0 ? "in is NULL" : "out is NULL");
        a[i] = good[i];
        a[i].stride[1] = PTRDIFF_MAX / 2;
        EXPECT(&a[0], &a[1], GP_ERR_OVERFLOW, "axis 1");
        a[i] = good[i];
        a[i].type = GP_BYTES;
        a[i].elem_bytes = SIZE_MAX;
        EXPECT(&a[0], &a[1], GP_ERR_OVERFLOW, name);
    }
}

static void views_that_differ(void **state) {
    (void)state;
    const gp_array in = cube(0);
    gp_array out = cube(1);
    out.extent[2] = 5;
    BAD(&in, &out, "out: extent 5 on axis 2, but in has 6");
    out = cube(1);
    out.rank = 2;
    BAD(&in, &out, "out: rank 2, but in has 3");
    out = cube(1);
    out.type = GP_U8;
    BAD(&in, &out, "out: elements of 1 bytes, but in has 2");
    out.type = GP_BYTES;
    out.elem_bytes = 3;
    BAD(&in, &out, "out: elements of 3 bytes");
}

static void overlaps(void **state) {
    (void)state;
    const gp_array in = cube(0);
    gp_array out = cube(1);
    out.stride[1] = 0;
    EXPECT(&in, &out, GP_ERR_OVERLAP, "out: its strides fold it onto itself");
    out.stride[1] = 5;
    EXPECT(&in, &out, GP_ERR_OVERLAP, "out: its strides fold");
    out = cube(0);
    out.data = memory[0] + 2;
    EXPECT(&in, &out, GP_ERR_OVERLAP, "in and out overlap");
    out.data = memory[0] + 1;
    EXPECT(&in, &out, GP_ERR_OVERLAP, "in and out overlap");
    out = cube(0);
    out.stride[0] = 31; /* the same first element, other gaps */
    EXPECT(&in, &out, GP_ERR_OVERLAP, "in and out overlap");
    gp_array repeated = cube(0);
    repeated.stride[0] = 0;
    EXPECT(&repeated, &in, GP_ERR_OVERLAP, "in and out overlap");
}

/* Which permutations of one memory are done, and which refused before anything is written. */
static void in_place(void **state) {
    (void)state;
    static const struct {
        size_t extent[3];
        unsigned axes[3];
        bool reversed; /* the first axis of the input, too */
        gp_status status;
    } known[] = {
        {{4, 5, 6}, {0, 2, 1}, false, GP_OK},
        {{4, 5, 6}, {1, 0, 2}, false, GP_OK},
        {{4, 5, 6}, {1, 2, 0}, false, GP_OK},
        {{4, 5, 6}, {2, 0, 1}, false, GP_OK},
        {{4, 5, 6}, {2, 1, 0}, false, GP_ERR_UNSUPPORTED},
        {{4, 5, 4}, {2, 1, 0}, false, GP_OK},
        {{5, 5, 5}, {1, 2, 0}, false, GP_OK},
        {{4, 5, 6}, {0, 1, 2}, true, GP_OK},
        {{4, 5, 6}, {0, 2, 1}, true, GP_ERR_UNSUPPORTED},
        {{5, 5, 1}, {1, 0, 2}, true, GP_ERR_UNSUPPORTED}, /* a quarter turn */
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        gp_array in = gp_permuted(gp_dense(GP_U16, memory[0], 3, known[i].extent), known[i].axes);
        const gp_array out = gp_dense(GP_U16, memory[0], 3, in.extent);
        if (known[i].reversed) {
            in.data = (uint16_t *)in.data + in.stride[0] * (ptrdiff_t)(in.extent[0] - 1);
            in.stride[0] = -in.stride[0];
        }
        if (known[i].status != GP_OK) {
            EXPECT(&in, &out, known[i].status, "in place only");
            continue;
        }
        assert_int_equal(gp_rearrange(cpu, &in, &out), GP_OK);
        assert_memory_not_equal(memory[0], before[0], BYTES);
        memcpy(memory, before, sizeof memory);
    }
}

static void nothing_to_do(void **state) {
    (void)state;
    gp_array in = cube(0), out = cube(1);
    assert_int_equal(gp_rearrange(cpu, &in, &in), GP_OK);
    in.extent[1] = out.extent[1] = 0;
    assert_int_equal(gp_rearrange(cpu, &in, &out), GP_OK);
    in.data = out.data = NULL;
    assert_int_equal(gp_rearrange(cpu, &in, &out), GP_OK);
    in.stride[0] = out.stride[0] = PTRDIFF_MIN;
    assert_int_equal(gp_rearrange(cpu, &in, &out), GP_OK);
    assert_memory_equal(memory, before, sizeof memory);
}

static void bytes_are_not_reduced(void **state) {
    (void)state;
    int64_t sum = -7;
    gp_array in = cube(0);
    const gp_result result = gp_want(GP_REDUCE_COUNT, gp_scalar(GP_S64, &sum));
    in.type = GP_BYTES;
    assert_int_equal(gp_reduce(cpu, &in, &result, 1), GP_ERR_ARGUMENT);
    assert_non_null(strstr(gp_last_error(), "in: type GP_BYTES"));
    assert_int_equal(sum, -7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_views), cmocka_unit_test(views_that_differ), cmocka_unit_test(overlaps),
        cmocka_unit_test(in_place),  cmocka_unit_test(nothing_to_do),     cmocka_unit_test(bytes_are_not_reduced),
    };
    return cmocka_run_group_tests(tests, begin, close_contexts);
}
