/* SPDX-License-Identifier: Apache-2.0 */
/* A call's arguments, checked in the order in which they stand in the call; sizes multiplied with overflow caught. */
#include "problem.h"
#include "status.h"
#include <string.h>

/* A pitched array of bytes, as the overlap test sees it: `count` rows of `row` bytes, `pitch` bytes apart. */
typedef struct extent {
    const char *name;
    uintptr_t start;
    size_t count, row, pitch;
    size_t span; /* bytes from the first to past the last one */
} extent;

static gp_status make_extent(extent *e, const char *name, const void *start, size_t count, size_t row, size_t pitch,
                             size_t elem_bytes) {
    *e = (extent){.name = name, .start = (uintptr_t)start, .count = count};
    if (count == 1)
        pitch = row; /* nothing lies a pitch away */
    size_t last;
    if (__builtin_mul_overflow(row, elem_bytes, &e->row) || __builtin_mul_overflow(pitch, elem_bytes, &e->pitch) ||
        __builtin_mul_overflow(count - 1, e->pitch, &last) || __builtin_add_overflow(last, e->row, &e->span) ||
        e->span > PTRDIFF_MAX || e->start > UINTPTR_MAX - e->span) {
        if (count == 1)
            return gp_fail(GP_ERR_OVERFLOW, "%s: %zu elements of %zu bytes pass the address space", name, row,
                           elem_bytes);
        return gp_fail(GP_ERR_OVERFLOW, "%s: %zu rows of pitch %zu and %zu bytes an element pass the address space",
                       name, count, pitch, elem_bytes);
    }
    return GP_OK;
}

/*
 * Exact for equal pitches, where one array's rows may lie in the other's padding; else the two spans must be apart.
 * With start difference d = later - earlier < span of the earlier: rows are disjoint if d mod pitch leaves room for
 * the earlier's row before it and for the later's row after it.
 */
static bool overlap(const extent *a, const extent *b) {
    const extent *low = a->start <= b->start ? a : b;
    const extent *high = low == a ? b : a;
    size_t distance = high->start - low->start;
    if (distance >= low->span)
        return false;
    if (low->pitch != high->pitch || low->pitch == 0 || low->count == 1 || high->count == 1)
        return !(low->count > 1 && high->count == 1 && distance % low->pitch >= low->row &&
                 distance % low->pitch + high->row <= low->pitch);
    size_t offset = distance % low->pitch;
    return !(offset >= low->row && offset + high->row <= low->pitch);
}

static gp_status check_apart(const extent *a, const extent *b) {
    if (overlap(a, b))
        return gp_fail(GP_ERR_OVERLAP, "%s and %s overlap", a->name, b->name);
    return GP_OK;
}

