/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over a move's elements in the order of the output. Pure: addresses are computed, never followed. */
#pragma once

#include "move.h"

/* Elements so far apart in the input, in whichever direction. */
static inline bool gp_move_is_apart(const gp_move_axis *axis, uint64_t apart) {
    return axis->in == (int64_t)apart || axis->in == -(int64_t)apart;
}

/* Walks an axis of a move from its other end if it goes down in the input: it then goes down in the output. */
static inline void gp_move_turn(gp_move_axis *axis, gp_move *of) {
    if (axis->in >= 0)
        return;
    of->in += (int64_t)(axis->n - 1) * axis->in;
    of->out += (int64_t)(axis->n - 1) * axis->out;
    axis->in = -axis->in;
    axis->out = -axis->out;
}

/* Where it stands. */
typedef struct gp_move_place {
    uint64_t at[GP_AXES];
    const unsigned char *in;
    unsigned char *out;
} gp_move_place;

/* Element number `index` of the first `axes` axes, the last of them fastest. */
static inline void gp_move_go_to(const gp_move *move, unsigned axes, uint64_t index, gp_move_place *place) {
    place->in = move->in;
    place->out = move->out;
    for (unsigned i = axes; i-- > 0; index /= move->axis[i].n) {
        place->at[i] = index % move->axis[i].n;
        place->in += (int64_t)place->at[i] * move->axis[i].in;
        place->out += (int64_t)place->at[i] * move->axis[i].out;
    }
}

/* So many steps on along one axis, which has them. */
static inline void gp_move_skip(const gp_move *move, unsigned axis, uint64_t steps, gp_move_place *place) {
    place->at[axis] += steps;
    place->in += (int64_t)steps * move->axis[axis].in;
    place->out += (int64_t)steps * move->axis[axis].out;
}

static inline void gp_move_next(const gp_move *move, unsigned axes, gp_move_place *place) {
    for (unsigned i = axes; i-- > 0;) {
        const gp_move_axis *axis = &move->axis[i];
        if (++place->at[i] < axis->n) {
            place->in += axis->in;
            place->out += axis->out;
            return;
        }
        place->at[i] = 0;
        place->in -= (int64_t)(axis->n - 1) * axis->in;
        place->out -= (int64_t)(axis->n - 1) * axis->out;
    }
}
