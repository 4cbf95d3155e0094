/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of the three primitives: NULLs, alignment, enums, pitches, overflow, overlap. Nothing is written
 * then. */
#include "misuse.h"

static int32_t image[64];
static float outputs[2][64], outputs_before[2][64];

static int begin(void **state) {
    for (size_t i = 0; i < 64; i++) {
        image[i] = (int32_t)i;
        outputs[0][i] = outputs[1][i] = -1.0f - (float)i;
    }
    memcpy(outputs_before, outputs, sizeof outputs);
    return open_contexts(state);
}

static void expect(gp_status got, gp_status want, const char *word, int line) {
    fails_as(got, want, word, false, line);
    assert_memory_equal(outputs, outputs_before, sizeof outputs);
}
#define EXPECT(call, status, word) expect(call, status, word, __LINE__)
#define BAD(call, word) expect(call, GP_ERR_ARGUMENT, word, __LINE__)

static void *shifted(void *pointer, size_t bytes) {
    return (char *)pointer + bytes;
}

static void bad_reductions(void **state) {
    (void)state;
    int64_t out[2] = {-7, -7};
    BAD(gp_reduce_int(NULL, GP_REDUCE_SUM, image, 4, out), "context");
    BAD(gp_reduce_int(cpu, GP_REDUCE_SUM, NULL, 4, out), "in");
    BAD(gp_reduce_int(cpu, GP_REDUCE_SUM, image, 4, NULL), "out");
    BAD(gp_reduce_int(cpu, GP_REDUCE_SUM, NULL, 0, NULL), "out");
    BAD(gp_reduce_int(cpu, (gp_reduce_op)6, image, 4, out), "op");
    BAD(gp_reduce_int(cpu, (gp_reduce_op)-1, image, 4, out), "op");
    BAD(gp_reduce_int(cpu, (gp_reduce_op)INT32_MIN, image, 4, out), "op");
    for (size_t d = 1; d < 4; d++)
        BAD(gp_reduce_int(cpu, GP_REDUCE_SUM, shifted(image, d), 4, out), "in");
    for (size_t d = 1; d < 8; d++)
        BAD(gp_reduce_int(cpu, GP_REDUCE_SUM, image, 4, shifted(out, d)), "out");
    EXPECT(gp_reduce_int(cpu, GP_REDUCE_MIN, NULL, 0, out), GP_ERR_EMPTY, "minimum");
    EXPECT(gp_reduce_int(cpu, GP_REDUCE_MAX, image, 0, out), GP_ERR_EMPTY, "maximum");
    static const size_t huge[] = {SIZE_MAX,     SIZE_MAX / 4,    SIZE_MAX / 4 + 1,
                                  SIZE_MAX / 2, (size_t)1 << 63, (size_t)1 << 62};
    for (size_t i = 0; i < COUNT(huge); i++)
        EXPECT(gp_reduce_int(cpu, GP_REDUCE_SUM, image, huge[i], out), GP_ERR_OVERFLOW, "in");
    assert_int_equal(out[0], -7);
    assert_int_equal(out[1], -7);
}

static void result_within_the_input(void **state) {
    (void)state;
    int64_t block[8] = {0};
    int32_t *in = (int32_t *)block + 4; /* elements 4 .. 11: words 2 .. 5 */
    for (size_t i = 0; i < 8; i++) {
        gp_status status = gp_reduce_int(cpu, GP_REDUCE_SUM, in, 8, &block[i]);
        assert_int_equal(status, i >= 2 && i < 6 ? GP_ERR_OVERLAP : GP_OK);
    }
    assert_int_equal(gp_reduce_int(cpu, GP_REDUCE_SUM, in, 0, &block[2]), GP_OK);
}

static void empty_reductions(void **state) {
    (void)state;
    static const struct {
        gp_reduce_op op;
        int64_t identity;
    } known[] = {{GP_REDUCE_SUM, 0}, {GP_REDUCE_OR, 0}, {GP_REDUCE_XOR, 0}, {GP_REDUCE_AND, -1}};
    for (size_t i = 0; i < COUNT(known); i++) {
        int64_t out = 99;
        assert_int_equal(gp_reduce_int(cpu, known[i].op, NULL, 0, &out), GP_OK);
        assert_int_equal(out, known[i].identity);
    }
}

