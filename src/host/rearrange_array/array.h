/* SPDX-License-Identifier: Apache-2.0 */
/* From the arguments of gp_rearrange() to a move, and what a move is: questions that planning asks. Pure. */
#pragma once

#include "move.h"

/* Of checked arguments. count 0: there is nothing to be moved. */
void gp_move_make(gp_move *move, const gp_array *in, const gp_array *out, bool in_place);

/* Every element stays where it is, in place. */
bool gp_move_is_nothing(const gp_move *move);

/* A matrix, whose axes change places, as gp_transpose() has it; in place a square. */
bool gp_move_is_transpose(const gp_move *move);

/*
 * In place: every element changes places with one other, or stays. partner[i]: the axis whose stride of the output is
 * the size of axis i's stride of the input.
 */
bool gp_move_is_swap(const gp_move *move, uint8_t partner[GP_AXES]);

/*
 * In place: matrices without gaps between elements' places, axis[*cols].n columns and axis[*cols + 1].n rows of the
 * input, that become their transposes where they are. All other axes count matrices.
 */
bool gp_move_is_rectangle(const gp_move *move, unsigned *cols);
