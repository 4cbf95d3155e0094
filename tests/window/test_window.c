/* SPDX-License-Identifier: Apache-2.0 */
/* gp_sum_and_square_window(): every row of the catalogue against the oracle over the shared case list. */
#include "../cases.h"
#include "../check.h"
#include "../harness.h"
#include "../oracle.h"

#include <math.h>

static harness h;

/* What a case owes, computed once for all rows. Pitched as the outputs are; only computed columns are meaningful. */
typedef struct answers {
    float *sum, *square;
} answers;

typedef struct arrays {
    buffer image, sum, square;
} arrays;

static size_t extent(size_t rows, size_t cols, size_t pad) {
    return rows ? (rows - 1) * (cols + pad) + cols : 0;
}

/* Any order of w float additions, each term rounded first: |error| <= (w + 1) 2^-24 sum of |terms|, doubled for the
   higher orders (N. Higham, "Accuracy and Stability of Numerical Algorithms", 4.2). */
static bool within_float_bound(const window_case *c, const int32_t *pixels, size_t x, float got, bool squares) {
    oracle_int sum = 0, exact_sum, exact_square;
    oracle_window_exact(pixels, c->cols, c->window, c->border, x, &exact_sum, &exact_square);
    for (size_t i = 0; i < c->window; i++) {
        ptrdiff_t at = oracle_border(c->border, (ptrdiff_t)x - (ptrdiff_t)(c->window / 2) + (ptrdiff_t)i, c->cols);
        oracle_int pixel = at < 0 ? 0 : pixels[at];
        sum += pixel < 0 ? -pixel : pixel;
    }
    double size = (double)(squares ? exact_square : sum), exact = (double)(squares ? exact_square : exact_sum);
    return fabs((double)got - exact) <= 2.0 * (double)(c->window + 1) * 0x1p-24 * size;
}

/* Values of a row that accumulates in float are taken as they are where they keep to the bound. */
static void forgive_rounding(const window_case *c, const int32_t *image, buffer *out, bool squares) {
    float *expected = out->expected;
    const float *seen = buffer_read(out);
    size_t first, end;
    oracle_columns(c->border, c->cols, c->window, &first, &end);
    for (size_t y = 0; y < c->rows; y++)
        for (size_t x = first; x < end; x++) {
            size_t at = y * (c->cols + c->out_pad) + x;
            if (within_float_bound(c, image + y * (c->cols + c->image_pad), x, seen[at], squares))
                expected[at] = seen[at];
        }
}

static void fill_expected(const window_case *c, buffer *out, const float *answer) {
    size_t first, end;
    oracle_columns(c->border, c->cols, c->window, &first, &end);
    for (size_t y = 0; y < c->rows && first < end; y++) {
        size_t at = y * (c->cols + c->out_pad) + first;
        memcpy((float *)out->expected + at, answer + at, (end - first) * sizeof(float));
    }
}

static bool output_right(const window_case *c, const row *r, arrays *a, buffer *out, const float *answer,
                         bool squares, const char *label) {
    unsigned char *before = malloc(out->bytes);
    assert_non_null(before);
    memcpy(before, out->expected, out->bytes);
    fill_expected(c, out, answer);
    if (r->info.flags & GP_KERNEL_FLOAT)
        forgive_rounding(c, a->image.expected, out, squares);
    bool right = buffer_check(out, label);
    memcpy(out->expected, before, out->bytes);
    free(before);
    return right;
}

static void run_row(const window_case *c, const answers *want, const subject *s, row *r, arrays *a, size_t turn,
                    const char *label) {
    if (!harness_pin(&h, s, r, turn))
        return;
    buffer_send(&a->sum);
    buffer_send(&a->square);
    gp_status status = gp_sum_and_square_window(s->context, a->image.data, c->rows, c->cols, c->cols + c->image_pad,
                                                c->window, c->border, c->want_sum ? a->sum.data : NULL,
                                                c->want_square ? a->square.data : NULL, c->cols + c->out_pad);
    bool ran = harness_ran(&h, s, r, status, GP_OK, label);
    if (!ran) {
        if (!buffer_check(&a->sum, label) || !buffer_check(&a->square, label))
            harness_fail(&h, s, r, label, "written on failure");
        return;
    }
    bool sums = c->want_sum ? output_right(c, r, a, &a->sum, want->sum, false, label) : buffer_check(&a->sum, label);
    bool squares = c->want_square ? output_right(c, r, a, &a->square, want->square, true, label)
                                  : buffer_check(&a->square, label);
    if (!sums || !squares)
        harness_fail(&h, s, r, label, sums ? "squares differ" : "sums differ");
}

