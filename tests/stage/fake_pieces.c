/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The made-up GPU's kernels, see fake_cuda.h, and how finely calls on host data are cut. Link with --wrap= of
 * gp_gpu_enqueue, gp_split_target and gp_box_next.
 */
#include "fake_pieces.h"
#include "../../src/device/gpu.h"
#include "../../src/host/rearrange_array/cpu.h"
#include "../../src/host/reduce_array/cpu.h"
#include "../../src/host/split.h"
#include "../../src/host/window_array/cpu.h"
#include "../check.h"
#include "../oracle.h"
#include "fake_streams.h"

gp_status __wrap_gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem);
size_t __wrap_gp_split_target(uint64_t bytes, size_t most);
size_t __real_gp_split_target(uint64_t bytes, size_t most);
bool __wrap_gp_box_next(const gp_box *box, size_t limit, size_t *at, gp_box *part);
bool __real_gp_box_next(const gp_box *box, size_t limit, size_t *at, gp_box *part);

size_t fake_pieces;
fake_sizes fake_cut;

size_t __wrap_gp_split_target(uint64_t bytes, size_t most) {
    return fake_cut.piece > 0 ? fake_cut.piece : __real_gp_split_target(bytes, most);
}

bool __wrap_gp_box_next(const gp_box *box, size_t limit, size_t *at, gp_box *part) {
    return __real_gp_box_next(box, fake_cut.chunk > 0 ? gp_least(limit, fake_cut.chunk) : limit, at, part);
}

/* All that a kernel gets, by value. */
typedef struct kernel {
    gp_slot *slot;
    uint32_t sequence;
    uint64_t *workspace;
    gp_plan plan;
    gp_problem problem;
    gp_whole whole;
} kernel;

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

/* Computed by one thread, which needs nothing of a context. */
static gp_status compute(kernel *k) {
    static gp_context none;
    gp_problem *p = &k->problem;
    p->whole = &k->whole;
    k->plan.tiling.blocks = 1;
    if (p->primitive == &gp_primitive_reduce)
        return oracle_reduce(p->reduce, p->in, p->n, p->result);
    if (p->primitive == &gp_primitive_reduce_array)
        return gp_launch_reduce_array_cpu(&none, &k->plan, p);
    if (p->primitive == &gp_primitive_rearrange_array)
        return gp_launch_rearrange_array_cpu(&none, &k->plan, p);
    if (p->primitive == &gp_primitive_window_array)
        return gp_launch_window_array_cpu(&none, &k->plan, p);
    if (p->primitive == &gp_primitive_window)
        window_piece(p);
    else
        transpose_piece(p);
    return GP_OK;
}

/* Kernels of two streams may run at the same time, but not in one workspace, in which all is 0 between them. */
#define IN_USE 1

static void begin(void *argument) {
    const kernel *k = argument;
    fake.too_early += *k->workspace != 0;
    *k->workspace = IN_USE;
}

static void end(void *argument) {
    kernel *k = argument;
    const gp_status status = compute(k);
    assert_true(status == GP_OK || status == GP_ERR_OVERFLOW);
    k->slot->overflow |= status == GP_ERR_OVERFLOW;
    k->slot->done = k->sequence;
    fake.too_early += *k->workspace != IN_USE;
    *k->workspace = 0;
}

gp_status __wrap_gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const gp_gpu *gpu = context->gpu;
    kernel k = {.slot = gpu->slot,
                .sequence = gpu->sequence,
                .workspace = gpu->workspace,
                .plan = *plan,
                .problem = *problem};
    assert_non_null(plan->row);
    GP_CUDA(fake_cuda_outcome("cudaLaunchKernelExC"));
    if (problem->whole != NULL)
        memcpy(&k.whole, problem->whole, problem->primitive->whole_bytes);
    fake_pieces++;
    fake_stream_give(gpu->stream, begin, &k, sizeof k);
    fake_stream_give(gpu->stream, end, &k, sizeof k);
    return GP_OK;
}
