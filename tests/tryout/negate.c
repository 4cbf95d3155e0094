/* SPDX-License-Identifier: Apache-2.0 */
/* A primitive that is not shipped, whole in this file: out[i] = -in[i]. */
#include "negate.h"
#include "../../src/host/footprint.h"
#include "../../src/host/run.h"
#include <stdio.h>

static void derive(gp_problem *problem) {
    problem->in_align = gp_alignment((uintptr_t)problem->in);
    problem->out_align = gp_alignment((uintptr_t)problem->out);
    problem->bytes_read = problem->bytes_written = (uint64_t)problem->n * problem->elem_bytes;
}

static bool is_empty(const gp_problem *problem) {
    return problem->n == 0;
}

static int describe(const gp_problem *problem, char *text, size_t size) {
    return snprintf(text, size, "negate %zu int32", problem->n);
}

static void name_operands(const gp_problem *problem, gp_operand operand[GP_OPERANDS]) {
    operand[0] = (gp_operand){.name = "in", .data = problem->in};
    operand[1] = (gp_operand){.name = "out", .data = problem->out};
}

static void split(gp_split *split, size_t target) {
    split->rows = split->piece_rows = 1;
    split->cols = split->problem->n;
    split->piece_cols = gp_least(split->cols, gp_at_least_one(target / split->problem->elem_bytes));
    split->in_bytes = split->out_bytes = gp_slot_bytes(split->piece_cols * split->problem->elem_bytes);
    split->slot_bytes = split->in_bytes + split->out_bytes;
}

static void part(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    const gp_problem *whole = split->problem;
    const size_t elem = whole->elem_bytes, bytes = piece->cols * elem;
    part->out[0] = (gp_box){gp_element(whole->out, 0, elem, 0, piece->col), bytes, slot, bytes, bytes, 1};
    part->problem.n = piece->cols;
    part->problem.out = part->out[0].device;
}

static bool fit_grid(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)device;
    tiling->threads = gp_threads_of_attempt(256, 32, attempt);
    tiling->blocks = tiling->threads > 0 ? gp_divide_up(problem->n, tiling->threads) : 0;
    return tiling->threads > 0;
}

static bool fit_cpu(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling) {
    (void)problem;
    return gp_fit_processor(device, 0, 1, attempt, tiling);
}

static gp_status launch_cpu(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    (void)context;
    (void)plan;
    for (size_t i = 0; i < problem->n; i++)
        ((int32_t *)problem->out)[i] = -((const int32_t *)problem->in)[i];
    return GP_OK;
}

static const gp_kernel rows[] = {
    {.name = "negate_grid", .about = "a thread an element", .space = GP_SPACE_GPU, .fit = fit_grid},
    {.name = "negate_cpu", .about = "portable C", .space = GP_SPACE_PROCESSOR, .fit = fit_cpu, .launch = launch_cpu},
};
static const size_t row_count = sizeof rows / sizeof *rows;

const gp_primitive gp_primitive_negate = {
    .name = "negate",
    .operation = (gp_operation)NEGATE_OPERATION,
    .row = rows,
    .row_count = &row_count,
    .derive = derive,
    .is_empty = is_empty,
    .describe = describe,
    .name_operands = name_operands,
    .split = split,
    .part = part,
};

gp_status negate_problem(gp_problem *problem, const int32_t *in, size_t n, int32_t *out) {
    gp_footprint from = {.name = "in"}, to = {.name = "out"};
    GP_TRY(gp_footprint_of_rows(&from, in, 1, n, n, sizeof *in));
    GP_TRY(gp_footprint_of_rows(&to, out, 1, n, n, sizeof *out));
    GP_TRY(gp_footprint_check_rows_apart(&from, &to));
    gp_problem_clear(problem, &gp_primitive_negate);
    problem->n = n;
    problem->elem_bytes = sizeof *in;
    problem->in = in;
    problem->out = out;
    derive(problem);
    return GP_OK;
}

gp_status negate(gp_context *context, const int32_t *in, size_t n, int32_t *out) {
    gp_problem problem;
    GP_TRY(gp_context_check(context));
    GP_TRY(negate_problem(&problem, in, n, out));
    return gp_run(context, &problem);
}
