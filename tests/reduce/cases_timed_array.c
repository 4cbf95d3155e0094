/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of what is timed of reductions of views. */
#include "../cases_timed.h"

/* Of 64-bit ints, both halves are of 8 bits where their sum is to fit in 64: numpy's has no more. */
static void array(const timed *t, array_what what, gp_type type, array_axis axis, size_t rows, size_t cols) {
    const bool floats = type >= GP_F16, fits = what == ARRAY_TOTAL && type >= GP_U64;
    const array_case c = {.rows = rows,
                          .cols = cols,
                          .type = type,
                          .what = what,
                          .axis = axis,
                          .data = floats ? DATA_FLOATS
                                  : fits ? DATA_8_BIT
                                         : DATA_RANDOM,
                          .seed = TIMED_SEED};
    t->visit(&c, t->series, t->user);
}

/* All of 2^log2 bytes. */
static void all(const timed *t, array_what what, gp_type type, unsigned log2) {
    static const unsigned log2_bytes[] = {0, 0, 0, 1, 1, 2, 2, 3, 3, 1, 1, 2, 3};
    array(t, what, type, ARRAY_ALL, 1, (size_t)1 << (log2 - log2_bytes[type]));
}

/* Every finite bit pattern of half the exponents. */
static void wide(const timed *t, gp_type type, unsigned log2) {
    const array_case c = {.rows = 1,
                          .cols = (size_t)1 << (log2 - (type == GP_F64 ? 3 : 2)),
                          .type = type,
                          .what = ARRAY_SUM,
                          .data = DATA_FINITE,
                          .seed = TIMED_SEED};
    t->visit(&c, t->series, t->user);
}

/* The eight shapes of the peers' table. */
static const struct {
    size_t rows, cols;
} shapes[] = {{1000000, 64},  {1000000, 7},  {16384, 16384}, {64, 1000000},
              {10, 30000000}, {30000000, 3}, {4096, 11008},  {128, 1000}};

static void both_axes(const timed *t, array_what what, gp_type type, size_t rows, size_t cols) {
    array(t, what, type, ARRAY_ROWS, rows, cols);
    array(t, what, type, ARRAY_COLUMNS, rows, cols);
}

static void matrices(const timed *t) {
    for (size_t i = 0; i < TIMED_COUNT(shapes); i++) {
        both_axes(t, ARRAY_SUM, GP_F32, shapes[i].rows, shapes[i].cols);
        both_axes(t, ARRAY_MAX, GP_F32, shapes[i].rows, shapes[i].cols);
        both_axes(t, ARRAY_TOTAL, GP_S32, shapes[i].rows, shapes[i].cols);
        both_axes(t, ARRAY_MEAN, GP_U8, shapes[i].rows, shapes[i].cols);
        both_axes(t, ARRAY_MOMENTS, GP_F32, shapes[i].rows, shapes[i].cols);
        both_axes(t, ARRAY_MOMENTS, GP_U8, shapes[i].rows, shapes[i].cols);
    }
    both_axes(t, ARRAY_MOMENTS, GP_F64, 8192, 16384);
    array(t, ARRAY_DOT, GP_F32, ARRAY_ROWS, 8192, 16384);
}

/* Where some do not count, and differences. */
static void partial(const timed *t, size_t rows, size_t cols) {
    both_axes(t, ARRAY_APART, GP_U8, rows, cols);
    both_axes(t, ARRAY_NAN_MEAN, GP_F32, rows, cols);
    both_axes(t, ARRAY_MASKED_MEAN, GP_F32, rows, cols);
}

static void narrow_and_partial(const timed *t) {
    static const size_t rows[] = {16384, 4000000}, cols[] = {16384, 64};
    for (unsigned i = 0; i < 2; i++) {
        both_axes(t, ARRAY_MAX, GP_U8, rows[i], cols[i]);
        both_axes(t, ARRAY_COUNT, GP_U8, rows[i], cols[i]);
        both_axes(t, ARRAY_MAX, GP_F16, rows[i], cols[i]);
        both_axes(t, ARRAY_SUM, GP_F16, rows[i], cols[i]);
        both_axes(t, ARRAY_MOMENTS, GP_F16, rows[i], cols[i]);
        partial(t, rows[i], cols[i]);
    }
    all(t, ARRAY_APART, GP_U8, 30);
    all(t, ARRAY_APART, GP_F32, 30);
    all(t, ARRAY_MASKED_MEAN, GP_U8, 30);
    all(t, ARRAY_MASKED_MEAN, GP_F32, 30);
}

static void device(const timed *t) {
    for (unsigned log2 = 30; log2 >= 22; log2 -= 4) {
        for (gp_type type = GP_F16; type <= GP_F64; type++)
            all(t, ARRAY_SUM, type, log2);
        wide(t, GP_F32, log2);
        wide(t, GP_F64, log2);
        all(t, ARRAY_SQUARES, GP_F32, log2);
        all(t, ARRAY_MOMENTS, GP_F32, log2);
        all(t, ARRAY_PLACES, GP_F32, log2);
        all(t, ARRAY_DOT, GP_F32, log2);
    }
    for (gp_type type = GP_U8; type <= GP_F64; type++)
        if (type != GP_F32) {
            all(t, ARRAY_DOT, type, 30);
            all(t, ARRAY_MOMENTS, type, 30);
        }
    for (gp_type type = GP_U8; type <= GP_S64; type++) {
        all(t, type < GP_U64 ? ARRAY_TOTAL : ARRAY_SUM, type, 30); /* 64 bits would not hold it */
        all(t, ARRAY_MAX, type, 30);
        all(t, ARRAY_COUNT, type, 30);
    }
    all(t, ARRAY_BITS, GP_U32, 30);
    narrow_and_partial(t);
    matrices(t);
}

static void processor(const timed *t) {
    for (gp_type type = GP_U8; type <= GP_F64; type++)
        all(t, type < GP_F16 ? ARRAY_TOTAL : ARRAY_SUM, type, 26);
    for (gp_type type = GP_U8; type <= GP_F64; type++)
        all(t, ARRAY_MAX, type, 26);
    wide(t, GP_F32, 26);
    wide(t, GP_F64, 26);
    for (gp_type type = GP_U8; type <= GP_F64; type++)
        all(t, ARRAY_MOMENTS, type, 26);
    all(t, ARRAY_DOT, GP_S16, 26);
    all(t, ARRAY_DOT, GP_F32, 26);
    all(t, ARRAY_DOT, GP_F64, 26);
    all(t, ARRAY_PLACES, GP_F32, 26);
    both_axes(t, ARRAY_SUM, GP_F32, 100000, 64);
    both_axes(t, ARRAY_SUM, GP_F32, 4096, 4096);
    both_axes(t, ARRAY_MAX, GP_F32, 100000, 64);
    both_axes(t, ARRAY_MEAN, GP_U8, 4096, 16384);
    partial(t, 4096, 4096);
    partial(t, 1000000, 16);
    all(t, ARRAY_APART, GP_U8, 26);
    all(t, ARRAY_MASKED_MEAN, GP_F32, 26);
}

static void cached(const timed *t) {
    array(t, ARRAY_SUM, GP_F32, ARRAY_ALL, 1, 100);
    array(t, ARRAY_SUM, GP_F32, ARRAY_ALL, 1, 10000);
    array(t, ARRAY_SUM, GP_F64, ARRAY_ALL, 1, 10000);
}

void cases_timed_array(const char *list, timed_visit *visit, void *user) {
    static const timed_list lists[] = {{"device", device}, {"processor", processor}, {"cached", cached}};
    timed_run(lists, TIMED_COUNT(lists), list, visit, user);
}
