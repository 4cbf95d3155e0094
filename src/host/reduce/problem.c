/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: checks of a call, what follows from its sizes, and the entry in the table of primitives. */
#include "../footprint.h"
#include "../primitive.h"
#include "cpu.h"
#include <stdio.h>

static void derive(gp_problem *problem) {
    problem->in_align = gp_alignment((uintptr_t)problem->in);
    problem->out_align = GP_ALIGN_MAX;
    problem->bytes_read = (uint64_t)problem->n * problem->elem_bytes;
    problem->bytes_written = sizeof(int64_t);
}

/* The result of nothing is the operation's identity: still something to write. */
static bool is_empty(const gp_problem *problem) {
    (void)problem;
    return false;
}

static int describe(const gp_problem *problem, char *text, size_t size) {
    static const char *const ops[] = {"sum", "min", "max", "and", "or", "xor"};
    return snprintf(text, size, "reduce %s of %zu int32, %u-byte aligned", ops[problem->reduce], problem->n,
                    problem->in_align);
}

static void name_operands(const gp_problem *problem, gp_operand operand[GP_OPERANDS]) {
    operand[0] = (gp_operand){.name = "in", .data = problem->n > 0 ? problem->in : NULL};
    operand[1] = (gp_operand){.name = "out", .data = problem->result, .scalar = true};
}

static gp_total combine(const gp_problem *problem, gp_total a, gp_total b) {
    return gp_reduce_combine(problem->reduce, a, b);
}

/* Up to 2^32 ints no sum passes 64 bits: 2^32 * -2^31 = -2^63. */
static bool may_overflow(const gp_problem *problem) {
    return problem->reduce == GP_REDUCE_SUM && problem->n > (uint64_t)1 << 32;
}

/* Pieces are runs of elements, whose results are combined. */
static void cut(gp_split *split, size_t target) {
    const gp_problem *problem = split->problem;
    split->rows = split->piece_rows = 1;
    split->cols = problem->n;
    split->piece_cols = gp_least(split->cols, gp_at_least_one(target / problem->elem_bytes));
    split->in_bytes = split->slot_bytes = gp_slot_bytes(split->piece_cols * problem->elem_bytes);
}

static void set_part(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part *part) {
    (void)split, (void)slot;
    part->problem.n = piece->cols;
}

GP_DECLARE_ROWS(reduce);
GP_DECLARE_ROWS(reduce_study);

const gp_primitive gp_primitive_reduce = {
    GP_PRIMITIVE_ENTRY(reduce, GP_OPERATION_REDUCE),
    .study_row = gp_reduce_study_rows,
    .study_row_count = &gp_reduce_study_row_count,
    .split = cut,
    .part = set_part,
    .combine = combine,
    .may_overflow = may_overflow,
};

/* A short call's checks of its arrays, without the words: a tenth of its time. */
static bool plainly_apart(const int32_t *in, size_t n, const int64_t *out) {
    const uintptr_t from = (uintptr_t)in, to = (uintptr_t)out, bytes = n * sizeof *in;
    return n == 0 || (n <= PTRDIFF_MAX / sizeof *in && from <= UINTPTR_MAX - bytes &&
                      (from + bytes <= to || (to <= UINTPTR_MAX - sizeof *out && to + sizeof *out <= from)));
}

gp_status gp_problem_reduce(gp_problem *problem, gp_reduce_op op, const int32_t *in, size_t n, int64_t *out) {
    if ((unsigned)op > GP_REDUCE_XOR)
        return gp_fail(GP_ERR_ARGUMENT, "op: %d is no gp_reduce_op", (int)op);
    if (n > 0)
        GP_TRY(gp_check_not_null("in", in));
    GP_TRY(gp_check_aligned("in", in, sizeof *in));
    GP_TRY(gp_check_not_null("out", out));
    GP_TRY(gp_check_aligned("out", out, sizeof *out));
    if (n == 0 && (op == GP_REDUCE_MIN || op == GP_REDUCE_MAX))
        return gp_fail(GP_ERR_EMPTY, "n is 0: no elements have no %s", op == GP_REDUCE_MIN ? "minimum" : "maximum");
    if (!plainly_apart(in, n, out)) {
        gp_footprint input = {.name = "in"}, output = {.name = "out"};
        GP_TRY(gp_footprint_of_rows(&input, in, 1, n, n, sizeof *in));
        GP_TRY(gp_footprint_of_rows(&output, out, 1, 1, 1, sizeof *out));
        GP_TRY(gp_footprint_check_rows_apart(&input, &output));
    }
    gp_problem_clear(problem, &gp_primitive_reduce);
    problem->reduce = op;
    problem->n = n;
    problem->elem_bytes = sizeof *in;
    problem->in = in;
    problem->result = out;
    derive(problem);
    return GP_OK;
}
