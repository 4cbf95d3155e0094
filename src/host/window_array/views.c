/* SPDX-License-Identifier: Apache-2.0 */
/* Views in canonical form, and which results share a box. Pure: addresses are computed, never followed. */
#include "../arithmetic.h"
#include "../axes.h"
#include "array.h"
#include "tiling.h"
#include <stddef.h>
#include <string.h>

#define CHANNELS_FEW 4 /* beside each other, which GPU kernels sum as fast as columns of one */

enum { IN, TO }; /* views of a box: the input, then those of its results */

/* An axis on its way into a box. */
typedef struct box_axis {
    gp_axis of_all; /* `alone`: it has a window */
    int64_t window, before;
    uint64_t outputs; /* if it has a window; else all */
} box_axis;

static const box_axis *axis_at(const gp_axes *all, unsigned i) {
    return (const box_axis *)(const void *)all->at[i];
}

/* Outputs are those whose windows lie inside. */
static void keep_inside(box_axis *a, uintptr_t *origin, unsigned results) {
    const uint64_t window = (uint64_t)a->window;
    a->outputs = window > a->of_all.n ? 0 : a->of_all.n - window + 1;
    for (unsigned r = 0; r < results && a->outputs > 0; r++)
        origin[TO + r] += (uintptr_t)gp_stride_times(a->of_all.stride[TO + r], (uint64_t)a->before);
    a->before = 0;
}

static void describe_axis(box_axis *a, const gp_reduce_call *call, const gp_window_box *box, unsigned axis,
                          const uint8_t index[GP_PASS_RESULTS], uintptr_t *origin) {
    const gp_array *in = call->in;
    const int64_t used = in->extent[axis] > 1; /* else its stride may be anything */
    const unsigned views = TO + box->results;
    a->of_all.n = a->outputs = in->extent[axis];
    a->of_all.alone = call->window->extent[axis] > 1;
    a->window = a->of_all.alone ? (int64_t)call->window->extent[axis] : 1;
    a->before = a->of_all.alone ? a->window / 2 - call->window->shift[axis] : 0;
    a->of_all.stride[IN] = used ? in->stride[axis] * (int64_t)gp_type_bytes(box->type) : 0;
    for (unsigned r = 0; r < box->results; r++)
        a->of_all.stride[TO + r] =
            used ? call->results[index[r]].to.stride[axis] * (int64_t)gp_type_bytes(box->result[r].type) : 0;
    if (a->of_all.stride[IN] < 0)
        a->before = a->window - 1 - a->before;
    gp_axis_turn(&a->of_all, origin, views);
    if (box->border == GP_BORDER_NONE)
        keep_inside(a, origin, box->results);
}

/* Axis i holds up to `most` elements side by side, and `pixel` is just past them. */
static bool are_channels(const gp_window_box *box, const gp_axis *i, const gp_axis *pixel, uint64_t most) {
    const int64_t bytes = gp_type_bytes(box->type);
    return !i->alone && i->stride[IN] == bytes && i->n <= most && i->n > 1 &&
           pixel->stride[IN] == (int64_t)i->n * bytes;
}

/* Up to how many channels a window on one axis alone has that as X; with more it is Y. Of extremes windows are to fit
 * what a warp of a GPU has of a row. The processor turns such boxes by itself (cpu_boxes.c). */
static uint64_t few_channels(const gp_window_box *box, const box_axis *pixels) {
    const unsigned bytes = gp_type_bytes(box->type);
    const uint64_t together = gp_least(GP_NEAR_REACH_MAX(bytes), 256 / bytes);
    return box->kind == GP_PASS_MOMENTS ? CHANNELS_FEW : gp_least(CHANNELS_FEW, together / (uint64_t)pixels->window);
}

