/* SPDX-License-Identifier: Apache-2.0 */
/* How moves in place are cut into parts, pure; and the steps of one, planned and run. */
#include "pairs.h"
#include "../arithmetic.h"
#include "../primitive.h"
#include "../status.h"
#include "array.h"
#include <string.h>

static bool is_swapped(const gp_pairs *pairs, unsigned axis) {
    return pairs->partner[axis] != axis;
}

/* Indices of the longest range: the middle one of an axis in reverse may be nearly twice as long as others. */
static uint64_t longest(const gp_pairs *pairs, const gp_move *move, unsigned axis) {
    const uint64_t n = move->axis[axis].n, part = pairs->part[axis];
    return part < n && move->axis[axis].in < 0 ? gp_least(2 * part - 1, n) : part;
}

static uint64_t bytes_of(const gp_pairs *pairs, const gp_move *move) {
    uint64_t bytes = move->run;
    for (unsigned i = 0; i < move->rank; i++)
        bytes = gp_times(bytes, longest(pairs, move, i));
    return bytes;
}

/* Long parts are multiples of 16 indices, so that all begin as well aligned. */
static uint64_t even(uint64_t part) {
    return part < 32 ? part : part / 16 * 16;
}

/* Axes that stay where they are are cut first, then those in reverse, then pairs of axes. */
static void cut(gp_pairs *pairs, const gp_move *move) {
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; i < move->rank; i++) {
            const gp_move_axis *axis = &move->axis[i];
            if (is_swapped(pairs, i) || (axis->in < 0) != (turn == 1))
                continue;
            const uint64_t one = bytes_of(pairs, move) / axis->n,
                           most = gp_at_least_one(pairs->room / one / (axis->in < 0 ? 2 : 1));
            if (pairs->room / one < axis->n)
                pairs->part[i] = even(most);
        }
    for (unsigned i = 0; i < move->rank; i++) {
        uint64_t part = pairs->part[i];
        while (is_swapped(pairs, i) && part > 1 && bytes_of(pairs, move) > pairs->room) {
            part -= gp_divide_up(part, 8);
            pairs->part[i] = pairs->part[pairs->partner[i]] = even(part);
        }
    }
}

bool gp_pairs_make(gp_pairs *pairs, const gp_move *move, size_t room) {
    if (move->rank == GP_AXES || !gp_move_is_swap(move, pairs->partner))
        return false;
    pairs->room = room;
    for (unsigned i = 0; i < move->rank; i++)
        pairs->part[i] = move->axis[i].n;
    cut(pairs, move);
    for (unsigned i = 0; i < move->rank; i++) {
        const uint64_t n = move->axis[i].n, part = pairs->part[i], twos = n / (2 * part);
        const bool halves = part < n && move->axis[i].in < 0;
        pairs->cuts[i] = gp_to_u32(halves ? 2 * twos + (n > 2 * part * twos) : gp_divide_up(n, part));
    }
    return bytes_of(pairs, move) <= pairs->room;
}

int gp_pairs_other(const gp_pairs *pairs, const gp_move *move, const uint32_t at[GP_AXES], uint32_t other[GP_AXES]) {
    int order = 0;
    for (unsigned i = 0; i < move->rank; i++)
        other[pairs->partner[i]] = move->axis[i].in < 0 ? pairs->cuts[i] - 1 - at[i] : at[i];
    for (unsigned i = 0; i < move->rank && order == 0; i++)
        order = (at[i] > other[i]) - (at[i] < other[i]);
    return order;
}

bool gp_pairs_next(const gp_pairs *pairs, const gp_move *move, uint32_t at[GP_AXES]) {
    for (unsigned i = move->rank; i-- > 0; at[i] = 0)
        if (++at[i] < pairs->cuts[i])
            return true;
    return false;
}

