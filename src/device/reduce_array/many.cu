/* SPDX-License-Identifier: Apache-2.0 */
/* Launches reduce_many, and what follows where it or reduce_short has not proved all. */
#include "../../host/reduce_array/fit.h"
#include "forms.cuh"
#include "many.cuh"

static_assert(sizeof(many_space) <= GP_REDUCE_MANY_SPACE_BYTES, "reduce_many's part of the workspace");
static_assert(sizeof(integers_total) <= GP_REDUCE_MANY_STATE, "the largest state that blocks send");
static_assert(sizeof(lane_wide<lane_floats<4>, 16>::joined) <= GP_REDUCE_MANY_STATE, "the largest state");
static_assert(sizeof(lane_bytes::joined) <= GP_REDUCE_MANY_STATE, "the largest state");
static_assert(sizeof(sum_state) * 16 <= GP_REDUCE_MANY_STATE * 2, "parts of 16 columns");
static_assert(sizeof(lane_wide<lane_moments<4>, 8>::joined) <= GP_REDUCE_MANY_STATE, "the largest state");
static_assert(sizeof(twofold_state) <= GP_REDUCE_MANY_STATE, "the largest state");

#define FORM(...) (const void *)reduce_many<__VA_ARGS__>

static const void *const kernels[GP_MANY_FORMS] = {GP_MANY_KERNELS(FORM, FORM)};

gp_status gp_reduce_failed(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                           reduce_arguments *arguments) {
    gp_plan some = *plan;
    memset(&some.tiling, 0, sizeof some.tiling);
    GP_TRY(gp_fit_reduce_failed(problem, &context->planned_on, &some.tiling, &arguments->again));
    return arguments->again ? gp_reduce_all(context, &some, arguments)
                            : gp_reduce_any_failed(context, &some, arguments);
}

GP_DECLARE_LAUNCHER(gp_launch_reduce_many) {
    return launch_form<gp_many_cut>(context, plan, problem, kernels);
}