/* Which axes Y and X are; all->count: there is none. */
static void choose(const gp_window_box *box, const gp_axes *all, unsigned *y, unsigned *x) {
    const unsigned none = all->count, last = none - 1;
    unsigned window[2] = {none, none}, windows = 0;
    *x = *y = none;
    for (unsigned i = 0; i < all->count; i++)
        if (all->at[i]->alone)
            window[windows++] = i;
    if (none == 0)
        return;
    if (windows == 2) {
        *y = window[0];
        *x = window[1];
        return;
    }
    *x = last;
    if (windows == 1 && window[0] < last) {
        *y = window[0];
        const box_axis *alone = axis_at(all, window[0]);
        if (window[0] != last - 1 || !are_channels(box, all->at[last], &alone->of_all, few_channels(box, alone)))
            return;
        *x = window[0];
    }
    *y = *x > 0 ? *x - 1 : none;
}

/* One that is missing has a single element. */
static void put(gp_window_box *box, const box_axis *a, unsigned at) {
    const gp_axis *axis = a != NULL ? &a->of_all : NULL;
    box->axis[at] = a != NULL ? (gp_window_axis){axis->n, axis->alone ? a->outputs : axis->n, axis->stride[IN],
                                                 a->window, a->before}
                              : (gp_window_axis){1, 1, 0, 1, 0};
    for (unsigned r = 0; r < box->results; r++)
        box->result[r].stride[at] = a != NULL ? axis->stride[TO + r] : 0;
    box->outputs *= box->axis[at].outputs;
}

/* `index`: the box's results among the call's. */
static void set_views(gp_window_box *box, const gp_reduce_call *call, const uint8_t index[GP_PASS_RESULTS]) {
    box_axis axis[GP_AXES]; /* not cleared: that takes a part of a small call's time that shows */
    uintptr_t origin[GP_VIEWS_MAX];
    gp_axes all;
    unsigned y, x;
    all.count = 0;
    origin[IN] = (uintptr_t)call->in->data;
    for (unsigned r = 0; r < box->results; r++)
        origin[TO + r] = (uintptr_t)call->results[index[r]].to.data;
    box->outputs = 1;
    for (unsigned i = 0; i < call->in->rank; i++)
        box->outputs *= call->in->extent[i] > 0;
    for (unsigned i = call->in->rank; i-- > 0 && box->outputs > 0;)
        if (call->in->extent[i] > 1 || call->window->extent[i] > 1) {
            describe_axis(&axis[i], call, box, i, index, origin);
            gp_axes_insert(&all, &axis[i].of_all);
        }
    gp_axes_fuse(&all, TO + box->results);
    choose(box, &all, &y, &x);
    for (unsigned i = 0; i < all.count; i++)
        if (i != y && i != x)
            put(box, axis_at(&all, i), box->outer++);
    put(box, y < all.count ? axis_at(&all, y) : NULL, box->outer);
    put(box, x < all.count ? axis_at(&all, x) : NULL, box->outer + 1);
    box->channels = 1;
    if (box->outer > 0 && x != all.count - 1 && are_channels(box, all.at[all.count - 1], all.at[x], GP_CHANNELS_MAX))
        box->channels = (uint8_t)all.at[all.count - 1]->n;
    box->in = (const unsigned char *)origin[IN];
    for (unsigned r = 0; r < box->results; r++)
        box->to[r] = (void *)origin[TO + r];
}

bool gp_window_box_next(const gp_reduce_call *call, gp_served *served, gp_window_box *box) {
    uint8_t index[GP_PASS_RESULTS] = {0};
    const unsigned results = gp_results_next(call, served, index);
    if (results == 0)
        return false;
    memset(box, 0, offsetof(gp_window_box, axis));
    memset(box->result, 0, results * sizeof *box->result);
    for (unsigned r = 0; r < results; r++) {
        const gp_result *result = &call->results[index[r]];
        const gp_operation_facts *facts = gp_operation_facts_of(result->op);
        box->kind = facts->kind;
        box->wants |= facts->wants;
        box->result[r].op = (uint8_t)result->op;
        box->result[r].type = (uint8_t)result->to.type;
    }
    box->results = (uint8_t)results;
    box->number = served->number;
    box->of = served->of;
    box->type = (uint8_t)call->in->type;
    box->border = (uint8_t)call->window->border;
    set_views(box, call, index);
    return true;
}
