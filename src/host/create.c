/* SPDX-License-Identifier: Apache-2.0 */
/* Making and destroying contexts. */
#include "../device/launch.h"
#include "cancel.h"
#include "context.h"
#include "copy_out.h"
#include "cpu/threads.h"
#include "fork.h"
#include <stdlib.h>
#include <string.h>

#define CPU_THREADS_MAX 1024

int gp_device_count(void) {
    GP_UNCANCELLED;
    int count = 0;
    return gp_gpu_probe(&count) == GP_OK ? count : 0;
}

static gp_status read_options(const gp_options *given, gp_options *options) {
    *options = (gp_options){.struct_size = sizeof *options, .backend = GP_BACKEND_AUTO, .device = -1};
    if (given == NULL)
        return GP_OK;
    GP_TRY(gp_check_input_struct("options", given, sizeof *options));
    memcpy(options, given, sizeof *options);
    if (options->backend < GP_BACKEND_AUTO || options->backend > GP_BACKEND_MODEL)
        return gp_fail(GP_ERR_ARGUMENT, "options: backend %d is no gp_backend", (int)options->backend);
    if (options->device < -1)
        return gp_fail(GP_ERR_ARGUMENT, "options: device %d; -1 is the current one", (int)options->device);
    if (options->cpu_threads > CPU_THREADS_MAX)
        return gp_fail(GP_ERR_ARGUMENT, "options: cpu_threads %u is above %d", options->cpu_threads, CPU_THREADS_MAX);
    if (options->reserved != 0)
        return gp_fail(GP_ERR_ARGUMENT, "options: reserved is %u, not 0", options->reserved);
    if ((options->backend == GP_BACKEND_MODEL) != (options->model != NULL))
        return gp_fail(GP_ERR_ARGUMENT, "options: model %s",
                       options->model == NULL ? "is NULL with backend GP_BACKEND_MODEL"
                                              : "is given without backend GP_BACKEND_MODEL");
    return GP_OK;
}

static gp_status open_model(gp_context *context, const gp_device_info *model) {
    GP_TRY(gp_check_input_struct("options: model", model, sizeof *model));
    memcpy(&context->device, model, sizeof *model);
    if (!gp_device_is_gpu(&context->device))
        return gp_fail(GP_ERR_ARGUMENT, "options: model lacks one of threads_per_sm, regs_per_sm, smem_per_sm, "
                                        "blocks_per_sm");
    if (model->smem_reserved > model->smem_per_sm)
        return gp_fail(GP_ERR_ARGUMENT, "options: model's smem_reserved is above its smem_per_sm");
    gp_device_fill_defaults(&context->device);
    context->device.backend = GP_BACKEND_MODEL;
    context->device.ordinal = -1;
    context->device.no_gpu_reason[0] = '\0';
    context->device.name[sizeof context->device.name - 1] = '\0';
    return GP_OK;
}

static gp_status open_gpu(gp_context *context, int ordinal) {
    int count = 0;
    GP_TRY(gp_gpu_probe(&count));
    if (ordinal >= count)
        return gp_fail(GP_ERR_ARGUMENT, "options: device %d, but there are %d", ordinal, count);
    GP_TRY(gp_gpu_query(ordinal, &context->device));
    gp_device_fill_defaults(&context->device);
    return gp_gpu_open(context->device.ordinal, &context->gpu);
}

static void open_processor(gp_context *context, const char *no_gpu_reason) {
    gp_device *device = &context->device;
    device->backend = GP_BACKEND_CPU;
    device->ordinal = -1;
    memcpy(device->name, "processor", sizeof "processor");
    strncpy(device->no_gpu_reason, no_gpu_reason, sizeof device->no_gpu_reason - 1);
    context->backend = GP_BACKEND_CPU;
}

static gp_status open_device(gp_context *context, const gp_options *options) {
    int count = 0;
    context->backend = (gp_backend)options->backend;
    if (context->backend == GP_BACKEND_MODEL)
        return open_model(context, options->model);
    if (context->backend == GP_BACKEND_CUDA)
        return open_gpu(context, options->device);
    const gp_saved_error saved = gp_error_save();
    const bool automatic = context->backend == GP_BACKEND_AUTO;
    if (automatic && gp_gpu_probe(&count) == GP_OK)
        return open_gpu(context, options->device);
    open_processor(context, automatic ? gp_last_error() : "");
    gp_error_restore(&saved); /* no usable GPU is no failure of AUTO's */
    return GP_OK;
}

gp_status gp_context_create(gp_context **out, const gp_options *given) {
    GP_UNCANCELLED;
    GP_TRY(gp_check_not_null("out", out));
    gp_options options;
    GP_TRY(read_options(given, &options));
    gp_context *context = calloc(1, sizeof *context);
    if (context == NULL)
        return gp_fail(GP_ERR_MEMORY, "no memory for a context");
    context->born_here = gp_fork_mark();
    const gp_status status = context->born_here != NULL
                                 ? open_device(context, &options)
                                 : gp_fail(GP_ERR_MEMORY, "no memory for a context's fork mark");
    if (status != GP_OK) {
        gp_context_destroy(context);
        return status;
    }
    context->device.struct_size = sizeof context->device;
    if (context->backend != GP_BACKEND_MODEL)
        gp_device_query_processor(&context->device, options.cpu_threads);
    context->planned_on = context->device;
    *out = context;
    return GP_OK;
}

void gp_context_destroy(gp_context *context) {
    GP_UNCANCELLED;
    if (context == NULL)
        return;
    gp_gpu_close(context->gpu, context->gpu != NULL && *context->born_here == 0);
    gp_threads_destroy(context);
    free(context->lines);
    free(context);
}
