/* SPDX-License-Identifier: Apache-2.0 */
/* Views in canonical form, and which results share a box. Pure: addresses are computed, never followed. */
#include "array.h"
#include <stddef.h>
#include <string.h>

/* An axis on its way into a box: with the strides of all its results. */
typedef struct axis_of_all {
    gp_window_axis axis;
    int64_t to[GP_PASS_RESULTS];
} axis_of_all;

typedef struct axes {
    axis_of_all at[GP_AXES];
    unsigned count;
} axes;

static bool has_window(const axis_of_all *a) {
    return a->axis.window > 1;
}

/* The input's strides become positive: an axis with a negative one is walked from its other end. */
static void turn(gp_window_box *box, axis_of_all *a) {
    const int64_t steps = (int64_t)a->axis.n - 1;
    if (a->axis.in >= 0)
        return;
    box->in += steps * a->axis.in;
    a->axis.in = -a->axis.in;
    a->axis.before = a->axis.window - 1 - a->axis.before;
    for (unsigned r = 0; r < box->results; r++) {
        box->to[r] = (unsigned char *)box->to[r] + steps * a->to[r];
        a->to[r] = -a->to[r];
    }
}

/* Outputs are those whose windows lie inside. */
static void keep_inside(gp_window_box *box, axis_of_all *a) {
    const uint64_t window = (uint64_t)a->axis.window;
    a->axis.outputs = window > a->axis.n ? 0 : a->axis.n - window + 1;
    for (unsigned r = 0; r < box->results && a->axis.outputs > 0; r++)
        box->to[r] = (unsigned char *)box->to[r] + a->axis.before * a->to[r];
    a->axis.before = 0;
}

static axis_of_all axis_of(const gp_reduce_call *call, gp_window_box *box, unsigned axis,
                           const uint8_t index[GP_PASS_RESULTS]) {
    const gp_array *in = call->in;
    axis_of_all a = {.axis = {.n = in->extent[axis], .outputs = in->extent[axis], .window = 1}};
    if (call->window->extent[axis] > 1) {
        a.axis.window = (int64_t)call->window->extent[axis];
        a.axis.before = a.axis.window / 2 - call->window->shift[axis];
    }
    if (in->extent[axis] > 1) /* else its stride may be anything */
        a.axis.in = in->stride[axis] * (int64_t)gp_type_bytes(box->type);
    for (unsigned r = 0; r < box->results && in->extent[axis] > 1; r++)
        a.to[r] = call->results[index[r]].to.stride[axis] * (int64_t)gp_type_bytes(box->result[r].type);
    turn(box, &a);
    if (box->border == GP_BORDER_NONE)
        keep_inside(box, &a);
    return a;
}

/* By falling stride, those of 0 first. */
static void insert(axes *all, axis_of_all new) {
    unsigned at = all->count++;
    for (; at > 0 && all->at[at - 1].axis.in != 0 && all->at[at - 1].axis.in < new.axis.in; at--)
        all->at[at] = all->at[at - 1];
    if (new.axis.in == 0)
        for (; at > 0; at--)
            all->at[at] = all->at[at - 1];
    all->at[at] = new;
}

/* A step along the outer axis is a whole walk along the inner one, and neither has a window. */
static bool may_fuse(const axis_of_all *outer, const axis_of_all *inner, unsigned results) {
    const int64_t n = (int64_t)inner->axis.n;
    bool may = !has_window(outer) && !has_window(inner) && outer->axis.in == inner->axis.in * n;
    for (unsigned r = 0; r < results; r++)
        may = may && outer->to[r] == inner->to[r] * n;
    return may;
}

static void fuse(axes *all, unsigned results) {
    unsigned last = 0;
    for (unsigned i = 1; i < all->count; i++)
        if (may_fuse(&all->at[last], &all->at[i], results)) {
            all->at[i].axis.n *= all->at[last].axis.n;
            all->at[i].axis.outputs = all->at[i].axis.n;
            all->at[last] = all->at[i];
        } else {
            all->at[++last] = all->at[i];
        }
    if (all->count > 0)
        all->count = last + 1;
}

