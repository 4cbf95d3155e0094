/* SPDX-License-Identifier: Apache-2.0 */
/* Moves in canonical form, and what they are. Pure: addresses are computed, never followed. */
#include "../axes.h"
#include "array.h"
#include <stddef.h>
#include <string.h>

enum { OUT, IN, VIEWS };

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
    const uint64_t bytes = gp_type_bytes((unsigned)in->type) + in->elem_bytes; /* one of them is 0 */
    uintptr_t origin[GP_VIEWS_MAX] = {(uintptr_t)out->data, (uintptr_t)in->data};
    gp_axis axis[GP_AXES];
    gp_axes axes = {.count = 0};
    memset(move, 0, offsetof(gp_move, axis));
    move->run = bytes;
    move->count = 1;
    move->in_place = in_place;
    for (unsigned i = 0; i < in->rank; i++)
        move->count *= in->extent[i];
    for (unsigned i = in->rank; i-- > 0 && move->count > 0;)
        if (in->extent[i] != 1) {
            axis[i].n = in->extent[i];
            axis[i].alone = false;
            axis[i].stride[OUT] = gp_stride_times(out->stride[i], bytes);
            axis[i].stride[IN] = gp_stride_times(in->stride[i], bytes);
            gp_axis_turn(&axis[i], origin, VIEWS);
            gp_axes_insert(&axes, &axis[i]);
        }
    gp_axes_fuse(&axes, VIEWS);
    move->out = (unsigned char *)origin[OUT];
    move->in = (const unsigned char *)origin[IN];
    move->rank = axes.count;
    for (unsigned i = 0; i < axes.count; i++)
        move->axis[i] = (gp_move_axis){axes.at[i]->n, axes.at[i]->stride[IN], axes.at[i]->stride[OUT]};
    lengthen(move);
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
    return col->in == row->out && row->in == gp_stride_times(col->in, col->n) &&
           col->out == gp_stride_times(row->out, row->n);
}
