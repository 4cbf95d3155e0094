/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the arguments of gp_reduce() and gp_reduce_pair(), before a byte is written. Pure. */
#include "../footprint.h"
#include "array.h"
#include <string.h>

static gp_status check_operation(const gp_reduce_call *call, const gp_result *result, const gp_operation_facts *facts,
                                 const char *name) {
    const bool pair = call->with != NULL, where = result->op & GP_WHERE, of_pairs = facts->kind >= GP_PASS_PAIR;
    if (where && !pair)
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: GP_WHERE is for gp_reduce_pair()", name);
    if (of_pairs && (!pair || where))
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: %s is for gp_reduce_pair(), without GP_WHERE", name, facts->name);
    if (!of_pairs && pair && !where)
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: %s of a pair needs GP_WHERE", name, facts->name);
    if (of_pairs && call->with->type != call->in->type)
        return gp_fail(GP_ERR_ARGUMENT, "with: type %s, but in has %s and results[].op %s needs one type",
                       gp_type_name((unsigned)call->with->type), gp_type_name((unsigned)call->in->type), facts->name);
    return GP_OK;
}

/* The type of a result; and every axis kept or reduced, as the first result has it. */
static gp_status check_output(const gp_reduce_call *call, const gp_result *result, const gp_operation_facts *facts,
                              const char *name) {
    const gp_array *in = call->in, *first = &call->results[0].to, *to = &result->to;
    if (!(gp_result_types(facts, (unsigned)in->type) >> to->type & 1))
        return gp_fail(GP_ERR_ARGUMENT, "%s: type %s cannot be that of %s of %s", name,
                       gp_type_name((unsigned)to->type), facts->name, gp_type_name((unsigned)in->type));
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

/* printf would take longer than all checks together. */
static void name_result(char name[24], size_t i, const char *tail) {
    char *end = stpcpy(name, "results[");
    if (i >= 10)
        *end++ = (char)('0' + i / 10);
    *end++ = (char)('0' + i % 10);
    strcpy(end, tail);
}

static gp_status check_result(const gp_reduce_call *call, size_t i, gp_result_check *operation,
                              gp_result_check *output, gp_footprint *f) {
    const gp_result *result = &call->results[i];
    const gp_operation_facts *facts = gp_operation_facts_of(result->op & GP_OPERATION_MASK);
    const unsigned type = (unsigned)call->in->type;
    char name[24];
    name_result(name, i, "]");
    name_result(f->name, i, "].to");
    if (facts->name == NULL || (result->op & ~(GP_OPERATION_MASK | GP_SKIP_NAN | GP_WHERE)) != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: 0x%x is no operation", name, result->op);
    GP_TRY(operation(call, result, facts, name));
    if (result->reserved != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: reserved is %u, not 0", name, result->reserved);
    GP_TRY(gp_footprint_measure(&result->to, false, f));
    if (gp_result_types(facts, type) == 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: %s has no %s", name, gp_type_name(type), facts->name);
    GP_TRY(output(call, result, facts, f->name));
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

gp_status gp_results_check(const gp_reduce_call *call, gp_result_check *operation, gp_result_check *output) {
    gp_footprint in = {.name = "in"}, with = {.name = "with", .empty = true}, to[GP_RESULTS_MAX];
    if (call->count == 0 || call->count > GP_RESULTS_MAX)
        return gp_fail(GP_ERR_ARGUMENT, "count: %zu, not 1 to %u", call->count, GP_RESULTS_MAX);
    GP_TRY(gp_footprint_measure(call->in, false, &in));
    if (call->with != NULL) {
        GP_TRY(gp_footprint_measure(call->with, false, &with));
        GP_TRY(gp_check_same_extents("with", call->with, call->in));
    }
    for (size_t i = 0; i < call->count; i++) {
        GP_TRY(check_result(call, i, operation, output, &to[i]));
        GP_TRY(gp_footprint_check_apart(&to[i], &in));
        GP_TRY(gp_footprint_check_apart(&to[i], &with));
        for (size_t j = 0; j < i; j++)
            GP_TRY(gp_footprint_check_apart(&to[j], &to[i]));
    }
    return in.empty && !to[0].empty ? check_of_something(call) : GP_OK;
}

gp_status gp_reduce_check(const gp_reduce_call *call) {
    GP_TRY(gp_check_not_null("in", call->in));
    GP_TRY(gp_check_not_null("results", call->results));
    return gp_results_check(call, check_operation, check_output);
}
