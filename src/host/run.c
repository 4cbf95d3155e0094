/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call runs, by which plan, and how its data gets there. */
#include "run.h"
#include "../device/launch.h"
#include "wait.h"
#include <sys/resource.h>

#define PAGE_BYTES 4096 /* or more: fewer faults are then counted, of which each costs more */

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
    gp_traffic traffic;
} places;

static gp_status look_at(gp_context *context, const char *name, const void *pointer, uint64_t bytes, bool outward,
                         places *found) {
    if (pointer == NULL)
        return GP_OK;
    gp_memory memory = GP_MEMORY_HOST;
    GP_TRY(gp_gpu_where(context->gpu, name, pointer, &memory));
    const bool array = bytes > 0, host = memory == GP_MEMORY_HOST || memory == GP_MEMORY_PINNED;
    if (context->host_data && !host)
        return gp_fail(GP_ERR_ARGUMENT, "%s: %s memory, where host data was promised (GP_PROMISE_HOST_DATA)", name,
                       memory == GP_MEMORY_MANAGED ? "managed" : "device");
    found->host = found->host || (host && (array || memory == GP_MEMORY_HOST));
    found->device = found->device || memory == GP_MEMORY_DEVICE;
    found->shared = found->shared || memory == GP_MEMORY_PINNED || memory == GP_MEMORY_MANAGED;
    found->traffic.up += host && !outward ? bytes : 0;
    found->traffic.down += host && outward ? bytes : 0;
    found->traffic.pageable += memory == GP_MEMORY_HOST ? bytes : 0;
    return GP_OK;
}

/* A scalar result counts as no array, and is no traffic. */
static gp_status find_places(gp_context *context, const gp_problem *problem, places *found) {
    const uint64_t written = problem->bytes_written / (problem->sum != NULL && problem->square != NULL ? 2 : 1);
    *found = (places){0};
    if (problem->operation != GP_OPERATION_REDUCE || problem->n > 0)
        GP_TRY(look_at(context, gp_problem_in_name(problem), problem->in, problem->bytes_read, false, found));
    GP_TRY(look_at(context, "out", problem->out, written, true, found));
    GP_TRY(look_at(context, "sum", problem->sum, written, true, found));
    GP_TRY(look_at(context, "square", problem->square, written, true, found));
    return look_at(context, "out", problem->result, 0, true, found);
}

/*
 * Host data of an AUTO context: as place.c says by the rates that are known. The bus's are measured once the
 * processor has been seen to take long, and never while the stream is being captured: then only the processor can do
 * it.
 */
static gp_space host_space(gp_context *context, const gp_problem *problem, const gp_traffic *traffic) {
    gp_rates *rates = &context->rates;
    gp_place *place = &context->place;
    *place = gp_place_choose(problem, traffic, rates);
    if (!(place->gpu_seconds > 0) && place->processor_seconds >= GP_PLACE_LEAST_SECONDS)
        rates->waited += place->processor_seconds;
    if ((place->open || place->space == GP_SPACE_GPU) && gp_gpu_is_captured(context->gpu)) {
        place->space = GP_SPACE_PROCESSOR;
    } else if (place->open) {
        rates->bus_tried = true;
        rates->pack_tried = rates->pack_tried || traffic->pageable > 0;
        const gp_kept_words kept = gp_words_keep();
        if (gp_gpu_measure_bus(context, problem, traffic->pageable > 0, &rates->bus) != GP_OK)
            gp_words_put_back(&kept);
        *place = gp_place_choose(problem, traffic, rates);
    }
    gp_rates_count(rates, place);
    return place->space;
}

/* An AUTO context computes where the data lives, unless a pinned kernel runs elsewhere or the bus is worth its time.
 */
static gp_space auto_space(gp_context *context, const gp_problem *problem, const places *found) {
    const gp_kernel *pinned = context->pins[problem->operation].row;
    if (found->device)
        return GP_SPACE_GPU;
    if (pinned != NULL)
        return pinned->space;
    return found->host ? host_space(context, problem, &found->traffic) : GP_SPACE_GPU;
}

/* Of this thread, which has its share of the call: what the program's other threads touch is not the call's. */
static long page_faults(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt + usage.ru_majflt : 0;
}

typedef gp_status (*way)(gp_context *context, gp_problem *problem);

static gp_status launch(gp_context *context, gp_problem *problem) {
    return context->plan.row->launch(context, &context->plan, problem);
}

/*
 * Takes the time of calls for which place.c asks. A call has touched memory for the first time if more than a
 * hundredth of this thread's pages were, or more than one of few.
 */
static gp_status take_time(gp_context *context, gp_problem *problem, way run) {
    if (!gp_rates_wanted(&context->rates, &context->place))
        return run(context, problem);
    const uint64_t pages = (problem->bytes_read + problem->bytes_written) / PAGE_BYTES / context->device.cpu_threads;
    const long faults = page_faults();
    const double begin = gp_now();
    const gp_status status = run(context, problem);
    const double seconds = gp_now() - begin;
    const bool touched = (uint64_t)(page_faults() - faults) > 1 + pages / 100;
    if (status == GP_OK && gp_rates_believed(&context->rates, touched))
        gp_rates_note(&context->rates, &context->place, problem, seconds);
    return status;
}

/* Promised host data that is known to be the processor's: nothing has to be asked. */
static bool is_settled_on_host(gp_context *context, const gp_problem *problem) {
    const gp_kernel *pinned = context->pins[problem->operation].row;
    gp_place place;
    if (!context->host_data || (pinned != NULL && pinned->space == GP_SPACE_GPU) ||
        !gp_place_is_settled(problem, &context->rates, &place))
        return false;
    context->place = pinned == NULL ? place : (gp_place){0};
    return true;
}

static gp_status run_on_gpu_context(gp_context *context, gp_problem *problem) {
    places found;
    if (is_settled_on_host(context, problem)) {
        problem->space = GP_SPACE_PROCESSOR;
        GP_TRY(gp_run_plan(context, problem));
        return launch(context, problem);
    }
    GP_TRY(find_places(context, problem, &found));
    context->place = (gp_place){0};
    problem->space = context->backend == GP_BACKEND_AUTO ? auto_space(context, problem, &found) : GP_SPACE_GPU;
    if (problem->space == GP_SPACE_GPU && found.host)
        return take_time(context, problem, gp_gpu_stage);
    GP_TRY(gp_run_plan(context, problem));
    if (problem->space == GP_SPACE_GPU)
        return gp_gpu_enqueue(context, &context->plan, problem);
    if (found.shared && !context->host_data)
        GP_TRY(gp_gpu_await(context->gpu));
    /* A call for which threads have to be started is no measure of others. */
    if (context->threads == NULL && context->plan.grid > 1)
        return launch(context, problem);
    return take_time(context, problem, launch);
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
    return launch(context, problem);
}
