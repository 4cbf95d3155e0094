/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of what is timed: reductions and windows; and the sizes of series. */
#include "cases_timed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t cases_point(size_t from, unsigned i) {
    const size_t base = from << i / 2;
    return i % 2 == 0 ? base : (size_t)llround((double)base * sqrt(2)) | 1;
}

size_t timed_even_point(size_t from, unsigned i) {
    return i % 2 == 0 ? from << i / 2 : (from << i / 2) / 2 * 3;
}

size_t timed_side(double log2_bytes, size_t elem_bytes) {
    return (size_t)llround(exp2((log2_bytes - log2((double)elem_bytes)) / 2));
}

void timed_run(const timed_list *lists, size_t count, const char *name, timed_visit *visit, void *user) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(lists[i].name, name) == 0)
            lists[i].run(&(timed){visit, user, ""});
}

/* ---- reductions */

static void reduce(const timed *t, gp_reduce_op op, size_t n, size_t offset) {
    const reduce_case c = {.n = n, .offset = offset, .data = DATA_RANDOM, .seed = TIMED_SEED, .op = op};
    t->visit(&c, t->series, t->user);
}

static void sums(const timed *t, unsigned first, unsigned last, unsigned step) {
    for (unsigned log2 = first; log2 <= last; log2 += step)
        reduce(t, GP_REDUCE_SUM, (size_t)1 << log2, 0);
}

static void reduce_device(const timed *t) {
    static const unsigned of_ops[] = {8, 16, 20, 24, 26, 28}, of_offsets[] = {20, 24, 26, 28};
    sums(t, 8, 30, 2);
    for (int op = GP_REDUCE_MIN; op <= GP_REDUCE_XOR; op++)
        for (size_t i = 0; i < TIMED_COUNT(of_ops); i++)
            reduce(t, (gp_reduce_op)op, (size_t)1 << of_ops[i], 0);
    for (size_t offset = 1; offset <= 3; offset++)
        for (size_t i = 0; i < TIMED_COUNT(of_offsets); i++)
            reduce(t, GP_REDUCE_SUM, (size_t)1 << of_offsets[i], offset);
}

static void reduce_result(const timed *t) {
    sums(t, 8, 24, 2);
}

static void reduce_processor(const timed *t) {
    for (unsigned log2 = 24; log2 <= 27; log2 += 3)
        for (int op = GP_REDUCE_SUM; op <= GP_REDUCE_XOR; op++)
            reduce(t, (gp_reduce_op)op, (size_t)1 << log2, 0);
}

static void reduce_cached(const timed *t) {
    sums(t, 18, 18, 1);
}

/* Largest first: what the host's copy of it begins with are all others. */
static void reduce_series(const timed *t, gp_reduce_op op, size_t offset, const char *series) {
    unsigned count = 0;
    while (cases_point(256, count) <= (size_t)1 << 30)
        count++;
    while (count-- > 0)
        reduce(&(timed){t->visit, t->user, series}, op, cases_point(256, count), offset);
}

static void reduce_sweep(const timed *t) {
    reduce_series(t, GP_REDUCE_SUM, 0, "sum of int32");
    reduce_series(t, GP_REDUCE_MIN, 0, "min of int32");
    reduce_series(t, GP_REDUCE_SUM, 1, "sum of int32, input 4 bytes off alignment");
}

static void reduce_limits(const timed *t) {
    sums(t, 16, 24, 8);
    sums(t, 28, 28, 1);
}

static void reduce_host(const timed *t) {
    sums(t, 12, 20, 8);
}

static void reduce_calls(const timed *t) {
    sums(t, 0, 0, 1);
}

static void reduce_count(const timed *t) {
    reduce(t, GP_REDUCE_SUM, (size_t)1 << 18, 0);
    reduce(t, GP_REDUCE_MIN, (size_t)1 << 18, 0);
    reduce(t, GP_REDUCE_SUM, 1, 0);
}

static void reduce_staging(const timed *t) {
    sums(t, 28, 28, 1);
}

static void reduce_threads(const timed *t) {
    for (unsigned i = 0; i < TIMED_THREADS_POINTS; i++)
        reduce(t, GP_REDUCE_SUM, (size_t)exp2(TIMED_THREADS_LOG2(i) - 2), 0);
}

static void reduce_peers(const timed *t) {
    for (unsigned i = 0; i < TIMED_PEERS_POINTS; i++)
        for (int op = GP_REDUCE_SUM; op <= GP_REDUCE_MIN; op++)
            reduce(t, (gp_reduce_op)op, (size_t)exp2(TIMED_PEERS_LOG2(i) - 2), 0);
}