/* Where range `at` of an axis begins, and its indices: one in reverse has the same ranges from both ends. */
static uint64_t range_of(const gp_pairs *pairs, const gp_move *move, unsigned axis, uint32_t at, uint64_t *indices) {
    const uint64_t n = move->axis[axis].n, part = pairs->part[axis];
    const uint32_t cuts = pairs->cuts[axis];
    const bool halves = move->axis[axis].in < 0 && cuts > 1;
    const uint64_t begin = halves && at >= cuts - cuts / 2 ? n - (cuts - at) * part : at * part;
    *indices = halves && cuts % 2 == 1 && at == cuts / 2 ? n - 2 * begin : gp_least(part, n - begin);
    return begin;
}

void gp_pairs_move(const gp_pairs *pairs, const gp_move *move, const uint32_t at[GP_AXES], gp_pairs_step step,
                   unsigned char *space, gp_move *of_part) {
    const unsigned rank = move->rank;
    gp_array in = {.data = NULL, .type = GP_BYTES, .rank = rank + 1, .elem_bytes = 1}, out;
    in.extent[rank] = move->run;
    in.stride[rank] = 1;
    out = in;
    const unsigned char *from = move->in;
    unsigned char *to = move->out;
    size_t dense = move->run; /* bytes from one to the next in the other memory */
    for (unsigned i = rank; i-- > 0;) {
        uint64_t n;
        const uint64_t begin = range_of(pairs, move, i, at[i], &n);
        from += (int64_t)begin * move->axis[i].in;
        to += (int64_t)begin * move->axis[i].out;
        in.extent[i] = out.extent[i] = n;
        in.stride[i] = step == GP_PAIRS_FROM_SPACE ? (ptrdiff_t)dense : move->axis[i].in;
        out.stride[i] = step == GP_PAIRS_TO_SPACE ? (ptrdiff_t)dense : move->axis[i].out;
        dense *= n;
    }
    in.data = (void *)(uintptr_t)(step == GP_PAIRS_FROM_SPACE ? space : from);
    out.data = step == GP_PAIRS_TO_SPACE ? space : to;
    gp_move_make(of_part, &in, &out, false);
}

#define ALIGNED 16u /* bytes; what lies better is planned alike */

static bool same_plan(const gp_pairs_last *a, const gp_pairs_last *b) {
    return b->plan.row != NULL && a->problem.in_align == b->problem.in_align &&
           a->problem.out_align == b->problem.out_align && a->problem.primitive->same_shape(&a->problem, &b->problem);
}

static gp_status run(gp_context *context, const gp_device *device, gp_rows rows, gp_pairs_last *now,
                     gp_pairs_last *last) {
    gp_problem *const problem = &now->problem;
    problem->primitive->derive(problem);
    problem->in_align = gp_to_u32(gp_least(problem->in_align, ALIGNED));
    problem->out_align = gp_to_u32(gp_least(problem->out_align, ALIGNED));
    if (same_plan(now, last))
        now->plan = last->plan;
    else
        (void)gp_plan_make(problem, device, rows, (gp_pin){0}, &now->plan, NULL);
    *last = *now;
    last->problem.move = &last->move;
    return last->plan.row->launch(context, &last->plan, &last->problem);
}

gp_status gp_pairs_exchange(gp_context *context, const gp_device *device, gp_rows rows, const gp_problem *whole,
                            const gp_pairs *pairs, const uint32_t at[GP_AXES], unsigned char *space,
                            gp_pairs_last last[GP_PAIRS_LAST]) {
    uint32_t other[GP_AXES];
    const int order = gp_pairs_other(pairs, whole->move, at, other);
    gp_pairs_last *const now = &last[GP_PAIRS_STEPS];
    for (unsigned step = 0; step < GP_PAIRS_STEPS && order <= 0; step++) {
        if (step == GP_PAIRS_STRAIGHT && order == 0)
            continue;
        now->problem = *whole;
        now->problem.move = &now->move;
        gp_pairs_move(pairs, whole->move, step == GP_PAIRS_STRAIGHT ? other : at, (gp_pairs_step)step, space,
                      &now->move);
        GP_TRY(run(context, device, rows, now, &last[step]));
    }
    return GP_OK;
}
