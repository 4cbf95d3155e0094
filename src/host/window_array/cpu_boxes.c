/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes that are done as if they were others: short rows, narrow pictures, many channels. */
#include "cpu.h"

#define SHORT_ROW 28   /* elements up to which a tile's work for each row is more than copying these twice */
#define FEW_BATCHES 4  /* that are worth it, or more */
#define TOGETHER 16    /* batches of short rows, or parts of a narrow picture, that are done as channels are */
#define TURNED_MAX 100 /* columns: walking down more is as fast */

static void copy_axis(gp_window_box *to, unsigned at, const gp_window_box *from, unsigned axis) {
    to->axis[at] = from->axis[axis];
    for (unsigned r = 0; r < to->results; r++)
        to->result[r].stride[at] = from->result[r].stride[axis];
}

/* An axis of one element without a window. */
static void put_one(gp_window_box *box, unsigned at) {
    box->axis[at] = (gp_window_axis){1, 1, 0, 1, 0};
    for (unsigned r = 0; r < box->results; r++)
        box->result[r].stride[at] = 0;
}

/* Rows that are their windows' only ones are batches as well. */
static bool has_rows_alone(const gp_window_box *box) {
    return gp_window_y(box)->window == 1 && gp_window_y(box)->n > 1;
}

/* How many batches are done together, as channels are, if rows are short; or if they are channels, which were too
 * many for the box, or have gaps between their pixels. 0: none. */
static uint64_t batches_together(const gp_window_box *box) {
    const unsigned outer = box->outer + has_rows_alone(box); /* axes of batches, then */
    if (box->channels > 1 || outer == 0 || outer + 2u >= GP_AXES || box->axis[outer - 1].n < FEW_BATCHES)
        return 0;
    const bool side_by_side = outer == box->outer && box->axis[outer - 1].in == gp_type_bytes(box->type);
    return side_by_side ? GP_CHANNELS_MAX : gp_window_x(box)->n <= SHORT_ROW ? TOGETHER : 0;
}

/* The box with room for channels before Y. */
static gp_window_box with_room(const gp_window_box *box) {
    const bool rows = has_rows_alone(box);
    const unsigned outer = box->outer + rows;
    gp_window_box more = *box;
    copy_axis(&more, outer + 2, box, box->outer + 1u);
    copy_axis(&more, outer + 1, box, box->outer);
    if (rows)
        put_one(&more, outer + 1);
    more.outer = (uint8_t)(outer + 1);
    return more;
}

/* The first batches of those from `first` on that go evenly into up to `most` channels: how many these are. */
static uint64_t interleave(gp_window_box *box, const gp_window_box *whole, uint64_t first, uint64_t most) {
    const unsigned at = box->outer - 2u;
    const gp_window_axis *all = &whole->axis[at];
    const uint64_t left = all->n - first, channels = gp_least(left, most), batches = left / channels;
    box->channels = (uint8_t)channels;
    box->outputs = whole->outputs / all->n * channels * batches;
    box->axis[at] = (gp_window_axis){batches, batches, all->in * (int64_t)channels, 1, 0};
    box->axis[at + 1] = (gp_window_axis){channels, channels, all->in, 1, 0};
    box->in = whole->in + (int64_t)first * all->in;
    for (unsigned r = 0; r < box->results; r++) {
        const int64_t step = whole->result[r].stride[at];
        box->result[r].stride[at] = step * (int64_t)channels;
        box->result[r].stride[at + 1] = step;
        box->to[r] = (unsigned char *)whole->to[r] + (int64_t)first * step;
    }
    return channels * batches;
}

/* Several batches are done together, as if these were channels, which here need not lie side by side. By itself, for
 * its frame. */
__attribute__((noinline)) static void run_together(gp_context *context, const gp_plan *plan,
                                                   const gp_problem *problem, gp_window_kernel *kernel,
                                                   uint64_t most) {
    const gp_window_box whole = with_room(problem->box);
    gp_window_box box = whole;
    for (uint64_t done = 0; done < whole.axis[whole.outer - 2u].n;) {
        done += interleave(&box, &whole, done, most);
        gp_window_run_rows(context, plan, problem, &box, kernel, 0, gp_window_y(&box)->outputs);
    }
}

