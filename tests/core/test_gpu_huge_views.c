/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_reduce(), gp_window() and gp_rearrange() on more than 2^32 elements of device memory. It repeats a tile whose
 * length shares no factor with a power of two, so that an index that wraps reads other data; results are compared
 * where the wrap would show.
 */
#include "../cases.h"
#include "../gpu.h"
#include "../oracle.h"

#define TILE ((size_t)(64 << 20) - 57) /* bytes */
#define SIDE ((size_t)66000)           /* of a picture: 4,356,000,000 pixels */
#define FOUR_G ((size_t)1 << 32)

static gp_context *context;
static unsigned char *tile;

static int open_context(void **state) {
    (void)state;
    context = gpu_open(GP_BACKEND_CUDA);
    tile = malloc(TILE + 3);
    if (!tile)
        return -1;
    cases_fill((int32_t *)(void *)tile, TILE / 4 + 1, DATA_RANDOM, cases_seed());
    return 0;
}

static int close_context(void **state) {
    (void)state;
    gp_context_destroy(context);
    free(tile);
    return 0;
}

static unsigned char *picture(size_t bytes) {
    unsigned char *memory = gpu_need(context, bytes);
    gpu_spread(memory, bytes, tile, TILE);
    return memory;
}

static unsigned char pixel(size_t at) {
    return tile[at % TILE];
}

static double sum_of(size_t first, size_t step, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pixel(first + i * step);
    return (double)sum;
}

/* All, rows and columns. */
static void reductions(void **state) {
    (void)state;
    unsigned char *in = picture(SIDE * SIDE);
    double *sums = gpu_need(context, SIDE * sizeof(double)), seen;
    const gp_array all = gp_matrix(GP_U8, in, SIDE, SIDE, SIDE);
    for (unsigned kept = 0; kept < 2; kept++) {
        gp_array to = gp_matrix(GP_F64, sums, kept == 0 ? SIDE : 1, kept == 0 ? 1 : SIDE, kept == 0 ? 1 : SIDE);
        const gp_result results[] = {gp_want(GP_REDUCE_SUM, to)};
        CUDA_OK(cudaMemset(sums, 0x55, SIDE * sizeof(double)));
        assert_int_equal(gp_reduce(context, &all, results, 1), GP_OK);
        assert_int_equal(gp_context_synchronize(context), GP_OK);
        for (size_t k = 0; k < 20; k++) {
            const size_t at = SIDE - 1 - k * k * 180;
            CUDA_OK(cudaMemcpy(&seen, sums + at, sizeof seen, cudaMemcpyDeviceToHost));
            assert_true(seen == sum_of(kept == 0 ? at * SIDE : at, kept == 0 ? 1 : SIDE, SIDE));
        }
    }
    const gp_result total = gp_want(GP_REDUCE_SUM, gp_matrix(GP_F64, sums, 1, 1, 1));
    assert_int_equal(gp_reduce(context, &all, &total, 1), GP_OK);
    const double want = (double)(SIDE * SIDE / TILE) * sum_of(0, 1, TILE) + sum_of(0, 1, SIDE * SIDE % TILE);
    assert_int_equal(gp_context_synchronize(context), GP_OK);
    CUDA_OK(cudaMemcpy(&seen, sums, sizeof seen, cudaMemcpyDeviceToHost));
    assert_true(seen == want);
    assert_int_equal(gp_free(context, in), GP_OK);
    assert_int_equal(gp_free(context, sums), GP_OK);
}

/* The place of the only least element. */
static void places(void **state) {
    (void)state;
    const size_t n = FOUR_G + 123457, at = FOUR_G + 77;
    unsigned char *in = gpu_need(context, n);
    uint64_t *place = gpu_need(context, sizeof *place), seen = 0;
    CUDA_OK(cudaMemset(in, 9, n));
    CUDA_OK(cudaMemset(in + at, 3, 1));
    const gp_array all = gp_vector(GP_U8, in, n);
    const gp_result result = gp_want(GP_REDUCE_ARGMIN, gp_vector(GP_U64, place, 1));
    assert_int_equal(gp_reduce(context, &all, &result, 1), GP_OK);
    assert_int_equal(gp_context_synchronize(context), GP_OK);
    CUDA_OK(cudaMemcpy(&seen, place, sizeof seen, cudaMemcpyDeviceToHost));
    assert_true(seen == at);
    assert_int_equal(gp_free(context, in), GP_OK);
    assert_int_equal(gp_free(context, place), GP_OK);
}

