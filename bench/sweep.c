/* SPDX-License-Identifier: Apache-2.0 */
/* Series of sizes that grow geometrically, powers of two and their neighbours among them, to find cliffs. */
#include "bench.h"

#include <math.h>

#define POINTS_MAX 128
#define CONSTANT_WORK ((size_t)1 << 24)
#define CLIFF 1.15 /* times what the neighbours' times lead one to expect */

typedef struct series {
    const char *what;
    size_t count;
    double x[POINTS_MAX], us[POINTS_MAX];
} series;

static unsigned n_cliffs;

static void add(series *points, size_t x, double us) {
    if (us > 0 && points->count < POINTS_MAX) {
        points->x[points->count] = (double)x;
        points->us[points->count++] = us;
    }
}

/* Between its neighbours a time is expected on a straight line over the size, both as logarithms. */
static void find_cliffs(session *s, const series *points) {
    for (size_t i = 1; i + 1 < points->count; i++) {
        const double *x = &points->x[i], *us = &points->us[i];
        const double share = log(x[0] / x[-1]) / log(x[1] / x[-1]);
        const double expected = exp(log(us[-1]) + share * log(us[1] / us[-1]));
        if (us[0] <= CLIFF * expected)
            continue;
        n_cliffs++;
        printf("CLIFF %s at %.0f: %.2f us, %.2f x the %.2f us that %.0f and %.0f lead to\n", points->what, x[0],
               us[0], us[0] / expected, expected, x[-1], x[1]);
        if (s->csv)
            fprintf(s->csv, "# CLIFF %s at %.0f: %.2f us of %.2f\n", points->what, x[0], us[0], expected);
    }
}

static void report_cliffs(void) {
    printf("# cliffs so far: %u\n", n_cliffs);
}

/* Point i of a series: sqrt(2) apart, every other one odd. */
static size_t point(size_t from, unsigned i) {
    const size_t base = from << i / 2;
    return i % 2 == 0 ? base : (size_t)llround((double)base * sqrt(2)) | 1;
}

static void sweep_reduce(session *s, size_t offset) {
    series points = {.what = offset ? "sum off alignment, n" : "sum, n"};
    size_t n;
    for (unsigned i = 0; (n = point(256, i)) <= (size_t)1 << 30; i++) {
        const line l = {.operation = GP_OPERATION_REDUCE, .op = GP_REDUCE_SUM, .n = n, .offset = offset};
        add(&points, n, reduce_line(s, l, false));
    }
    find_cliffs(s, &points);
}

static double transpose_at(session *s, size_t elem_bytes, size_t rows, size_t cols) {
    const line l = {.operation = GP_OPERATION_TRANSPOSE,
                    .rows = rows,
                    .cols = cols,
                    .in_pitch = cols,
                    .out_pitch = rows,
                    .elem_bytes = elem_bytes,
                    .data = DATA_FINITE};
    return transpose_line(s, l, false);
}

static double window_at(session *s, size_t rows, size_t cols, size_t window, data_kind data) {
    const line l = {.operation = GP_OPERATION_WINDOW,
                    .rows = rows,
                    .cols = cols,
                    .in_pitch = cols,
                    .out_pitch = cols,
                    .window = window,
                    .border = GP_BORDER_REFLECT_101,
                    .data = data};
    return window_line(s, l, false);
}

static void sweep_transpose(session *s, size_t elem_bytes) {
    series squares = {.what = "transpose, side"}, tall = {.what = "transpose, 2^24 elements, columns"},
           flat = {.what = "transpose, 2^24 elements, rows"};
    size_t side;
    printf("# transposes of %zu bytes\n", elem_bytes);
    for (unsigned i = 0; (side = point(32, i)) <= 16384; i++)
        add(&squares, side, transpose_at(s, elem_bytes, side, side));
    for (unsigned i = 0; (side = point(1, i)) <= 4096; i++)
        add(&tall, side, transpose_at(s, elem_bytes, CONSTANT_WORK / side, side));
    for (unsigned i = 0; (side = point(1, i)) <= 4096; i++)
        add(&flat, side, transpose_at(s, elem_bytes, side, CONSTANT_WORK / side));
    find_cliffs(s, &squares);
    find_cliffs(s, &tall);
    find_cliffs(s, &flat);
}

static void sweep_window(session *s, data_kind data) {
    series squares = {.what = "window 15, side"}, narrow = {.what = "window 15, 2^24 pixels, columns"},
           widths = {.what = "window on 4096^2, width"};
    size_t x;
    printf("# windows on %s data\n", data_name(data));
    for (unsigned i = 0; (x = point(32, i)) <= 16384; i++)
        add(&squares, x, window_at(s, x, x, 15, data));
    for (unsigned i = 0; (x = point(16, i)) <= (size_t)1 << 20; i++)
        add(&narrow, x, window_at(s, CONSTANT_WORK / x, x, 15, data));
    for (unsigned i = 0; (x = point(1, i)) <= 4096; i++)
        add(&widths, x, window_at(s, 4096, 4096, x, data));
    find_cliffs(s, &squares);
    find_cliffs(s, &narrow);
    find_cliffs(s, &widths);
}

void bench_sweep_reduce(session *s) {
    sweep_reduce(s, 0);
    sweep_reduce(s, 4);
    report_cliffs();
}

void bench_sweep_transpose(session *s) {
    static const size_t elems[] = {4, 1, 2, 8, 16};
    for (size_t e = 0; e < (s->opt.quick ? 1 : sizeof elems / sizeof *elems); e++)
        sweep_transpose(s, elems[e]);
    report_cliffs();
}

void bench_sweep_window(session *s) {
    sweep_window(s, DATA_8_BIT);
    if (!s->opt.quick)
        sweep_window(s, DATA_32_BIT);
    report_cliffs();
}