void cases_timed_reduce(const char *list, timed_visit *visit, void *user) {
    static const timed_list lists[] = {
        {"device", reduce_device}, {"result", reduce_result},   {"processor", reduce_processor},
        {"cached", reduce_cached}, {"sweep", reduce_sweep},     {"curve", reduce_sweep},
        {"limits", reduce_limits}, {"host", reduce_host},       {"calls", reduce_calls},
        {"count", reduce_count},   {"staging", reduce_staging}, {"threads", reduce_threads},
        {"peers", reduce_peers},
    };
    timed_run(lists, TIMED_COUNT(lists), list, visit, user);
}

/* ---- windows */

static window_case window_of(size_t rows, size_t cols, size_t window, gp_border border, data_kind data) {
    return (window_case){.rows = rows,
                         .cols = cols,
                         .window = window,
                         .border = border,
                         .want_sum = true,
                         .want_square = true,
                         .data = data,
                         .seed = TIMED_SEED};
}

static void window(const timed *t, size_t rows, size_t cols, size_t width, gp_border border, data_kind data) {
    const window_case c = window_of(rows, cols, width, border, data);
    t->visit(&c, t->series, t->user);
}

static const size_t widths[] = {3, 15, 31, 101, 301, 1001}, large[] = {4096, 16384};

static void window_device(const timed *t) {
    static const gp_border borders[] = {GP_BORDER_ZERO,    GP_BORDER_NONE,        GP_BORDER_REPLICATE,
                                        GP_BORDER_REFLECT, GP_BORDER_REFLECT_101, GP_BORDER_WRAP};
    for (size_t i = 0; i < TIMED_COUNT(large); i++)
        for (size_t b = 0; b < TIMED_COUNT(borders); b++)
            for (size_t w = 0; w < TIMED_COUNT(widths); w++)
                window(t, large[i], large[i], widths[w], borders[b], DATA_8_BIT);
}

static void window_data(const timed *t) {
    static const data_kind kinds[] = {DATA_16_BIT, DATA_24_BIT, DATA_RANDOM};
    for (size_t i = 0; i < TIMED_COUNT(large); i++)
        for (size_t k = 0; k < TIMED_COUNT(kinds); k++)
            for (size_t w = 0; w < TIMED_COUNT(widths); w++)
                window(t, large[i], large[i], widths[w], GP_BORDER_ZERO, kinds[k]);
}

/* Flat, narrow, odd, with padding, off alignment, one output. */
static void window_shape(const timed *t) {
    static const size_t some[] = {1, 3, 31, 301};
    static const size_t shapes[][3] = {{64, 1000000, 0}, {1000000, 64, 0}, {4095, 4097, 0},
                                       {4096, 4096, 4},  {4096, 4096, 3},  {8191, 8191, 0},
                                       {1024, 1024, 0},  {1000000, 65, 0}, {1000, 100003, 0}};
    for (size_t w = 0; w < TIMED_COUNT(some); w++) {
        window_case c;
        for (size_t i = 0; i < TIMED_COUNT(shapes); i++) {
            c = window_of(shapes[i][0], shapes[i][1], some[w], GP_BORDER_ZERO, DATA_8_BIT);
            c.image_pad = c.out_pad = shapes[i][2];
            t->visit(&c, t->series, t->user);
        }
        c = window_of(4096, 4096, some[w], GP_BORDER_ZERO, DATA_8_BIT);
        c.offset = 1;
        t->visit(&c, t->series, t->user);
        c.offset = 0, c.want_square = false;
        t->visit(&c, t->series, t->user);
        c.want_square = true, c.want_sum = false;
        t->visit(&c, t->series, t->user);
    }
}

static void window_pictures(const timed *t) {
    window(t, 40000, 1000, 255, GP_BORDER_REFLECT_101, DATA_8_BIT);
    window(t, 1080, 1920, 15, GP_BORDER_REFLECT_101, DATA_8_BIT);
    window(t, 4000, 6000, 31, GP_BORDER_REFLECT_101, DATA_8_BIT);
}

static void window_processor(const timed *t) {
    static const data_kind kinds[] = {DATA_8_BIT, DATA_16_BIT, DATA_RANDOM};
    for (size_t k = 0; k < TIMED_COUNT(kinds); k++)
        for (size_t w = 0; w < TIMED_COUNT(widths); w++)
            window(t, 4096, 4096, widths[w], GP_BORDER_REFLECT_101, kinds[k]);
}

