/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of reduce_many, and their launcher. */
#include "many.cuh"

static_assert(sizeof(many_space) <= GP_REDUCE_MANY_SPACE_BYTES, "reduce_many's part of the workspace");
static_assert(sizeof(integers_total) <= GP_REDUCE_MANY_STATE, "the largest state that blocks send");
static_assert(sizeof(lane_moments::state) <= GP_REDUCE_MANY_STATE, "the largest state that blocks send");

/* By gp_reduce_many_form. */
static const void *const kernels[GP_MANY_FORMS] = {
    (const void *)reduce_many<lane_bits>,        (const void *)reduce_many<lane_extremes<1>>,
    (const void *)reduce_many<lane_extremes<2>>, (const void *)reduce_many<lane_extremes<4>>,
    (const void *)reduce_many<lane_extremes<8>>, (const void *)reduce_many<lane_sum<1>>,
    (const void *)reduce_many<lane_sum<2>>,      (const void *)reduce_many<lane_sum<4>>,
    (const void *)reduce_many<lane_integers>,    (const void *)reduce_many<lane_floats<2>>,
    (const void *)reduce_many<lane_floats<4>>,   (const void *)reduce_many<lane_doubles<4>>,
    (const void *)reduce_many<lane_doubles<8>>,  (const void *)reduce_many<lane_moments>,
};

GP_DECLARE_LAUNCHER(gp_launch_reduce_many) {
    reduce_arguments arguments = gp_reduce_arguments(context, problem);
    gp_many_cut cut;
    memcpy(&cut, plan->tiling.t, sizeof cut);
    void *list[] = {&arguments, &cut};
    GP_TRY(gp_gpu_launch(context, plan, kernels[plan->tiling.form], list));
    return cut.rest ? gp_reduce_failed(context, plan, problem, &arguments) : GP_OK;
}