static gp_status window(gp_context *c, const int32_t *in, size_t rows, size_t cols, size_t pitch, size_t w,
                        int border, float *sum, float *square, size_t out_pitch) {
    return gp_sum_and_square_window(c, in, rows, cols, pitch, w, (gp_border)border, sum, square, out_pitch);
}

static void bad_windows(void **state) {
    (void)state;
    float *s = outputs[0], *q = outputs[1];
    BAD(window(NULL, image, 4, 4, 4, 3, 1, s, q, 4), "context");
    BAD(window(cpu, NULL, 4, 4, 4, 3, 1, s, q, 4), "image");
    BAD(window(cpu, image, 4, 4, 4, 3, 1, NULL, NULL, 4), "sum");
    BAD(window(cpu, image, 4, 4, 4, 0, 1, s, q, 4), "window");
    BAD(window(cpu, image, 0, 0, 0, 0, 1, s, q, 0), "window");
    BAD(window(cpu, image, 4, 4, 4, 3, 6, s, q, 4), "border");
    BAD(window(cpu, image, 4, 4, 4, 3, -1, s, q, 4), "border");
    BAD(window(cpu, image, 4, 4, 3, 3, 1, s, q, 4), "image_pitch");
    BAD(window(cpu, image, 4, 4, 0, 3, 1, s, q, 4), "image_pitch");
    BAD(window(cpu, image, 4, 4, 4, 3, 1, s, q, 3), "out_pitch");
    BAD(window(cpu, image, 1, 4, 4, 3, 1, s, q, 3), "out_pitch");
    BAD(window(cpu, image, 0, 4, 3, 3, 1, s, q, 4), "image_pitch");
    for (size_t d = 1; d < 4; d++) {
        BAD(window(cpu, shifted(image, d), 4, 4, 4, 3, 1, s, q, 4), "image");
        BAD(window(cpu, image, 4, 4, 4, 3, 1, shifted(s, d), q, 4), "sum");
        BAD(window(cpu, image, 4, 4, 4, 3, 1, s, shifted(q, d), 4), "square");
    }
    assert_int_equal(window(cpu, NULL, 0, 4, 4, 3, 1, NULL, NULL, 4), GP_OK);
    assert_int_equal(window(cpu, NULL, 4, 0, 0, 3, 1, NULL, NULL, 0), GP_OK);
    assert_int_equal(window(cpu, image, 0, 4, 4, 3, 1, s, q, 4), GP_OK);
    assert_int_equal(window(cpu, image, 4, 4, 4, 5, GP_BORDER_NONE, s, q, 4), GP_OK);
    assert_int_equal(window(cpu, image, 4, 4, 4, SIZE_MAX, GP_BORDER_NONE, s, q, 4), GP_OK);
    assert_memory_equal(outputs, outputs_before, sizeof outputs);
}

