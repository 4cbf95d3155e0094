/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves in place in which elements change places in pairs, cut into parts that do: boxes of indices, each of which
 * gets its elements from another one, which gets its own from it, or from itself. Of two such parts one is written to
 * some other memory, the other where it belongs, then the first is copied to its place.
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

/* False: it is no such move, or no part has room. */
bool gp_pairs_make(gp_pairs *pairs, const gp_move *move, size_t room);

/* The ranges that a part's elements come from; below 0: that part is the later one, 0: the part itself, above 0. */
int gp_pairs_other(const gp_pairs *pairs, const gp_move *move, const uint32_t at[GP_AXES], uint32_t other[GP_AXES]);

/* The next part; false: there is none. */
bool gp_pairs_next(const gp_pairs *pairs, const gp_move *move, uint32_t at[GP_AXES]);

/* A step of a part: its elements to the other memory, without gaps; to their places; from there to these. */
void gp_pairs_move(const gp_pairs *pairs, const gp_move *move, const uint32_t at[GP_AXES], gp_pairs_step step,
                   unsigned char *space, gp_move *of_part);

/* A move of a step, and its plan. */
typedef struct gp_pairs_last {
    gp_move move;
    gp_problem problem;
    gp_plan plan;
} gp_pairs_last;

/* The last of each step, as most parts have the shape of the one before, and the one under way. All zeros at first.
 */
#define GP_PAIRS_LAST (GP_PAIRS_STEPS + 1)

/* All steps of a part, by rows of which the last can do anything; nothing if it is the later one of two. */
gp_status gp_pairs_exchange(gp_context *context, const gp_device *device, gp_rows rows, const gp_problem *whole,
                            const gp_pairs *pairs, const uint32_t at[GP_AXES], unsigned char *space,
                            gp_pairs_last last[GP_PAIRS_LAST]);
