/* SPDX-License-Identifier: Apache-2.0 */
/* Large matrices, and squares in place: one after the other by the kernels that transpose one. */
#include "cpu.h"
#include "problem.h"
#include <stdlib.h>

#define PLANE_BYTES ((uint64_t)256 << 10)
#define THIN_BYTES ((uint64_t)64 << 10) /* of one with a side of a few elements, such as a picture */
#define SQUARE_BYTES ((uint64_t)16 << 10)

/* The move's matrices: axes of their columns and their rows; all others count them. */
static bool find_plane(const gp_move *move, gp_move *plane, gp_move *others) {
    unsigned col = 0;
    const unsigned row = move->rank - 1;
    if (move->rank < 3)
        return false;
    while (col < row && move->axis[col].in != (int64_t)move->run)
        col++;
    *plane = *others = *move;
    plane->axis[0] = move->axis[col];
    plane->axis[1] = move->axis[row];
    plane->rank = 2;
    plane->count = plane->axis[0].n * plane->axis[1].n;
    others->rank = 0;
    for (unsigned i = 0; i < row; i++)
        if (i != col)
            others->axis[others->rank++] = move->axis[i];
    others->count = move->count / plane->count;
    return col < row && move->run < GP_CACHE_LINE && gp_move_is_transpose(plane) &&
           plane->axis[0].out >= (int64_t)(plane->axis[1].n * move->run);
}

bool gp_rearrange_planes_supports(const gp_problem *problem) {
    gp_move plane, others;
    if (!find_plane(problem->move, &plane, &others))
        return false;
    bool stays = true;
    for (unsigned i = 0; i < others.rank; i++)
        stays = stays && others.axis[i].in == others.axis[i].out;
    const uint64_t bytes = plane.count * plane.run, rows = plane.axis[1].n;
    const bool thin = gp_least(rows, plane.axis[0].n) * plane.run < 16;
    if (!plane.in_place && !thin && gp_transpose_has_short_rows(rows, plane.run))
        return false; /* which all matrices have together as one run */
    return plane.in_place ? stays && bytes >= SQUARE_BYTES : bytes >= (thin ? THIN_BYTES : PLANE_BYTES);
}

typedef struct {
    uint64_t bytes;   /* of all matrices: each goes past the caches if they do */
    gp_device device; /* of which a part uses one thread */
    gp_move plane, others;
} job;

/* Of the transposes' rows the last can do anything, and none fails. */
static void transpose_some(gp_context *context, const job *j, uint64_t begin, uint64_t end) {
    gp_move_place place;
    gp_move_go_to(&j->others, j->others.rank, begin, &place);
    for (uint64_t i = begin; i < end; i++, gp_move_next(&j->others, j->others.rank, &place)) {
        gp_problem one;
        gp_plan plan;
        gp_move_transpose(&one, &j->plane, place.in, place.out);
        one.bytes_written = j->bytes;
        (void)gp_plan_make(&one, &context->device, gp_primitive_rows(&gp_primitive_rearrange), (gp_pin){0}, &plan,
                           NULL);
        (void)plan.row->launch(context, &plan, &one);
    }
}

/* A part's matrices, with a context of its own. */
static void planes_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    const uint64_t count = j->others.count;
    gp_context alone = {.device = j->device};
    transpose_some(&alone, j, gp_part_begin(count, part, parts), gp_part_begin(count, part + 1, parts));
    free(alone.lines);
}

/* Of one thread, past its core's own cache. */
#define BYTES_A_NS 5

/* Many matrices are dealt to the threads; few are done one by one, by all of them. */
gp_status gp_launch_rearrange_array_planes(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    job j = {.bytes = problem->bytes_written, .device = context->device};
    j.device.cpu_threads = 1;
    (void)find_plane(problem->move, &j.plane, &j.others);
    const unsigned parts = gp_threads_worth(context, plan->tiling.blocks, problem->bytes_written / BYTES_A_NS);
    if (parts == 1 || j.others.count < 4 * (uint64_t)parts)
        transpose_some(context, &j, 0, j.others.count);
    else
        gp_threads_run(context, parts, planes_part, &j);
    return GP_OK;
}
