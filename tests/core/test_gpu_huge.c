/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More than 2^31 and 2^32 elements on a GPU. Device memory repeats a tile whose length shares no factor with a power
 * of two, so that an index that wraps reads other data; results are compared where the wrap would show.
 */
#include "../cases.h"
#include "../gpu.h"
#include "../oracle.h"

#define TILE ((size_t)(16 << 20) - 57) /* ints */
#define TWO_G ((size_t)1 << 31)
#define FOUR_G ((size_t)1 << 32)

static gp_context *context;
static int32_t *tile;

static int open_context(void **state) {
    (void)state;
    context = gpu_open(GP_BACKEND_CUDA);
    tile = malloc(TILE * 4);
    if (!tile)
        return -1;
    cases_fill(tile, TILE, DATA_RANDOM, cases_seed());
    return 0;
}

static int close_context(void **state) {
    (void)state;
    gp_context_destroy(context);
    free(tile);
    return 0;
}

static void *need(size_t bytes) {
    return gpu_need(context, bytes);
}

static void spread(void *memory, size_t bytes) {
    gpu_spread(memory, bytes, tile, TILE * 4);
}

static unsigned char byte_at(size_t i) {
    return ((unsigned char *)tile)[i % (TILE * 4)];
}

static int64_t sum_of_first(size_t n) {
    int64_t per_tile = 0, sum = 0;
    for (size_t i = 0; i < TILE; i++) {
        per_tile += tile[i];
        sum += i < n % TILE ? tile[i] : 0;
    }
    return sum + (int64_t)(n / TILE) * per_tile;
}

/* The seeds' reductions, pinned; modulo 2^32 where they say so. */
static void study_reductions(void **state) {
    (void)state;
    static const size_t sizes[] = {(size_t)1 << 24, TWO_G + 5};
    int32_t *in = need((TWO_G + 5) * 4);
    gp_kernel_info row = {.struct_size = sizeof row};
    size_t ran = 0;
    spread(in, (TWO_G + 5) * 4);
    for (size_t i = 0; gp_kernel_at(i, &row) == GP_OK; i++) {
        if (row.operation != GP_OPERATION_REDUCE ||
            (row.flags & (GP_KERNEL_GPU | GP_KERNEL_STUDY)) != (GP_KERNEL_GPU | GP_KERNEL_STUDY))
            continue;
        for (size_t k = 0; k < COUNT(sizes); k++) {
            const int64_t want = sum_of_first(sizes[k]);
            int64_t out = 0;
            assert_int_equal(gp_context_pin_kernel(context, row.name, 512), GP_OK);
            assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, sizes[k], &out), GP_OK);
            if (row.flags & GP_KERNEL_MODULO_32 ? (uint32_t)out != (uint32_t)want : out != want)
                fail_msg("%s, n = %zu: %lld, not %lld", row.name, sizes[k], (long long)out, (long long)want);
            ran++;
        }
    }
    printf("cases: %zu\n", ran);
    assert_true(ran >= 26); /* 13 kernels */
    assert_int_equal(gp_context_pin_kernel(context, NULL, 0), GP_OK);
    assert_int_equal(gp_free(context, in), GP_OK);
}

static void reductions(void **state) {
    (void)state;
    static const size_t sizes[] = {TWO_G - 1, TWO_G + 5, FOUR_G - 1, FOUR_G + 5, FOUR_G + TILE};
    int32_t *in = need((FOUR_G + TILE) * 4);
    spread(in, (FOUR_G + TILE) * 4);
    for (size_t k = 0; k < COUNT(sizes); k++) {
        const int64_t want = sum_of_first(sizes[k]);
        int64_t out = 0;
        assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, sizes[k], &out), GP_OK);
        assert_true(out == want);
    }
    const int32_t least = INT32_MIN;
    int64_t out = 0;
    CUDA_OK(cudaMemcpy(in + FOUR_G + 3, &least, 4, cudaMemcpyHostToDevice));
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_MIN, in, FOUR_G + 5, &out), GP_OK);
    assert_true(out == INT32_MIN);
    assert_int_equal(gp_free(context, in), GP_OK);
}

/* Bytes of 0x7f: (2^32 + 5) * 0x7f7f7f7f is a 64-bit number, (2^32 + 2^28) * 0x7f7f7f7f is not. */
static void sums_past_64_bits(void **state) {
    (void)state;
    const size_t fits = FOUR_G + 5, passes = FOUR_G + (1u << 28);
    int32_t *in = need(passes * 4);
    int64_t *on_device = need(8), out = 9;
    CUDA_OK(cudaMemset(in, 0x7f, passes * 4));
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, fits, &out), GP_OK);
    assert_true(out == (int64_t)fits * 0x7f7f7f7f);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, passes, &out), GP_ERR_OVERFLOW);
    assert_true(out == (int64_t)fits * 0x7f7f7f7f);
    assert_int_equal(gp_context_synchronize(context), GP_OK);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, passes, on_device), GP_OK);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, fits, &out), GP_OK);
    assert_int_equal(gp_context_synchronize(context), GP_ERR_OVERFLOW);
    assert_int_equal(gp_context_synchronize(context), GP_OK);
    CUDA_OK(cudaMemcpy(&out, on_device, 8, cudaMemcpyDeviceToHost));
    assert_true((uint64_t)out == (uint64_t)passes * 0x7f7f7f7f);
    assert_int_equal(gp_reduce_int(context, GP_REDUCE_SUM, in, fits, on_device), GP_OK);
    assert_int_equal(gp_context_synchronize(context), GP_OK);
    assert_int_equal(gp_free(context, in), GP_OK);
    assert_int_equal(gp_free(context, on_device), GP_OK);
}

