/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls: check, and run pass by pass. */
#include "../run.h"
#include "array.h"
#include <stddef.h>
#include <string.h>

/* Elements up to which the steps of a call take a part of its time that counts. */
#define PLAIN_ELEMENTS ((size_t)1 << 20)

/* The plainest call in one step: a vector without gaps, and one result. False: it is another, or something is wrong
 * with it, which the general way finds and names. */
static bool make_plain(const gp_reduce_call *call, gp_pass *pass) {
    if (call->count != 1 || call->in == NULL || call->results == NULL || call->with != NULL)
        return false;
    const gp_array *in = call->in, *to = &call->results->to;
    if (in->rank != 1 || in->stride[0] != 1 || in->extent[0] < 2 || in->extent[0] > PLAIN_ELEMENTS || to->rank != 0 ||
        (in->elem_bytes | to->elem_bytes | call->results->reserved) != 0 || in->type < GP_U8 || in->type > GP_F64 ||
        to->type < GP_U8 || to->type > GP_F64)
        return false;
    const uint32_t op = call->results->op, type = (uint32_t)in->type, to_type = (uint32_t)to->type;
    const gp_operation_facts *facts = gp_operation_facts_of(op);
    const uint64_t step = gp_type_bytes(type), bytes = in->extent[0] * step, to_bytes = gp_type_bytes(to_type);
    const uintptr_t from = (uintptr_t)in->data, at = (uintptr_t)to->data;
    if (facts->name == NULL || facts->kind > GP_PASS_MOMENTS || !(gp_result_types(facts, type) >> to_type & 1) ||
        from == 0 || at == 0 || (from & (step - 1)) != 0 || (at & (to_bytes - 1)) != 0 ||
        from > UINTPTR_MAX - bytes || at > UINTPTR_MAX - to_bytes || at - from < bytes || from - at < to_bytes)
        return false;
    memset(pass, 0, offsetof(gp_pass, axis));
    pass->type = (uint8_t)type;
    pass->kind = facts->kind;
    pass->reduced = pass->results = pass->number = pass->of = 1;
    pass->wants = facts->wants;
    pass->outputs = 1;
    pass->length = in->extent[0];
    pass->axis[0] = (gp_pass_axis){pass->length, (int64_t)step, 0, (facts->wants & GP_WANT_PLACES) != 0};
    memset(pass->result, 0, sizeof *pass->result); /* plans compare its padding too */
    pass->result[0].op = (uint8_t)op;
    pass->result[0].type = (uint8_t)to_type;
    pass->in = in->data;
    pass->with = NULL;
    pass->to[0] = to->data;
    return true;
}

static gp_status run_pass(gp_context *context, const gp_pass *pass) {
    gp_problem problem;
    gp_problem_clear(&problem, &gp_primitive_reduce_array);
    problem.pass = pass;
    problem.primitive->derive(&problem);
    return gp_run(context, &problem);
}

/* An integer that its type cannot hold does not keep the other results from being written. */
static gp_status reduce(gp_context *context, const gp_reduce_call *call) {
    gp_status status = GP_OK;
    gp_served served = {0};
    gp_pass pass;
    if (make_plain(call, &pass))
        return run_pass(context, &pass);
    GP_TRY(gp_reduce_check(call));
    while (gp_pass_next(call, &served, &pass)) {
        const gp_status of_pass = run_pass(context, &pass);
        if (of_pass != GP_OK && of_pass != GP_ERR_OVERFLOW)
            return of_pass;
        status = of_pass != GP_OK ? of_pass : status;
    }
    return status;
}

gp_status gp_reduce(gp_context *context, const gp_array *in, const gp_result *results, size_t count) {
    GP_TRY(gp_context_check(context));
    return reduce(context, &(gp_reduce_call){.in = in, .results = results, .count = count});
}

gp_status gp_reduce_pair(gp_context *context, const gp_array *in, const gp_array *with, const gp_result *results,
                         size_t count) {
    GP_TRY(gp_context_check(context));
    GP_TRY(gp_check_not_null("with", with));
    return reduce(context, &(gp_reduce_call){.in = in, .with = with, .results = results, .count = count});
}
