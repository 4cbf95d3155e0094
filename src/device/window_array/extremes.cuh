/* SPDX-License-Identifier: Apache-2.0 */
/* What window_strip's launcher shares with its kernels of extremes and of floats. */
#pragma once

#include "../../host/kernel.h"
#include "strip.cuh"

struct extremes_arguments {
    gp_window_box box;
    gp_extremes_cut cut;
    uint32_t stores; /* bit r: a thread's elements of result r are stored at once */
};

gp_status gp_window_launch_extremes(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                                    uint32_t stores);
gp_status gp_window_launch_floats(gp_context *context, const gp_plan *plan, const gp_problem *problem);
