/* SPDX-License-Identifier: Apache-2.0 */
/* Moves that gp_transpose()'s kernels do. */
#ifndef GP_REARRANGE_ARRAY_MATRIX_H
#define GP_REARRANGE_ARRAY_MATRIX_H

#include "../problem.h"
#include "move.h"

/* The transpose that a move of one matrix is, of memory that it may begin elsewhere in. */
void gp_move_transpose(gp_problem *problem, const gp_move *matrix, const unsigned char *in, unsigned char *out);

#endif
