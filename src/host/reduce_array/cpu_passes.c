/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of views on the processor: how threads take a pass, which all rows share. */
#include "../cpu/rounding.h"
#include "work.h"

/* A thread's outputs. By itself, for its frame. */
__attribute__((noinline)) static void take_outputs(void *argument, unsigned part, unsigned parts) {
    gp_pass_work *work = argument;
    const gp_pass *pass = work->pass;
    GP_ROUNDS_TO_NEAREST;
    const uint64_t begin = gp_part_begin(pass->outputs, part, parts),
                   end = gp_part_begin(pass->outputs, part + 1, parts);
    for (uint64_t i = begin; i < end; i++) {
        gp_accumulator a;
        gp_take_output(work, &a, i);
    }
}

/* A share of the elements of the one output. */
static void take_share(void *argument, unsigned part, unsigned share, unsigned shares) {
    gp_pass_work *work = argument;
    (void)part;
    const gp_pass *pass = work->pass;
    const uint64_t all = work->made != NULL ? pass->axis[pass->kept + pass->reduced - 1].n : pass->length;
    const uint64_t begin = gp_part_begin(all, share, shares), end = gp_part_begin(all, share + 1, shares);
    GP_ROUNDS_TO_NEAREST;
    gp_accumulator a[2];
    for (unsigned k = 0; k < work->ends; k++)
        gp_accumulator_clear(&a[k]);
    if (work->ends == 1 && work->made == NULL)
        gp_take_elements(work, a, work->output, begin, end);
    else if (work->ends == 1)
        work->failed = work->failed || !gp_take_made(work, a, work->output, begin, end);
    else if (work->failed || !gp_bounds_add(pass, work->loops.bounds, a, begin, end))
        work->failed = true;
    pthread_mutex_lock(&work->lock);
    for (unsigned k = 0; k < work->ends; k++)
        gp_accumulator_merge(&work->whole[k], &a[k], pass);
    pthread_mutex_unlock(&work->lock);
}

/* All threads work on one output: its sums, or bounds of these. */
static void share_output(gp_context *context, gp_pass_work *work, unsigned parts, gp_accumulator *whole,
                         unsigned ends) {
    const gp_pass *pass = work->pass;
    work->whole = whole;
    work->ends = ends;
    atomic_init(&work->failed, false);
    for (unsigned k = 0; k < ends; k++)
        gp_accumulator_clear(&whole[k]);
    pthread_mutex_init(&work->lock, NULL);
    gp_threads_share(context, parts, pass->length * gp_type_bytes(pass->type), take_share, work);
    pthread_mutex_destroy(&work->lock);
}

/* Few outputs, one after the other. By itself too. */
__attribute__((noinline)) static void share_outputs(gp_context *context, gp_pass_work *work, unsigned parts) {
    gp_accumulator whole;
    for (work->output = 0; work->output < work->pass->outputs; work->output++) {
        share_output(context, work, parts, &whole, 1);
        GP_ROUNDS_TO_NEAREST;
        if (work->failed)
            gp_take_output(work, &whole, work->output);
        else
            gp_write_as(work, gp_pass_of_results(work), &whole, work->output);
    }
}

/* Output by output. */
static void take_alone(gp_context *context, gp_pass_work *work, unsigned parts) {
    if (parts > work->pass->outputs)
        share_outputs(context, work, parts);
    else if (parts > 1)
        gp_threads_run(context, parts, take_outputs, work);
    else
        take_outputs(work, 0, 1);
}

/* The one output by bounds, if these prove it. By itself too. */
__attribute__((noinline)) static bool take_bounds(gp_context *context, gp_pass_work *work, unsigned parts) {
    gp_accumulator ends[2];
    work->output = 0;
    share_output(context, work, parts, ends, 2);
    GP_ROUNDS_TO_NEAREST;
    return !work->failed && gp_bounds_write(work->pass, ends);
}

/*
 * Passes that are columns with one more axis, of one element: kept elements are columns of one row, and squares of 64
 * bits to one output, if that can be proved. False: it is another, or was not proved.
 */
__attribute__((noinline)) static bool take_as_columns(gp_context *context, gp_pass_work *work, unsigned parts) {
    const gp_pass *pass = work->pass;
    gp_pass more = *pass;
    work->alone = pass->kept == 0;
    gp_pass_add_axes(&more);
    if (!gp_columns_can(&more))
        return false;
    work->pass = work->asked = &more;
    gp_take_columns(context, work, parts);
    work->pass = work->asked = pass;
    return !work->failed;
}

/* Passes of elements that are made of others, result by result where they differ in these. */
__attribute__((noinline)) static void take_as_made(gp_context *context, gp_pass_work *work, unsigned parts) {
    const gp_pass *pass = work->pass;
    gp_made_pass made;
    work->alone = false;
    work->made = &made;
    work->pass = &made.pass, work->asked = &made.asked;
    for (unsigned first = 0; first < pass->results;) {
        gp_made_next(pass, &first, &made);
        const bool several =
            gp_made_width(&made) > 1 || (made.pass.wants & GP_WANT_PLACES) || gp_has_wide_squares(&made.pass);
        if (several && pass->length >> 31 == 0)
            gp_take_columns(context, work, parts);
        else
            take_alone(context, work, parts);
    }
    work->made = NULL;
    work->pass = work->asked = pass;
}

/* Of one thread of the slowest row and type. */
#define BYTES_A_NS 1

gp_status gp_reduce_in_runs(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                            gp_pass_loops loops) {
    const gp_pass *pass = problem->pass;
    gp_pass_work work; /* not cleared: its other members are set where they are used */
    work.pass = work.asked = pass;
    work.made = NULL;
    work.loops = loops;
    atomic_init(&work.overflow, false);
    const uint64_t most = gp_least(plan->tiling.blocks, gp_greatest(pass->outputs, pass->length));
    const unsigned parts = gp_threads_worth(context, gp_at_least_one(most), problem->bytes_read / BYTES_A_NS);
    if (loops.bounds != NULL && gp_bounds_can(pass) && take_bounds(context, &work, parts))
        return GP_OK;
    work.alone = false;
    atomic_init(&work.failed, false);
    const bool more = loops.columns != NULL && pass->kept + pass->reduced < GP_AXES &&
                      (pass->kept == 0 ? gp_has_wide_squares(pass) : pass->reduced == 0);
    if (more && take_as_columns(context, &work, parts)) {
        /* all is written; an overflow is told below */
    } else if (loops.columns != NULL && gp_columns_can(pass)) {
        gp_take_columns(context, &work, parts);
    } else if (loops.make != NULL && gp_made_can(pass)) {
        take_as_made(context, &work, parts);
    } else {
        take_alone(context, &work, parts);
    }
    if (work.overflow)
        return gp_fail(GP_ERR_OVERFLOW, "an integer result of %llu elements passes its 64 bits",
                       (unsigned long long)pass->length);
    return GP_OK;
}
