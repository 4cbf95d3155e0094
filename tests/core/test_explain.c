/* SPDX-License-Identifier: Apache-2.0 */
/* What gp_context_explain() says of a tiling: the part of a block, as rows and columns, its threads and the blocks.
 */
#include "../../src/host/context.h"
#include "../check.h"
#include "../devices.h"

#define IN ((void *)((uintptr_t)1 << 40))
#define OUT ((void *)((uintptr_t)1 << 44))
#define ROWS 3000
#define COLS 4000

/* Plans as the kernel's name asks for. False: it cannot. */
static bool plan(gp_context *context, const char *kernel, unsigned threads) {
    gp_status status;
    assert_int_equal(gp_context_pin_kernel(context, kernel, threads), GP_OK);
    if (strncmp(kernel, "reduce", 6) == 0)
        status =
            gp_reduce_int(context, GP_REDUCE_SUM, IN, strcmp(kernel, "reduce_block") == 0 ? 5000 : ROWS * COLS, OUT);
    else if (strncmp(kernel, "window", 6) == 0)
        status = gp_sum_and_square_window(context, IN, ROWS, COLS, COLS, 15, GP_BORDER_NONE, OUT, NULL, COLS);
    else
        status = gp_transpose(context, 4, IN, ROWS, COLS, COLS, OUT, ROWS);
    assert_true(status == GP_OK || status == GP_ERR_NO_KERNEL);
    return status == GP_OK;
}

/* The chosen kernel's line begins with these words. */
static void expect(gp_context *context, const char *kernel, const char *words) {
    char text[8192], line[160];
    assert_in_range(gp_context_explain(context, text, sizeof text), 1, sizeof text - 1);
    snprintf(line, sizeof line, "\n  %-26s chosen: %s, at most ", kernel, words);
    if (strstr(text, line) == NULL)
        fail_msg("'%s' is not in: %s", line, text);
}

static void tilings_are_told_in_words(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *words;
    } known[] = {{"transpose_tile", "tile 32 x 32, 256 threads, 11750 blocks"}, /* 94 x 125 */
                 {"transpose_naive", "256 threads, 46875 blocks"},
                 {"window_smem", "tile 1 x 256, 256 threads, 48000 blocks"}, /* 16 a row, of 3986 columns */
                 {"reduce_unroll4", "tile of 1024 elements, 256 threads, 11719 blocks"},
                 {"reduce_block", "tile of 4096 elements, 256 threads, 1 block"}};
    gp_context *context = devices_open(&devices[DEVICE_HOPPER]);
    for (size_t i = 0; i < COUNT(known); i++) {
        assert_true(plan(context, known[i].kernel, 256));
        expect(context, known[i].kernel, known[i].words);
    }
    gp_context_destroy(context);
}

/* Whatever has tiles has enough of them for the whole matrix. */
static void tiles_cover_the_matrix(void **state) {
    (void)state;
    gp_context *context = devices_open(&devices[DEVICE_HOPPER]);
    size_t tiled = 0;
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        assert_int_equal(gp_kernel_at(i, &info), GP_OK);
        if (!(info.flags & GP_KERNEL_GPU) || !plan(context, info.name, 0))
            continue;
        if ((int32_t)context->problem.primitive->operation != info.operation)
            continue; /* rows of views are not asked by plan() */
        const gp_tiling *tiling = &context->plan.tiling;
        const uint64_t rows = tiling->t[GP_TILE_ROWS], cols = tiling->t[GP_TILE_COLS];
        char words[160];
        if (rows == 0)
            continue;
        assert_true(tiling->blocks * rows * cols >= (uint64_t)ROWS * (COLS - 14));
        snprintf(words, sizeof words, "tile %u x %u, %u threads, %llu blocks", (unsigned)rows, (unsigned)cols,
                 tiling->threads, (unsigned long long)tiling->blocks);
        expect(context, info.name, words);
        tiled++;
    }
    assert_in_range(tiled, 5, gp_kernel_count());
    gp_context_destroy(context);
}

/* As many results of the longest names as a pass may have: all are told. */
static void all_results_are_told(void **state) {
    (void)state;
    static uint8_t in[64];
    static double out[8][64];
    const size_t extent[] = {8, 8};
    const gp_array view = gp_dense(GP_U8, in, 2, extent);
    const gp_window_shape window = {.struct_size = sizeof window, .extent = {3, 3}, .border = GP_BORDER_ZERO};
    gp_context *context = make_context(GP_BACKEND_CPU, -1, 0);
    gp_result of_windows[8], of_all[8];
    for (size_t i = 0; i < COUNT(of_all); i++) {
        of_windows[i] = gp_want(GP_REDUCE_VARIANCE_SAMPLE, gp_dense(GP_F64, out[i], 2, extent));
        of_all[i] = gp_want(GP_REDUCE_VARIANCE_SAMPLE, gp_vector(GP_F64, out[i], 1));
        of_all[i].to.rank = 0;
    }
    for (unsigned windows = 0; windows < 2; windows++) {
        const char *name = windows ? "VARIANCE_SAMPLE as f64" : "VARIANCE_SAMPLE";
        char text[8192];
        assert_int_equal(windows ? gp_window(context, &view, &window, of_windows, COUNT(of_windows))
                                 : gp_reduce(context, &view, of_all, COUNT(of_all)),
                         GP_OK);
        assert_in_range(gp_context_explain(context, text, sizeof text), 1, sizeof text - 1);
        size_t told = 0;
        for (const char *at = text; (at = strstr(at, name)) != NULL; at++)
            told++;
        assert_int_equal(told, 8);
        assert_non_null(strstr(text, "-byte aligned"));
    }
    gp_context_destroy(context);
}

/* Sums of floats of up to 4 bytes to one output compute in double where a GPU has the lanes for it; doubles do so. */
static void few_lanes_of_doubles_are_left_alone(void **state) {
    (void)state;
    static const int with[] = {DEVICE_D, DEVICE_PASCAL, DEVICE_VOLTA, DEVICE_AMPERE, DEVICE_HOPPER, DEVICE_BLACKWELL};
    static const int without[] = {DEVICE_TURING, DEVICE_AMPERE_SMALL, DEVICE_ADA, DEVICE_BLACKWELL_SMALL};
    for (size_t d = 0; d < COUNT(with) + COUNT(without); d++) {
        const bool has = d < COUNT(with);
        gp_context *context = devices_open(&devices[has ? with[d] : without[d - COUNT(with)]]);
        for (int type = GP_F16; type <= GP_F64; type++)
            for (unsigned squares = 0; squares < 2; squares++) {
                const gp_array in = gp_vector((gp_type)type, IN, 1000000);
                const gp_result to =
                    gp_want(squares ? GP_REDUCE_NORM : GP_REDUCE_SUM, gp_scalar(squares ? GP_F32 : GP_F64, OUT));
                assert_int_equal(gp_reduce(context, &in, &to, 1), GP_OK);
                const bool singles = !has && type != GP_F64;
                const char *want = singles ? "reduce_all_singles" : squares ? "reduce_many" : "reduce_all";
                assert_string_equal(context->plan.row->name, want);
            }
        gp_context_destroy(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_results_are_told),
        cmocka_unit_test(tilings_are_told_in_words),
        cmocka_unit_test(tiles_cover_the_matrix),
        cmocka_unit_test(few_lanes_of_doubles_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
