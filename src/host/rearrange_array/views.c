/* SPDX-License-Identifier: Apache-2.0 */
/* Moves in canonical form, and what they are. Pure: addresses are computed, never followed. */
#include "../reduce_array/pass.h"
#include "array.h"
#include <stddef.h>
#include <string.h>

static int64_t times(int64_t a, uint64_t b) {
    return (int64_t)((uint64_t)a * b);
}

/* An axis is walked from its other end if the output's stride is negative; axes stand by falling stride of it. */
static void insert(gp_move *move, gp_move_axis axis) {
    const int64_t steps = (int64_t)axis.n - 1;
    if (axis.out < 0) {
        move->in += steps * axis.in;
        move->out += steps * axis.out;
        axis.in = -axis.in;
        axis.out = -axis.out;
    }
    unsigned at = move->rank++;
    for (; at > 0 && move->axis[at - 1].out < axis.out; at--)
        move->axis[at] = move->axis[at - 1];
    move->axis[at] = axis;
}

/* A step along the outer axis that is a whole walk along the inner one. */
static void fuse(gp_move *move) {
    unsigned last = 0;
    for (unsigned i = 1; i < move->rank; i++) {
        gp_move_axis *outer = &move->axis[last], inner = move->axis[i];
        if (outer->out == times(inner.out, inner.n) && outer->in == times(inner.in, inner.n)) {
            inner.n *= outer->n;
            *outer = inner;
        } else {
            move->axis[++last] = inner;
        }
    }
    move->rank = move->rank > 0 ? last + 1 : 0;
}

/* What lies one behind the other in both views is one longer element. */
static void lengthen(gp_move *move) {
    if (move->rank == 0)
        return;
    const gp_move_axis *last = &move->axis[move->rank - 1];
    if (last->in != (int64_t)move->run || last->out != last->in)
        return;
    move->run *= last->n;
    move->count /= last->n;
    move->rank--;
}

void gp_move_make(gp_move *move, const gp_array *in, const gp_array *out, bool in_place) {
    const uint64_t bytes = in->type == GP_BYTES ? in->elem_bytes : gp_type_bytes((unsigned)in->type);
    memset(move, 0, offsetof(gp_move, axis));
    move->run = bytes;
    move->count = 1;
    move->in_place = in_place;
    move->in = in->data;
    move->out = out->data;
    for (unsigned axis = 0; axis < in->rank; axis++)
        move->count *= in->extent[axis];
    for (unsigned axis = 0; axis < in->rank && move->count > 0; axis++)
        if (in->extent[axis] != 1)
            insert(move,
                   (gp_move_axis){in->extent[axis], times(in->stride[axis], bytes), times(out->stride[axis], bytes)});
    fuse(move);
    lengthen(move);
}

bool gp_move_same_shape(const gp_move *a, const gp_move *b) {
    return memcmp(a, b, offsetof(gp_move, axis)) == 0 && memcmp(a->axis, b->axis, a->rank * sizeof *a->axis) == 0;
}

gp_move_span gp_move_span_of(const gp_move *move, bool out) {
    gp_move_span span = {out ? move->out : (unsigned char *)(uintptr_t)move->in, move->run};
    for (unsigned i = 0; i < move->rank; i++) {
        const gp_move_axis *axis = &move->axis[i];
        const int64_t walk = (int64_t)(axis->n - 1) * (out ? axis->out : axis->in);
        if (walk < 0)
            span.begin += walk;
        span.bytes += (size_t)(walk < 0 ? -walk : walk);
    }
    return span;
}

bool gp_move_is_nothing(const gp_move *move) {
    bool stays = move->in_place;
    for (unsigned i = 0; i < move->rank; i++)
        stays = stays && move->axis[i].in == move->axis[i].out;
    return stays;
}

/* Longer elements are copied one by one. */
#define LONG_BYTES 128

bool gp_move_is_transpose(const gp_move *move) {
    const gp_move_axis *col = &move->axis[0], *row = &move->axis[1];
    const uint64_t run = move->run;
    return move->rank == 2 && run <= LONG_BYTES && col->in == (int64_t)run && row->out == (int64_t)run &&
           row->in > 0 && (uint64_t)row->in % run == 0 && (uint64_t)row->in / run >= col->n &&
           (uint64_t)col->out % run == 0 && (!move->in_place || col->n == row->n);
}

bool gp_move_is_swap(const gp_move *move, uint8_t partner[GP_AXES]) {
    for (unsigned i = 0; i < move->rank; i++) {
        const int64_t in = move->axis[i].in;
        unsigned other = 0;
        while (other < move->rank && move->axis[other].out != (in < 0 ? -in : in))
            other++;
        if (!move->in_place || other == move->rank || move->axis[other].n != move->axis[i].n)
            return false;
        partner[i] = (uint8_t)other;
    }
    for (unsigned i = 0; i < move->rank; i++)
        if (partner[partner[i]] != i || (move->axis[i].in < 0) != (move->axis[partner[i]].in < 0))
            return false;
    return move->in_place;
}

bool gp_move_is_rectangle(const gp_move *move, unsigned *cols) {
    unsigned first = 0, moved = 0;
    for (unsigned i = move->rank; i-- > 0;)
        if (move->axis[i].in != move->axis[i].out) {
            first = i;
            moved++;
        }
    if (!move->in_place || moved != 2 || first + 1 >= move->rank)
        return false;
    const gp_move_axis *col = &move->axis[first], *row = col + 1;
    *cols = first;
    return col->in == row->out && row->in == times(col->in, col->n) && col->out == times(row->out, row->n);
}
