/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and squares in a window: checks of a call, what follows from its sizes, and the entry in the table. */
#include "../footprint.h"
#include "../primitive.h"
#include <stdio.h>

static void derive(gp_problem *problem) {
    const uint64_t pixels = (uint64_t)problem->rows * problem->cols;
    const uint64_t computed = (uint64_t)problem->rows * (problem->col_end - problem->col_first);
    problem->want_sum = problem->sum != NULL;
    problem->want_square = problem->square != NULL;
    problem->in_align =
        gp_alignment((uintptr_t)problem->in | gp_pitch_bits(problem->rows, problem->in_pitch, problem->elem_bytes));
    problem->out_align = gp_alignment((uintptr_t)problem->sum | (uintptr_t)problem->square |
                                      gp_pitch_bits(problem->rows, problem->out_pitch, sizeof(float)));
    problem->bytes_read = computed > 0 ? pixels * problem->elem_bytes : 0;
    problem->bytes_written =
        computed * sizeof(float) * ((unsigned)problem->want_sum + (unsigned)problem->want_square);
}

static bool is_empty(const gp_problem *problem) {
    return problem->rows == 0 || problem->col_first >= problem->col_end;
}

static int describe(const gp_problem *problem, char *text, size_t size) {
    static const char *const borders[] = {"none", "zero", "replicate", "reflect", "reflect_101", "wrap"};
    return snprintf(text, size, "window %zu of %zu x %zu int32, border %s, outputs:%s%s, aligned %u in, %u out",
                    problem->window, problem->rows, problem->cols, borders[problem->border],
                    problem->want_sum ? " sum" : "", problem->want_square ? " square" : "", problem->in_align,
                    problem->out_align);
}

static void name_operands(const gp_problem *problem, gp_operand operand[GP_OPERANDS]) {
    operand[0] = (gp_operand){.name = "image", .data = problem->in};
    operand[1] = (gp_operand){.name = "sum", .data = problem->sum};
    operand[2] = (gp_operand){.name = "square", .data = problem->square};
}

GP_DECLARE_ROWS(window);
GP_DECLARE_ROWS(window_study);

const gp_primitive gp_primitive_window = {
    GP_PRIMITIVE_ENTRY(window, GP_OPERATION_WINDOW),
    .study_row = gp_window_study_rows,
    .study_row_count = &gp_window_study_row_count,
    .split = gp_window_split,
    .part = gp_window_part,
};

static gp_status check_window_extents(const gp_problem *p) {
    gp_footprint image = {.name = "image"}, out[2] = {{.name = "sum"}, {.name = "square"}};
    const float *const to[2] = {p->sum, p->square};
    GP_TRY(gp_footprint_of_rows(&image, p->in, p->rows, p->cols, p->in_pitch, sizeof(int32_t)));
    for (unsigned k = 0; k < 2; k++)
        if (to[k] != NULL)
            GP_TRY(gp_footprint_of_rows(&out[k], to[k], p->rows, p->cols, p->out_pitch, sizeof(float)));
    for (unsigned k = 0; k < 2; k++)
        if (to[k] != NULL)
            GP_TRY(gp_footprint_check_rows_apart(&image, &out[k]));
    return to[0] != NULL && to[1] != NULL ? gp_footprint_check_rows_apart(&out[0], &out[1]) : GP_OK;
}

/* Columns whose window is computed: with GP_BORDER_NONE those that keep it inside the row. */
static void set_columns(gp_problem *problem) {
    const bool none = problem->border == GP_BORDER_NONE, wide = none && problem->window > problem->cols;
    problem->col_first = none && !wide ? problem->window_before : 0;
    problem->col_end = wide ? 0 : problem->cols - (none ? problem->window - problem->window_before - 1 : 0);
}

gp_status gp_problem_window(gp_problem *problem, const int32_t *image, size_t rows, size_t cols, size_t image_pitch,
                            size_t window, gp_border border, float *sum, float *square, size_t out_pitch) {
    const bool empty = rows == 0 || cols == 0;
    if (!empty)
        GP_TRY(gp_check_not_null("image", image));
    GP_TRY(gp_check_aligned("image", image, sizeof *image));
    if (image_pitch < cols)
        return gp_fail(GP_ERR_ARGUMENT, "image_pitch: %zu is less than cols, %zu", image_pitch, cols);
    if (window == 0)
        return gp_fail(GP_ERR_ARGUMENT, "window is 0");
    if ((unsigned)border > GP_BORDER_WRAP)
        return gp_fail(GP_ERR_ARGUMENT, "border: %d is no gp_border", (int)border);
    if (!empty && sum == NULL && square == NULL)
        return gp_fail(GP_ERR_ARGUMENT, "sum and square are both NULL");
    GP_TRY(gp_check_aligned("sum", sum, sizeof *sum));
    GP_TRY(gp_check_aligned("square", square, sizeof *square));
    if (out_pitch < cols)
        return gp_fail(GP_ERR_ARGUMENT, "out_pitch: %zu is less than cols, %zu", out_pitch, cols);
    gp_problem_clear(problem, &gp_primitive_window);
    problem->border = border;
    problem->rows = rows;
    problem->cols = cols;
    problem->in_pitch = image_pitch;
    problem->out_pitch = out_pitch;
    problem->elem_bytes = sizeof *image;
    problem->window = window;
    problem->window_before = window / 2;
    problem->in = image;
    problem->sum = sum;
    problem->square = square;
    if (!empty)
        GP_TRY(check_window_extents(problem));
    if (rows == 1)
        problem->in_pitch = problem->out_pitch = cols;
    set_columns(problem);
    derive(problem);
    return GP_OK;
}
