/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window's box: one reading of the input of gp_window(), checked and in canonical form, with the results it serves.
 * A call has one or several. Plain C; goes to GPU kernels by value.
 *
 * Canonical: strides of the input are not negative, and no axis has extent 1 without a window. The last two axes are
 * Y and X, the only ones with windows: a kernel walks along Y and computes rows along X. X is the axis with the
 * shortest stride but for a window along another axis, in front of which it stands, and for channels: few of them
 * where one axis alone has a window, which is X then. Axes before are batches, by falling stride, fused where the
 * input and all results allow. A missing Y or X has extent 1.
 *
 * GP_BORDER_NONE: outputs are only those whose window lies inside; no window then leaves its axis.
 */
#pragma once

#include "../reduce_array/pass.h"
#include <string.h>

/* Output o, below `outputs`, has the window of the elements o - before .. o - before + window - 1. */
typedef struct gp_window_axis {
    uint64_t n; /* elements of the input */
    uint64_t outputs;
    int64_t in; /* stride in bytes */
    int64_t window, before;
} gp_window_axis;

#define GP_CHANNELS_MAX 128

typedef struct gp_window_box {
    /* The shape, up to and without `in`: all that planning may look at, with the first outer + 2 axes and the first
       `results` results. All bytes that are not named are 0. */
    uint8_t type;     /* gp_type of the elements */
    uint8_t kind;     /* GP_PASS_MOMENTS or GP_PASS_EXTREMES */
    uint8_t border;   /* a gp_border */
    uint8_t outer;    /* axis[0 .. outer-1] are batches; Y is axis[outer], X axis[outer + 1] */
    uint8_t channels; /* not 1: elements of axis[outer - 1] lie side by side, and X's stride is just past them */
    uint8_t results;
    uint16_t wants;     /* GP_WANT_SUM, _SQUARES, _MIN, _MAX */
    uint8_t number, of; /* this is number `number` of `of` of the call, from 1 on */
    uint64_t outputs;   /* of all axes */
    gp_window_axis axis[GP_AXES];
    gp_pass_result result[GP_PASS_RESULTS]; /* strides along the box's axes */

    /* The data: of element 0 and of output 0 on all axes. */
    const unsigned char *in;
    void *to[GP_PASS_RESULTS];
} gp_window_box;

GP_BOTH static inline const gp_window_axis *gp_window_y(const gp_window_box *box) {
    return &box->axis[box->outer];
}

GP_BOTH static inline const gp_window_axis *gp_window_x(const gp_window_box *box) {
    return &box->axis[box->outer + 1];
}

/* After how many elements an axis of n repeats as a window sees it; 0: never. */
GP_BOTH static inline int64_t gp_window_period(unsigned border, int64_t n) {
    return border == GP_BORDER_WRAP                    ? n
           : border == GP_BORDER_REFLECT               ? 2 * n
           : border == GP_BORDER_REFLECT_101 && n != 1 ? 2 * n - 2
                                                       : 0;
}

/* Which element of an axis of n the window sees at i, anywhere; -1: none, which is 0 with GP_BORDER_ZERO. */
GP_BOTH static inline int64_t gp_window_source(unsigned border, int64_t n, int64_t i) {
    if (i >= 0 && i < n)
        return i;
    if (border == GP_BORDER_NONE || border == GP_BORDER_ZERO || border == GP_BORDER_SHRINK)
        return -1;
    const int64_t period = gp_window_period(border, n);
    if (period == 0)
        return i < 0 ? 0 : n - 1;
    if (i < -period || i >= period) /* a division takes a GPU a hundred instructions: only for far ones */
        i %= period;
    i += i < 0 ? period : 0;
    return i < n ? i : border == GP_BORDER_REFLECT ? period - 1 - i : period - i;
}

/* Elements that count in a window along an axis. */
GP_BOTH static inline uint64_t gp_window_counted(const gp_window_axis *axis, unsigned border, uint64_t output) {
    if (border != GP_BORDER_SHRINK)
        return (uint64_t)axis->window;
    const int64_t begin = (int64_t)output - axis->before, end = begin + axis->window, n = (int64_t)axis->n;
    return (uint64_t)((end < n ? end : n) - (begin > 0 ? begin : 0));
}

__extension__ typedef __int128 gp_window_int;
__extension__ typedef unsigned __int128 gp_window_unsigned;

/* sum / n, to nearest, ties to even: a mean in the elements' own type. */
GP_BOTH static inline int64_t gp_window_mean(gp_window_int sum, uint64_t n) {
    int64_t quotient = (int64_t)(sum / (int64_t)n), rest = (int64_t)(sum % (int64_t)n);
    const int64_t step = rest < 0 ? -1 : 1;
    const uint64_t twice = 2 * (uint64_t)(rest < 0 ? -rest : rest);
    return quotient + (twice > n || (twice == n && (quotient & 1)) ? step : 0);
}

/* What the functions of accumulators ask for, and staging: the box's results and outputs as a pass's. */
GP_BOTH static inline void gp_window_as_pass(const gp_window_box *box, gp_pass *pass) {
    memset(pass, 0, sizeof *pass);
    pass->type = box->type;
    pass->kind = box->kind;
    pass->wants = box->wants;
    pass->kept = (uint8_t)(box->outer + 2);
    pass->results = box->results;
    pass->outputs = box->outputs;
    pass->length = 1;
    pass->in = box->in;
    for (unsigned i = 0; i < pass->kept; i++)
        pass->axis[i].n = box->axis[i].outputs;
    for (unsigned r = 0; r < box->results; r++) {
        pass->result[r] = box->result[r];
        pass->to[r] = box->to[r];
    }
}
