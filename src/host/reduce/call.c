/* SPDX-License-Identifier: Apache-2.0 */
/* The public call: check, describe, run. */
#include "../run.h"

gp_status gp_reduce_int(gp_context *context, gp_reduce_op op, const int32_t *in, size_t n, int64_t *out) {
    gp_problem problem;
    GP_TRY(gp_context_check(context));
    GP_TRY(gp_problem_reduce(&problem, op, in, n, out));
    return gp_run(context, &problem);
}