/* Axis i holds few elements side by side, and `pixel` is just past them. */
static bool are_channels(const gp_window_box *box, const axis_of_all *i, const axis_of_all *pixel) {
    const int64_t bytes = gp_type_bytes(box->type);
    return !has_window(i) && i->axis.in == bytes && i->axis.n <= GP_CHANNELS_MAX && i->axis.n > 1 &&
           pixel->axis.in == (int64_t)i->axis.n * bytes;
}

/* Which axes Y and X are; all->count: there is none. */
static void choose(const gp_window_box *box, const axes *all, unsigned *y, unsigned *x) {
    const unsigned none = all->count, last = none - 1;
    unsigned window[2] = {none, none}, windows = 0;
    *x = *y = none;
    for (unsigned i = 0; i < all->count; i++)
        if (has_window(&all->at[i]))
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
        if (window[0] != last - 1 || !are_channels(box, &all->at[last], &all->at[window[0]]))
            return;
        *x = window[0];
    }
    *y = *x > 0 ? *x - 1 : none;
}

static void put(gp_window_box *box, const axis_of_all *a, unsigned at) {
    box->axis[at] = a->axis;
    for (unsigned r = 0; r < box->results; r++)
        box->result[r].stride[at] = a->to[r];
}

/* `index`: the box's results among the call's. */
static void set_views(gp_window_box *box, const gp_reduce_call *call, const uint8_t index[GP_PASS_RESULTS]) {
    static const axis_of_all missing = {.axis = {.n = 1, .outputs = 1, .window = 1}};
    axes all; /* not cleared: that takes a part of a small call's time that shows */
    unsigned y, x;
    all.count = 0;
    box->outputs = 1;
    for (unsigned axis = 0; axis < call->in->rank; axis++)
        box->outputs *= call->in->extent[axis] > 0;
    for (unsigned axis = 0; axis < call->in->rank && box->outputs > 0; axis++)
        if (call->in->extent[axis] > 1 || call->window->extent[axis] > 1)
            insert(&all, axis_of(call, box, axis, index));
    fuse(&all, box->results);
    choose(box, &all, &y, &x);
    for (unsigned i = 0; i < all.count; i++) {
        box->outputs *= all.at[i].axis.outputs;
        if (i != y && i != x)
            put(box, &all.at[i], box->outer++);
    }
    const axis_of_all *pixel = x < all.count ? &all.at[x] : &missing;
    put(box, y < all.count ? &all.at[y] : &missing, box->outer);
    put(box, pixel, box->outer + 1);
    box->channels = 1;
    if (box->outer > 0 && are_channels(box, &all.at[all.count - 1], pixel) && x != all.count - 1)
        box->channels = (uint8_t)all.at[all.count - 1].axis.n;
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
        box->to[r] = result->to.data;
    }
    box->results = (uint8_t)results;
    box->number = served->number;
    box->of = served->of;
    box->type = (uint8_t)call->in->type;
    box->border = (uint8_t)call->window->border;
    box->in = call->in->data;
    set_views(box, call, index);
    return true;
}

size_t gp_window_input_bytes(const gp_window_box *box) {
    size_t bytes = gp_type_bytes(box->type);
    for (unsigned i = 0; i < box->outer + 2u; i++)
        bytes += (size_t)(box->axis[i].n - 1) * (size_t)box->axis[i].in;
    return bytes;
}

bool gp_window_same_shape(const gp_window_box *a, const gp_window_box *b) {
    return memcmp(a, b, offsetof(gp_window_box, axis)) == 0 &&
           memcmp(a->axis, b->axis, (a->outer + 2u) * sizeof *a->axis) == 0 &&
           memcmp(a->result, b->result, a->results * sizeof *a->result) == 0;
}