#define PART_ROWS 32 /* or more */

/* Rows of one of as many parts as there may be channels: of outputs whose windows have all their rows; or 0. */
static uint64_t rows_of_part(const gp_window_box *box) {
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const uint64_t window = (uint64_t)y->window, inside = window > y->n ? 0 : y->n - window + 1,
                   rows = gp_least(inside, y->outputs - gp_least(y->outputs, (uint64_t)y->before)) / TOGETHER;
    const bool takes = box->channels == 1 && y->window > 1 && x->n <= SHORT_ROW && box->outer + 3u < GP_AXES &&
                       rows >= gp_greatest(PART_ROWS, window);
    return takes ? rows : 0;
}

/* So are parts of a narrow picture, but for the outputs at its ends. */
__attribute__((noinline)) static void run_parts(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                                                gp_window_kernel *kernel, uint64_t rows) {
    const gp_window_box *whole = problem->box;
    const gp_window_axis y = *gp_window_y(whole);
    const uint64_t first = (uint64_t)y.before, parts = TOGETHER;
    gp_window_box box = with_room(whole);
    const unsigned at = box.outer - 1u;
    box.channels = (uint8_t)parts;
    box.outputs = whole->outputs / y.outputs * rows * parts;
    box.axis[at] = (gp_window_axis){parts, parts, y.in * (int64_t)rows, 1, 0};
    box.axis[at + 1] = (gp_window_axis){rows + (uint64_t)y.window - 1, rows, y.in, y.window, 0};
    for (unsigned r = 0; r < box.results; r++) {
        const int64_t step = whole->result[r].stride[whole->outer];
        box.result[r].stride[at] = step * (int64_t)rows;
        box.to[r] = (unsigned char *)whole->to[r] + (int64_t)first * step;
    }
    gp_window_run_rows(context, plan, problem, &box, kernel, 0, rows);
    gp_window_run_rows(context, plan, problem, whole, kernel, 0, first);
    gp_window_run_rows(context, plan, problem, whole, kernel, first + rows * parts, y.outputs - first - rows * parts);
}

/* A window down narrow rows without gaps is one along pixels, whose channels are the columns. */
static bool turns(const gp_window_box *box) {
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    const int64_t bytes = gp_type_bytes(box->type);
    return box->channels == 1 && y->window > 1 && x->window == 1 && x->n > 1 && x->n <= TURNED_MAX &&
           x->in == bytes && y->in == (int64_t)x->n * bytes;
}

/* Its rows are the batches side by side. */
static gp_window_box turned(const gp_window_box *box) {
    const unsigned outer = box->outer > 0 ? box->outer : 1u;
    gp_window_box more = *box;
    copy_axis(&more, outer - 1, box, box->outer + 1u);
    if (box->outer > 0)
        copy_axis(&more, outer, box, outer - 1);
    else
        put_one(&more, outer);
    copy_axis(&more, outer + 1, box, box->outer);
    more.outer = (uint8_t)outer;
    more.channels = (uint8_t)gp_window_x(box)->n;
    return more;
}

gp_status gp_window_in_tiles(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                             gp_window_kernel *kernel) {
    const uint64_t together = batches_together(problem->box);
    if (kernel != NULL && turns(problem->box)) {
        const gp_window_box box = turned(problem->box);
        gp_window_run_rows(context, plan, problem, &box, kernel, 0, gp_window_y(&box)->outputs);
    } else if (kernel != NULL && together > 0)
        run_together(context, plan, problem, kernel, together);
    else if (kernel != NULL && rows_of_part(problem->box) > 0)
        run_parts(context, plan, problem, kernel, rows_of_part(problem->box));
    else
        gp_window_run_rows(context, plan, problem, problem->box, kernel, 0, gp_window_y(problem->box)->outputs);
    return GP_OK;
}

/* The reference row: each output by itself. */
gp_status gp_launch_window_array_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_window_in_tiles(context, plan, problem, NULL);
}