/* A stretch of the result against the oracle on the same stretch of the tile's repetition. */
static void check_stretch(const float *square, size_t row, size_t x, size_t cols, size_t window) {
    enum { STRETCH = 3000 };
    static float seen[STRETCH];
    static int32_t around[STRETCH + 64];
    const size_t half = window / 2, count = cols - x < STRETCH ? cols - x : STRETCH;
    CUDA_OK(cudaMemcpy(seen, square + row * cols + x, count * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count + window - 1; i++) {
        ptrdiff_t at = oracle_border(GP_BORDER_REFLECT, (ptrdiff_t)(x + i) - (ptrdiff_t)half, cols);
        around[i] = tile[(row * cols + (size_t)at) % TILE];
    }
    for (size_t i = 0; i < count; i++) {
        oracle_int sum, exact;
        oracle_window_exact(around + i, window, window, GP_BORDER_ZERO, half, &sum, &exact);
        if (seen[i] != oracle_float(exact))
            fail_msg("row %zu column %zu of %zu: %a, not %a", row, x + i, cols, (double)seen[i],
                     (double)oracle_float(exact));
    }
}

static void windows(void **state) {
    (void)state;
    static const struct {
        size_t rows, cols;
    } shapes[] = {{46400, 46411}, {1, TWO_G + 100003}, {3, (size_t)1500000001}, {70000001, 31}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const size_t rows = shapes[i].rows, cols = shapes[i].cols, n = rows * cols;
        uint64_t seed = cases_seed();
        int32_t *in = need(n * 4);
        float *out = need(n * 4);
        spread(in, n * 4);
        CUDA_OK(cudaMemset(out, 0x55, n * 4));
        assert_int_equal(
            gp_sum_and_square_window(context, in, rows, cols, cols, 15, GP_BORDER_REFLECT, NULL, out, cols), GP_OK);
        assert_int_equal(gp_context_synchronize(context), GP_OK);
        for (int k = 0; k < 300; k++) {
            size_t row = k % 3 ? (size_t)(cases_random(&seed) % rows) : rows - 1;
            size_t x = k % 4 ? (size_t)(cases_random(&seed) % cols) : cols > 3000 ? cols - 3000 : 0;
            check_stretch(out, row, x, cols, 15);
        }
        assert_int_equal(gp_free(context, in), GP_OK);
        assert_int_equal(gp_free(context, out), GP_OK);
    }
}

/* Stretches of the result's rows, the last ones among them. */
static void check_transpose(const unsigned char *out, size_t elem, size_t rows, size_t cols) {
    static unsigned char seen[16384];
    uint64_t seed = cases_seed();
    for (int k = 0; k < 2000; k++) {
        const size_t total = rows * cols * elem;
        size_t at =
            k < 8 ? total - ((size_t)k + 1) * sizeof seen : (size_t)(cases_random(&seed) % (total - sizeof seen));
        CUDA_OK(cudaMemcpy(seen, out + at, sizeof seen, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < sizeof seen; i++) {
            size_t element = (at + i) / elem, c = element / rows, r = element % rows;
            if (seen[i] != byte_at((r * cols + c) * elem + (at + i) % elem))
                fail_msg("%zu x %zu of %zu bytes: byte %zu of the result is wrong", rows, cols, elem, at + i);
        }
    }
}

static void transposes(void **state) {
    (void)state;
    static const struct {
        size_t elem, rows, cols;
    } shapes[] = {{1, 46400, 46411}, {1, 65600, 65700},  {1, 46401, 46408},  {1, 65601, 65664},
                  {2, 46403, 46409}, {2, 46401, 46408},  {4, 46400, 46411},  {1, 3, 1431655800},
                  {1, 500, 8640000}, {1, 300007, 14408}, {2, 1500000001, 3}, {3, 30011, 80021}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const size_t elem = shapes[i].elem, rows = shapes[i].rows, cols = shapes[i].cols, bytes = rows * cols * elem;
        void *in = need(bytes), *out = need(bytes);
        spread(in, bytes);
        CUDA_OK(cudaMemset(out, 0x55, bytes));
        assert_int_equal(gp_transpose(context, elem, in, rows, cols, cols, out, rows), GP_OK);
        assert_int_equal(gp_context_synchronize(context), GP_OK);
        check_transpose(out, elem, rows, cols);
        assert_int_equal(gp_free(context, in), GP_OK);
        assert_int_equal(gp_free(context, out), GP_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions), cmocka_unit_test(study_reductions), cmocka_unit_test(sums_past_64_bits),
        cmocka_unit_test(windows),    cmocka_unit_test(transposes),
    };
    if (gpu_is_missing())
        return 77;
    if (cases_reduced()) {
        printf("skipped: too slow for the reduced list\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, open_context, close_context);
}
