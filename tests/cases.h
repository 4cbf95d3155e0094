/* SPDX-License-Identifier: Apache-2.0 */
/* The case lists that tests and benches share: sizes, pitches, offsets, data; and which of them are timed. */
#pragma once

#include "cases_data.h"
#include "gpuprim/gpuprim.h"
#include <stdbool.h>

typedef struct reduce_case {
    size_t n;
    size_t offset; /* elements from a 256-byte boundary */
    data_kind data;
    uint64_t seed;
    gp_reduce_op op; /* of what is timed; tests do every one */
} reduce_case;

typedef struct window_case {
    size_t rows, cols, window;
    gp_border border;
    bool want_sum, want_square;
    size_t image_pad, out_pad; /* pitch - cols */
    size_t offset;             /* elements from a 256-byte boundary */
    data_kind data;
    uint64_t seed;
} window_case;

typedef struct transpose_case {
    size_t elem_bytes, rows, cols;
    size_t in_pad, out_pad;       /* pitch - columns, in elements */
    size_t in_offset, out_offset; /* bytes from a 256-byte boundary */
    bool in_place;
    uint64_t seed;
} transpose_case;

/* What is reduced of a matrix: all, each row, each column; and to what. */
typedef enum array_axis { ARRAY_ALL, ARRAY_ROWS, ARRAY_COLUMNS } array_axis;
typedef enum array_what {
    ARRAY_SUM,   /* to a float */
    ARRAY_TOTAL, /* of ints, to an int */
    ARRAY_MAX,
    ARRAY_MEAN,
    ARRAY_SQUARES,
    ARRAY_MOMENTS,
    ARRAY_PLACES,
    ARRAY_COUNT,
    ARRAY_BITS,
    ARRAY_NAN_MEAN, /* of what is no NaN */
    ARRAY_DOT,      /* of halves, as what follows: sums of |x - y|, and means where the other is not 0 */
    ARRAY_APART,
    ARRAY_MASKED_MEAN
} array_what;

typedef struct array_case {
    size_t rows, cols;
    gp_type type;
    array_what what;
    array_axis axis;
    data_kind data;
    uint64_t seed;
} array_case;

/* Dense elements whose axes are put into another order. */
typedef struct move_case {
    size_t elem_bytes, extent[8];
    unsigned rank, axes[8];
    bool in_place;
    uint64_t seed;
} move_case;

/* Square windows over pictures, whose borders are REFLECT_101. */
typedef enum box_what { BOX_MOMENTS, BOX_SUMS, BOX_MEAN, BOX_MEAN_U8, BOX_MIN, BOX_MAX } box_what;

typedef struct box_case {
    size_t rows, cols, channels, window;
    gp_type type;
    box_what what;
    data_kind data;
    uint64_t seed;
} box_case;

/* GPUPRIM_TEST_SEED, or of the clock; printed at the first call, so that a failure can be repeated. */
uint64_t cases_seed(void);

/* GPUPRIM_TEST_REDUCED=1: few cases, for tools that slow a program down. */
bool cases_reduced(void);

/* GPUPRIM_TEST_CASES: how many random cases; else 20000, or 2000 of few. */
size_t cases_drawn(void);

uint64_t cases_random(uint64_t *state);
const char *cases_data_name(data_kind kind);
void cases_fill(int32_t *data, size_t n, data_kind kind, uint64_t seed);
void cases_fill_bytes(void *data, size_t bytes, uint64_t seed);

/* Each calls visit for every case of its list. */
void cases_reduce(void (*visit)(const reduce_case *, void *), void *user);
void cases_window(void (*visit)(const window_case *, void *), void *user);
void cases_transpose(void (*visit)(const transpose_case *, void *), void *user);

/*
 * What is timed: lists by name ("sweep", say), each of problems or of series of problems that differ in one size.
 * `visit` gets one of the structs above, and what the problems of a series have in common, "" of one alone. A name
 * that a primitive does not have is an empty list.
 */
typedef void timed_visit(const void *one_case, const char *series, void *user);
void cases_timed_reduce(const char *list, timed_visit *visit, void *user);
void cases_timed_array(const char *list, timed_visit *visit, void *user);
void cases_timed_move(const char *list, timed_visit *visit, void *user);
void cases_timed_box(const char *list, timed_visit *visit, void *user);
void cases_timed_window(const char *list, timed_visit *visit, void *user);
void cases_timed_transpose(const char *list, timed_visit *visit, void *user);

/* Size i of a series from `from` on: sqrt(2) apart, every other one odd. */
size_t cases_point(size_t from, unsigned i);

/* The case in words, as snprintf. */
int cases_reduce_label(const reduce_case *c, char *text, size_t size);
int cases_window_label(const window_case *c, char *text, size_t size);
int cases_transpose_label(const transpose_case *c, char *text, size_t size);
