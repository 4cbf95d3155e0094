/* SPDX-License-Identifier: Apache-2.0 */
/* The public call: check, and run box by box. */
#include "../run.h"
#include "array.h"

gp_status gp_window(gp_context *context, const gp_array *in, const gp_window_shape *window, const gp_result *results,
                    size_t count) {
    const gp_window_call call = {in, window, results, count};
    gp_window_box box;
    GP_TRY(gp_context_check(context));
    GP_TRY(gp_window_check(&call));
    unsigned boxes = 0;
    for (uint64_t done = 0; gp_window_box_next(&call, &done, &box);)
        boxes++;
    uint64_t done = 0;
    for (unsigned number = 1; gp_window_box_next(&call, &done, &box); number++) {
        gp_problem problem;
        box.number = (uint8_t)number;
        box.of = (uint8_t)boxes;
        gp_problem_clear(&problem, &gp_primitive_window_array);
        problem.box = &box;
        problem.primitive->derive(&problem);
        GP_TRY(gp_run(context, &problem));
    }
    return GP_OK;
}
