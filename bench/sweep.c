/* SPDX-License-Identifier: Apache-2.0 */
/* Series of sizes that grow geometrically, powers of two and their neighbours among them, to find cliffs. */
#include "bench.h"

#include <math.h>

#define POINTS_MAX 128
#define CONSTANT_WORK ((size_t)1 << 24)
#define CLIFF 1.15 /* times what the neighbours' times lead one to expect */

typedef struct series {
    char what[96];
    size_t count;
    double x[POINTS_MAX], us[POINTS_MAX];
    line line[POINTS_MAX];
    char kernel[POINTS_MAX][48];
} series;

static unsigned n_cliffs, n_held; /* points slower than that, and points held against their neighbours */

static double measure_line(session *s, const line *l) {
    return l->operation == GP_OPERATION_REDUCE   ? reduce_line(s, *l, false)
           : l->operation == GP_OPERATION_WINDOW ? window_line(s, *l, false)
                                                 : transpose_line(s, *l, false);
}

static void add(session *s, series *points, size_t x, line l) {
    l.series = points->what;
    const double us = points->count < POINTS_MAX ? measure_line(s, &l) : 0;
    if (us <= 0)
        return;
    const size_t i = points->count++;
    points->x[i] = (double)x;
    points->us[i] = us;
    points->line[i] = l;
    snprintf(points->kernel[i], sizeof points->kernel[i], "%s", s->chosen);
}

/* Between its neighbours a time is expected on a straight line over the size, both as logarithms. */
static double expected_us(const series *points, size_t i) {
    const double *x = &points->x[i], *us = &points->us[i];
    const double share = log(x[0] / x[-1]) / log(x[1] / x[-1]);
    return exp(log(us[-1]) + share * log(us[1] / us[-1]));
}

/* What looks like a cliff is measured once more with its neighbours, and the faster time of each counts. */
static bool is_cliff(session *s, series *points, size_t i) {
    if (points->us[i] <= CLIFF * expected_us(points, i))
        return false;
    for (size_t k = i - 1; k <= i + 1; k++) {
        const double again = measure_line(s, &points->line[k]);
        points->us[k] = again < points->us[k] ? again : points->us[k];
    }
    return points->us[i] > CLIFF * expected_us(points, i);
}

static void find_cliffs(session *s, series *points) {
    for (size_t i = 1; i + 1 < points->count; i++) {
        char text[512];
        n_held++;
        if (!is_cliff(s, points, i))
            continue;
        n_cliffs++;
        const double us = points->us[i], expected = expected_us(points, i);
        snprintf(text, sizeof text,
                 "CLIFF %s at %.0f: %.2f us, %.2f x the %.2f us that %.0f and %.0f lead to; %s, %s, %s", points->what,
                 points->x[i], us, us / expected, expected, points->x[i - 1], points->x[i + 1], points->kernel[i - 1],
                 points->kernel[i], points->kernel[i + 1]);
        puts(text);
        if (s->csv)
            fprintf(s->csv, "# %s\n", text);
    }
}

static void report_cliffs(session *s) {
    printf("# sweep: %u of %u points slower than %.2f x what their neighbours lead to\n", n_cliffs, n_held, CLIFF);
    if (s->csv)
        fprintf(s->csv, "# %u of %u points slower than %.2f x what their neighbours lead to\n", n_cliffs, n_held,
                CLIFF);
    n_cliffs = n_held = 0;
}

size_t sweep_point(size_t from, unsigned i) {
    const size_t base = from << i / 2;
    return i % 2 == 0 ? base : (size_t)llround((double)base * sqrt(2)) | 1;
}

/* Largest first, as the host's copy of the input is then made once. */
static void sweep_reduce(session *s, size_t offset) {
    series points = {.what = "sum"};
    unsigned count = 0;
    if (offset)
        snprintf(points.what, sizeof points.what, "sum of input %zu bytes off alignment", offset);
    while (sweep_point(256, count) <= (size_t)1 << 30)
        count++;
    while (count-- > 0) {
        const size_t n = sweep_point(256, count);
        add(s, &points, n, (line){.operation = GP_OPERATION_REDUCE, .op = GP_REDUCE_SUM, .n = n, .offset = offset});
    }
    find_cliffs(s, &points);
}

