/* SPDX-License-Identifier: Apache-2.0 */
/* Rearranging on the processor: the reference row, for any view. */
#include "cpu.h"

/* Lines of the last axis; in place element by element: of two that change places the one whose place in the output is
 * the first moves both. */
static void move_part(void *argument, unsigned part, unsigned parts) {
    const gp_move *move = argument;
    const uint64_t begin = gp_part_begin(move->count, part, parts), end = gp_part_begin(move->count, part + 1, parts);
    const unsigned last = move->rank - 1;
    gp_move_place place;
    gp_move_go_to(move, move->rank, begin, &place);
    for (uint64_t i = begin, n = 1; i < end; i += n, gp_move_next(move, move->rank, &place)) {
        if (move->in_place) {
            if (place.out < place.in)
                gp_swap_bytes(place.out, (unsigned char *)(uintptr_t)place.in, move->run);
        } else if (move->rank == 0) {
            memcpy(place.out, place.in, move->run);
        } else {
            const gp_move_axis *line = &move->axis[last];
            n = gp_least(end - i, line->n - place.at[last]);
            gp_gather((char *)place.out, (size_t)line->out, place.in, line->in, n, move->run);
            gp_move_skip(move, last, n - 1, &place);
        }
    }
}

/* Of one thread. */
#define BYTES_A_NS 2

gp_status gp_launch_rearrange_array_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const gp_move *move = problem->move;
    const uint64_t most = gp_least(plan->tiling.blocks, move->count);
    const unsigned parts = gp_threads_worth(context, gp_at_least_one(most), problem->bytes_written / BYTES_A_NS);
    gp_move work = *move;
    uint8_t partner[GP_AXES];
    unsigned cols = 0;
    if (move->in_place && !gp_move_is_swap(move, partner) && gp_move_is_rectangle(move, &cols))
        return gp_rearrange_rectangles(context, parts, move, cols);
    gp_threads_run(context, parts, move_part, &work);
    return GP_OK;
}
