/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of gp_window(): the status, the words, and that nothing is written. */
#include "../core/misuse.h"
#include <sys/resource.h>

static uint8_t in_data[64];
static float out_data[2][64], out_before[2][64];

static int begin(void **state) {
    for (int i = 0; i < 64; i++) {
        in_data[i] = (uint8_t)i;
        out_data[0][i] = out_data[1][i] = -1.0f - (float)i;
    }
    memcpy(out_before, out_data, sizeof out_data);
    return open_contexts(state);
}

/* A call that is good as it stands: 4 x 6 pixels of u8, mean and variance of 3 x 3. */
typedef struct call {
    gp_array in;
    gp_window_shape window;
    gp_result results[2];
    size_t count;
} call;

static call good(void) {
    return (call){.in = gp_matrix(GP_U8, in_data, 4, 6, 8),
                  .window = {.struct_size = sizeof(gp_window_shape), .extent = {3, 3}, .border = GP_BORDER_WRAP},
                  .results = {gp_want(GP_REDUCE_MEAN, gp_matrix(GP_F32, out_data[0], 4, 6, 6)),
                              gp_want(GP_REDUCE_VARIANCE, gp_matrix(GP_F32, out_data[1], 4, 6, 6))},
                  .count = 2};
}

static void expect(const call *c, gp_status want, const char *words, int line) {
    gp_context *const contexts[] = {cpu, model};
    for (size_t i = 0; i < COUNT(contexts); i++) {
        fails_as(gp_window(contexts[i], &c->in, &c->window, c->results, c->count), want, words, true, line);
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
#define REFUSED(change, words) EXPECT(change, GP_ERR_UNSUPPORTED, words)

static void bad_pointers(void **state) {
    (void)state;
    const call fine = good();
    assert_int_equal(gp_window(NULL, &fine.in, &fine.window, fine.results, 2), GP_ERR_ARGUMENT);
    assert_string_equal(gp_last_error(), "context is NULL");
    assert_int_equal(gp_window(cpu, NULL, &fine.window, fine.results, 2), GP_ERR_ARGUMENT);
    assert_string_equal(gp_last_error(), "in is NULL");
    assert_int_equal(gp_window(cpu, &fine.in, NULL, fine.results, 2), GP_ERR_ARGUMENT);
    assert_string_equal(gp_last_error(), "window is NULL");
    assert_int_equal(gp_window(cpu, &fine.in, &fine.window, NULL, 2), GP_ERR_ARGUMENT);
    assert_string_equal(gp_last_error(), "results is NULL");
    BAD(c.count = 0, "count: 0, not 1 to 64");
    BAD(c.count = 65, "count: 65, not 1 to 64");
    BAD(c.in.data = NULL, "in is NULL");
    BAD(c.results[1].to.data = NULL, "results[1].to is NULL");
    BAD(c.results[1].to.data = (char *)c.results[1].to.data + 2,
        "results[1].to: the address is not a multiple of 4 bytes");
}

static void bad_windows(void **state) {
    (void)state;
    BAD(c.window.border = 7, "window: border 7 is no gp_border");
    BAD(c.window.border = -1, "window: border -1 is no gp_border");
    BAD(c.window.reserved = 1, "window: reserved is 1, not 0");
    BAD(c.window.extent[2] = 3, "window: extent 3, shift 0 on axis 2, but in has rank 2");
    BAD(c.window.shift[5] = 1, "window: extent 0, shift 1 on axis 5, but in has rank 2");
    BAD(c.window.shift[1] = 2, "window: shift 2 on axis 1, not -1 to 1");
    BAD(c.window.shift[0] = -2, "window: shift -2 on axis 0, not -1 to 1");
    BAD(c.window.extent[0] = 4; c.window.shift[0] = -2, "window: shift -2 on axis 0, not -1 to 2");
    BAD(c.window.extent[0] = 0; c.window.shift[0] = 1, "window: shift 1 on axis 0, not 0 to 0");
    EXPECT(c.window.extent[0] = SIZE_MAX, GP_ERR_OVERFLOW, "window: its extents multiply past 2^62 at axis 0");
    EXPECT(c.window.extent[0] = (size_t)1 << 61, GP_ERR_OVERFLOW, "window: its extents multiply past 2^62 at axis 1");
    REFUSED(c.in = gp_dense(GP_U8, in_data, 3, ((size_t[]){2, 4, 3}));
            c.window.extent[2] = 2, "window: it extends along 3 axes, but gp_window() takes up to 2");
    call c = good();
    c.window.struct_size = sizeof c.window - 1;
    assert_int_equal(gp_window(cpu, &c.in, &c.window, c.results, 2), GP_ERR_ARGUMENT);
    assert_non_null(strstr(gp_last_error(), "window"));
}

static void bad_results(void **state) {
    (void)state;
    BAD(c.results[1].to.rank = 1, "results[1].to: rank 1, but in has 2");
    BAD(c.results[1].to.extent[0] = 3, "results[1].to: extent 3 on axis 0, but in has 4");
    BAD(c.results[1].reserved = 1, "results[1]: reserved is 1, not 0");
    BAD(c.results[1].op = 18, "results[1].op: 0x12 is no operation");
    BAD(c.results[1].op = GP_REDUCE_DOT, "results[1].op: DOT is for gp_reduce_pair()");
    BAD(c.results[1].op |= GP_WHERE, "results[1].op: GP_WHERE is for gp_reduce_pair()");
    BAD(c.results[1].op = GP_REDUCE_MIN, "results[1].to: type f32 cannot be that of MIN of u8 in gp_window()");
    REFUSED(c.results[1].op = GP_REDUCE_ARGMIN, "results[1].op: gp_window() has no ARGMIN");
    REFUSED(c.results[1].op = GP_REDUCE_NORM, "results[1].op: gp_window() has no NORM");
    REFUSED(c.results[1].op = GP_REDUCE_XOR, "results[1].op: gp_window() has no XOR");
    REFUSED(c.results[1].op |= GP_SKIP_NAN, "results[1].op: gp_window() has no GP_SKIP_NAN");
    REFUSED(c.results[0].to.type = GP_F16, "results[0].to: type f16 cannot be that of MEAN of u8 in gp_window()");
    EXPECT(c.results[0].to.type = GP_S64, GP_ERR_ARGUMENT,
           "results[0].to: type s64 cannot be that of MEAN of u8 in gp_window()");
    BAD(c.in.type = GP_BYTES, "in: type GP_BYTES (0) is for gp_rearrange()");
    BAD(c.results[1].to.type = GP_BYTES, "results[1].to: type GP_BYTES (0) is for gp_rearrange()");
    REFUSED(c.in.type = GP_BF16, "in: gp_window() does not take bf16");
    REFUSED(c.in.type = GP_F64; c.in.extent[0] = 1, "in: gp_window() does not take f64");
    EXPECT(c.results[1].to.data = out_data[0] + 5, GP_ERR_OVERLAP, "results[0].to and results[1].to overlap");
    EXPECT(c.results[1].to.stride[1] = 0, GP_ERR_OVERLAP, "results[1].to: its strides fold it onto itself");
    EXPECT(c.in = gp_matrix(GP_U8, out_data[1], 4, 6, 8), GP_ERR_OVERLAP, "results[1].to and in overlap");
}

/* What must not be refused: no elements, no window, windows far beyond the array. */
static void edges(void **state) {
    (void)state;
    static uint8_t least[24];
    call c = good();
    c.in.extent[0] = c.results[0].to.extent[0] = c.results[1].to.extent[0] = 0;
    c.in.data = c.results[0].to.data = c.results[1].to.data = NULL;
    assert_int_equal(gp_window(cpu, &c.in, &c.window, c.results, 2), GP_OK);
    c = good();
    c.results[0] = gp_want(GP_REDUCE_MIN, gp_matrix(GP_U8, least, 4, 6, 6));
    c.window.extent[0] = c.window.extent[1] = (size_t)1 << 30;
    for (int border = GP_BORDER_NONE; border <= GP_BORDER_SHRINK; border++) {
        c.window.border = border;
        memset(least, 0xff, sizeof least);
        assert_int_equal(gp_window(cpu, &c.in, &c.window, c.results, 1), GP_OK);
        assert_int_equal(least[23], border == GP_BORDER_NONE ? 0xff : 0);
    }
    c.window.extent[0] = c.window.extent[1] = 0;
    assert_int_equal(gp_window(cpu, &c.in, &c.window, c.results, 1), GP_OK);
    for (int i = 0; i < 24; i++)
        assert_int_equal(least[i], in_data[i / 6 * 8 + i % 6]);
}

static long peak_kib(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* Moments of a row whose window is far longer: the bits of the reference row, in memory by the row. */
static void far_beyond_a_row(gp_type type, size_t n, size_t extent) {
    static unsigned char in[4000];
    static float out[2][2][1000];
    for (size_t i = 0; i < n; i++)
        if (type == GP_F32)
            memcpy(in + 4 * i, &(float){(float)(i * i % 97) / 8 - 3}, 4);
        else
            in[i] = (unsigned char)(i * i % 251);
    const gp_array row = gp_vector(type, in, n);
    for (int border = GP_BORDER_NONE; border <= GP_BORDER_SHRINK; border++) {
        const gp_window_shape window = {.struct_size = sizeof window, .extent = {extent}, .border = border};
        const long before = peak_kib();
        for (unsigned pinned = 0; pinned < 2; pinned++) {
            const gp_result results[] = {gp_want(GP_REDUCE_MEAN, gp_vector(GP_F32, out[pinned][0], n)),
                                         gp_want(GP_REDUCE_VARIANCE, gp_vector(GP_F32, out[pinned][1], n))};
            assert_int_equal(gp_context_pin_kernel(cpu, pinned ? "window_array_cpu" : NULL, 0), GP_OK);
            assert_int_equal(gp_window(cpu, &row, &window, results, COUNT(results)), GP_OK);
        }
        if (memcmp(out[0], out[1], sizeof out[0]) != 0)
            fail_msg("type %d, %zu of %zu, border %d: other bits than the reference row's", (int)type, extent, n,
                     border);
        if (!SANITIZED && peak_kib() - before > 64 << 10)
            fail_msg("type %d, %zu of %zu, border %d: %ld KiB", (int)type, extent, n, border, peak_kib() - before);
    }
    assert_int_equal(gp_context_pin_kernel(cpu, NULL, 0), GP_OK);
}

static void long_windows_of_short_rows(void **state) {
    (void)state;
    far_beyond_a_row(GP_U8, 16, (size_t)1 << 24);
    far_beyond_a_row(GP_F32, 16, (size_t)1 << 24);
    far_beyond_a_row(GP_U8, 1000, 5000);
    far_beyond_a_row(GP_F32, 1000, 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_pointers), cmocka_unit_test(bad_windows),
                                       cmocka_unit_test(bad_results), cmocka_unit_test(edges),
                                       cmocka_unit_test(long_windows_of_short_rows)};
    return cmocka_run_group_tests(tests, begin, close_contexts);
}
