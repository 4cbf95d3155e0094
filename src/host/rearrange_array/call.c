/* SPDX-License-Identifier: Apache-2.0 */
/* The public call: check, describe, run. */
#include "../run.h"
#include "problem.h"

/* A transpose of one matrix has kernels of its own, unless one of these is pinned. */
gp_status gp_rearrange(gp_context *context, const gp_array *in, const gp_array *out) {
    gp_problem problem;
    gp_move move;
    GP_TRY(gp_context_check(context));
    const bool pinned = context->pins[gp_primitive_index(&gp_primitive_rearrange_array)].row != NULL;
    GP_TRY(gp_problem_rearrange(&problem, &move, in, out, !pinned));
    return gp_run(context, &problem);
}
