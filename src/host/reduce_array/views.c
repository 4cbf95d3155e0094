/* SPDX-License-Identifier: Apache-2.0 */
/* Views in canonical form, and which results share a pass. Pure: addresses are computed, never followed. */
#include "../axes.h"
#include "array.h"
#include <stddef.h>
#include <string.h>

enum { IN, WITH, PLACE, TO }; /* views of a pass: behind the places those of its results */

/* `index`: the pass's results among the call's. Reduced axes have no results. */
static void describe_axis(gp_axis *a, const gp_pass *pass, const gp_reduce_call *call, unsigned axis, bool is_reduced,
                          const uint8_t index[GP_PASS_RESULTS]) {
    const gp_array *in = call->in, *with = call->with;
    a->n = in->extent[axis];
    a->alone = false;
    a->stride[IN] = gp_stride_times(in->stride[axis], gp_type_bytes(pass->type));
    a->stride[WITH] = with != NULL ? gp_stride_times(with->stride[axis], gp_type_bytes(pass->with_type)) : 0;
    a->stride[PLACE] = 0;
    for (unsigned r = 0; r < pass->results && !is_reduced; r++)
        a->stride[TO + r] =
            gp_stride_times(call->results[index[r]].to.stride[axis], gp_type_bytes(pass->result[r].type));
}

static gp_pass_axis pass_axis(const gp_axis *a) {
    return (gp_pass_axis){a->n, a->stride[IN], a->stride[WITH], a->stride[PLACE]};
}

static void put(gp_pass *pass, const gp_axes *kept, const gp_axes *reduced, const uintptr_t *origin) {
    pass->kept = (uint8_t)kept->count;
    pass->reduced = (uint8_t)reduced->count;
    for (unsigned i = 0; i < kept->count; i++) {
        pass->axis[i] = pass_axis(kept->at[i]);
        for (unsigned r = 0; r < pass->results; r++)
            pass->result[r].stride[i] = kept->at[i]->stride[TO + r];
    }
    for (unsigned i = 0; i < reduced->count; i++)
        pass->axis[kept->count + i] = pass_axis(reduced->at[i]);
    pass->in = (const unsigned char *)origin[IN];
    pass->with = (const unsigned char *)origin[WITH];
    pass->place_first = (int64_t)origin[PLACE];
    for (unsigned r = 0; r < pass->results; r++)
        pass->to[r] = (void *)origin[TO + r];
}

static bool has_elements(const gp_array *a) {
    for (unsigned axis = 0; axis < a->rank; axis++)
        if (a->extent[axis] == 0)
            return false;
    return true;
}

static void set_views(gp_pass *pass, const gp_reduce_call *call, const uint8_t index[GP_PASS_RESULTS]) {
    gp_axis axes[GP_AXES + 1];
    gp_axes kept, reduced; /* not cleared, which would be a tenth of a short call */
    const gp_array *in = call->in, *first = &call->results[0].to;
    const bool places = pass->wants & GP_WANT_PLACES, nothing = !has_elements(in);
    uintptr_t origin[GP_VIEWS_MAX];
    origin[IN] = (uintptr_t)in->data;
    origin[WITH] = call->with != NULL ? (uintptr_t)call->with->data : 0;
    origin[PLACE] = 0;
    for (unsigned r = 0; r < pass->results; r++)
        origin[TO + r] = (uintptr_t)call->results[index[r]].to.data;
    kept.count = reduced.count = 0;
    pass->outputs = pass->length = 1;
    for (unsigned axis = in->rank; axis-- > 0;) {
        const bool is_reduced = gp_axis_is_reduced(first, axis);
        gp_axis *a = &axes[axis];
        if (in->extent[axis] == 1)
            continue;
        describe_axis(a, pass, call, axis, is_reduced, index);
        if (is_reduced && places)
            a->stride[PLACE] = (int64_t)pass->length;
        *(is_reduced ? &pass->length : &pass->outputs) *= in->extent[axis];
        if (nothing)
            a->stride[IN] = a->stride[WITH] = 0;
        gp_axis_turn(a, origin, is_reduced ? TO : TO + pass->results);
        gp_axes_insert(is_reduced ? &reduced : &kept, a);
    }
    if (nothing) {
        reduced.at[0] = memset(&axes[GP_AXES], 0, sizeof *axes);
        reduced.count = 1;
        pass->length = 0;
        kept.count = pass->outputs > 0 ? kept.count : 0; /* of eight axes there is no room for one more */
    }
    gp_axes_fuse(&kept, TO + pass->results);
    gp_axes_fuse(&reduced, TO);
    put(pass, &kept, &reduced, origin);
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
    pass->results = (uint8_t)results;
    pass->number = served->number;
    pass->of = served->of;
    for (unsigned r = 0; r < results; r++) {
        const gp_result *result = &call->results[index[r]];
        pass->result[r].op = (uint8_t)result->op;
        pass->result[r].type = (uint8_t)result->to.type;
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
