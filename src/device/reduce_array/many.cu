/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of reduce_many, and their launcher. */
#include "../../host/reduce_array/fit.h"
#include "many.cuh"

static_assert(sizeof(many_space) <= GP_REDUCE_MANY_SPACE_BYTES, "reduce_many's part of the workspace");
static_assert(sizeof(integers_total) <= GP_REDUCE_MANY_STATE, "the largest state that blocks send");
static_assert(sizeof(lane_wide<lane_floats<4>, 16>::state) <= GP_REDUCE_MANY_STATE, "the largest state");
static_assert(sizeof(moments_state) <= GP_REDUCE_MANY_STATE, "the largest state that blocks send");

#define FORM(...) (const void *)reduce_many<__VA_ARGS__>

/* By gp_reduce_many_form. */
static const void *const kernels[GP_MANY_FORMS] = {
    FORM(lane_bits),
    FORM(lane_extremes<1>),
    FORM(lane_extremes<2>),
    FORM(lane_extremes<4>),
    FORM(lane_extremes<8>),
    FORM(lane_span<4>),
    FORM(lane_packed<lane_span<4>, 16>),
    FORM(lane_wide<lane_span<4>, 16>),
    FORM(lane_sum<1>),
    FORM(lane_sum<2>),
    FORM(lane_sum<4>),
    FORM(lane_sum<1, 4>),
    FORM(lane_sum<2, 2>),
    FORM(lane_packed<lane_sum<4>, 16>),
    FORM(lane_wide<lane_sum<1>, 4>),
    FORM(lane_wide<lane_sum<2>, 4>),
    FORM(lane_wide<lane_sum<4>, 16>),
    FORM(lane_integers),
    FORM(lane_floats<2>),
    FORM(lane_floats<4>),
    FORM(lane_packed<lane_floats<4>, 16>),
    FORM(lane_wide<lane_floats<4>, 16>),
    FORM(lane_doubles<4>),
    FORM(lane_doubles<8>),
    FORM(lane_moments<2>),
    FORM(lane_moments<4>),
    FORM(lane_packed<lane_moments<4>, 16>),
};

gp_status gp_reduce_failed(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                           reduce_arguments *arguments) {
    gp_plan some = *plan;
    memset(&some.tiling, 0, sizeof some.tiling);
    GP_TRY(gp_fit_reduce_failed(problem, &context->planned_on, &some.tiling, &arguments->again));
    return arguments->again ? gp_reduce_all(context, &some, arguments)
                            : gp_reduce_any_failed(context, &some, arguments);
}

GP_DECLARE_LAUNCHER(gp_launch_reduce_many) {
    reduce_arguments arguments = gp_reduce_arguments(context, problem);
    gp_many_cut cut;
    memcpy(&cut, plan->tiling.t, sizeof cut);
    void *list[] = {&arguments, &cut};
    GP_TRY(gp_gpu_launch(context, plan, kernels[plan->tiling.form], list));
    return cut.rest ? gp_reduce_failed(context, plan, problem, &arguments) : GP_OK;
}
