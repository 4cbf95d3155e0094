/* SPDX-License-Identifier: Apache-2.0 */
/* Views in canonical form, and which results share a pass. Pure: addresses are computed, never followed. */
#include "array.h"
#include <stddef.h>
#include <string.h>

/* An axis on its way into a pass: with the strides of all its results. */
typedef struct axis_of_all {
    gp_pass_axis axis;
    int64_t to[GP_PASS_RESULTS];
} axis_of_all;

/* The kept or the reduced axes: pointers, as what has just been written is not copied before it has left the core. */
typedef struct group {
    axis_of_all *at[GP_AXES];
    unsigned count;
} group;

/* Without undefined overflow: the strides of a view without elements may be anything. */
static int64_t times(int64_t a, uint64_t b) {
    return (int64_t)((uint64_t)a * b);
}

/* By falling strides of the input; along a stride of 0 it is read again and again, which is done outermost. */
static bool comes_before(const axis_of_all *a, const axis_of_all *b) {
    return a->axis.in == 0 || (b->axis.in != 0 && a->axis.in >= b->axis.in);
}

/* An axis that stands before all that were inserted so far. */
static void insert(group *g, axis_of_all *new) {
    unsigned at = 0;
    while (at < g->count && !comes_before(new, g->at[at]))
        at++;
    for (unsigned i = g->count++; i > at; i--)
        g->at[i] = g->at[i - 1];
    g->at[at] = new;
}

/* A step along the outer axis is a whole walk along the inner one. */
static bool may_fuse(const axis_of_all *outer, const axis_of_all *inner, unsigned results) {
    const uint64_t n = inner->axis.n;
    bool may = outer->axis.in == times(inner->axis.in, n) && outer->axis.with == times(inner->axis.with, n) &&
               outer->axis.place == times(inner->axis.place, n);
    for (unsigned r = 0; r < results; r++)
        may = may && outer->to[r] == times(inner->to[r], n);
    return may;
}

static void fuse(group *g, unsigned results) {
    unsigned last = 0;
    for (unsigned i = 1; i < g->count; i++)
        if (may_fuse(g->at[last], g->at[i], results)) {
            g->at[i]->axis.n *= g->at[last]->axis.n;
            g->at[last] = g->at[i];
        } else {
            g->at[++last] = g->at[i];
        }
    if (g->count > 0)
        g->count = last + 1;
}

/* Walks an axis from its other end if the input's stride is negative. */
static void turn(gp_pass *pass, axis_of_all *a, unsigned results) {
    const int64_t steps = (int64_t)a->axis.n - 1;
    if (a->axis.in >= 0)
        return;
    pass->in += steps * a->axis.in;
    if (pass->with != NULL)
        pass->with += steps * a->axis.with;
    pass->place_first += steps * a->axis.place;
    a->axis.in = -a->axis.in;
    a->axis.with = -a->axis.with;
    a->axis.place = -a->axis.place;
    for (unsigned r = 0; r < results; r++) {
        pass->to[r] = (unsigned char *)pass->to[r] + steps * a->to[r];
        a->to[r] = -a->to[r];
    }
}

/* Strides in bytes of one axis. */
static void describe_axis(axis_of_all *a, const gp_pass *pass, const gp_reduce_call *call, unsigned axis,
                          unsigned results, const uint8_t index[GP_PASS_RESULTS]) {
    const gp_array *in = call->in, *with = call->with;
    a->axis.n = in->extent[axis];
    a->axis.in = times(in->stride[axis], gp_type_bytes(pass->type));
    a->axis.with = with != NULL ? times(with->stride[axis], gp_type_bytes(pass->with_type)) : 0;
    a->axis.place = 0;
    for (unsigned r = 0; r < results; r++) {
        const gp_array *to = &call->results[index[r]].to;
        a->to[r] = times(to->stride[axis], gp_type_bytes(pass->result[r].type));
    }
}

static void put(gp_pass *pass, const group *kept, const group *reduced) {
    pass->kept = (uint8_t)kept->count;
    pass->reduced = (uint8_t)reduced->count;
    for (unsigned i = 0; i < kept->count; i++) {
        pass->axis[i] = kept->at[i]->axis;
        for (unsigned r = 0; r < pass->results; r++)
            pass->result[r].stride[i] = kept->at[i]->to[r];
    }
    for (unsigned i = 0; i < reduced->count; i++)
        pass->axis[kept->count + i] = reduced->at[i]->axis;
}

static bool has_elements(const gp_array *a) {
    for (unsigned axis = 0; axis < a->rank; axis++)
        if (a->extent[axis] == 0)
            return false;
    return true;
}

