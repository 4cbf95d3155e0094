/* SPDX-License-Identifier: Apache-2.0 */
/* From the arguments of gp_rearrange() to a problem, and from a move of one matrix. */
#pragma once

#include "../problem.h"
#include "move.h"

/*
 * Checks and fills in the move and a problem that points to it; as_matrix: where the move is a transpose of one
 * matrix, the problem is that instead.
 */
gp_status gp_problem_rearrange(gp_problem *problem, gp_move *move, const gp_array *in, const gp_array *out,
                               bool as_matrix);

/* The transpose that a move of one matrix is, of memory that it may begin elsewhere in. */
static inline void gp_move_transpose(gp_problem *problem, const gp_move *matrix, const unsigned char *in,
                                     unsigned char *out) {
    const gp_move_axis *col = &matrix->axis[0], *row = &matrix->axis[1];
    gp_problem_make_transpose(problem, matrix->run, in, row->n, col->n, (size_t)row->in / matrix->run, out,
                              (size_t)col->out / matrix->run, matrix->in_place);
}
