/* SPDX-License-Identifier: Apache-2.0 */
/* The public call: check, and run box by box. */
#include "../run.h"
#include "array.h"

gp_status gp_window(gp_context *context, const gp_array *in, const gp_window_shape *window, const gp_result *results,
                    size_t count) {
    const gp_reduce_call call = {.in = in, .window = window, .results = results, .count = count};
    gp_served served = {0};
    GP_TRY(gp_context_check(context));
    GP_TRY(gp_window_check(&call));
    for (gp_window_box box; gp_window_box_next(&call, &served, &box);) {
        gp_problem problem;
        gp_problem_clear(&problem, &gp_primitive_window_array);
        problem.box = &box;
        problem.primitive->derive(&problem);
        GP_TRY(gp_run(context, &problem));
    }
    return GP_OK;
}
