/* SPDX-License-Identifier: Apache-2.0 */
/* From a move of one matrix to the transpose that it is. Pure. */
#include "matrix.h"

void gp_move_transpose(gp_problem *problem, const gp_move *matrix, const unsigned char *in, unsigned char *out) {
    const gp_move_axis *col = &matrix->axis[0], *row = &matrix->axis[1];
    gp_problem_make_transpose(problem, matrix->run, in, row->n, col->n, (size_t)row->in / matrix->run, out,
                              (size_t)col->out / matrix->run, matrix->in_place);
}