static void window_sweep_of(const timed *t, data_kind data) {
    char series[96];
    const timed in = {t->visit, t->user, series};
    size_t x;
    snprintf(series, sizeof series, "window of 15 over squares, %s", cases_data_name(data));
    for (unsigned i = 0; (x = cases_point(32, i)) <= 16384; i++)
        window(&in, x, x, 15, GP_BORDER_REFLECT_101, data);
    snprintf(series, sizeof series, "window of 15 over 2^24 pixels in so many columns, %s", cases_data_name(data));
    for (unsigned i = 0; (x = cases_point(4, i)) <= (size_t)1 << 20; i++)
        window(&in, TIMED_THIN / x, x, 15, GP_BORDER_REFLECT_101, data);
    snprintf(series, sizeof series, "windows over 4096 x 4096, %s", cases_data_name(data));
    for (unsigned i = 0; (x = cases_point(1, i)) <= 4096; i++)
        window(&in, 4096, 4096, x, GP_BORDER_REFLECT_101, data);
    snprintf(series, sizeof series, "windows over one row of 131072, %s", cases_data_name(data));
    for (unsigned i = 0; (x = cases_point(512, i)) <= 131072; i++)
        window(&in, 1, 131072, x, GP_BORDER_REFLECT_101, data);
}

static void window_sweep(const timed *t) {
    window_sweep_of(t, DATA_8_BIT);
    window_sweep_of(t, DATA_RANDOM);
}

static void window_curve(const timed *t) {
    static const struct {
        size_t width;
        data_kind data;
    } squares[] = {{15, DATA_8_BIT}, {31, DATA_8_BIT}, {301, DATA_8_BIT}, {15, DATA_RANDOM}};
    static const size_t all[] = {1, 3, 7, 15, 31, 47, 63, 101, 151, 201, 301, 401, 511, 701, 1001, 1501, 2001};
    char series[96];
    const timed in = {t->visit, t->user, series};
    size_t x;
    for (size_t k = 0; k < TIMED_COUNT(squares); k++) {
        snprintf(series, sizeof series, "window of %zu over %s squares, zero border", squares[k].width,
                 cases_data_name(squares[k].data));
        for (unsigned i = 0; (x = timed_even_point(64, i)) <= 16384; i++)
            window(&in, x, x, squares[k].width, GP_BORDER_ZERO, squares[k].data);
    }
    for (size_t k = 0; k < TIMED_COUNT(large); k++) {
        snprintf(series, sizeof series, "windows over %zu x %zu, 8-bit, zero border", large[k], large[k]);
        for (size_t i = 0; i < TIMED_COUNT(all); i++)
            window(&in, large[k], large[k], all[i], GP_BORDER_ZERO, DATA_8_BIT);
    }
}

static void window_limits(const timed *t) {
    static const size_t images[][3] = {{8192, 8192, 15},   {8192, 8192, 101}, {8192, 8192, 301},
                                       {8192, 8192, 1001}, {1000000, 64, 31}, {64, 1000000, 31}};
    for (size_t i = 0; i < TIMED_COUNT(images); i++)
        window(t, images[i][0], images[i][1], images[i][2], GP_BORDER_ZERO, DATA_8_BIT);
}

static void window_host(const timed *t) {
    window(t, 1024, 1024, 15, GP_BORDER_ZERO, DATA_8_BIT);
}

static void window_calls(const timed *t) {
    window(t, 1, 1, 1, GP_BORDER_REFLECT_101, DATA_16_BIT);
}

static void window_count(const timed *t) {
    window(t, 64, 1024, 3, GP_BORDER_REFLECT_101, DATA_16_BIT);
    window(t, 64, 1024, 101, GP_BORDER_REFLECT_101, DATA_16_BIT);
}

static void window_staging(const timed *t) {
    window(t, 16384, 16384, 15, GP_BORDER_REFLECT, DATA_8_BIT);
}

static void window_threads(const timed *t) {
    for (unsigned i = 0; i < TIMED_THREADS_POINTS; i++) {
        const size_t side = timed_side(TIMED_THREADS_LOG2(i), sizeof(int32_t));
        window(t, side, side + 2, 15, GP_BORDER_REFLECT_101, DATA_8_BIT);
    }
}

static void window_peers(const timed *t) {
    static const size_t some[] = {3, 15, 101};
    for (unsigned i = 0; i < TIMED_PEERS_POINTS; i++)
        for (size_t w = 0; w < TIMED_COUNT(some); w++) {
            const size_t side = timed_side(TIMED_PEERS_LOG2(i), sizeof(int32_t));
            window(t, side, side, some[w], GP_BORDER_REFLECT_101, DATA_8_BIT);
        }
}

void cases_timed_window(const char *list, timed_visit *visit, void *user) {
    static const timed_list lists[] = {
        {"device", window_device},       {"data", window_data},     {"shape", window_shape},
        {"pictures", window_pictures},   {"sweep", window_sweep},   {"curve", window_curve},
        {"processor", window_processor}, {"limits", window_limits}, {"host", window_host},
        {"calls", window_calls},         {"count", window_count},   {"staging", window_staging},
        {"threads", window_threads},     {"peers", window_peers},
    };
    timed_run(lists, TIMED_COUNT(lists), list, visit, user);
}
