/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes: checks of a call, what follows from its sizes, and the entry in the table of primitives. */
#include "../footprint.h"
#include "../primitive.h"
#include <stdio.h>
#include <string.h>

static void derive(gp_problem *problem) {
    const size_t elem_bytes = problem->elem_bytes;
    problem->in_align =
        gp_alignment((uintptr_t)problem->in | gp_pitch_bits(problem->rows, problem->in_pitch, elem_bytes));
    problem->out_align =
        gp_alignment((uintptr_t)problem->out | gp_pitch_bits(problem->cols, problem->out_pitch, elem_bytes));
    problem->bytes_read = (uint64_t)problem->rows * problem->cols * elem_bytes;
    problem->bytes_written = problem->bytes_read;
}

static bool is_empty(const gp_problem *problem) {
    return problem->rows == 0 || problem->cols == 0;
}

static int describe(const gp_problem *problem, char *text, size_t size) {
    return snprintf(text, size, "transpose %zu x %zu elements of %zu bytes%s, aligned %u in, %u out", problem->rows,
                    problem->cols, problem->elem_bytes, problem->in_place ? " in place" : "", problem->in_align,
                    problem->out_align);
}

static void name_operands(const gp_problem *problem, gp_operand operand[GP_OPERANDS]) {
    operand[0] = (gp_operand){.name = "in", .data = problem->in};
    operand[1] = (gp_operand){.name = "out", .data = problem->out};
}

GP_DECLARE_ROWS(transpose);
GP_DECLARE_ROWS(transpose_study);

const gp_primitive gp_primitive_rearrange = {
    GP_PRIMITIVE_ENTRY(transpose, GP_OPERATION_TRANSPOSE),
    .study_row = gp_transpose_study_rows,
    .study_row_count = &gp_transpose_study_row_count,
    .split = gp_transpose_split,
    .part = gp_transpose_part,
};

static gp_status check_transpose_extents(size_t elem_bytes, const void *in, size_t rows, size_t cols, size_t in_pitch,
                                         void *out, size_t out_pitch, bool *in_place) {
    gp_footprint of_in, of_out; /* not cleared: that is 2 ns of 65 */
    strcpy(of_in.name, "in");
    strcpy(of_out.name, "out");
    GP_TRY(gp_footprint_of_rows(&of_in, in, rows, cols, in_pitch, elem_bytes));
    GP_TRY(gp_footprint_of_rows(&of_out, out, cols, rows, out_pitch, elem_bytes));
    *in_place = in == out && rows == cols && in_pitch == out_pitch;
    return *in_place ? GP_OK : gp_footprint_check_rows_apart(&of_in, &of_out);
}

void gp_problem_make_transpose(gp_problem *problem, size_t elem_bytes, const void *in, size_t rows, size_t cols,
                               size_t in_pitch, void *out, size_t out_pitch, bool in_place) {
    gp_problem_clear(problem, &gp_primitive_rearrange);
    problem->rows = rows;
    problem->cols = cols;
    problem->in_pitch = rows == 1 ? cols : in_pitch;
    problem->out_pitch = cols == 1 ? rows : out_pitch;
    problem->elem_bytes = elem_bytes;
    problem->in = in;
    problem->out = out;
    problem->in_place = in_place;
    derive(problem);
}

gp_status gp_problem_transpose(gp_problem *problem, size_t elem_bytes, const void *in, size_t rows, size_t cols,
                               size_t in_pitch, void *out, size_t out_pitch) {
    const bool empty = rows == 0 || cols == 0;
    bool in_place = false;
    if (elem_bytes == 0)
        return gp_fail(GP_ERR_ARGUMENT, "elem_bytes is 0");
    if (!empty)
        GP_TRY(gp_check_not_null("in", in));
    if (in_pitch < cols)
        return gp_fail(GP_ERR_ARGUMENT, "in_pitch: %zu is less than cols, %zu", in_pitch, cols);
    if (!empty)
        GP_TRY(gp_check_not_null("out", out));
    if (out_pitch < rows)
        return gp_fail(GP_ERR_ARGUMENT, "out_pitch: %zu is less than rows, %zu", out_pitch, rows);
    if (!empty)
        GP_TRY(check_transpose_extents(elem_bytes, in, rows, cols, in_pitch, out, out_pitch, &in_place));
    gp_problem_make_transpose(problem, elem_bytes, in, rows, cols, in_pitch, out, out_pitch, in_place);
    return GP_OK;
}
