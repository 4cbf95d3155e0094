/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short rows of the window, a vector's lanes of them at once: each lane has its own row, columns become vectors, and
 * windows slide by one addition and one subtraction a column, without scans. What a window sees outside its row is
 * the same column for all rows, found once a call. A line for itself costs 60 to 90 ns before its first result.
 */
#ifndef GP_CPU_WINDOW_BATCH_H
#define GP_CPU_WINDOW_BATCH_H

#include "cpu.h"

/*
 * Rows of up to this many columns. Times the speed of line by line, from cache, 16 lanes, 8 bits and full int32: 192
 * columns 1.48 and 1.13, 256 1.18 and 1.00. All on a Xeon with AVX-512 (model 167), windows of 31.
 */
#define GP_BATCH_COLS_MAX 256

/*
 * Columns times lanes where results go past the caches, without and with gaps between rows: more does not stay in the
 * first-level cache. Without gaps, 16 lanes: 128 columns 1.22 and 1.20, 160 1.10 and 1.02, 192 0.93 and 0.92; 8
 * lanes, 8 and 16 bits: 160 1.36 and 1.18, 200 1.34 and 1.20, 256 1.01 and 0.98. With gaps, 16 lanes: 112 1.23
 * and 1.11, 128 1.06; 8 lanes, 8 and 16 bits: 128 1.33 and 1.25, 192 1.12 and 1.04, 224 1.05 and 0.97.
 */
#define GP_BATCH_STREAMED_MAX ((size_t)16 * 160)
#define GP_BATCH_APART_MAX ((size_t)16 * 112)

/* Most lanes of a vector. */
#define GP_BATCH_LANES 16

/* Results are stored in fours of columns, the last of which may begin before the last but one ends. */
#define GP_BATCH_FOUR 4

/* Where columns lie in gp_window_batch.columns, in elements: the same for all rows. */
typedef struct gp_window_map {
    size_t n;       /* columns computed */
    size_t n_first; /* columns of the row in the window one left of the first computed */
    uint32_t first[GP_BATCH_COLS_MAX];
    int32_t times[GP_BATCH_COLS_MAX];                              /* how often each is in it */
    uint32_t enters[GP_BATCH_COLS_MAX], leaves[GP_BATCH_COLS_MAX]; /* with each column, at least of FOUR */
} gp_window_map;

/* Floats of a line of memory. */
#define GP_BATCH_LINE ((size_t)16)

/* Whole lines of results that are to go past the caches, while the next batch is computed. */
typedef struct gp_batch_queue {
    size_t at, n;
    struct {
        const float *from;
        float *to;
        size_t lines;
    } pieces[2 * GP_BATCH_LANES];
} gp_batch_queue;

/* A vector's lanes of rows. */
typedef struct gp_window_batch {
    const gp_window_map *map;
    const int32_t *columns; /* vectors of lanes; the last is what ZERO has outside the row */
    size_t window;
    uint32_t bound;        /* on absolute values */
    float *sum, *square;   /* the first row's first column; either may be NULL */
    size_t pitch;          /* of these */
    gp_batch_queue *queue; /* NULL: none */
    uintptr_t ahead;       /* address of the next batch's rows, may be no memory */
    size_t in_pitch;
} gp_window_batch;

typedef struct gp_batch_kernels {
    size_t lanes;
    /* The rows' columns as vectors. Returns the largest absolute value. */
    uint32_t (*gather)(const int32_t *in, size_t pitch, size_t cols, int32_t *columns);
    /*
     * Computes the batch, and empties the queue by as many lines. Writes row by row upwards: with fewer columns than
     * FOUR what it writes behind a row's end is less than a FOUR. False: numbers too large for this processor's
     * instructions, nothing is done.
     */
    bool (*slide)(const gp_window_batch *batch);
    /* Writes what is left of the queue. */
    void (*drain)(gp_batch_queue *queue);
    /* Writes part of a line past the caches. */
    void (*stream_part)(const float *from, float *to, size_t n);
} gp_batch_kernels;

/* Of processors that have them: in window_batch_avx2.c and window_batch_avx512.c. */
extern const gp_batch_kernels gp_batch_kernels_avx2, gp_batch_kernels_avx512;

/*
 * Runs the problem: short rows in batches, by the first of the kernels, ended by NULL, that they suit; others, and
 * what no batch can, with `line`. window <= 2^30.
 */
gp_status gp_window_in_batches(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                               const gp_batch_kernels *const *kernels, gp_window_line line);

/* ---- between the files of the batches ---- */

/* The map of a problem of up to GP_BATCH_COLS_MAX columns; in window_batch_map.c. */
void gp_window_map_columns(const gp_problem *problem, size_t lanes, gp_window_map *map);

typedef struct gp_batch_work {
    const gp_batch_kernels *kernels;
    const gp_problem *problem;
    const gp_window_map *map;
    gp_window_line line;
} gp_batch_work;

/* Computes the batch of rows that begins with row y; columns as gp_window_batch.columns, its last vector zero. */
bool gp_batch_compute(const gp_batch_work *work, size_t y, int32_t *columns, float *sum, float *square, size_t pitch,
                      gp_batch_queue *queue);

/* Rows one by one from y on, where a batch had too large numbers; returns how many. */
size_t gp_batch_lines(const gp_batch_work *work, size_t y, size_t end);

/* A result of row y, of its first computed column, or NULL. */
float *gp_batch_output(const gp_problem *problem, float *out, size_t y);

/* Rows first .. end-1, at least a batch, past the caches; in window_batch_stream.c. */
void gp_batch_stream(const gp_batch_work *work, size_t first, size_t end, int32_t *columns);

#endif
