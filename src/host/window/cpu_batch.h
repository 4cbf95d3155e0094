/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short rows of the window, a vector's lanes of them at once: each lane has its own row, columns become vectors, and
 * windows slide by one addition and one subtraction a column, without scans. What a window sees outside its row is
 * the same column for all rows, found once a call.
 */
#pragma once

#include "cpu.h"

/* Columns up to which rows are short: with so many, one row at a time is as fast. 300 rows of 200 columns of 8 bits
 * in cache take 75 us one at a time and 58 in batches. */
#define GP_BATCH_COLS_MAX 256

/* Columns up to which rows with gaps between them are short, where results go past the caches: only whole lines of
 * memory can, and such rows have few. */
#define GP_BATCH_COLS_APART 64

/* Columns times lanes past the caches without gaps: more does not stay in the first-level cache. */
#define GP_BATCH_STREAMED_MAX ((size_t)16 * 160)

/* Results are stored in fours of columns, the last of which may begin before the last but one ends. */
#define GP_BATCH_FOUR 4

/* Most lanes of a vector. */
#define GP_BATCH_LANES 16

/* Floats of a line of memory. */
#define GP_BATCH_LINE ((size_t)16)

/* Where columns lie in gp_window_batch.columns, in elements: the same for all rows. */
typedef struct gp_window_map {
    size_t n;       /* columns computed */
    size_t n_first; /* columns of the row in the window one left of the first computed */
    uint32_t first[GP_BATCH_COLS_MAX];
    int32_t times[GP_BATCH_COLS_MAX];                             /* how often each is in it */
    int32_t enters[GP_BATCH_COLS_MAX], leaves[GP_BATCH_COLS_MAX]; /* with each column; FOUR at least */
} gp_window_map;

/* A vector's lanes of rows. */
typedef struct gp_window_batch {
    const gp_window_map *map;
    const int32_t *columns; /* vectors of lanes; the first is what ZERO has outside the row */
    size_t window;
    uint32_t bound;      /* on absolute values */
    float *sum, *square; /* the first row's first column; either may be NULL */
    size_t pitch;        /* of these */
    uintptr_t ahead;     /* address of the next batch's rows, to prefetch, may be no memory; 0: none */
    size_t in_pitch;
} gp_window_batch;

typedef struct gp_batch_kernels {
    size_t lanes;
    /* The rows' columns as vectors. Returns the largest absolute value. */
    uint32_t (*gather)(const int32_t *in, size_t pitch, size_t cols, int32_t *columns);
    /* Computes the batch. Writes row by row upwards: with fewer columns than FOUR what it writes behind a row's end
     * is less than a FOUR. False: numbers too large for this processor's instructions, nothing is done. */
    bool (*slide)(const gp_window_batch *batch);
    void (*write)(const float *from, float *to, size_t n); /* past the caches */
} gp_batch_kernels;

/* Runs the problem in batches, and with `line` what none can. */
gp_status gp_window_in_batches(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                               const gp_batch_kernels *kernels, gp_window_line line);
