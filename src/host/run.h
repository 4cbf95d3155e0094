/* SPDX-License-Identifier: Apache-2.0 */
/* From a checked problem to a result: decide where, plan (or reuse the last plan), launch or stage. */
#ifndef GP_RUN_H
#define GP_RUN_H

#include "context.h"

gp_status gp_run(gp_context *context, gp_problem *problem);

/* Plans for the context's device and remembers the plan; GP_ERR_NO_KERNEL in words if no row fits. */
gp_status gp_run_plan(gp_context *context, const gp_problem *problem);

#endif