static gp_status check_aligned(const char *name, const void *pointer, size_t bytes) {
    if ((uintptr_t)pointer % bytes != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: the address is not a multiple of %zu bytes", name, bytes);
    return GP_OK;
}

static gp_status check_not_null(const char *name, const void *pointer) {
    return pointer != NULL ? GP_OK : gp_fail(GP_ERR_ARGUMENT, "%s is NULL", name);
}

/* In pieces that compilers clear by vector stores: for all at once gcc has a string instruction, 10 ns of a call. */
static void clear(gp_problem *problem) {
    char *bytes = (char *)problem;
    memset(bytes, 0, 64);
    memset(bytes + 64, 0, 64);
    memset(bytes + 128, 0, sizeof *problem - 128);
}

gp_status gp_problem_reduce(gp_problem *problem, gp_reduce_op op, const int32_t *in, size_t n, int64_t *out) {
    if ((unsigned)op > GP_REDUCE_XOR)
        return gp_fail(GP_ERR_ARGUMENT, "op: %d is no gp_reduce_op", (int)op);
    if (n > 0)
        GP_TRY(check_not_null("in", in));
    GP_TRY(check_aligned("in", in, sizeof *in));
    GP_TRY(check_not_null("out", out));
    GP_TRY(check_aligned("out", out, sizeof *out));
    if (n == 0 && (op == GP_REDUCE_MIN || op == GP_REDUCE_MAX))
        return gp_fail(GP_ERR_EMPTY, "n is 0: no elements have no %s", op == GP_REDUCE_MIN ? "minimum" : "maximum");
    if (n > 0) {
        extent input, output;
        GP_TRY(make_extent(&input, "in", in, 1, n, n, sizeof *in));
        GP_TRY(make_extent(&output, "out", out, 1, 1, 1, sizeof *out));
        GP_TRY(check_apart(&input, &output));
    }
    clear(problem);
    problem->operation = GP_OPERATION_REDUCE;
    problem->reduce = op;
    problem->n = n;
    problem->elem_bytes = sizeof *in;
    problem->in = in;
    problem->result = out;
    gp_problem_derive(problem);
    return GP_OK;
}

static gp_status check_window_extents(const gp_problem *problem) {
    extent image, outputs[2];
    size_t n_outputs = 0;
    GP_TRY(make_extent(&image, "image", problem->in, problem->rows, problem->cols, problem->in_pitch, 4));
    if (problem->sum != NULL)
        GP_TRY(make_extent(&outputs[n_outputs++], "sum", problem->sum, problem->rows, problem->cols,
                           problem->out_pitch, 4));
    if (problem->square != NULL)
        GP_TRY(make_extent(&outputs[n_outputs++], "square", problem->square, problem->rows, problem->cols,
                           problem->out_pitch, 4));
    for (size_t i = 0; i < n_outputs; i++)
        GP_TRY(check_apart(&image, &outputs[i]));
    return n_outputs == 2 ? check_apart(&outputs[0], &outputs[1]) : GP_OK;
}

/* Columns whose window is computed: with GP_BORDER_NONE those that keep it inside the row. */
static void set_columns(gp_problem *problem) {
    problem->col_first = 0;
    problem->col_end = problem->cols;
    if (problem->border != GP_BORDER_NONE)
        return;
    if (problem->window > problem->cols) {
        problem->col_end = 0;
        return;
    }
    problem->col_first = problem->window_before;
    problem->col_end = problem->cols - (problem->window - problem->window_before) + 1;
}

gp_status gp_problem_window(gp_problem *problem, const int32_t *image, size_t rows, size_t cols, size_t image_pitch,
                            size_t window, gp_border border, float *sum, float *square, size_t out_pitch) {
    const bool empty = rows == 0 || cols == 0;
    if (!empty)
        GP_TRY(check_not_null("image", image));
    GP_TRY(check_aligned("image", image, sizeof *image));
    if (image_pitch < cols)
        return gp_fail(GP_ERR_ARGUMENT, "image_pitch: %zu is less than cols, %zu", image_pitch, cols);
    if (window == 0)
        return gp_fail(GP_ERR_ARGUMENT, "window is 0");
    if ((unsigned)border > GP_BORDER_WRAP)
        return gp_fail(GP_ERR_ARGUMENT, "border: %d is no gp_border", (int)border);
    if (!empty && sum == NULL && square == NULL)
        return gp_fail(GP_ERR_ARGUMENT, "sum and square are both NULL");
    GP_TRY(check_aligned("sum", sum, sizeof *sum));
    GP_TRY(check_aligned("square", square, sizeof *square));
    if (out_pitch < cols)
        return gp_fail(GP_ERR_ARGUMENT, "out_pitch: %zu is less than cols, %zu", out_pitch, cols);
    clear(problem);
    problem->operation = GP_OPERATION_WINDOW;
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
    gp_problem_derive(problem);
    return GP_OK;
}

static gp_status check_transpose_extents(gp_problem *problem) {
    extent in, out;
    GP_TRY(make_extent(&in, "in", problem->in, problem->rows, problem->cols, problem->in_pitch, problem->elem_bytes));
    GP_TRY(make_extent(&out, "out", problem->out, problem->cols, problem->rows, problem->out_pitch,
                       problem->elem_bytes));
    if (problem->in == problem->out && problem->rows == problem->cols && problem->in_pitch == problem->out_pitch) {
        problem->in_place = true;
        return GP_OK;
    }
    return check_apart(&in, &out);
}

gp_status gp_problem_transpose(gp_problem *problem, size_t elem_bytes, const void *in, size_t rows, size_t cols,
                               size_t in_pitch, void *out, size_t out_pitch) {
    const bool empty = rows == 0 || cols == 0;
    if (elem_bytes == 0)
        return gp_fail(GP_ERR_ARGUMENT, "elem_bytes is 0");
    if (!empty)
        GP_TRY(check_not_null("in", in));
    if (in_pitch < cols)
        return gp_fail(GP_ERR_ARGUMENT, "in_pitch: %zu is less than cols, %zu", in_pitch, cols);
    if (!empty)
        GP_TRY(check_not_null("out", out));
    if (out_pitch < rows)
        return gp_fail(GP_ERR_ARGUMENT, "out_pitch: %zu is less than rows, %zu", out_pitch, rows);
    clear(problem);
    problem->operation = GP_OPERATION_TRANSPOSE;
    problem->rows = rows;
    problem->cols = cols;
    problem->in_pitch = in_pitch;
    problem->out_pitch = out_pitch;
    problem->elem_bytes = elem_bytes;
    problem->in = in;
    problem->out = out;
    if (!empty)
        GP_TRY(check_transpose_extents(problem));
    if (rows == 1)
        problem->in_pitch = cols;
    if (cols == 1)
        problem->out_pitch = rows;
    gp_problem_derive(problem);
    return GP_OK;
}

const char *gp_problem_in_name(const gp_problem *problem) {
    return problem->operation == GP_OPERATION_WINDOW ? "image" : "in";
}
