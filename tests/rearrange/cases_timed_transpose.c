/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of transposes that are timed. */
#include "../cases_timed.h"

#include <stdio.h>

static void visit_one(const timed *t, transpose_case c) {
    c.seed = TIMED_SEED;
    t->visit(&c, t->series, t->user);
}

static void transpose(const timed *t, size_t elem_bytes, size_t rows, size_t cols) {
    visit_one(t, (transpose_case){.elem_bytes = elem_bytes, .rows = rows, .cols = cols});
}

static void in_place(const timed *t, size_t elem_bytes, size_t side) {
    visit_one(t, (transpose_case){.elem_bytes = elem_bytes, .rows = side, .cols = side, .in_place = true});
}

static const size_t powers[] = {4, 8, 16, 1, 2};

static void squares(const timed *t) {
    static const size_t sides[] = {1024, 4096, 8192, 16384, 32768};
    for (size_t e = 0; e < TIMED_COUNT(powers); e++)
        for (size_t i = 0; i < TIMED_COUNT(sides); i++)
            transpose(t, powers[e], sides[i], sides[i]);
}

/* Odd and thin shapes, in place, with padding, off alignment. */
static void odd(const timed *t) {
    static const size_t shapes[][2] = {{4097, 4095}, {10007, 9973}, {1000000, 32}, {32, 1000000}, {100000, 257},
                                       {1000000, 3}, {3, 1000000},  {1000000, 8},  {8, 1000000}};
    for (size_t e = 0; e < TIMED_COUNT(powers); e++) {
        for (size_t i = 0; i < TIMED_COUNT(shapes); i++)
            transpose(t, powers[e], shapes[i][0], shapes[i][1]);
        in_place(t, powers[e], 16384);
    }
    for (size_t e = 0; e < 2; e++) {
        transpose_case c = {.elem_bytes = powers[e], .rows = 8192, .cols = 8192, .in_pad = 1, .out_pad = 1};
        visit_one(t, c);
        c.in_pad = c.out_pad = 0, c.in_offset = powers[e];
        visit_one(t, c);
    }
}

/* Pixels of three values, as photographs and as tables have them. */
static void pictures(const timed *t) {
    static const size_t elems[] = {3, 6, 12};
    static const size_t shapes[][2] = {{128, 200000}, {65536, 65},  {4096, 11008},
                                       {1080, 1920},  {2160, 3840}, {4000, 6000}};
    for (size_t e = 0; e < TIMED_COUNT(elems); e++)
        for (size_t i = 0; i < TIMED_COUNT(shapes); i++)
            transpose(t, elems[e], shapes[i][0], shapes[i][1]);
}

/* Each size with pitches that are a power of two and that are not. */
static void processor(const timed *t) {
    static const size_t shapes[][3] = {{4, 4112, 4080}, {4, 4001, 3999}, {4, 4096, 4096},  {4, 8192, 16384},
                                       {8, 4112, 4080}, {8, 4096, 4096}, {16, 2064, 4080}, {16, 2048, 4096},
                                       {2, 4160, 4160}, {2, 8192, 8192}, {1, 8256, 8256},  {1, 8192, 8192}};
    for (size_t i = 0; i < TIMED_COUNT(shapes); i++)
        transpose(t, shapes[i][0], shapes[i][1], shapes[i][2]);
}

static void sweep_squares(const timed *t, size_t elem_bytes, bool swapped) {
    char series[96];
    size_t side;
    snprintf(series, sizeof series, "transpose of %zu-byte elements, squares%s", elem_bytes,
             swapped ? " in place" : "");
    for (unsigned i = 0; (side = cases_point(32, i)) <= 16384; i++)
        if (swapped)
            in_place(&(timed){t->visit, t->user, series}, elem_bytes, side);
        else
            transpose(&(timed){t->visit, t->user, series}, elem_bytes, side, side);
}

static void sweep_thin(const timed *t, size_t elem_bytes, bool tall) {
    char series[96];
    size_t side;
    snprintf(series, sizeof series, "transpose of %zu-byte elements, 2^24 in so many %s", elem_bytes,
             tall ? "columns" : "rows");
    for (unsigned i = 0; (side = cases_point(1, i)) <= 4096; i++)
        transpose(&(timed){t->visit, t->user, series}, elem_bytes, tall ? TIMED_THIN / side : side,
                  tall ? side : TIMED_THIN / side);
}

/* Columns whole eights, rows one more; the largest has more than 2^31 bytes. */
static void sweep_eights(const timed *t, size_t elem_bytes) {
    char series[96];
    size_t side;
    snprintf(series, sizeof series, "transpose of %zu-byte elements, eights of columns, a row more", elem_bytes);
    for (unsigned i = 0; (side = cases_point(32, i)) <= 46341; i++)
        transpose(&(timed){t->visit, t->user, series}, elem_bytes, (side + 7) / 8 * 8 + 1, (side + 7) / 8 * 8);
}