static const char *const adding[] = {"reduce_all", "reduce_all_singles"};

#define FLOATS (((size_t)16 << 20) - 13) /* of a tile */

/*
 * A sum that needs many bits, by threads of some 8000 elements of either sign each: whatever they gather in one place
 * passes 32 bits if it is not carried on in between. What is left at last is the one element behind.
 */
static void carries(void **state) {
    (void)state;
    const size_t half = 64 * FLOATS;
    const float rest = 0x1p-140F;
    uint32_t *const floats = malloc(FLOATS * 4);
    float *in = gpu_need(context, (2 * half + 1) * 4);
    double *sum = gpu_need(context, sizeof *sum), seen;
    uint64_t draws = cases_seed();
    assert_non_null(floats);
    for (unsigned sign = 0; sign < 2; sign++) {
        for (size_t i = 0; i < FLOATS; i++)
            floats[i] = sign == 0 ? (uint32_t)(i % 8 == 0 ? 27 : 143) << 23 |
                                        (uint32_t)(cases_random(&draws) & 0x3fffff) | 0x400000
                                  : floats[i] | 0x80000000;
        gpu_spread(in + sign * half, half * 4, floats, FLOATS * 4);
    }
    CUDA_OK(cudaMemcpy(in + 2 * half, &rest, sizeof rest, cudaMemcpyHostToDevice));
    const gp_array all = gp_vector(GP_F32, in, 2 * half + 1);
    const gp_result result = gp_want(GP_REDUCE_SUM, gp_scalar(GP_F64, sum));
    for (size_t k = 0; k < COUNT(adding); k++) {
        assert_int_equal(gp_context_pin_kernel(context, adding[k], 0), GP_OK);
        assert_int_equal(gp_reduce(context, &all, &result, 1), GP_OK);
        assert_int_equal(gp_context_synchronize(context), GP_OK);
        CUDA_OK(cudaMemcpy(&seen, sum, sizeof seen, cudaMemcpyDeviceToHost));
        assert_true(seen == rest);
    }
    assert_int_equal(gp_context_pin_kernel(context, NULL, 0), GP_OK);
    assert_int_equal(gp_free(context, in), GP_OK);
    assert_int_equal(gp_free(context, sum), GP_OK);
    free(floats);
}

