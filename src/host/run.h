/* SPDX-License-Identifier: Apache-2.0 */
/* From a checked problem to a result: decide where, plan (or reuse the last plan), launch or stage. */
#pragma once

#include "context.h"

gp_status gp_run(gp_context *context, gp_problem *problem);
