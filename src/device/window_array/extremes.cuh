/* SPDX-License-Identifier: Apache-2.0 */
/* What window_strip's launcher shares with its kernels of extremes and of floats. */
#ifndef GP_WINDOW_ARRAY_EXTREMES_CUH
#define GP_WINDOW_ARRAY_EXTREMES_CUH

#include "../../host/kernel.h"
#include "../../host/window_array/box.h"
#include "../../host/window_array/tiling.h"
#include "../gpu.h"
#include "../warp.cuh"

struct extremes_arguments {
    gp_window_box box;
    gp_extremes_cut cut;
};

gp_status gp_window_launch_extremes(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_window_launch_floats(gp_context *context, const gp_plan *plan, const gp_problem *problem);

#endif
