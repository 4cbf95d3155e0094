/* SPDX-License-Identifier: Apache-2.0 */
/* Large matrices, and squares in place: one after the other by the kernels that transpose one. */
#include "cpu.h"

#define PLANE_BYTES ((uint64_t)1 << 20) /* past the caches */
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
    const uint64_t high = plane.axis[1].n * plane.run;
    if (!plane.in_place && high >= 16 && gp_transpose_has_short_rows(plane.axis[1].n, plane.run))
        return false; /* which all matrices have together as one run */
    return plane.in_place ? stays && plane.count * plane.run >= SQUARE_BYTES : plane.count * plane.run >= PLANE_BYTES;
}

gp_status gp_launch_rearrange_array_planes(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    gp_move plane, others;
    gp_move_place place;
    (void)plan;
    (void)find_plane(problem->move, &plane, &others);
    const gp_move_axis *col = &plane.axis[0], *row = &plane.axis[1];
    gp_move_go_to(&others, others.rank, 0, &place);
    for (uint64_t i = 0; i < others.count; i++, gp_move_next(&others, others.rank, &place)) {
        gp_problem one;
        gp_plan its;
        GP_TRY(gp_problem_transpose(&one, plane.run, place.in, row->n, col->n, (size_t)row->in / plane.run, place.out,
                                    (size_t)col->out / plane.run));
        if (!gp_plan_make(&one, &context->device, gp_primitive_rows(&gp_primitive_rearrange), (gp_pin){0}, &its,
                          NULL))
            return gp_fail(GP_ERR_NO_KERNEL, "no kernel can transpose a matrix");
        GP_TRY(its.row->launch(context, &its, &one));
    }
    return GP_OK;
}
