/* SPDX-License-Identifier: Apache-2.0 */
/* The public call: check, describe, run. */
#include "../run.h"

gp_status gp_sum_and_square_window(gp_context *context, const int32_t *image, size_t rows, size_t cols,
                                   size_t image_pitch, size_t window, gp_border border, float *sum, float *square,
                                   size_t out_pitch) {
    gp_problem problem;
    GP_TRY(gp_context_check(context));
    GP_TRY(gp_problem_window(&problem, image, rows, cols, image_pitch, window, border, sum, square, out_pitch));
    return gp_run(context, &problem);
}
