/* SPDX-License-Identifier: Apache-2.0 */
/* How the GPU rows that slide windows over views cut a box. */
#ifndef GP_WINDOW_ARRAY_FIT_H
#define GP_WINDOW_ARRAY_FIT_H

#include "../kernel.h"

GP_DECLARE_ROW(window_strip);
GP_DECLARE_ROW(window_any);

/* window_any, of what window_strip leaves. */
GP_C_LINKAGE gp_status gp_fit_window_failed(const gp_problem *problem, const gp_device *device, gp_tiling *tiling);

/* window_strip of minima and maxima. */
bool gp_window_fit_extremes(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling);

#endif
