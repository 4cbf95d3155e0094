/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where kernels are launched, and the enqueueing of a planned problem. */
#include "../host/kernel.h"
#include "gpu.h"

static bool is_raised(const gp_gpu *gpu, const void *function) {
    for (unsigned i = 0; i < gpu->raised_count; i++)
        if (gpu->raised[i] == function)
            return true;
    return false;
}

/*
 * A block may have more shared memory than smem_per_block (48 KiB) once its kernel has opted in. The limit is raised
 * to all that the device offers, so that one call serves every later plan.
 */
static gp_status raise_smem_limit(const gp_context *context, const gp_plan *plan, const void *function) {
    gp_gpu *gpu = context->gpu;
    if (plan->smem + plan->row->smem_static <= context->device.smem_per_block || is_raised(gpu, function))
        return GP_OK;
    struct cudaFuncAttributes attributes;
    GP_CUDA(cudaFuncGetAttributes(&attributes, function));
    size_t dynamic = context->device.smem_per_block_optin - attributes.sharedSizeBytes;
    GP_CUDA(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic));
    if (gpu->raised_count < GP_RAISED_MAX)
        gpu->raised[gpu->raised_count++] = function;
    return GP_OK;
}

static gp_status observe(const gp_gpu *gpu, const gp_plan *plan, const void *function) {
    struct cudaFuncAttributes attributes;
    int blocks_per_sm = 0;
    GP_CUDA(cudaFuncGetAttributes(&attributes, function));
    GP_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, function, (int)plan->threads, plan->smem));
    gp_observed observed = {
        .threads = plan->threads,
        .regs = (unsigned)attributes.numRegs,
        .blocks_per_sm = (unsigned)blocks_per_sm,
        .smem_static = attributes.sharedSizeBytes,
        .smem_dynamic = plan->smem,
        .grid = plan->grid,
    };
    gpu->observer(gpu->observer_user, &observed);
    return GP_OK;
}

gp_status gp_gpu_launch(gp_context *context, const gp_plan *plan, const void *function, void **args) {
    GP_TRY(raise_smem_limit(context, plan, function));
    if (context->gpu->observer)
        return observe(context->gpu, plan, function);
    cudaLaunchAttribute overlap = {
        .id = cudaLaunchAttributeProgrammaticStreamSerialization,
        .val = {.programmaticStreamSerializationAllowed = 1},
    };
    cudaLaunchConfig_t config = {
        .gridDim = {(unsigned)plan->grid, 1, 1},
        .blockDim = {plan->threads, 1, 1},
        .dynamicSmemBytes = plan->smem,
        .stream = context->gpu->stream,
        .attrs = &overlap,
        .numAttrs = context->gpu->overlaps && plan->row->overlaps ? 1 : 0,
    };
    cudaError_t error = cudaLaunchKernelExC(&config, function, args);
    return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, plan->row->name);
}

gp_status gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    int found, ordinal = context->gpu->ordinal;
    GP_TRY(gp_device_set(ordinal, &found));
    gp_status status = plan->row->launch(context, plan, problem);
    gp_device_restore(ordinal, found);
    return status;
}

void gp_gpu_observe(gp_gpu *gpu, gp_observer observer, void *user) {
    gpu->observer = observer;
    gpu->observer_user = user;
}
