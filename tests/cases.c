/* SPDX-License-Identifier: Apache-2.0 */
/* The shared case list: edges of warp, block and tile, primes, thin shapes, sizes that grow geometrically. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

uint64_t cases_seed(void) {
    static uint64_t seed;
    static bool known;
    if (!known) {
        const char *text = getenv("GPUPRIM_TEST_SEED");
        seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
        known = true;
        printf("GPUPRIM_TEST_SEED=%llu\n", (unsigned long long)seed);
    }
    return seed;
}

bool cases_reduced(void) {
    const char *text = getenv("GPUPRIM_TEST_REDUCED");
    return text && strcmp(text, "") != 0 && strcmp(text, "0") != 0;
}

size_t cases_drawn(void) {
    const char *text = getenv("GPUPRIM_TEST_CASES");
    return text ? (size_t)strtoull(text, NULL, 0) : cases_reduced() ? 2000 : 20000;
}

uint64_t cases_random(uint64_t *state) {
    const uint64_t drawn = cases_draw(*state, 0);
    *state += 0x9e3779b97f4a7c15u;
    return drawn;
}

const char *cases_data_name(data_kind kind) {
    static const char *const names[DATA_KINDS] = {"random",  "8-bit",    "16-bit",      "24-bit", "minimum",
                                                  "maximum", "extremes", "alternating", "spike",  "halfway",
                                                  "runs",    "finite",   "floats"};
    return names[kind];
}

void cases_fill(int32_t *data, size_t n, data_kind kind, uint64_t seed) {
    const size_t spike = cases_spike(n, seed);
    for (size_t i = 0; i < n; i++)
        data[i] = cases_datum(kind, i, spike, seed);
}

void cases_fill_bytes(void *data, size_t bytes, uint64_t seed) {
    uint64_t state = seed;
    unsigned char *to = data;
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(cases_random(&state) >> 32);
}

/* The prime 100003, 1000003; 2^22 + 1 is past every block, tile and cache boundary that a row may have. */
static const size_t reduce_sizes[] = {
    0,      1,      2,      3,      4,      5,       7,       8,       9,      15,    16,     17,
    31,     32,     33,     63,     64,     65,      127,     128,     129,    255,   256,    257,
    511,    512,    513,    1023,   1024,   1025,    2047,    2048,    2049,   4095,  4096,   4097,
    8191,   8193,   16383,  16385,  32767,  32768,   32769,   65535,   65536,  65537, 100003, 131071,
    131073, 262143, 262145, 524287, 524289, 1000003, 1048575, 1048577, 4194305};
static const size_t reduce_sizes_reduced[] = {0, 1, 31, 33, 257, 1025, 4097, 65537, 100003};

void cases_reduce(void (*visit)(const reduce_case *, void *), void *user) {
    bool reduced = cases_reduced();
    const size_t *sizes = reduced ? reduce_sizes_reduced : reduce_sizes;
    size_t n_sizes = reduced ? COUNT(reduce_sizes_reduced) : COUNT(reduce_sizes);
    uint64_t state = cases_seed();
    size_t turn = 0;
    for (size_t s = 0; s < n_sizes; s++) {
        for (int kind = 0; kind < DATA_KINDS; kind++) {
            bool few = reduced || sizes[s] > 70000;
            if (few && kind != DATA_RANDOM && kind != DATA_EXTREMES && kind != DATA_SPIKE)
                continue;
            const reduce_case c = {
                .n = sizes[s], .offset = turn++ % 5, .data = (data_kind)kind, .seed = cases_random(&state)};
            visit(&c, user);
        }
    }
}

/* 12289 int32 pass 48 KiB and 58369 pass the 227 KiB that a Hopper block may have, so that a row is cut in tiles. */
static const size_t window_cols[] = {1,   2,    3,    4,    7,    8,    15,   16,    17,   31,  32,
                                     33,  63,   64,   65,   127,  128,  129,  255,   256,  257, 511,
                                     513, 1000, 1023, 1025, 2047, 2049, 4099, 12289, 58369};
static const size_t window_cols_reduced[] = {1, 2, 33, 129, 513, 2049};
static const size_t window_widths[] = {1,  2,  3,  4,  5,   6,   7,   8,   15,  16,   17,   31,
                                       32, 33, 64, 65, 101, 255, 256, 257, 513, 1024, 1025, 5000};
static const size_t window_widths_reduced[] = {1, 2, 3, 15, 64, 257};
static const size_t window_rows[] = {1, 2, 3, 5, 8, 17};
#define WINDOW_WORK 1500000u /* most rows * cols * window that the oracle is asked for */

static size_t rows_within(size_t wish, size_t cols, size_t window) {
    while (wish > 1 && wish * cols * window > WINDOW_WORK)
        wish--;
    return wish;
}

/*
 * Large enough to be shared out among many threads, along rows and along columns. Of a reduced list the first two:
 * blocks take several rows, and tiles that do not regard where rows end.
 */