static void bad_transposes(void **state) {
    (void)state;
    float *out = outputs[0];
    BAD(gp_transpose(NULL, 4, image, 4, 4, 4, out, 4), "context");
    BAD(gp_transpose(cpu, 0, image, 4, 4, 4, out, 4), "elem_bytes");
    BAD(gp_transpose(cpu, 0, image, 0, 0, 0, out, 0), "elem_bytes");
    BAD(gp_transpose(cpu, 4, NULL, 4, 4, 4, out, 4), "in");
    BAD(gp_transpose(cpu, 4, image, 4, 4, 4, NULL, 4), "out");
    BAD(gp_transpose(cpu, 4, image, 4, 5, 4, out, 4), "in_pitch");
    BAD(gp_transpose(cpu, 4, image, 5, 4, 4, out, 4), "out_pitch");
    BAD(gp_transpose(cpu, 4, image, 0, 5, 4, out, 4), "in_pitch");
    BAD(gp_transpose(cpu, 4, image, 5, 0, 4, out, 4), "out_pitch");
    EXPECT(gp_transpose(cpu, 4, image, 4, 5, 5, image, 5), GP_ERR_OVERLAP, "in and out");
    EXPECT(gp_transpose(cpu, 4, image, 4, 4, 4, image, 5), GP_ERR_OVERLAP, "in and out");
    EXPECT(gp_transpose(cpu, 4, image, 4, 4, 4, image + 1, 4), GP_ERR_OVERLAP, "in and out");
    EXPECT(gp_transpose(cpu, SIZE_MAX, image, 1, 1, 1, out, 1), GP_ERR_OVERFLOW, "in");
    assert_int_equal(gp_transpose(cpu, 4, NULL, 0, 5, 5, NULL, 0), GP_OK);
    assert_int_equal(gp_transpose(cpu, 4, NULL, 5, 0, 0, NULL, 5), GP_OK);
    assert_int_equal(gp_transpose(cpu, SIZE_MAX, NULL, SIZE_MAX, 0, 0, NULL, SIZE_MAX), GP_OK);
    assert_memory_equal(outputs, outputs_before, sizeof outputs);
}

/* Where three numbers are asked for, each of these. */
static const size_t odd_sizes[] = {0,           1,         65536,        0x7fffffff,   0x80000000u,  0xffffffffu,
                                   0x100000000, 1ul << 63, SIZE_MAX / 4, SIZE_MAX / 8, SIZE_MAX - 1, SIZE_MAX};

/* Bytes from the first to past the last element; past what 64 bits hold simply "very many". */
static uint128 span(uint128 rows, uint128 cols, uint128 pitch, uint128 elem) {
    uint128 elements = rows && cols ? (rows - 1) * pitch + cols : 0;
    return elements > SIZE_MAX ? (uint128)1 << 100 : elements * elem;
}

/* In full arithmetic: may a call with arrays of these bytes from these addresses be accepted? */
static gp_status verdict(const uint128 *bytes, const uintptr_t *start, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i] > PTRDIFF_MAX || bytes[i] + start[i] > UINTPTR_MAX)
            return GP_ERR_OVERFLOW;
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (bytes[i] && bytes[k] && start[i] < start[k] + bytes[k] && start[k] < start[i] + bytes[i])
                return GP_ERR_OVERLAP;
    return GP_OK;
}

/* A model context checks and plans but touches no data, so that addresses may be made up. */
static void every_product_of_sizes(void **state) {
    (void)state;
    const uintptr_t at[] = {0x1000, 0x2000000000000000, 0x4000000000000000};
    size_t n = COUNT(odd_sizes), overflows = 0;
    for (size_t i = 0; i < n * n * n; i++) {
        size_t rows = odd_sizes[i % n], cols = odd_sizes[i / n % n], pitch = odd_sizes[i / n / n];
        uint128 image_bytes = span(rows, cols, pitch, 4), bytes[] = {image_bytes, image_bytes, image_bytes};
        gp_status want = pitch < cols ? GP_ERR_ARGUMENT : verdict(bytes, at, 3);
        gp_status got = window(model, (int32_t *)at[0], rows, cols, pitch, 3, GP_BORDER_ZERO, (float *)at[1],
                               (float *)at[2], pitch);
        if (got != want && !(want == GP_OK && got == GP_ERR_NO_KERNEL))
            fail_msg("window %zu x %zu pitch %zu: status %d, not %d", rows, cols, pitch, (int)got, (int)want);
        size_t elem = pitch, in_pitch = cols, out_pitch = rows;
        bytes[0] = bytes[1] = span(rows, cols, in_pitch, elem);
        want = elem == 0 ? GP_ERR_ARGUMENT : verdict(bytes, at, 2);
        got = gp_transpose(model, elem, (void *)at[0], rows, cols, in_pitch, (void *)at[1], out_pitch);
        if (got != want && !(want == GP_OK && got == GP_ERR_NO_KERNEL))
            fail_msg("transpose %zu x %zu of %zu: status %d, not %d", rows, cols, elem, (int)got, (int)want);
        overflows += got == GP_ERR_OVERFLOW;
    }
    printf("cases: %zu window and %zu transpose calls, %zu transposes past the address space\n", n * n * n, n * n * n,
           overflows);
    assert_true(overflows > 100);
}

