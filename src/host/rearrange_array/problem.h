/* SPDX-License-Identifier: Apache-2.0 */
/* From the arguments of gp_rearrange() to a problem. */
#ifndef GP_REARRANGE_ARRAY_PROBLEM_H
#define GP_REARRANGE_ARRAY_PROBLEM_H

#include "../problem.h"
#include "move.h"

/*
 * Checks and fills in the move and a problem that points to it; as_matrix: where the move is a transpose of one
 * matrix, the problem is that instead.
 */
gp_status gp_problem_rearrange(gp_problem *problem, gp_move *move, const gp_array *in, const gp_array *out,
                               bool as_matrix);

#endif
