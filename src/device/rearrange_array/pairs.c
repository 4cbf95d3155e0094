/* SPDX-License-Identifier: Apache-2.0 */
/* Moves in place part by part: each step of a part is a move between two memories, planned as one. */
#include "pairs.h"
#include "../../host/arithmetic.h"
#include "../../host/plan.h"
#include "../../host/rearrange_array/cut.h"
#include "../../host/rearrange_array/cycle.h"
#include "../../host/rearrange_array/pairs.h"

#define ROWS 3 /* rearrange_tile, and behind it the other rows of the GPU: the last can do anything */

#define ALIGNED 16u /* bytes; what lies better is planned alike */

_Static_assert(GP_PAIRS_BYTES <= GP_CYCLE_SPACE_BYTES, "a part has room in the workspace");

/* The last move of a step, and its plan: most parts have the shape of the one before. */
typedef struct {
    gp_move move;
    gp_problem problem;
    gp_plan plan;
} step;

static bool same_shape(const step *a, const step *b) {
    return a->problem.in_align == b->problem.in_align && a->problem.out_align == b->problem.out_align &&
           memcmp(&a->move, &b->move, offsetof(gp_move, axis)) == 0 &&
           memcmp(a->move.axis, b->move.axis, a->move.rank * sizeof *a->move.axis) == 0;
}

static gp_status run(gp_context *context, step *now, step *last) {
    unsigned in, out;
    gp_move_alignments(&now->move, &in, &out);
    now->problem.in_align = (unsigned)gp_least(in, ALIGNED);
    now->problem.out_align = (unsigned)gp_least(out, ALIGNED);
    const bool same = last->plan.row != NULL && same_shape(now, last);
    if (same)
        now->plan = last->plan;
    else
        (void)gp_plan_make(&now->problem, &context->planned_on, (gp_rows){.row = now->plan.row, .count = ROWS},
                           (gp_pin){0}, &now->plan, NULL);
    *last = *now;
    last->problem.move = &last->move;
    return last->plan.row->launch(context, &last->plan, &last->problem);
}

gp_status gp_rearrange_pairs(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    unsigned char *const space = (unsigned char *)context->gpu->workspace + GP_CYCLE_SPACE_FIRST;
    const gp_move *const whole = problem->move;
    step last[GP_PAIRS_STEPS] = {0};
    uint32_t at[GP_AXES] = {0}, other[GP_AXES];
    gp_pairs pairs;
    (void)gp_pairs_make(&pairs, whole, gp_move_piece(whole, problem->in_align, problem->out_align));
    do {
        const int order = gp_pairs_other(&pairs, whole, at, other);
        for (unsigned s = 0; s < GP_PAIRS_STEPS && order <= 0; s++) {
            step now = {.problem = *problem, .plan = *plan};
            if (s == GP_PAIRS_STRAIGHT && order == 0)
                continue;
            now.problem.move = &now.move;
            gp_pairs_move(&pairs, whole, s == GP_PAIRS_STRAIGHT ? other : at, (gp_pairs_step)s, space, &now.move);
            GP_TRY(run(context, &now, &last[s]));
        }
    } while (gp_pairs_next(&pairs, whole, at));
    return GP_OK;
}
