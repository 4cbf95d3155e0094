/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the arguments of gp_reduce() and gp_reduce_pair(), before a byte is written. Pure. */
#include "array.h"
#include <string.h>

/* The bytes of a view: blocks of `block` bytes at multiples of `step` from `start` on, all within `span`. */
typedef struct footprint {
    char name[24]; /* as the caller knows the view */
    uintptr_t start;
    uint64_t span, block, step;
    bool empty, folded; /* folded: elements may lie upon each other */
} footprint;

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A NULL argument, what is no view, and a view that no memory can hold. */
static gp_status check_shape(const char *name, const gp_array *a, bool *empty) {
    if (a->type < GP_U8 || a->type > GP_F64)
        return gp_fail(GP_ERR_ARGUMENT, "%s: type %d is no gp_type", name, (int)a->type);
    if (a->rank > GP_AXES)
        return gp_fail(GP_ERR_ARGUMENT, "%s: rank %u, at most %d", name, a->rank, GP_AXES);
    if (a->elem_bytes != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: elem_bytes %zu, not 0", name, a->elem_bytes);
    *empty = false;
    for (unsigned axis = 0; axis < a->rank; axis++)
        *empty = *empty || a->extent[axis] == 0;
    int64_t count = 1;
    for (unsigned axis = 0; axis < a->rank && !*empty; axis++)
        if (__builtin_mul_overflow(count, a->extent[axis], &count))
            return gp_fail(GP_ERR_OVERFLOW, "%s: its extents multiply past 2^63 at axis %u", name, axis);
    if (*empty)
        return GP_OK;
    GP_TRY(gp_check_not_null(name, a->data));
    if ((uintptr_t)a->data & (gp_type_bytes((unsigned)a->type) - 1))
        return gp_fail(GP_ERR_ARGUMENT, "%s: the address is not a multiple of %u bytes", name,
                       gp_type_bytes((unsigned)a->type));
    return GP_OK;
}

typedef struct axis_bytes {
    uint64_t stride, steps;
} axis_bytes;

/* The strides that lead somewhere, in bytes, the smallest first; start and span by the way. */
static gp_status measure(const gp_array *a, footprint *f, axis_bytes sorted[GP_AXES], unsigned *axes) {
    const int64_t elem = gp_type_bytes((unsigned)a->type);
    int64_t below = 0, above = elem;
    *axes = 0;
    for (unsigned axis = 0; axis < a->rank; axis++) {
        int64_t stride, reach;
        if (a->extent[axis] == 1 || a->stride[axis] == 0) {
            f->folded = f->folded || a->extent[axis] != 1;
            continue;
        }
        bool passes = __builtin_mul_overflow(a->stride[axis], elem, &stride);
        passes = passes || __builtin_mul_overflow(stride, a->extent[axis] - 1, &reach);
        int64_t *side = passes || reach > 0 ? &above : &below;
        if (passes || __builtin_add_overflow(*side, reach, side))
            return gp_fail(GP_ERR_OVERFLOW, "%s: stride %td of axis %u, %zu elements, passes the address space",
                           f->name, a->stride[axis], axis, a->extent[axis]);
        const axis_bytes new = {stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride, a->extent[axis] - 1};
        unsigned at = (*axes)++;
        for (; at > 0 && sorted[at - 1].stride > new.stride; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = new;
    }
    const uintptr_t data = (uintptr_t)a->data;
    f->span = (uint64_t)above - (uint64_t)below;
    f->start = data + (uintptr_t)below;
    if (f->start > data || f->span > PTRDIFF_MAX || f->start > UINTPTR_MAX - f->span)
        return gp_fail(GP_ERR_OVERFLOW, "%s: its strides pass the address space", f->name);
    return GP_OK;
}

/*
 * Axes whose steps are not longer than the block so far, the smallest strides first, make one longer block of it.
 * What is left moves blocks by multiples of the common divisor of the other strides.
 */
static gp_status measure_view(const gp_array *a, footprint *f) {
    axis_bytes sorted[GP_AXES];
    unsigned axes;
    f->folded = false;
    GP_TRY(check_shape(f->name, a, &f->empty));
    if (f->empty)
        return GP_OK;
    GP_TRY(measure(a, f, sorted, &axes));
    uint64_t reach = f->block = gp_type_bytes((unsigned)a->type);
    f->step = 0;
    for (unsigned i = 0; i < axes; i++) {
        f->folded = f->folded || sorted[i].stride < reach;
        reach += sorted[i].stride * sorted[i].steps;
        if (f->step == 0 && sorted[i].stride <= f->block)
            f->block += sorted[i].stride * sorted[i].steps;
        else
            f->step = common_divisor(sorted[i].stride, f->step);
    }
    return GP_OK;
}

/* Exact, but that blocks are taken to lie at every multiple of the step. */
static gp_status check_apart(const footprint *a, const footprint *b) {
    if (a->empty || b->empty ||
        (a->start < b->start ? b->start - a->start >= a->span : a->start - b->start >= b->span))
        return GP_OK;
    const uint64_t step = common_divisor(a->step, b->step);
    if (step > 0) {
        const uint64_t apart =
            a->start < b->start ? (b->start - a->start) % step : (step - (a->start - b->start) % step) % step;
        if (apart >= a->block && step - apart >= b->block)
            return GP_OK;
    }
    return gp_fail(GP_ERR_OVERLAP, "%s and %s overlap", a->name, b->name);
}

static gp_status check_operation(const gp_reduce_call *call, const char *name, const gp_result *result) {
    const bool pair = call->with != NULL, where = result->op & GP_WHERE;
    const gp_operation_facts *facts = gp_operation_facts_of(result->op & GP_OPERATION_MASK);
    if (facts->name == NULL || (result->op & ~(GP_OPERATION_MASK | GP_SKIP_NAN | GP_WHERE)) != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: 0x%x is no operation", name, result->op);
    if (where && !pair)
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: GP_WHERE is for gp_reduce_pair()", name);
    const bool of_pairs = facts->kind >= GP_PASS_PAIR;
    if (of_pairs && (!pair || where))
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: %s is for gp_reduce_pair(), without GP_WHERE", name, facts->name);
    if (!of_pairs && pair && !where)
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: %s of a pair needs GP_WHERE", name, facts->name);
    if (of_pairs && call->with->type != call->in->type)
        return gp_fail(GP_ERR_ARGUMENT, "with: type %s, but in has %s and results[].op %s needs one type",
                       gp_type_name((unsigned)call->with->type), gp_type_name((unsigned)call->in->type), facts->name);
    if (result->reserved != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: reserved is %u, not 0", name, result->reserved);
    return GP_OK;
}

static gp_status check_result_type(const gp_reduce_call *call, const char *name, const gp_result *result) {
    const gp_operation_facts *facts = gp_operation_facts_of(result->op & GP_OPERATION_MASK);
    const unsigned type = (unsigned)call->in->type, may = gp_result_types(facts, type);
    if (may == 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: %s has no %s", name, gp_type_name(type), facts->name);
    if (!(may >> result->to.type & 1))
        return gp_fail(GP_ERR_ARGUMENT, "%s.to: type %s cannot be that of %s of %s", name,
                       gp_type_name((unsigned)result->to.type), facts->name, gp_type_name(type));
    return GP_OK;
}

/* Every axis kept or reduced, as the first result has it. */
static gp_status check_extents(const gp_reduce_call *call, const char *name, const gp_array *to) {
    const gp_array *in = call->in, *first = &call->results[0].to;
    if (to->rank != 0 && to->rank != in->rank)
        return gp_fail(GP_ERR_ARGUMENT, "%s: rank %u, not 0 or %u", name, to->rank, in->rank);
    for (unsigned axis = 0; axis < in->rank; axis++) {
        const size_t extent = to->rank == 0 ? 1 : to->extent[axis];
        if (extent != 1 && extent != in->extent[axis])
            return gp_fail(GP_ERR_ARGUMENT, "%s: extent %zu on axis %u, not 1 or %zu", name, extent, axis,
                           in->extent[axis]);
        if (in->extent[axis] != 1 && (extent == 1) != gp_axis_is_reduced(first, axis))
            return gp_fail(GP_ERR_ARGUMENT, "%s: extent %zu on axis %u, but %zu in results[0]", name, extent, axis,
                           first->rank == 0 ? 1 : first->extent[axis]);
    }
    return GP_OK;
}

/* "results[12].to", which printf would take longer for than all checks together. */
static void name_result(char name[24], size_t i, const char *tail) {
    char *end = stpcpy(name, "results[");
    if (i >= 10)
        *end++ = (char)('0' + i / 10);
    *end++ = (char)('0' + i % 10);
    strcpy(end, tail);
}

static gp_status check_result(const gp_reduce_call *call, size_t i, footprint *f) {
    const gp_result *result = &call->results[i];
    char name[24];
    name_result(name, i, "]");
    name_result(f->name, i, "].to");
    GP_TRY(check_operation(call, name, result));
    GP_TRY(measure_view(&result->to, f));
    GP_TRY(check_result_type(call, name, result));
    GP_TRY(check_extents(call, f->name, &result->to));
    if (f->folded)
        return gp_fail(GP_ERR_OVERLAP, "%s: its strides fold it onto itself", f->name);
    return GP_OK;
}

/* No elements, though there are results to be written: what then has no value? */
static gp_status check_of_something(const gp_reduce_call *call) {
    for (size_t i = 0; i < call->count; i++) {
        const gp_operation_facts *facts = gp_operation_facts_of(call->results[i].op & GP_OPERATION_MASK);
        for (unsigned axis = 0; axis < call->in->rank && facts->of_something; axis++)
            if (call->in->extent[axis] == 0)
                return gp_fail(GP_ERR_EMPTY, "results[%zu]: in has extent 0 on axis %u: no elements have no %s", i,
                               axis, facts->name);
    }
    return GP_OK;
}

static gp_status check_with(const gp_array *in, const gp_array *with) {
    if (with->rank != in->rank)
        return gp_fail(GP_ERR_ARGUMENT, "with: rank %u, but in has %u", with->rank, in->rank);
    for (unsigned axis = 0; axis < in->rank; axis++)
        if (with->extent[axis] != in->extent[axis])
            return gp_fail(GP_ERR_ARGUMENT, "with: extent %zu on axis %u, but in has %zu", with->extent[axis], axis,
                           in->extent[axis]);
    return GP_OK;
}

gp_status gp_reduce_check(const gp_reduce_call *call) {
    footprint in = {.name = "in"}, with = {.name = "with", .empty = true}, to[GP_RESULTS_MAX];
    GP_TRY(gp_check_not_null("in", call->in));
    GP_TRY(gp_check_not_null("results", call->results));
    if (call->count == 0 || call->count > GP_RESULTS_MAX)
        return gp_fail(GP_ERR_ARGUMENT, "count: %zu, not 1 to %u", call->count, GP_RESULTS_MAX);
    GP_TRY(measure_view(call->in, &in));
    if (call->with != NULL) {
        GP_TRY(measure_view(call->with, &with));
        GP_TRY(check_with(call->in, call->with));
    }
    for (size_t i = 0; i < call->count; i++) {
        GP_TRY(check_result(call, i, &to[i]));
        GP_TRY(check_apart(&to[i], &in));
        GP_TRY(check_apart(&to[i], &with));
        for (size_t j = 0; j < i; j++)
            GP_TRY(check_apart(&to[j], &to[i]));
    }
    return in.empty && !to[0].empty ? check_of_something(call) : GP_OK;
}
