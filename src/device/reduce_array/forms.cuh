/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of reduce_many and reduce_short, in the order of gp_reduce_many_form, and how one is launched. */
#pragma once

#include "finish.cuh"

/* WIDE: those of columns. */
#define GP_MANY_KERNELS(FORM, WIDE)                                                                                  \
    FORM(lane_bits), FORM(lane_extremes<1>), FORM(lane_extremes<2>), FORM(lane_extremes<4>), FORM(lane_extremes<8>), \
        FORM(lane_span<4>), FORM(lane_packed<lane_span<4>, 16>), WIDE(lane_wide<lane_span<4>, 16>),                  \
        FORM(lane_sum<1>), FORM(lane_sum<2>), FORM(lane_sum<4>), FORM(lane_sum<1, 4>), FORM(lane_sum<2, 2>),         \
        FORM(lane_packed<lane_sum<1, 4>, 16>), FORM(lane_packed<lane_sum<4>, 16>), WIDE(lane_bytes),                 \
        WIDE(lane_wide<lane_sum<1>, 4>), WIDE(lane_wide<lane_sum<2>, 4>), WIDE(lane_wide<lane_sum<4>, 16>),          \
        FORM(lane_squares<1>), FORM(lane_squares<1, 4>), WIDE(lane_wide<lane_squares<1>, 4>), FORM(lane_squares<2>), \
        FORM(lane_squares<2, 2>), FORM(lane_integers), WIDE(lane_whole_pairs), WIDE(lane_apart),                     \
        WIDE(lane_masked<lane_bits>), WIDE(lane_masked<lane_extremes<1>>), WIDE(lane_masked<lane_extremes<2>>),      \
        WIDE(lane_masked<lane_extremes<4>>), WIDE(lane_masked<lane_extremes<8>>), FORM(lane_floats<2>),              \
        FORM(lane_floats<4>), FORM(lane_packed<lane_floats<4>, 16>), WIDE(lane_wide<lane_floats<4>, 16>),            \
        FORM(lane_doubles<4>), FORM(lane_doubles<8>), WIDE(lane_dot), FORM(lane_twofold<0>), FORM(lane_twofold<8>),  \
        FORM(lane_moments<2>), FORM(lane_moments<4>), FORM(lane_packed<lane_moments<4>, 16>),                        \
        WIDE(lane_wide<lane_moments<4>, 8>)

/* For the host: the plan's form, and behind it what does again what was not proved. */
template <class CUT>
static gp_status launch_form(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                             const void *const kernels[GP_MANY_FORMS]) {
    reduce_arguments arguments = gp_reduce_arguments(context, problem);
    CUT cut;
    memcpy(&cut, plan->tiling.t, sizeof cut);
    void *list[] = {&arguments, &cut};
    GP_TRY(gp_gpu_launch(context, plan, kernels[plan->tiling.form], list));
    return cut.rest ? gp_reduce_failed(context, plan, problem, &arguments) : GP_OK;
}