/* 12 bytes: any size that has no kernel of its own. */
static void sweep(const timed *t) {
    static const size_t elems[] = {4, 1, 2, 8, 16, 12};
    for (size_t e = 0; e < TIMED_COUNT(elems); e++) {
        sweep_squares(t, elems[e], false);
        sweep_squares(t, elems[e], true);
        sweep_thin(t, elems[e], true);
        sweep_thin(t, elems[e], false);
        if (elems[e] <= 2)
            sweep_eights(t, elems[e]);
    }
}

static void curve(const timed *t) {
    static const struct {
        size_t elem_bytes, more;
    } curves[] = {{4, 0}, {4, 1}, {8, 0}, {8, 1}, {16, 0}, {2, 0}, {1, 0}, {1, 1}};
    char series[96];
    size_t side;
    for (size_t k = 0; k < TIMED_COUNT(curves); k++) {
        snprintf(series, sizeof series, "transpose of %zu-byte elements, squares of %s sides", curves[k].elem_bytes,
                 curves[k].more ? "odd" : "even");
        for (unsigned i = 0; (side = timed_even_point(64, i)) <= (curves[k].elem_bytes < 16 ? 32768 : 16384); i++)
            transpose(&(timed){t->visit, t->user, series}, curves[k].elem_bytes, side + curves[k].more,
                      side + curves[k].more);
    }
}

static void limits(const timed *t) {
    static const size_t shapes[][3] = {{4, 8192, 8192}, {4, 10007, 9973}, {1, 8192, 8192}, {1, 4097, 4095},
                                       {8, 8192, 8192}, {16, 4096, 4096}, {4, 1000000, 3}};
    for (size_t i = 0; i < TIMED_COUNT(shapes); i++)
        transpose(t, shapes[i][0], shapes[i][1], shapes[i][2]);
}

static void host(const timed *t) {
    transpose(t, 4, 1024, 1024);
}

static void calls(const timed *t) {
    transpose(t, 4, 1, 1);
}

static void count(const timed *t) {
    transpose(t, 1, 512, 512);
    transpose(t, 4, 256, 256);
    transpose(t, 16, 128, 128);
}

/* 1 GiB as square as powers of two allow; and a little less each way, with rows that begin anywhere. */
static void staging(const timed *t) {
    for (size_t elem_bytes = 1; elem_bytes <= 16; elem_bytes *= 2) {
        const size_t n = ((size_t)1 << 30) / elem_bytes;
        size_t cols = 1;
        while (cols * cols < n)
            cols *= 2;
        transpose(t, elem_bytes, n / cols, cols);
        transpose(t, elem_bytes, n / cols - n / cols / 33, cols - cols / 33);
    }
}

static void threads(const timed *t) {
    for (size_t elem_bytes = 1; elem_bytes <= 8; elem_bytes *= 2)
        for (unsigned i = 0; i < TIMED_THREADS_POINTS; i++) {
            const size_t side = timed_side(TIMED_THREADS_LOG2(i), elem_bytes);
            transpose(t, elem_bytes, side, side + 2);
        }
}

/* Squares, thin shapes either way, pictures; pixels of three bytes among the elements. */
static void peers(const timed *t) {
    static const size_t elems[] = {1, 2, 3, 4, 8, 16};
    static const size_t thin[] = {2, 3, 8, 17, 45}, shapes[][2] = {{500, 500}, {1080, 1920}, {2160, 3840}};
    for (size_t e = 0; e < TIMED_COUNT(elems); e++) {
        for (unsigned i = 0; i < TIMED_PEERS_POINTS; i++) {
            const size_t side = timed_side(TIMED_PEERS_LOG2(i), elems[e]);
            transpose(t, elems[e], side, side);
        }
        for (size_t i = 0; i < TIMED_COUNT(thin); i++) {
            transpose(t, elems[e], 123457, thin[i]);
            transpose(t, elems[e], thin[i], 123457);
        }
        for (size_t i = 0; i < TIMED_COUNT(shapes); i++)
            transpose(t, elems[e], shapes[i][0], shapes[i][1]);
    }
}

void cases_timed_transpose(const char *list, timed_visit *visit, void *user) {
    static const timed_list lists[] = {
        {"device", squares}, {"odd", odd},     {"pictures", pictures}, {"processor", processor},
        {"sweep", sweep},    {"curve", curve}, {"limits", limits},     {"host", host},
        {"calls", calls},    {"count", count}, {"staging", staging},   {"threads", threads},
        {"peers", peers},
    };
    timed_run(lists, TIMED_COUNT(lists), list, visit, user);
}