static const struct {
    size_t rows, cols, window;
} window_large[] = {{600, 33, 3},   {190, 725, 15},  {1100, 64, 15}, {900, 65, 301},  {300, 4099, 15},
                    {300, 1449, 9}, {1, 2000003, 3}, {70001, 17, 5}, {5, 300007, 33}, {1500, 1000, 1},
                    {180001, 3, 4}, {8209, 65, 3},   {3301, 161, 2}};

/* About as many rows as a vector has lanes; cols about what is stored at once, and what batches have at most. */
static const size_t window_batch_rows[] = {7, 9, 15, 16, 17, 33};
static const size_t window_batch_cols[] = {1, 2, 3, 4, 5, 7, 15, 16, 17, 63, 64, 65, 160, 161, 255, 256, 257};
static const size_t window_batch_reduced = 3; /* of these cols */

static void window_visit(size_t rows, size_t cols, size_t window, gp_border border, uint64_t *state,
                         void (*visit)(const window_case *, void *), void *user) {
    uint64_t r = cases_random(state);
    window_case c = {.rows = rows ? rows : rows_within(window_rows[r % COUNT(window_rows)], cols, window),
                     .cols = cols,
                     .window = window,
                     .border = border,
                     .want_sum = (r >> 8) % 5 != 0,
                     .want_square = (r >> 8) % 5 != 1,
                     .image_pad = (r >> 16) % 3 ? 0 : (r >> 20) % 37,
                     .out_pad = (r >> 24) % 3 ? 0 : (r >> 28) % 37,
                     .offset = (r >> 32) % 5,
                     .data = (data_kind)((r >> 40) % DATA_KINDS),
                     .seed = cases_random(state)};
    visit(&c, user);
}

/* Windows narrower and wider than the row. */
static void window_visit_batches(bool reduced, gp_border border, uint64_t *state,
                                 void (*visit)(const window_case *, void *), void *user) {
    const size_t n_cols = reduced ? window_batch_reduced : COUNT(window_batch_cols);
    for (size_t r = 0; r < COUNT(window_batch_rows); r++)
        for (size_t c = 0; c < n_cols; c++) {
            const size_t cols = window_batch_cols[c], draw = cases_random(state);
            const size_t window = 1 + (draw >> 8) % (draw % 3 ? cols : 4 * cols + 40);
            window_visit(window_batch_rows[r], cols, window, border, state, visit, user);
        }
}

/*
 * Short rows: past 4 MiB with one pixel too large for AVX2's batches after others that are not, rows with gaps and
 * without; windows so wide that sums pass 32 bits and squares do not pass 51.
 */
static void window_visit_mixed(uint64_t *state, void (*visit)(const window_case *, void *), void *user) {
    window_case c = {.rows = 5800,
                     .cols = 190,
                     .window = 15,
                     .border = GP_BORDER_REFLECT,
                     .want_sum = true,
                     .want_square = true,
                     .data = DATA_SPIKE};
    for (c.out_pad = 0; c.out_pad < 6; c.out_pad += 5) {
        c.seed = cases_random(state);
        visit(&c, user);
    }
    c.rows = 40, c.out_pad = 0, c.window = 5000, c.data = DATA_16_BIT, c.seed = cases_random(state);
    visit(&c, user);
}

/* Every pair of width and window with every border; rows, pitches, offset, outputs and data by chance. */
void cases_window(void (*visit)(const window_case *, void *), void *user) {
    bool reduced = cases_reduced();
    const size_t *cols = reduced ? window_cols_reduced : window_cols;
    const size_t *widths = reduced ? window_widths_reduced : window_widths;
    size_t n_cols = reduced ? COUNT(window_cols_reduced) : COUNT(window_cols);
    size_t n_widths = reduced ? COUNT(window_widths_reduced) : COUNT(window_widths);
    size_t n_large = reduced ? 2 : COUNT(window_large);
    uint64_t state = cases_seed();
    for (int border = GP_BORDER_NONE; border <= GP_BORDER_WRAP; border++) {
        for (size_t c = 0; c < n_cols; c++)
            for (size_t w = 0; w < n_widths; w++)
                if (cols[c] * widths[w] <= 4 * (size_t)WINDOW_WORK)
                    window_visit(0, cols[c], widths[w], (gp_border)border, &state, visit, user);
        for (size_t i = 0; i < n_large; i++)
            window_visit(window_large[i].rows, window_large[i].cols, window_large[i].window, (gp_border)border,
                         &state, visit, user);
        window_visit_batches(reduced, (gp_border)border, &state, visit, user);
    }
    window_visit_mixed(&state, visit, user);
}

int cases_reduce_label(const reduce_case *c, char *text, size_t size) {
    return snprintf(text, size, "n %zu, offset %zu, %s, seed %llu", c->n, c->offset, cases_data_name(c->data),
                    (unsigned long long)c->seed);
}

int cases_window_label(const window_case *c, char *text, size_t size) {
    return snprintf(text, size, "%zu x %zu, window %zu, border %d,%s%s pads %zu %zu, offset %zu, %s, seed %llu",
                    c->rows, c->cols, c->window, (int)c->border, c->want_sum ? " sum" : "",
                    c->want_square ? " square" : "", c->image_pad, c->out_pad, c->offset, cases_data_name(c->data),
                    (unsigned long long)c->seed);
}
