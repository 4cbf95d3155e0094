/* SPDX-License-Identifier: Apache-2.0 */
/* The made-up GPU's kernels: see fake_cuda.h. Link with --wrap=gp_gpu_enqueue. */
#include "../../src/device/gpu.h"
#include "../../src/host/rearrange_array/cpu.h"
#include "../../src/host/reduce_array/cpu.h"
#include "../../src/host/window_array/cpu.h"
#include "../check.h"
#include "../oracle.h"
#include "fake_cuda.h"

#include <stdlib.h>
#include <string.h>

gp_status __wrap_gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem);

size_t fake_pieces;

static void window_piece(const gp_problem *p) {
    size_t first, end;
    oracle_columns(p->border, p->cols, p->window, &first, &end);
    assert_true(first == p->col_first || first >= end);
    oracle_window(p->in, p->rows, p->cols, p->in_pitch, p->window, p->border, p->sum, p->square, p->out_pitch);
}

static void transpose_piece(const gp_problem *p) {
    size_t bytes = p->rows * p->cols * p->elem_bytes;
    unsigned char *copy = malloc(bytes);
    assert_non_null(copy);
    for (size_t r = 0; r < p->rows; r++)
        memcpy(copy + r * p->cols * p->elem_bytes, (const char *)p->in + r * p->in_pitch * p->elem_bytes,
               p->cols * p->elem_bytes);
    oracle_transpose(p->elem_bytes, copy, p->rows, p->cols, p->cols, p->out, p->out_pitch);
    free(copy);
}

gp_status __wrap_gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    assert_ptr_equal(context->gpu->stream, NULL);
    assert_non_null(plan->row);
    fake_pieces++;
    if (problem->primitive == &gp_primitive_reduce) {
        gp_status status = oracle_reduce(problem->reduce, problem->in, problem->n, problem->result);
        context->gpu->slot->overflow = status == GP_ERR_OVERFLOW;
        context->gpu->slot->done = context->gpu->sequence;
    } else if (problem->primitive == &gp_primitive_reduce_array) {
        const gp_status status = gp_launch_reduce_array_cpu(context, plan, problem);
        context->gpu->slot->overflow |= status == GP_ERR_OVERFLOW;
        context->gpu->slot->done = context->gpu->sequence;
    } else if (problem->primitive == &gp_primitive_rearrange_array) {
        return gp_launch_rearrange_array_cpu(context, plan, problem);
    } else if (problem->primitive == &gp_primitive_window_array) {
        (void)gp_launch_window_array_cpu(context, plan, problem);
        context->gpu->slot->done = context->gpu->sequence;
    } else if (problem->primitive == &gp_primitive_window) {
        window_piece(problem);
    } else {
        transpose_piece(problem);
    }
    return GP_OK;
}
