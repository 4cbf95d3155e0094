/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls: check, and run pass by pass. */
#include "../run.h"
#include "array.h"

/* An integer that its type cannot hold does not keep the other results from being written. */
static gp_status reduce(gp_context *context, const gp_reduce_call *call) {
    GP_TRY(gp_reduce_check(call));
    gp_status status = GP_OK;
    gp_served served = {0};
    for (gp_pass pass; gp_pass_next(call, &served, &pass);) {
        gp_problem problem;
        gp_problem_clear(&problem, &gp_primitive_reduce_array);
        problem.pass = &pass;
        problem.primitive->derive(&problem);
        const gp_status of_pass = gp_run(context, &problem);
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
