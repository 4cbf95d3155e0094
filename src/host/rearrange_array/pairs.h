/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves in place in which elements change places in pairs, cut into parts that do: boxes of indices, each of which
 * gets its elements from another one, which gets its own from it, or from itself. Of two such parts one is written to
 * the workspace, the other where it belongs, then the first is copied to its place. Pure.
 */
#pragma once

#include "move.h"

#define GP_PAIRS_BYTES ((size_t)6 << 20)     /* of a part, at most */
#define GP_PAIRS_LEAST ((uint64_t)512 << 10) /* bytes of a move that are worth it */
#define GP_PAIRS_SQUARE 16u /* rows of a square from which on rearrange_cycle is faster, see pays() */

typedef struct gp_pairs {
    uint8_t partner[GP_AXES]; /* the axis along which the input's step lies */
    uint32_t cuts[GP_AXES];   /* ranges that an axis is cut into: */
    uint64_t part[GP_AXES];   /* so many indices each but the last, or on an axis in reverse the one in the middle */
} gp_pairs;

typedef enum gp_pairs_step {
    GP_PAIRS_TO_SPACE,
    GP_PAIRS_STRAIGHT,
    GP_PAIRS_FROM_SPACE,
    GP_PAIRS_STEPS
} gp_pairs_step;

/* False: it is no such move, or other kernels are faster. piece: bytes, as gp_move_piece() has it. */
bool gp_pairs_make(gp_pairs *pairs, const gp_move *move, uint32_t piece);

/* The ranges that a part's elements come from; below 0: that part is the later one, 0: the part itself, above 0. */
int gp_pairs_other(const gp_pairs *pairs, const gp_move *move, const uint32_t at[GP_AXES], uint32_t other[GP_AXES]);

/* The next part; false: there is none. */
bool gp_pairs_next(const gp_pairs *pairs, const gp_move *move, uint32_t at[GP_AXES]);

/* A step of a part: its elements to the workspace, without gaps; to their places; from the workspace to these. */
void gp_pairs_move(const gp_pairs *pairs, const gp_move *move, const uint32_t at[GP_AXES], gp_pairs_step step,
                   unsigned char *space, gp_move *of_part);
