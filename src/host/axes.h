/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of views that are walked together, brought into one form. Pure: addresses are computed, never followed. */
#pragma once

#include "reduce_array/pass.h"

#define GP_VIEWS_MAX (3 + GP_PASS_RESULTS) /* of a pass: the input, its partner, places, and results */

/* Not cleared: members that are not used would take a part of a short call's time that shows. */
typedef struct gp_axis {
    uint64_t n;
    bool alone;                   /* not to be fused */
    int64_t stride[GP_VIEWS_MAX]; /* in bytes */
} gp_axis;

/* The slowest first. Pointers, as what has just been written is not copied before it has left the core. */
typedef struct gp_axes {
    gp_axis *at[GP_AXES];
    unsigned count;
} gp_axes;

/* Without undefined overflow: the strides of a view without elements may be anything. */
static inline int64_t gp_stride_times(int64_t stride, uint64_t n) {
    return (int64_t)((uint64_t)stride * n);
}

/* Walks an axis from its other end if the first view's stride is negative. origin: each view's element 0. */
static inline void gp_axis_turn(gp_axis *axis, uintptr_t origin[GP_VIEWS_MAX], unsigned views) {
    if (axis->stride[0] >= 0)
        return;
    for (unsigned v = 0; v < views; v++) {
        origin[v] += (uintptr_t)gp_stride_times(axis->stride[v], axis->n - 1);
        axis->stride[v] = -axis->stride[v];
    }
}

/* By falling strides of the first view; along a stride of 0 it is read again and again, which is done outermost. Of
 * equal strides the axis comes before those that were inserted so far. */
static inline void gp_axes_insert(gp_axes *axes, gp_axis *new) {
    const int64_t stride = new->stride[0];
    unsigned at = 0;
    while (at < axes->count && stride != 0 && (axes->at[at]->stride[0] == 0 || axes->at[at]->stride[0] > stride))
        at++;
    for (unsigned i = axes->count++; i > at; i--)
        axes->at[i] = axes->at[i - 1];
    axes->at[at] = new;
}

/* A step along the outer axis is a whole walk along the inner one. */
static inline bool gp_axes_may_fuse(const gp_axis *outer, const gp_axis *inner, unsigned views) {
    bool may = !outer->alone && !inner->alone;
    for (unsigned v = 0; v < views; v++)
        may = may && outer->stride[v] == gp_stride_times(inner->stride[v], inner->n);
    return may;
}

/* Neighbours that may. */
static inline void gp_axes_fuse(gp_axes *axes, unsigned views) {
    unsigned last = 0;
    for (unsigned i = 1; i < axes->count; i++)
        if (gp_axes_may_fuse(axes->at[last], axes->at[i], views)) {
            axes->at[i]->n *= axes->at[last]->n;
            axes->at[last] = axes->at[i];
        } else {
            axes->at[++last] = axes->at[i];
        }
    if (axes->count > 0)
        axes->count = last + 1;
}
