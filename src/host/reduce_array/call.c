/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls: check, and run pass by pass. */
#include "../run.h"
#include "array.h"

/* An integer that its type cannot hold does not keep the other results from being written. */
static gp_status reduce(gp_context *context, const gp_reduce_call *call) {
    GP_TRY(gp_reduce_check(call));
    const unsigned passes = gp_pass_count(call);
    gp_status status = GP_OK;
    uint64_t done = 0;
    gp_pass pass;
    for (unsigned number = 1; gp_pass_next(call, &done, &pass); number++) {
        gp_problem problem;
        pass.number = (uint8_t)number;
        pass.of = (uint8_t)passes;
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
