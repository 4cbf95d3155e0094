/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from a problem's sizes: alignment, bytes that must move, equality of shapes, words. */
#include "problem.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Largest power of two up to GP_ALIGN_MAX that divides all bits seen. */
static unsigned alignment(uintptr_t bits) {
    bits |= GP_ALIGN_MAX;
    return (unsigned)(bits & (~bits + 1));
}

static uintptr_t pitch_bits(size_t rows, size_t pitch, size_t elem_bytes) {
    return rows > 1 ? (uintptr_t)(pitch * elem_bytes) : 0;
}

static void derive_window(gp_problem *problem) {
    const uint64_t pixels = (uint64_t)problem->rows * problem->cols;
    const uint64_t computed = (uint64_t)problem->rows * (problem->col_end - problem->col_first);
    problem->want_sum = problem->sum != NULL;
    problem->want_square = problem->square != NULL;
    problem->in_align =
        alignment((uintptr_t)problem->in | pitch_bits(problem->rows, problem->in_pitch, problem->elem_bytes));
    problem->out_align = alignment((uintptr_t)problem->sum | (uintptr_t)problem->square |
                                   pitch_bits(problem->rows, problem->out_pitch, sizeof(float)));
    problem->bytes_read = computed > 0 ? pixels * problem->elem_bytes : 0;
    problem->bytes_written =
        computed * sizeof(float) * ((unsigned)problem->want_sum + (unsigned)problem->want_square);
}

void gp_problem_derive(gp_problem *problem) {
    switch (problem->operation) {
    case GP_OPERATION_REDUCE:
        problem->in_align = alignment((uintptr_t)problem->in);
        problem->out_align = GP_ALIGN_MAX;
        problem->bytes_read = (uint64_t)problem->n * problem->elem_bytes;
        problem->bytes_written = sizeof(int64_t);
        break;
    case GP_OPERATION_WINDOW:
        derive_window(problem);
        break;
    case GP_OPERATION_TRANSPOSE:
        problem->in_align =
            alignment((uintptr_t)problem->in | pitch_bits(problem->rows, problem->in_pitch, problem->elem_bytes));
        problem->out_align =
            alignment((uintptr_t)problem->out | pitch_bits(problem->cols, problem->out_pitch, problem->elem_bytes));
        problem->bytes_read = (uint64_t)problem->rows * problem->cols * problem->elem_bytes;
        problem->bytes_written = problem->bytes_read;
        break;
    case GP_OPERATION_NONE:
        break;
    }
}

/*
 * Member by member: a problem has just been written so, and vectors loaded over several stores wait until all of them
 * have left the core, a tenth of a short call.
 */
bool gp_problem_same_shape(const gp_problem *a, const gp_problem *b) {
    _Static_assert(sizeof(void *) != 8 || offsetof(gp_problem, in) == 128,
                   "members below are all there are before the data");
    return a->operation == b->operation && a->space == b->space && a->reduce == b->reduce && a->border == b->border &&
           a->want_sum == b->want_sum && a->want_square == b->want_square && a->in_place == b->in_place &&
           a->in_align == b->in_align && a->out_align == b->out_align && a->n == b->n && a->rows == b->rows &&
           a->cols == b->cols && a->in_pitch == b->in_pitch && a->out_pitch == b->out_pitch &&
           a->elem_bytes == b->elem_bytes && a->window == b->window && a->window_before == b->window_before &&
           a->col_first == b->col_first && a->col_end == b->col_end && a->bytes_read == b->bytes_read &&
           a->bytes_written == b->bytes_written;
}

bool gp_problem_is_empty(const gp_problem *problem) {
    if (problem->operation == GP_OPERATION_REDUCE)
        return false; /* the result of nothing is the operation's identity: still something to write */
    if (problem->rows == 0 || problem->cols == 0)
        return true;
    return problem->operation == GP_OPERATION_WINDOW && problem->col_first >= problem->col_end;
}

int gp_problem_describe(const gp_problem *problem, char *text, size_t size) {
    static const char *const ops[] = {"sum", "min", "max", "and", "or", "xor"};
    static const char *const borders[] = {"none", "zero", "replicate", "reflect", "reflect_101", "wrap"};
    switch (problem->operation) {
    case GP_OPERATION_REDUCE:
        return snprintf(text, size, "reduce %s of %zu int32, %u-byte aligned", ops[problem->reduce], problem->n,
                        problem->in_align);
    case GP_OPERATION_WINDOW:
        return snprintf(text, size, "window %zu of %zu x %zu int32, border %s, outputs:%s%s, aligned %u in, %u out",
                        problem->window, problem->rows, problem->cols, borders[problem->border],
                        problem->want_sum ? " sum" : "", problem->want_square ? " square" : "", problem->in_align,
                        problem->out_align);
    case GP_OPERATION_TRANSPOSE:
        return snprintf(text, size, "transpose %zu x %zu elements of %zu bytes%s, aligned %u in, %u out",
                        problem->rows, problem->cols, problem->elem_bytes, problem->in_place ? " in place" : "",
                        problem->in_align, problem->out_align);
    case GP_OPERATION_NONE:
        break;
    }
    return snprintf(text, size, "nothing");
}