/* `index`: the pass's results among the call's. */
static void set_views(gp_pass *pass, const gp_reduce_call *call, const uint8_t index[GP_PASS_RESULTS]) {
    axis_of_all axes[GP_AXES + 1];
    group kept, reduced; /* not cleared, which would be a tenth of a short call */
    const gp_array *in = call->in, *first = &call->results[0].to;
    const bool places = pass->wants & (GP_WANT_ARGMIN | GP_WANT_ARGMAX), nothing = !has_elements(in);
    kept.count = reduced.count = 0;
    pass->outputs = pass->length = 1;
    for (unsigned axis = in->rank; axis-- > 0;) {
        const bool is_reduced = gp_axis_is_reduced(first, axis);
        if (in->extent[axis] == 1)
            continue;
        const unsigned along = is_reduced ? 0 : pass->results; /* results that have this axis */
        axis_of_all *a = &axes[axis];
        describe_axis(a, pass, call, axis, along, index);
        if (is_reduced && places)
            a->axis.place = (int64_t)pass->length;
        *(is_reduced ? &pass->length : &pass->outputs) *= in->extent[axis];
        if (nothing)
            a->axis.in = a->axis.with = 0;
        turn(pass, a, along);
        insert(is_reduced ? &reduced : &kept, a);
    }
    if (nothing) {
        reduced.at[0] = memset(&axes[GP_AXES], 0, sizeof *axes);
        reduced.count = 1;
        pass->length = 0;
    }
    fuse(&kept, pass->results);
    fuse(&reduced, 0);
    put(pass, &kept, &reduced);
}

/* Flags that results of one pass share. That of NaNs says nothing of ints. */
static uint32_t flags_of(const gp_reduce_call *call, const gp_result *result) {
    const uint32_t shared = gp_type_is_float((unsigned)call->in->type) ? GP_SKIP_NAN | GP_WHERE : GP_WHERE;
    return result->op & shared;
}

static unsigned kind_of(const gp_result *result) {
    return gp_operation_facts_of(result->op & GP_OPERATION_MASK)->kind;
}

/* The first result that is not done, and up to 7 more that can share its pass; how many. */
static unsigned next_group(const gp_reduce_call *call, uint64_t *done, uint8_t index[GP_PASS_RESULTS]) {
    unsigned count = 0;
    for (size_t i = 0; i < call->count && count < GP_PASS_RESULTS; i++) {
        const gp_result *first = &call->results[index[0]], *result = &call->results[i];
        if (*done >> i & 1)
            continue;
        if (count > 0 && (kind_of(result) != kind_of(first) || flags_of(call, result) != flags_of(call, first)))
            continue;
        index[count++] = (uint8_t)i;
        *done |= (uint64_t)1 << i;
    }
    return count;
}

static unsigned count_passes(const gp_reduce_call *call) {
    uint8_t index[GP_PASS_RESULTS] = {0};
    uint64_t done = 0;
    unsigned passes = 0;
    if (call->count == 1)
        return 1;
    while (next_group(call, &done, index) > 0)
        passes++;
    return passes;
}

unsigned gp_results_next(const gp_reduce_call *call, gp_served *served, uint8_t index[GP_PASS_RESULTS]) {
    if (served->number++ == 0)
        served->of = (uint8_t)count_passes(call);
    return served->number <= served->of ? next_group(call, &served->done, index) : 0;
}

bool gp_pass_next(const gp_reduce_call *call, gp_served *served, gp_pass *pass) {
    uint8_t index[GP_PASS_RESULTS] = {0};
    const unsigned results = gp_results_next(call, served, index);
    if (results == 0)
        return false;
    memset(pass, 0, offsetof(gp_pass, axis));
    memset(pass->result, 0, results * sizeof *pass->result);
    const uint32_t flags = flags_of(call, &call->results[index[0]]);
    pass->type = (uint8_t)call->in->type;
    pass->with_type = call->with != NULL ? (uint8_t)call->with->type : 0;
    pass->kind = (uint8_t)kind_of(&call->results[index[0]]);
    pass->skip_nan = flags & GP_SKIP_NAN;
    pass->where = flags & GP_WHERE;
    pass->in = call->in->data;
    pass->with = call->with != NULL ? call->with->data : NULL;
    pass->results = (uint8_t)results;
    pass->number = served->number;
    pass->of = served->of;
    for (unsigned r = 0; r < results; r++) {
        const gp_result *result = &call->results[index[r]];
        pass->result[r].op = (uint8_t)result->op;
        pass->result[r].type = (uint8_t)result->to.type;
        pass->to[r] = result->to.data;
        pass->wants |= gp_operation_facts_of(result->op & GP_OPERATION_MASK)->wants;
    }
    set_views(pass, call, index);
    return true;
}

gp_pass_span gp_pass_input_span(const gp_pass *pass, bool with) {
    gp_pass_span span = {with ? pass->with : pass->in, gp_type_bytes(with ? pass->with_type : pass->type)};
    if (pass->length == 0)
        return (gp_pass_span){NULL, 0};
    for (unsigned i = 0; i < pass->kept + pass->reduced; i++) {
        const gp_pass_axis *axis = &pass->axis[i];
        const int64_t walk = (int64_t)(axis->n - 1) * (with ? axis->with : axis->in);
        if (walk < 0)
            span.begin += walk;
        span.bytes += (size_t)(walk < 0 ? -walk : walk);
    }
    return span;
}

bool gp_pass_same_shape(const gp_pass *a, const gp_pass *b) {
    return memcmp(a, b, offsetof(gp_pass, axis)) == 0 &&
           memcmp(a->axis, b->axis, (size_t)(a->kept + a->reduced) * sizeof *a->axis) == 0 &&
           memcmp(a->result, b->result, a->results * sizeof *a->result) == 0;
}
