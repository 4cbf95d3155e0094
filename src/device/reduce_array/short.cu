/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of reduce_short, and their launcher. */
#include "short.cuh"

#define FORM(...) (const void *)reduce_short<__VA_ARGS__>

/* By gp_reduce_many_form; those of columns it has not. */
static const void *const kernels[GP_MANY_FORMS] = {
    FORM(lane_bits),
    FORM(lane_extremes<1>),
    FORM(lane_extremes<2>),
    FORM(lane_extremes<4>),
    FORM(lane_extremes<8>),
    FORM(lane_span<4>),
    FORM(lane_packed<lane_span<4>, 16>),
    NULL,
    FORM(lane_sum<1>),
    FORM(lane_sum<2>),
    FORM(lane_sum<4>),
    FORM(lane_sum<1, 4>),
    FORM(lane_sum<2, 2>),
    FORM(lane_packed<lane_sum<4>, 16>),
    NULL,
    NULL,
    NULL,
    FORM(lane_integers),
    FORM(lane_floats<2>),
    FORM(lane_floats<4>),
    FORM(lane_packed<lane_floats<4>, 16>),
    NULL,
    FORM(lane_doubles<4>),
    FORM(lane_doubles<8>),
    FORM(lane_moments<2>),
    FORM(lane_moments<4>),
    FORM(lane_packed<lane_moments<4>, 16>),
};

GP_DECLARE_LAUNCHER(gp_launch_reduce_short) {
    reduce_arguments arguments = gp_reduce_arguments(context, problem);
    gp_short_cut cut;
    memcpy(&cut, plan->tiling.t, sizeof cut);
    void *list[] = {&arguments, &cut};
    GP_TRY(gp_gpu_launch(context, plan, kernels[plan->tiling.form], list));
    return cut.rest ? gp_reduce_failed(context, plan, problem, &arguments) : GP_OK;
}
