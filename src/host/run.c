/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call runs, by which plan, and how its data gets there. */
#include "run.h"
#include "../device/launch.h"
#include "cancel.h"
#include "cpu/rounding.h"

/* Which kinds of memory a call's arrays and its scalar result lie in. */
typedef struct places {
    bool host;    /* an array is pageable or pinned, or a scalar result pageable */
    bool device;  /* something is device memory, out of the processor's reach */
    bool managed; /* an array is managed memory */
    bool shared;  /* something is pinned or managed: the GPU may still be working on it */
} places;

static gp_status find_places(gp_context *context, gp_operand operand[GP_OPERANDS], places *found) {
    *found = (places){0};
    for (gp_operand *o = operand; o < operand + GP_OPERANDS; o++) {
        if (o->data == NULL)
            continue;
        GP_TRY(gp_gpu_where(context->gpu, o->name, o->data, &o->place));
        found->host |= o->place == GP_PLACE_PAGEABLE || (!o->scalar && o->place == GP_PLACE_PINNED);
        found->device |= o->place == GP_PLACE_DEVICE;
        found->managed |= !o->scalar && o->place == GP_PLACE_MANAGED;
        found->shared |= o->place == GP_PLACE_PINNED || o->place == GP_PLACE_MANAGED;
    }
    return GP_OK;
}

/* An AUTO context computes where the data lives. A pinned kernel's place goes before that of data which both sides
 * reach. What happened in earlier calls is never asked. */
static gp_space space_of(const gp_context *context, const gp_problem *problem, const places *found) {
    const gp_kernel *pinned = context->pins[gp_primitive_index(problem->primitive)].row;
    if (context->backend != GP_BACKEND_AUTO || found->device)
        return GP_SPACE_GPU;
    if (pinned != NULL)
        return pinned->space;
    return found->managed || !found->host ? GP_SPACE_GPU : GP_SPACE_PROCESSOR;
}

static gp_status launch(gp_context *context, const gp_problem *problem) {
    return context->plan.row->launch(context, &context->plan, problem);
}

static gp_status run_on_gpu_context(gp_context *context, gp_problem *problem) {
    GP_UNCANCELLED;
    GP_ROUNDS_TO_NEAREST; /* launchers divide, and the driver computes */
    gp_operand operand[GP_OPERANDS] = {{0}};
    places found;
    problem->primitive->name_operands(problem, operand);
    GP_TRY(find_places(context, operand, &found));
    problem->space = space_of(context, problem, &found);
    if (problem->space == GP_SPACE_GPU && found.host)
        return gp_gpu_stage(context, problem, operand);
    GP_TRY(gp_context_replan(context, problem));
    if (problem->space == GP_SPACE_GPU)
        return gp_gpu_enqueue(context, &context->plan, problem);
    if (found.shared)
        GP_TRY(gp_gpu_await(context->gpu));
    return launch(context, problem);
}

gp_status gp_run(gp_context *context, gp_problem *problem) {
    if (problem->primitive->is_empty(problem))
        return GP_OK;
    if (context->gpu != NULL)
        return run_on_gpu_context(context, problem);
    problem->space = context->backend == GP_BACKEND_MODEL ? GP_SPACE_GPU : GP_SPACE_PROCESSOR;
    GP_TRY(gp_context_replan(context, problem));
    if (context->backend == GP_BACKEND_MODEL)
        return GP_OK;
    return launch(context, problem);
}