static void visit(const window_case *c, void *user) {
    (void)user;
    size_t turn = h.cases++;
    char label[240];
    cases_window_label(c, label, sizeof label);
    size_t in_n = extent(c->rows, c->cols, c->image_pad), out_n = extent(c->rows, c->cols, c->out_pad);
    answers want = {calloc(out_n, sizeof(float)), calloc(out_n, sizeof(float))};
    assert_true(want.sum && want.square);
    for (size_t i = 0; i < h.n_subjects; i++) {
        const subject *s = &h.subjects[i];
        if (!harness_takes_turn(&h, i, turn))
            continue;
        arrays a;
        buffer_make(&a.image, s->context, harness_kind(s, turn + i), in_n * 4, c->offset * 4);
        buffer_make(&a.sum, s->context, harness_kind(s, turn + i + 1), out_n * 4, c->offset * 4);
        buffer_make(&a.square, s->context, harness_kind(s, turn + i + 2), out_n * 4, (c->offset + 1) * 4);
        cases_fill(a.image.expected, in_n, c->data, c->seed);
        if (i == 0)
            oracle_window(a.image.expected, c->rows, c->cols, c->cols + c->image_pad, c->window, c->border, want.sum,
                          want.square, c->cols + c->out_pad);
        buffer_send(&a.image);
        for (size_t k = 0; k < h.n_rows; k++)
            run_row(c, &want, s, &h.rows[k], &a, turn, label);
        if (!buffer_check(&a.image, label))
            harness_fail(&h, s, &h.rows[0], label, "some row wrote to the image");
        buffer_free(&a.image);
        buffer_free(&a.sum);
        buffer_free(&a.square);
    }
    free(want.sum);
    free(want.square);
}

static void every_row_over_the_case_list(void **state) {
    (void)state;
    harness_open(&h, GP_OPERATION_WINDOW);
    cases_window(visit, NULL);
    harness_close(&h);
}

/* A window far wider than its row: squares of extremes pass 64 bits many times over. */
static void windows_far_beyond_the_row(void **state) {
    (void)state;
    harness_open(&h, GP_OPERATION_WINDOW);
    uint64_t seed = cases_seed();
    for (int border = GP_BORDER_NONE; border <= GP_BORDER_WRAP; border++) {
        static const size_t windows[] = {65535, 65536, 100003};
        for (size_t w = 0; w < COUNT(windows); w++) {
            for (int kind = 0; kind < DATA_KINDS; kind++) {
                window_case c = {2,
                                 1 + (size_t)(kind + border) % 4,
                                 windows[w],
                                 (gp_border)border,
                                 true,
                                 true,
                                 0,
                                 3,
                                 1,
                                 (data_kind)kind,
                                 cases_random(&seed)};
                if (!cases_reduced() || kind == DATA_MIN)
                    visit(&c, NULL);
            }
        }
    }
    harness_close(&h);
}

/* Squares of one row by every row of the catalogue that is exact, against the oracle's; it wraps around. */
static void squares_are_exact(const int32_t *image, size_t cols, size_t window, const float *expected,
                              const char *label) {
    float *square = malloc(cols * sizeof *square);
    size_t ran = 0;
    assert_non_null(square);
    harness_open(&h, GP_OPERATION_WINDOW);
    for (size_t i = 0; i < h.n_subjects; i++)
        for (size_t k = 0; k < h.n_rows; k++) {
            const subject *s = &h.subjects[i];
            row *r = &h.rows[k];
            if ((r->info.flags & GP_KERNEL_FLOAT) || !harness_pin(&h, s, r, 0))
                continue;
            memset(square, 0, cols * sizeof *square);
            gp_status status = gp_sum_and_square_window(s->context, image, 1, cols, cols, window, GP_BORDER_WRAP,
                                                        NULL, square, cols);
            if (!harness_ran(&h, s, r, status, GP_OK, label))
                continue;
            ran++;
            if (memcmp(square, expected, cols * sizeof *square) != 0)
                harness_fail(&h, s, r, label, "rounded wrongly");
        }
    for (size_t i = 0; i < h.n_subjects; i++)
        gp_context_destroy(h.subjects[i].context);
    free(square);
    assert_int_equal(h.failures, 0);
    assert_true(ran >= 2 * h.n_subjects);
}

/*
 * 2^54 + 2^30 + 1 lies just above the middle of two floats: it is rounded up, but down by way of double, where the 1
 * is lost. Every window of three sees these squares, in some order.
 */
static void squares_are_rounded_once(void **state) {
    (void)state;
    static const int32_t roots[3] = {1 << 27, 1 << 15, 1};
    static int32_t image[3 * 1000];
    static float expected[COUNT(image)];
    for (size_t x = 0; x < COUNT(image); x++) {
        image[x] = roots[x % 3];
        expected[x] = 0x1p54F + 0x1p31F;
    }
    squares_are_exact(image, COUNT(image), 3, expected, "2^54 + 2^30 + 1");
}

/*
 * Sums of squares in the middle of two floats, or above it by little or by more. Every window of w sees each of w
 * roots once: 2^j of -2^31, one of 2^(19 + j / 2), and one that changes along the row; the others are 0.
 */
