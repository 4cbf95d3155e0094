/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor rows that slide windows over views share: tiles of outputs, and single ones. */
#pragma once

#include "../cpu/rows.h"
#include "../primitive.h"
#include "one.h"

/* Result r of n elements that are whole numbers of 2^unit, of ints 1: from their sum and the sum of their squares. */
void gp_window_write_exact(const gp_window_one *one, unsigned r, int unit, gp_window_int sum, gp_window_int squares,
                           uint64_t n, unsigned char *to);

/* Outputs of one batch, of a part of each row: `n` elements with their channels. Its extended row is what all their
 * windows see of a row of the input: `ext` elements, of which `middle` stand side by side in memory. */
typedef struct gp_window_tile {
    const gp_window_one *one;
    gp_window_axis y, x;        /* with no more of the window than makes a difference: see clip() */
    const unsigned char *plane; /* element 0 of both axes */
    uint64_t batch, y_begin, y_end, x_begin, count;
    size_t channels, n, ext;
    size_t left, middle;
    int64_t middle_at;     /* bytes from the row's element 0 */
    const int64_t *offset; /* the same of elements not in the middle; -1: outside */
    unsigned char *row;    /* n results of 8 bytes at most */
} gp_window_tile;

/* What makes a row of the catalogue. False: there is no memory for what the tile would need. */
typedef struct gp_window_kernels {
    bool (*moments)(const gp_window_tile *tile);
    bool (*extremes)(const gp_window_tile *tile);
} gp_window_kernels;

/* kernels NULL: each output by itself. */
gp_status gp_window_in_tiles(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                             const gp_window_kernels *kernels);

/* The row of the input that a window sees at i, or NULL: outside. */
static inline const unsigned char *gp_window_row(const gp_window_tile *tile, int64_t i) {
    const int64_t at = gp_window_source(tile->one->box->border, (int64_t)tile->y.n, i);
    return at < 0 ? NULL : tile->plane + at * tile->y.in;
}

/* Where result r has the tile's part of row y, and elements begin .. end - 1 of it from tile->row. */
unsigned char *gp_window_result_row(const gp_window_tile *tile, unsigned r, uint64_t y);
void gp_window_put(const gp_window_tile *tile, unsigned r, unsigned char *to, size_t begin, size_t end);

/* The result's row is contiguous; and the result is large. */
bool gp_window_is_contiguous(const gp_window_tile *tile, unsigned r);
bool gp_window_is_streamed(const gp_window_tile *tile, unsigned r);

/* Moments of floats, of any size and spread: columns of exact sums. */
bool gp_window_float_moments(const gp_window_tile *tile);

GP_DECLARE_LAUNCHER(gp_launch_window_array_cpu);
GP_DECLARE_LAUNCHER(gp_launch_window_array_plain);
GP_DECLARE_SIMD_LAUNCHERS(window_array);
