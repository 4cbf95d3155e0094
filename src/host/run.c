/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call runs, by which plan, and how its data gets there. */
#include "run.h"
#include "../device/launch.h"
#include <string.h>

gp_status gp_run_plan(gp_context *context, const gp_problem *problem) {
    const bool known = context->has_plan && gp_problem_same_shape(&context->problem, problem);
    context->problem = *problem;
    if (known)
        return GP_OK;
    context->has_problem = true;
    const gp_pin pin = context->pins[problem->operation];
    context->has_plan =
        gp_plan_make(problem, &context->planned_on, gp_catalogue_rows(problem->operation), pin, &context->plan, NULL);
    if (context->has_plan)
        return GP_OK;
    if (pin.row != NULL)
        return gp_fail(GP_ERR_NO_KERNEL, "the pinned kernel %s cannot do this here; gp_context_explain() tells why",
                       pin.row->name);
    return gp_fail(GP_ERR_NO_KERNEL, "no kernel can do this here; gp_context_explain() tells why");
}

/* Which kinds of memory a call's arrays lie in. */
typedef struct places {
    bool host;   /* an array is pageable or pinned, or a scalar result pageable */
    bool device; /* an array or result is device memory, out of the processor's reach */
    bool shared; /* something is pinned or managed: the GPU may still be working on it */
} places;

static gp_status look_at(gp_context *context, const void *pointer, bool scalar, places *found) {
    if (pointer == NULL)
        return GP_OK;
    gp_memory memory = GP_MEMORY_HOST;
    GP_TRY(gp_gpu_where(context->gpu, pointer, &memory));
    found->host = found->host || memory == GP_MEMORY_HOST || (memory == GP_MEMORY_PINNED && !scalar);
    found->device = found->device || memory == GP_MEMORY_DEVICE;
    found->shared = found->shared || memory == GP_MEMORY_PINNED || memory == GP_MEMORY_MANAGED;
    return GP_OK;
}

static gp_status find_places(gp_context *context, const gp_problem *problem, places *found) {
    *found = (places){0};
    if (problem->operation != GP_OPERATION_REDUCE || problem->n > 0)
        GP_TRY(look_at(context, problem->in, false, found));
    GP_TRY(look_at(context, problem->out, false, found));
    GP_TRY(look_at(context, problem->sum, false, found));
    GP_TRY(look_at(context, problem->square, false, found));
    return look_at(context, problem->result, true, found);
}

/* An AUTO context computes where the data lives, unless a pinned kernel runs elsewhere. */
static gp_space auto_space(const gp_context *context, const gp_problem *problem, const places *found) {
    const gp_kernel *pinned = context->pins[problem->operation].row;
    if (found->device)
        return GP_SPACE_GPU;
    if (pinned != NULL)
        return pinned->space;
    return found->host ? GP_SPACE_PROCESSOR : GP_SPACE_GPU;
}

static gp_status run_on_gpu_context(gp_context *context, gp_problem *problem) {
    places found;
    GP_TRY(find_places(context, problem, &found));
    problem->space = context->backend == GP_BACKEND_AUTO ? auto_space(context, problem, &found) : GP_SPACE_GPU;
    if (problem->space == GP_SPACE_GPU && found.host)
        return gp_gpu_stage(context, problem);
    GP_TRY(gp_run_plan(context, problem));
    if (problem->space == GP_SPACE_GPU)
        return gp_gpu_enqueue(context, &context->plan, problem);
    if (found.shared)
        GP_TRY(gp_gpu_synchronize(context->gpu));
    return context->plan.row->launch(context, &context->plan, problem);
}

gp_status gp_run(gp_context *context, gp_problem *problem) {
    if (gp_problem_is_empty(problem))
        return GP_OK;
    if (context->gpu != NULL)
        return run_on_gpu_context(context, problem);
    problem->space = context->backend == GP_BACKEND_MODEL ? GP_SPACE_GPU : GP_SPACE_PROCESSOR;
    GP_TRY(gp_run_plan(context, problem));
    if (context->backend == GP_BACKEND_MODEL)
        return GP_OK;
    return context->plan.row->launch(context, &context->plan, problem);
}
