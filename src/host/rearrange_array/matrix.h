/* SPDX-License-Identifier: Apache-2.0 */
/* Moves that gp_transpose()'s kernels do. */
#ifndef GP_REARRANGE_ARRAY_MATRIX_H
#define GP_REARRANGE_ARRAY_MATRIX_H

#include "../problem.h"
#include "move.h"

/* The transpose that a move of one matrix is, of memory that it may begin elsewhere in. */
static inline void gp_move_transpose(gp_problem *problem, const gp_move *matrix, const unsigned char *in,
                                     unsigned char *out) {
    const gp_move_axis *col = &matrix->axis[0], *row = &matrix->axis[1];
    gp_problem_make_transpose(problem, matrix->run, in, row->n, col->n, (size_t)row->in / matrix->run, out,
                              (size_t)col->out / matrix->run, matrix->in_place);
}

#endif