/* Which elements each of two pitched arrays holds, marked on a line of bytes. */
static bool truly_overlap(size_t a_start, size_t b_start, size_t rows, size_t cols, size_t a_pitch, size_t b_pitch) {
    static unsigned char line[4096];
    memset(line, 0, sizeof line);
    for (size_t i = 0; i < rows * cols * 4; i++)
        line[a_start + i / (cols * 4) * a_pitch * 4 + i % (cols * 4)] = 1;
    for (size_t i = 0; i < rows * cols * 4; i++)
        if (line[b_start + i / (cols * 4) * b_pitch * 4 + i % (cols * 4)])
            return true;
    return false;
}

/* Exact for equal pitches, where arrays may lie in each other's padding; else at least what truly overlaps is
   refused, and what lies apart as a whole is accepted. */
static void overlap_in_all_its_forms(void **state) {
    (void)state;
    size_t interleaved = 0;
    for (size_t rows = 1; rows <= 4; rows++)
        for (size_t cols = 1; cols <= 5; cols++)
            for (size_t pa = cols; pa <= 11; pa++)
                for (size_t pb = cols; pb <= 11; pb++)
                    for (size_t d = 0; d < 1600; d += 4) {
                        size_t a_bytes = ((rows - 1) * pa + cols) * 4, b_bytes = ((rows - 1) * pb + cols) * 4;
                        bool over = truly_overlap(800, d, rows, cols, pa, pb);
                        bool apart = d + b_bytes <= 800 || d >= 800 + a_bytes;
                        gp_status got = window(model, (int32_t *)(uintptr_t)(0x10000 + 800), rows, cols, pa, 3, 1,
                                               (float *)(uintptr_t)(0x10000 + d), NULL, pb);
                        bool exact = pa == pb || over || apart;
                        if (exact && got != (over ? GP_ERR_OVERLAP : GP_OK))
                            fail_msg("%zu x %zu, pitches %zu %zu, distance %zd: status %d", rows, cols, pa, pb,
                                     (ssize_t)d - 800, (int)got);
                        interleaved += !over && !apart && got == GP_OK;
                    }
    assert_true(interleaved > 100);
    EXPECT(window(cpu, image, 2, 4, 4, 3, 1, outputs[0], outputs[0], 4), GP_ERR_OVERLAP, "square");
    EXPECT(window(cpu, image, 2, 4, 4, 3, 1, outputs[0], outputs[0] + 7, 4), GP_ERR_OVERLAP, "square");
    EXPECT(window(cpu, image, 2, 4, 4, 3, 1, (float *)image, outputs[0], 4), GP_ERR_OVERLAP, "image");
}

/* Elements of transposes are bytes, so that distances are bytes too. */
static void overlapping_transposes(void **state) {
    (void)state;
    for (size_t elem = 1; elem <= 5; elem++)
        for (size_t d = 0; d <= 400; d++) {
            size_t bytes = 4 * 4 * elem;
            bool apart = d + bytes <= 200 || d >= 200 + bytes;
            gp_status got = gp_transpose(model, elem, (void *)(uintptr_t)(0x10000 + 200), 4, 4, 4,
                                         (void *)(uintptr_t)(0x10000 + d), 4);
            if (got != (apart || d == 200 ? GP_OK : GP_ERR_OVERLAP))
                fail_msg("elements of %zu bytes, distance %zd: status %d", elem, (ssize_t)d - 200, (int)got);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_reductions),           cmocka_unit_test(result_within_the_input),
        cmocka_unit_test(empty_reductions),         cmocka_unit_test(bad_windows),
        cmocka_unit_test(bad_transposes),           cmocka_unit_test(every_product_of_sizes),
        cmocka_unit_test(overlap_in_all_its_forms), cmocka_unit_test(overlapping_transposes),
    };
    return cmocka_run_group_tests(tests, begin, close_contexts);
}
