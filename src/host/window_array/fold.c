/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minima and maxima along lines as those of pictures. The windows that lie inside of a line see it as rows that
 * overlap: row i has its outputs FOLD i and the elements behind that their windows reach. A wide window is then some
 * rows high, and so wide that one row's part begins where, or before, the other's ends: an element may be seen twice.
 */
#include "../plan.h"
#include "../primitive.h"
#include "../status.h"
#include "fit.h"

#define FOLD_WIDE 16384      /* outputs of a row where windows have one row */
#define FOLD 1024            /* of wider windows */
#define FOLD_WINDOW 2048     /* up to here windows have one row */
#define FOLD_LEAST (1 << 18) /* outputs of a line */

enum { INSIDE, BEFORE, BEHIND }; /* parts of a line */

/* What windows inside of a line are: outputs from number `first` on, by rows. */
typedef struct fold {
    int64_t first, row, rows, high, wide;
} fold;

static bool find_fold(const gp_window_box *box, fold *f) {
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const int64_t last = (int64_t)x->n - x->window + x->before; /* output whose window lies inside */
    if (box->kind != GP_PASS_EXTREMES || box->channels > 1 || y->window > 1 || box->outer + 3u > GP_AXES ||
        x->window <= 1 || x->outputs < FOLD_LEAST || x->outputs > INT32_MAX / 2 || x->n > INT32_MAX / 2)
        return false;
    f->first = x->before > 0 ? x->before : 0;
    f->row = x->window <= FOLD_WINDOW ? FOLD_WIDE : FOLD;
    f->high = x->window <= FOLD_WINDOW ? 1 : x->window / FOLD;
    f->wide = x->window - (f->high - 1) * f->row;
    const int64_t inside = (last < (int64_t)x->outputs ? last + 1 : (int64_t)x->outputs) - f->first;
    f->rows = inside / f->row;
    return f->rows > 1;
}

static void move(gp_window_box *box, int64_t output) {
    const unsigned x = box->outer + 1u;
    box->axis[x].before -= output;
    for (unsigned r = 0; r < box->results; r++)
        box->to[r] = (char *)box->to[r] + output * box->result[r].stride[x];
}

/* The part inside, or what is in front of it, or behind. False: it is empty, or lines are not folded. */
static bool make_part(const gp_window_box *whole, unsigned part, gp_window_box *box) {
    fold f;
    *box = *whole;
    if (!find_fold(whole, &f))
        return false;
    gp_window_axis *const x = &box->axis[box->outer + 1u];
    const uint64_t lines = box->outputs / x->outputs;
    if (part == BEFORE) {
        x->outputs = (uint64_t)f.first;
    } else if (part == BEHIND) {
        const int64_t behind = f.first + f.rows * f.row;
        move(box, behind);
        x->outputs -= (uint64_t)behind;
    } else {
        move(box, f.first);
        box->in -= x->before * x->in;
        box->outer++;
        x[1] = (gp_window_axis){(uint64_t)(f.row + f.wide - 1), (uint64_t)f.row, x->in, f.wide, 0};
        x[0] = (gp_window_axis){(uint64_t)(f.rows + f.high - 1), (uint64_t)f.rows, x->in * f.row, f.high, 0};
        for (unsigned r = 0; r < box->results; r++) {
            int64_t *const stride = &box->result[r].stride[box->outer];
            stride[1] = stride[0];
            stride[0] *= f.row;
        }
    }
    box->outputs = lines * gp_window_x(box)->outputs * (part == INSIDE ? gp_window_y(box)->outputs : 1);
    return box->outputs > 0;
}

static bool part_of(const gp_problem *whole, unsigned part, gp_window_box *box, gp_problem *problem) {
    *problem = *whole;
    problem->box = box;
    if (!make_part(whole->box, part, box))
        return false;
    problem->primitive->derive(problem);
    return true;
}

bool gp_window_fold(const gp_problem *whole, gp_window_box *box, gp_problem *problem) {
    return part_of(whole, INSIDE, box, problem);
}

gp_status gp_window_folded(gp_context *context, const gp_device *device, const gp_problem *whole) {
    for (unsigned part = INSIDE; part <= BEHIND; part++) {
        gp_window_box box;
        gp_problem problem;
        gp_plan plan;
        if (!part_of(whole, part, &box, &problem))
            continue;
        if (!gp_plan_make(&problem, device, gp_primitive_rows(problem.primitive), (gp_pin){0}, &plan, NULL))
            return gp_fail(GP_ERR_NO_KERNEL, "the limits leave no room for windows at the ends of lines");
        GP_TRY(plan.row->launch(context, &plan, &problem));
    }
    return GP_OK;
}
