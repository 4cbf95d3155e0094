/* SPDX-License-Identifier: Apache-2.0 */
/* The public call: check, describe, run. */
#include "../run.h"

gp_status gp_transpose(gp_context *context, size_t elem_bytes, const void *in, size_t rows, size_t cols,
                       size_t in_pitch, void *out, size_t out_pitch) {
    gp_problem problem;
    GP_TRY(gp_context_check(context));
    GP_TRY(gp_problem_transpose(&problem, elem_bytes, in, rows, cols, in_pitch, out, out_pitch));
    return gp_run(context, &problem);
}
