/* SPDX-License-Identifier: Apache-2.0 */
/* Problems with host memory among their arrays: cut in pieces that are moved in, computed and moved out at once. */
#include "stage.h"

/* A reduction of data that the device reaches, into pageable memory: the kernel writes to the slot, the host waits.
 */
static gp_status reduce_to_host(gp_context *context, const gp_problem *problem) {
    gp_gpu *gpu = context->gpu;
    gp_problem local = *problem;
    bool overflow;
    local.result = (int64_t *)&gpu->slot_device->value;
    GP_TRY(gp_context_replan(context, &local));
    GP_TRY(gp_slot_run(context, &local, true, &overflow));
    if (overflow)
        return gp_fail(GP_ERR_OVERFLOW, "the sum of %zu ints passes 64 bits", problem->n);
    *problem->result = gpu->slot->value;
    return GP_OK;
}

static gp_status deliver(const gp_stage_job *j) {
    const gp_problem *problem = j->split.problem;
    if (j->total > INT64_MAX || j->total < INT64_MIN)
        return gp_fail(GP_ERR_OVERFLOW, "the sum of %zu ints passes 64 bits", problem->n);
    const int64_t result = (int64_t)j->total;
    return gp_gpu_copy(j->context->gpu, problem->result, &result, sizeof result);
}

/*
 * All pieces are planned before the first is moved, so that a kernel that cannot is told before a byte is written.
 * The first one's problem and plan are to go on record as the context's.
 */
static gp_status plan_all(gp_stage_job *j) {
    gp_context *context = j->context;
    gp_part part[2];
    for (gp_piece piece = {0}; gp_split_next(&j->split, &piece);) {
        const unsigned parts = gp_split_parts(&j->split, &piece, gp_stage_memory(j, 0), part);
        for (unsigned i = 0; i < parts; i++) {
            GP_TRY(gp_context_replan(context, &part[i].problem));
            if (j->first.primitive == NULL) {
                j->first = context->problem;
                j->plan = context->plan;
            }
        }
    }
    return GP_OK;
}

/* After a failure: waits for all streams, whatever they say. */
static void quiesce(gp_gpu *gpu) {
    (void)cudaStreamSynchronize(gpu->side);
    (void)cudaStreamSynchronize(gpu->stream);
    (void)cudaStreamSynchronize(gpu->stage->down);
}

gp_status gp_gpu_stage(gp_context *context, const gp_problem *problem, const gp_operand operand[GP_OPERANDS]) {
    gp_gpu *gpu = context->gpu;
    gp_stage_job j = {.context = context, .operand = operand, .slots = GP_STAGE_SLOTS};
    gp_staged staged = {0};
    gp_found found GP_LEAVES = {0};
    GP_TRY(gp_gpu_enter(gpu->ordinal, &found));
    GP_TRY(gp_gpu_refuse_capture(gpu, "cannot use host memory"));
    if (problem->primitive->split == NULL)
        return gp_stage_whole(context, problem, operand);
    for (int i = 0; i < GP_OPERANDS_SPLIT; i++) {
        const bool pinned = operand[i].place == GP_PLACE_PINNED,
                   host = pinned || operand[i].place == GP_PLACE_PAGEABLE;
        const bool moved = operand[i].data && !operand[i].scalar && host;
        *(i == 0 ? &staged.in : &staged.out[i - 1]) = moved;
        staged.pinned = staged.pinned || (moved && pinned);
    }
    const bool scalar = problem->primitive->combine != NULL;
    if (scalar && !staged.in)
        return reduce_to_host(context, problem);
    gp_split_make(&j.split, problem, staged, gp_split_target(problem->bytes_read, GP_PIECE_BYTES));
    GP_TRY(gp_stage_create(gpu));
    GP_TRY(gp_stage_reserve(gpu, j.split.slot_bytes, &j.slots));
    gp_status status = plan_all(&j);
    if (status == GP_OK) {
        status = gp_stage_run(&j);
        context->problem = j.first;
        context->plan = j.plan;
    }
    if (status != GP_OK)
        quiesce(gpu);
    gp_stage_trim(gpu);
    return status == GP_OK && scalar ? deliver(&j) : status;
}
