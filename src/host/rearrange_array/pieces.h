/* SPDX-License-Identifier: Apache-2.0 */
/* A move whose elements are cut into pieces, and how a tile of it lies in shared memory. Pure. */
#pragma once

#include "cut.h"

#define SECTOR 32u /* bytes that memory writes whole */

/* Axis 0 is the pieces of an element; the move's axes follow from the last to the first. */
typedef struct gp_move_pieces {
    uint32_t axes, read;         /* read: those along which the input's address changes, */
    uint8_t by_in[GP_MOVE_AXES]; /* from the smallest stride to the largest */
    gp_move_axis axis[GP_MOVE_AXES];
} gp_move_pieces;

gp_move_pieces gp_move_pieces_of(const gp_move *move, uint32_t piece);

static inline uint64_t gp_move_distance(int64_t stride) {
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* Channels beside each other in the output: three words a few pixels; else they are apart there. */
static inline bool gp_move_joins_triples(const gp_move_pieces *p) {
    return p->axis[1].n == 3 && p->axis[2].out == 3 * p->axis[0].out;
}

/*
 * Pieces from one to the next along each axis in shared memory; how many there are in all. Direct: bytes in the
 * input.
 */
uint32_t gp_move_lay_out(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile,
                         int32_t shared[GP_MOVE_AXES]);

/* A walk's next digit, or more of its last. */
static inline void gp_move_put_digit(gp_move_walk *walk, uint32_t n, int64_t global, int32_t shared) {
    walk->units *= n;
    if (n == 1)
        return;
    gp_move_digit *digit = &walk->digit[walk->digits > 0 ? walk->digits - 1 : 0];
    if (walk->digits > 0 && digit->global * (int64_t)digit->n == global &&
        digit->shared * (int64_t)digit->n == shared) {
        digit->n *= n;
    } else {
        digit = &walk->digit[walk->digits++];
        *digit = (gp_move_digit){.n = n, .global = (int32_t)global, .shared = shared};
    }
    digit->magic = (uint32_t)((((uint64_t)1 << 32) + digit->n - 1) / digit->n);
}

/* ---- raw rows ---- */

/* Whether rows of both sides have no gaps between pieces. */
bool gp_move_raw_can(const gp_move_pieces *p);

/* A tile's rows on one side: how many axes, in the order of that side's strides, make one. */
typedef struct gp_move_row {
    uint32_t length; /* bytes in the input, pieces in the output */
    uint32_t axes;
    uint32_t part; /* output: of the last axis, where a row of all of it would be too long */
} gp_move_row;

gp_move_row gp_move_raw_out_row(const gp_move_pieces *p, const gp_move_form *form, const uint32_t *t);

/* The walks, and what else the kernel is told of rows; false if that is more than it has numbers for. */
bool gp_move_raw_walk(const gp_move_pieces *p, const gp_move_form *form, const gp_move_tile *tile, gp_move_cut *cut);