/* More NaNs than 32 bits count, and two numbers. */
static void nans(void **state) {
    (void)state;
    static const uint16_t numbers[] = {0x4000, 0x4080}; /* 2 and 4 */
    const size_t n = FOUR_G + 1003;
    uint16_t *in = gpu_need(context, n * 2);
    double *mean = gpu_need(context, sizeof *mean), seen;
    CUDA_OK(cudaMemset(in, 0xff, n * 2));
    CUDA_OK(cudaMemcpy(in + FOUR_G, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    const gp_array all = gp_vector(GP_BF16, in, n);
    const gp_result result = gp_want(GP_REDUCE_MEAN | GP_SKIP_NAN, gp_scalar(GP_F64, mean));
    for (size_t k = 0; k < COUNT(adding); k++) {
        assert_int_equal(gp_context_pin_kernel(context, adding[k], 0), GP_OK);
        assert_int_equal(gp_reduce(context, &all, &result, 1), GP_OK);
        assert_int_equal(gp_context_synchronize(context), GP_OK);
        CUDA_OK(cudaMemcpy(&seen, mean, sizeof seen, cudaMemcpyDeviceToHost));
        assert_true(seen == 3);
    }
    assert_int_equal(gp_context_pin_kernel(context, NULL, 0), GP_OK);
    assert_int_equal(gp_free(context, in), GP_OK);
    assert_int_equal(gp_free(context, mean), GP_OK);
}

/* A pixel's window of 5 x 5: the least, or the mean rounded to a whole number. */
static unsigned char window_of(gp_reduce_op op, size_t y, size_t x) {
    unsigned sum = 0, least = 255;
    for (ptrdiff_t i = -2; i <= 2; i++)
        for (ptrdiff_t j = -2; j <= 2; j++) {
            const ptrdiff_t row = oracle_border(GP_BORDER_REFLECT, (ptrdiff_t)y + i, SIDE),
                            col = oracle_border(GP_BORDER_REFLECT, (ptrdiff_t)x + j, SIDE);
            const unsigned value = pixel((size_t)row * SIDE + (size_t)col);
            sum += value;
            least = value < least ? value : least;
        }
    return (unsigned char)(op == GP_REDUCE_MIN ? least : (2 * sum + 25) / 50); /* 25 is odd: there are no ties */
}

static void windows(void **state) {
    (void)state;
    static const gp_reduce_op ops[] = {GP_REDUCE_MIN, GP_REDUCE_MEAN};
    static unsigned char seen[3000];
    const gp_window_shape window = {.struct_size = sizeof window, .extent = {5, 5}, .border = GP_BORDER_REFLECT};
    unsigned char *in = picture(SIDE * SIDE), *out = gpu_need(context, SIDE * SIDE);
    const gp_array from = gp_matrix(GP_U8, in, SIDE, SIDE, SIDE), to = gp_matrix(GP_U8, out, SIDE, SIDE, SIDE);
    uint64_t draws = cases_seed();
    for (size_t o = 0; o < COUNT(ops); o++) {
        const gp_result result = gp_want(ops[o], to);
        CUDA_OK(cudaMemset(out, 0x55, SIDE * SIDE));
        assert_int_equal(gp_window(context, &from, &window, &result, 1), GP_OK);
        assert_int_equal(gp_context_synchronize(context), GP_OK);
        for (int k = 0; k < 300; k++) {
            const size_t y = k % 3 ? (size_t)(cases_random(&draws) % SIDE) : SIDE - 1 - (size_t)k,
                         x = k % 4 ? (size_t)(cases_random(&draws) % (SIDE - sizeof seen)) : SIDE - sizeof seen;
            CUDA_OK(cudaMemcpy(seen, out + y * SIDE + x, sizeof seen, cudaMemcpyDeviceToHost));
            for (size_t i = 0; i < sizeof seen; i++)
                if (seen[i] != window_of(ops[o], y, x + i))
                    fail_msg("operation %d: pixel %zu, %zu is wrong", (int)ops[o], y, x + i);
        }
    }
    assert_int_equal(gp_free(context, in), GP_OK);
    assert_int_equal(gp_free(context, out), GP_OK);
}

/* Three axes in other orders, and a square in place. */
static void rearrangements(void **state) {
    (void)state;
    static const struct {
        size_t extent[3];
        unsigned axes[3];
        bool in_place;
    } moves[] = {{{38011, 38003, 3}, {2, 0, 1}, false},
                 {{3, 38011, 38003}, {1, 2, 0}, false},
                 {{1700, 1601, 1607}, {2, 1, 0}, false},
                 {{1, 66003, 66003}, {0, 2, 1}, true}};
    static unsigned char seen[16384];
    uint64_t draws = cases_seed();
    for (size_t m = 0; m < COUNT(moves); m++) {
        const size_t *extent = moves[m].extent, n = extent[0] * extent[1] * extent[2];
        unsigned char *in = picture(n), *out = moves[m].in_place ? in : gpu_need(context, n);
        const gp_array from = gp_permuted(gp_dense(GP_U8, in, 3, extent), moves[m].axes);
        const gp_array to = gp_dense(GP_U8, out, 3, from.extent);
        assert_true(n > FOUR_G);
        if (out != in)
            CUDA_OK(cudaMemset(out, 0x55, n));
        assert_int_equal(gp_rearrange(context, &from, &to), GP_OK);
        assert_int_equal(gp_context_synchronize(context), GP_OK);
        for (size_t k = 0; k < 1000; k++) {
            const size_t at = k < 8 ? n - (k + 1) * sizeof seen : (size_t)(cases_random(&draws) % (n - sizeof seen));
            CUDA_OK(cudaMemcpy(seen, out + at, sizeof seen, cudaMemcpyDeviceToHost));
            for (size_t i = 0; i < sizeof seen; i++) {
                const size_t z = (at + i) % to.extent[2], y = (at + i) / to.extent[2] % to.extent[1],
                             x = (at + i) / to.extent[2] / to.extent[1];
                if (seen[i] !=
                    pixel(x * (size_t)from.stride[0] + y * (size_t)from.stride[1] + z * (size_t)from.stride[2]))
                    fail_msg("move %zu: byte %zu of the result is wrong", m, at + i);
            }
        }
        if (out != in)
            assert_int_equal(gp_free(context, out), GP_OK);
        assert_int_equal(gp_free(context, in), GP_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions), cmocka_unit_test(places),  cmocka_unit_test(carries),
        cmocka_unit_test(nans),       cmocka_unit_test(windows), cmocka_unit_test(rearrangements),
    };
    if (gpu_is_missing())
        return 77;
    if (cases_reduced()) {
        printf("skipped: too slow for the reduced list\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, open_context, close_context);
}
