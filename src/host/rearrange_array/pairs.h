/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves in place whose elements change places in pairs, because two axes change places or an axis is reversed: done
 * part by part. A part is a box of indices. The elements that belong into it lie in one other box, whose own lie in
 * the part; or all in the part itself. The part's go to a buffer, the other box's straight to where they belong, then
 * the buffer's into the part. Each of these steps is a move between two memories, which other rows do.
 */
#pragma once

#include "../plan.h"
#include "move.h"

typedef struct gp_pairs {
    size_t room;              /* bytes of a part, at most */
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

/* Pure. False: the elements do not change places in pairs, or no part has room. */
bool gp_pairs_make(gp_pairs *pairs, const gp_move *move, size_t room);

/*
 * at[]: a part, the number of its range on each axis; zeros: the first. other[]: the box where its elements lie.
 * Returns less than 0 where the part comes before that box in the order of gp_pairs_next(), 0 where it is that box.
 */
int gp_pairs_other(const gp_pairs *pairs, const gp_move *move, const uint32_t at[GP_AXES], uint32_t other[GP_AXES]);

/* The next part; false: there is none. */
bool gp_pairs_next(const gp_pairs *pairs, const gp_move *move, uint32_t at[GP_AXES]);

/* Fills in the move that one step of a part is. space: the buffer, in which the part has no gaps. */
void gp_pairs_move(const gp_pairs *pairs, const gp_move *move, const uint32_t at[GP_AXES], gp_pairs_step step,
                   unsigned char *space, gp_move *of_part);

/* A move of a step, and its plan. */
typedef struct gp_pairs_last {
    gp_move move;
    gp_problem problem;
    gp_plan plan;
} gp_pairs_last;

/* One for each step, so that its plan serves the next part of the same shape, and one under way. Zeros at first. */
#define GP_PAIRS_LAST (GP_PAIRS_STEPS + 1)

/* All steps of a part; nothing where `other` comes first. rows: plan the steps; the last of them can do any move. */
gp_status gp_pairs_exchange(gp_context *context, const gp_device *device, gp_rows rows, const gp_problem *whole,
                            const gp_pairs *pairs, const uint32_t at[GP_AXES], unsigned char *space,
                            gp_pairs_last last[GP_PAIRS_LAST]);
