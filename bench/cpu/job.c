/* SPDX-License-Identifier: Apache-2.0 */
/* A job: its name, the bytes that it must move, and the public call that does it. */
#include "bench.h"

const char *reduce_name(size_t op) {
    static const char *const names[] = {"sum", "min", "max", "and", "or", "xor"};
    return names[op];
}

double job_bytes(const job *j) {
    switch (j->operation) {
    case GP_OPERATION_REDUCE:
        return 4.0 * (double)j->n;
    case GP_OPERATION_WINDOW:
        return 12.0 * (double)j->rows * (double)j->cols;
    default:
        return 2.0 * (double)j->rows * (double)j->cols * (double)j->elem_bytes;
    }
}

void job_label(const job *j, char *text, size_t size) {
    switch (j->operation) {
    case GP_OPERATION_REDUCE:
        snprintf(text, size, "%s", reduce_name(j->op));
        break;
    case GP_OPERATION_WINDOW:
        snprintf(text, size, "w = %zu", j->window);
        break;
    default:
        snprintf(text, size, "%zu x %zu", j->rows, j->cols);
    }
}

gp_status job_call(gp_context *context, const job *j, const memory *m, size_t set, int64_t *result) {
    switch (j->operation) {
    case GP_OPERATION_REDUCE:
        return gp_reduce_int(context, (gp_reduce_op)j->op, memory_in(m, set), j->n, result);
    case GP_OPERATION_WINDOW:
        /* OpenCV's default border */
        return gp_sum_and_square_window(context, memory_in(m, set), j->rows, j->cols, j->cols, j->window,
                                        GP_BORDER_REFLECT_101, memory_out(m, set, 0), memory_out(m, set, 1), j->cols);
    default:
        return gp_transpose(context, j->elem_bytes, memory_in(m, set), j->rows, j->cols, j->cols,
                            memory_out(m, set, 0), j->rows);
    }
}
