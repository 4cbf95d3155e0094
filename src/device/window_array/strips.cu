/* SPDX-License-Identifier: Apache-2.0 */
/* window_strip: by what a box's results and elements are. */
#include "results.cuh"

GP_DECLARE_LAUNCHER(gp_launch_window_strip) {
    if (problem->box->kind == GP_PASS_EXTREMES) {
        uint32_t stores = 0;
        for (unsigned r = 0; r < problem->box->results; r++)
            stores |= (uint32_t)stores_together(problem, r, problem->box->channels) << r;
        return gp_window_launch_extremes(context, plan, problem, stores);
    }
    const unsigned form = plan->tiling.form;
    return form < GP_STRIP_FORMS || form == GP_WALK_MEANS ? gp_window_launch_floats(context, plan, problem)
                                                          : gp_window_launch_walks(context, plan, problem);
}
