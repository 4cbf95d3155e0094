/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor rows that slide windows over views share. */
#ifndef GP_CPU_WINDOW_ARRAY_H
#define GP_CPU_WINDOW_ARRAY_H

#include "../cpu/rows.h"
#include "../primitive.h"
#include "../reduce_array/accumulator.h"
#include "box.h"

/* What accumulates one output at a time. */
typedef struct gp_window_one {
    const gp_window_box *box;
    gp_pass pass; /* the box's results, for the functions of accumulators */
} gp_window_one;

/* Output x of row y: where in the batch both begin. Each element of the window is looked at, whatever it costs. */
void gp_window_compute_one(const gp_window_one *one, const unsigned char *in, uint64_t y, uint64_t x,
                           unsigned char *const to[GP_PASS_RESULTS]);

/* Most threads worth using: blocks of the rows' tilings. */
uint64_t gp_window_array_parts(const gp_problem *problem);

GP_DECLARE_LAUNCHER(gp_launch_window_array_cpu);

#endif
