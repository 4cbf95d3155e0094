/* SPDX-License-Identifier: Apache-2.0 */
/* A primitive that is not shipped. */
#pragma once

#include "../../src/host/primitive.h"

#define NEGATE_OPERATION 77

extern const gp_primitive gp_primitive_negate;

gp_status negate_problem(gp_problem *problem, const int32_t *in, size_t n, int32_t *out);
gp_status negate(gp_context *context, const int32_t *in, size_t n, int32_t *out);
