/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor rows that slide windows over views share: tiles of outputs, and single ones. */
#pragma once

#include "../cpu/rows.h"
#include "../primitive.h"
#include "one.h"

/* Result r of n elements that are whole numbers of 2^unit, of ints 1: from their sum and the sum of their squares. */
void gp_window_write_exact(const gp_window_one *one, unsigned r, int unit, gp_window_int sum, gp_window_int squares,
                           uint64_t n, unsigned char *to);

/* Pixels of an extended row that a row of the input has elsewhere, or not at all: `count` from `to` on, whose
 * elements are those from `from` on in steps of +1, -1 or 0; from -1: outside. Places are those of the extended row.
 */
typedef struct gp_window_run {
    int64_t to, count, from, step;
} gp_window_run;

/* Outputs of one batch, of a part of each row: `n` elements with their channels. All their windows see `held`
 * elements of a row of the input, and with what `runs` tell these make the extended row, of `ext` elements. */
typedef struct gp_window_tile {
    const gp_window_one *one;
    gp_window_axis y, x;        /* with no more of the window than makes a difference: see reduce() */
    const unsigned char *plane; /* element 0 of both axes */
    uint64_t batch, y_begin, y_end, x_begin, count;
    size_t channels, n;
    int64_t side;  /* bytes from one channel's elements to the next's */
    int64_t first; /* pixel of the first held element; with GP_BORDER_WRAP it may be none of the row's */
    size_t held, left, ext;
    size_t skew; /* in the extended row, of the first output's window */
    bool direct; /* held elements are contiguous */
    const gp_window_run *runs;
    size_t n_runs;
    unsigned char *row; /* n results of 8 bytes at most, which a kernel has memory for */
} gp_window_tile;

/* Defines a function: what an extended row has beyond its held elements, `outside` or copies of these. */
#define GP_WINDOW_EXTEND(name, type, instructions)                                                        \
    instructions static void name(const gp_window_tile *tile, type *row, size_t channels, type outside) { \
        for (const gp_window_run *run = tile->runs; run < tile->runs + tile->n_runs; run++) {             \
            const int64_t n = run->count, c = (int64_t)channels;                                          \
            type *to = row + run->to * c;                                                                 \
            const type *from = row + run->from * c;                                                       \
            for (int64_t i = 0; i < n * c && run->from < 0; i++)                                          \
                to[i] = outside;                                                                          \
            for (int64_t i = 0; i < n && run->from >= 0 && c == 1 && run->step < 0; i++)                  \
                to[i] = from[-i];                                                                         \
            for (int64_t i = 0; i < n && run->from >= 0 && (c > 1 || run->step >= 0); i++)                \
                for (int64_t k = 0; k < c; k++)                                                           \
                    to[i * c + k] = from[i * run->step * c + k];                                          \
        }                                                                                                 \
    }

/* What the tile's first window holds along X, and where the extended row has pixel `at`. */
static inline gp_window_held gp_window_first(const gp_window_tile *tile) {
    const gp_window_box *box = tile->one->box;
    if (tile->x.window != gp_window_x(box)->window)
        return gp_window_held_of(gp_window_x(box), box->border, tile->x_begin);
    return (gp_window_held){.at = {{(int64_t)tile->x_begin - tile->x.before, tile->x.window, 1}}, .stretches = 1};
}

static inline int64_t gp_window_place(const gp_window_tile *tile, int64_t at) {
    return (int64_t)tile->left + (at - tile->first) * (int64_t)tile->channels;
}

/* What makes a row of the catalogue. False: there is no memory for what the tile would need. */
typedef bool gp_window_kernel(gp_window_tile *tile);

/* kernel NULL: each output by itself. */
gp_status gp_window_in_tiles(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                             gp_window_kernel *kernel);

/* Outputs of a box in the rows from `first` on. */
void gp_window_run_rows(gp_context *context, const gp_plan *plan, const gp_problem *problem, const gp_window_box *box,
                        gp_window_kernel *kernel, uint64_t first, uint64_t rows);

/* The row of the input that a window sees at i, or NULL: outside. */
static inline const unsigned char *gp_window_row(const gp_window_tile *tile, int64_t i) {
    const int64_t at = gp_window_source(tile->one->box->border, (int64_t)tile->y.n, i);
    return at < 0 ? NULL : tile->plane + at * tile->y.in;
}

/* The held elements of a row of the input, contiguous: where they are, or copied to `copy`. */
const void *gp_window_held_row(const gp_window_tile *tile, const unsigned char *row, void *copy);

/* Result r of one output, number i of the tile's in row y, from the elements of its window. */
void gp_window_write_singly(const gp_window_tile *tile, unsigned r, uint64_t y, size_t i, unsigned char *to);

/* Where result r has the tile's part of row y. */
unsigned char *gp_window_result_row(const gp_window_tile *tile, unsigned r, uint64_t y);

/* Where output number i of such a part is; `row`: where the part begins. */
static inline unsigned char *gp_window_output(const gp_window_tile *tile, unsigned r, unsigned char *row, size_t i) {
    const gp_window_box *box = tile->one->box;
    const int64_t *x = &box->result[r].stride[box->outer + 1];
    const size_t c = tile->channels;
    return row + (int64_t)(i / c) * x[0] + (c > 1 ? (int64_t)(i % c) * x[-2] : 0);
}

/* Puts elements begin .. end - 1 of a part of a row from tile->row. */
void gp_window_put(const gp_window_tile *tile, unsigned r, unsigned char *to, size_t begin, size_t end);

/* The result's row is contiguous; and the result is large. */
bool gp_window_is_contiguous(const gp_window_tile *tile, unsigned r);
bool gp_window_is_streamed(const gp_window_tile *tile, unsigned r);

/* Moments of floats, of any size and spread: columns of exact sums. */
bool gp_window_float_moments(gp_window_tile *tile);

GP_DECLARE_LAUNCHER(gp_launch_window_array_cpu);
GP_DECLARE_LAUNCHER(gp_launch_window_array_plain);
GP_DECLARE_SIMD_LAUNCHERS(window_array);
