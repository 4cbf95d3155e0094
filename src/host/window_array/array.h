/* SPDX-License-Identifier: Apache-2.0 */
/* From the arguments of gp_window() to boxes: checks and canonical views. Pure. */
#ifndef GP_WINDOW_ARRAY_H
#define GP_WINDOW_ARRAY_H

#include "../reduce_array/array.h"
#include "box.h"

/* The arguments of a call. */
typedef struct gp_window_call {
    const gp_array *in;
    const gp_window_shape *window;
    const gp_result *results;
    size_t count;
} gp_window_call;

/* Checks all arguments; fails and names argument and axis. */
gp_status gp_window_check(const gp_window_call *call);

/* The next box of a checked call; *done: results that have had theirs, bit by bit. False: no more. */
bool gp_window_box_next(const gp_window_call *call, uint64_t *done, gp_window_box *box);

/* Elements of the window before its place along an axis. */
static inline int64_t gp_window_before(const gp_window_shape *window, unsigned axis) {
    return (int64_t)(window->extent[axis] / 2) - window->shift[axis];
}

#endif