static void sweep_squares(session *s, size_t elem_bytes, bool in_place) {
    series points = {0};
    size_t side;
    snprintf(points.what, sizeof points.what, "transpose of %zu-byte elements, squares%s", elem_bytes,
             in_place ? " in place" : "");
    for (unsigned i = 0; (side = sweep_point(32, i)) <= 16384; i++) {
        line l = transpose_of(elem_bytes, side, side);
        l.in_place = in_place;
        add(s, &points, side, l);
    }
    find_cliffs(s, &points);
}

static void sweep_thin(session *s, size_t elem_bytes, bool tall) {
    series points = {0};
    size_t side;
    snprintf(points.what, sizeof points.what, "transpose of %zu-byte elements, 2^24 in so many %s", elem_bytes,
             tall ? "columns" : "rows");
    for (unsigned i = 0; (side = sweep_point(1, i)) <= 4096; i++) {
        const size_t other = CONSTANT_WORK / side;
        add(s, &points, side, transpose_of(elem_bytes, tall ? other : side, tall ? side : other));
    }
    find_cliffs(s, &points);
}

/* Columns whole eights, rows one more; the largest has more than 2^31 bytes. */
static void sweep_eights(session *s, size_t elem_bytes) {
    series points = {0};
    size_t side;
    snprintf(points.what, sizeof points.what, "transpose of %zu-byte elements, eights of columns, a row more",
             elem_bytes);
    for (unsigned i = 0; (side = sweep_point(32, i)) <= 46341; i++) {
        const size_t cols = (side + 7) / 8 * 8;
        add(s, &points, side, transpose_of(elem_bytes, cols + 1, cols));
    }
    find_cliffs(s, &points);
}

static void sweep_window(session *s, data_kind data) {
    series squares = {0}, narrow = {0}, widths = {0}, wide = {0};
    size_t x;
    snprintf(squares.what, sizeof squares.what, "window of 15 over squares, %s", data_name(data));
    for (unsigned i = 0; (x = sweep_point(32, i)) <= 16384; i++)
        add(s, &squares, x, window_of(x, x, 15, GP_BORDER_REFLECT_101, data));
    snprintf(narrow.what, sizeof narrow.what, "window of 15 over 2^24 pixels in so many columns, %s",
             data_name(data));
    for (unsigned i = 0; (x = sweep_point(4, i)) <= (size_t)1 << 20; i++)
        add(s, &narrow, x, window_of(CONSTANT_WORK / x, x, 15, GP_BORDER_REFLECT_101, data));
    snprintf(widths.what, sizeof widths.what, "windows over 4096 x 4096, %s", data_name(data));
    for (unsigned i = 0; (x = sweep_point(1, i)) <= 4096; i++)
        add(s, &widths, x, window_of(4096, 4096, x, GP_BORDER_REFLECT_101, data));
    snprintf(wide.what, sizeof wide.what, "windows over one row of 131072, %s", data_name(data));
    for (unsigned i = 0; (x = sweep_point(512, i)) <= 131072; i++)
        add(s, &wide, x, window_of(1, 131072, x, GP_BORDER_REFLECT_101, data));
    find_cliffs(s, &squares);
    find_cliffs(s, &narrow);
    find_cliffs(s, &widths);
    find_cliffs(s, &wide);
}

void bench_sweep_reduce(session *s) {
    sweep_reduce(s, 0);
    sweep_reduce(s, 4);
    report_cliffs(s);
}

/* 12 bytes: any size that has no row of its own. */
void bench_sweep_transpose(session *s) {
    static const size_t elems[] = {4, 1, 2, 8, 16, 12};
    for (size_t e = 0; e < (s->opt.quick ? 1 : sizeof elems / sizeof *elems); e++) {
        sweep_squares(s, elems[e], false);
        sweep_squares(s, elems[e], true);
        sweep_thin(s, elems[e], true);
        sweep_thin(s, elems[e], false);
        if (elems[e] <= 2)
            sweep_eights(s, elems[e]);
    }
    report_cliffs(s);
}

void bench_sweep_window(session *s) {
    sweep_window(s, DATA_8_BIT);
    if (!s->opt.quick)
        sweep_window(s, DATA_32_BIT);
    report_cliffs(s);
}