static void squares_near_the_middle(void **state) {
    (void)state;
    static const struct { size_t window, j; } cases[] = {{16, 0}, {64, 2}, {1024, 4}};
    static int32_t image[8192];
    static float expected[COUNT(image)];
    for (size_t i = 0; i < COUNT(cases); i++) {
        const size_t w = cases[i].window, j = cases[i].j;
        size_t ups = 0;
        memset(image, 0, sizeof image);
        for (size_t x = 0; x < COUNT(image); x++) {
            static const int32_t changes[] = {4096, 4096, 0, 4096, 1, 16, 4096, 0};
            const size_t at = x % w, times = (size_t)1 << j;
            if (at < times)
                image[x] = INT32_MIN;
            else if (at == times)
                image[x] = 1 << (19 + j / 2);
            else if (at == times + 1)
                image[x] = changes[x * COUNT(changes) / COUNT(image)];
        }
        oracle_window(image, 1, COUNT(image), COUNT(image), w, GP_BORDER_WRAP, NULL, expected, COUNT(image));
        for (size_t x = 0; x < COUNT(image); x++)
            ups += expected[x] > ldexpf(1, (int)(62 + j));
        assert_true(ups > COUNT(image) / 2 && ups < COUNT(image));
        squares_are_exact(image, COUNT(image), w, expected, "near the middle of two floats");
    }
}

/* 4 MiB of outputs, and rows 8 KiB apart in all three arrays. */
#define LARGE_ROWS ((size_t)260)
#define LARGE_COLS ((size_t)2048)

static bool rows_repeat(const float *got, const float *two_rows) {
    size_t wrong = 0;
    for (size_t y = 0; y < LARGE_ROWS; y++)
        wrong += memcmp(got + y * LARGE_COLS, two_rows + y % 2 * LARGE_COLS, LARGE_COLS * sizeof *got) != 0;
    return wrong == 0;
}

/* Every row of the catalogue that is exact, on rows that have two contents in turns. */
static void large_outputs_right(const window_case *c, int32_t *image, float *sum, float *square) {
    static float sums[2 * LARGE_COLS], squares[2 * LARGE_COLS];
    char label[240];
    cases_window_label(c, label, sizeof label);
    cases_fill(image, 2 * c->cols, c->data, c->seed);
    for (size_t y = 2; y < c->rows; y++)
        memcpy(image + y * c->cols, image + y % 2 * c->cols, c->cols * sizeof *image);
    oracle_window(image, 2, c->cols, c->cols, c->window, c->border, sums, squares, c->cols);
    for (size_t i = 0; i < h.n_subjects; i++)
        for (size_t k = 0; k < h.n_rows; k++) {
            const subject *s = &h.subjects[i];
            row *r = &h.rows[k];
            if ((r->info.flags & GP_KERNEL_FLOAT) || !harness_pin(&h, s, r, 0))
                continue;
            memset(sum, 0, c->rows * c->cols * sizeof *sum);
            memset(square, 0, c->rows * c->cols * sizeof *square);
            gp_status status = gp_sum_and_square_window(s->context, image, c->rows, c->cols, c->cols, c->window,
                                                        c->border, sum, square, c->cols);
            if (!harness_ran(&h, s, r, status, GP_OK, label))
                continue;
            if (!rows_repeat(sum, sums) || !rows_repeat(square, squares))
                harness_fail(&h, s, r, label, "large outputs differ");
        }
}

/*
 * Outputs that processor rows write past the caches, both at once and lines at the same places, as those of the case
 * list never have them; windows for which what is read and what is written lie 4 KiB apart, near and far.
 */
static void large_outputs(void **state) {
    (void)state;
    static const size_t windows[] = {3, 31, 65, 101, 131, 157, 1001};
    static const data_kind kinds[] = {DATA_8_BIT, DATA_16_BIT, DATA_24_BIT, DATA_RANDOM, DATA_RUNS};
    const size_t bytes = LARGE_ROWS * LARGE_COLS * sizeof(float);
    int32_t *image = aligned_alloc(4096, bytes);
    float *sum = aligned_alloc(4096, bytes), *square = aligned_alloc(4096, bytes);
    assert_true(image && sum && square);
    harness_open(&h, GP_OPERATION_WINDOW);
    uint64_t seed = cases_seed();
    for (size_t i = 0; i < COUNT(windows) * COUNT(kinds); i++) {
        const window_case c = {.rows = LARGE_ROWS,
                               .cols = LARGE_COLS,
                               .window = windows[i / COUNT(kinds)],
                               .border = (gp_border)(GP_BORDER_ZERO + (int)(i + i / COUNT(kinds)) % 5),
                               .want_sum = true,
                               .want_square = true,
                               .data = kinds[i % COUNT(kinds)],
                               .seed = cases_random(&seed)};
        if (!cases_reduced() || i % 4 == 0)
            large_outputs_right(&c, image, sum, square);
    }
    for (size_t i = 0; i < h.n_subjects; i++)
        gp_context_destroy(h.subjects[i].context);
    free(image);
    free(sum);
    free(square);
    assert_int_equal(h.failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_over_the_case_list),
        cmocka_unit_test(windows_far_beyond_the_row),
        cmocka_unit_test(squares_are_rounded_once),
        cmocka_unit_test(squares_near_the_middle),
        cmocka_unit_test(large_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
