/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../gpu.h"

/* A move in place, of which pairs of parts change places by way of the workspace. */
GP_C_LINKAGE gp_status gp_rearrange_pairs(gp_context *context, const gp_plan *plan, const gp_problem *problem);
