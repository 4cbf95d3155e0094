/* SPDX-License-Identifier: Apache-2.0 */
/* One output of a box at a time, element by element: what all other ways are proved against. */
#pragma once

#include "../reduce_array/accumulator.h"
#include "box.h"

typedef struct gp_window_one {
    const gp_window_box *box;
    gp_pass pass; /* the box's results, for the functions of accumulators */
} gp_window_one;

/* `count` elements of an axis from `first` on, each `times` times. */
typedef struct gp_window_stretch {
    int64_t first, count;
    uint64_t times;
} gp_window_stretch;

/* What the window of an output holds of an axis. */
typedef struct gp_window_held {
    gp_window_stretch at[6];
    unsigned stretches;
    bool zeros; /* of GP_BORDER_ZERO */
} gp_window_held;

GP_BOTH_OPEN gp_window_held gp_window_held_of(const gp_window_axis *axis, unsigned border, uint64_t output);

/* What the window of output (y, x) of the batch at `in` holds. */
GP_BOTH_OPEN void gp_window_gather_one(gp_accumulator *a, const gp_window_one *one, const unsigned char *in,
                                       uint64_t y, uint64_t x);

/* All its results. */
GP_BOTH_OPEN void gp_window_write_one(gp_accumulator *a, const gp_window_one *one,
                                      unsigned char *const to[GP_PASS_RESULTS]);
