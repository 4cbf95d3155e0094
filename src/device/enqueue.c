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
 * to all that the device offers, so that one call serves every later plan. A kernel that is not remembered would be
 * asked to opt in at each launch: test_raised finds room for all.
 */
static gp_status raise_smem_limit(const gp_context *context, const gp_plan *plan, const void *function) {
    gp_gpu *gpu = context->gpu;
    if (plan->tiling.smem + plan->row->smem_static <= context->device.smem_per_block || is_raised(gpu, function))
        return GP_OK;
    struct cudaFuncAttributes attributes;
    GP_CUDA(cudaFuncGetAttributes(&attributes, function));
    size_t dynamic = context->device.smem_per_block_optin - attributes.sharedSizeBytes;
    GP_CUDA(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic));
    if (gpu->raised_count < GP_RAISED_MAX)
        gpu->raised[gpu->raised_count++] = function;
    return GP_OK;
}

/*
 * Staging memory is to leave the cache first: kernels that fill it slow the copies of pinned tiles, whose every row
 * is a page of host memory that the copy engines look up, presumably there. One H200, 1 GiB of 16 bytes: 64.8 GB/s
 * without, 92.8 with.
 */
static cudaLaunchAttribute streaming(const gp_gpu *gpu) {
    const size_t bytes = gp_least(gpu->streamed_span.bytes, gpu->window_most);
    return (cudaLaunchAttribute){.id = cudaLaunchAttributeAccessPolicyWindow,
                                 .val = {.accessPolicyWindow = {.base_ptr = gpu->streamed_span.begin,
                                                                .num_bytes = bytes,
                                                                .hitRatio = 1,
                                                                .hitProp = cudaAccessPropertyStreaming,
                                                                .missProp = cudaAccessPropertyStreaming}}};
}

gp_status gp_gpu_launch(gp_context *context, const gp_plan *plan, const void *function, void **args) {
    const gp_gpu *gpu = context->gpu;
    GP_TRY(raise_smem_limit(context, plan, function));
    cudaLaunchAttribute attributes[3];
    unsigned count = 0;
    if (gpu->dependent_launch && plan->row->dependent_launch)
        attributes[count++] = (cudaLaunchAttribute){.id = cudaLaunchAttributeProgrammaticStreamSerialization,
                                                    .val = {.programmaticStreamSerializationAllowed = 1}};
    if (plan->row->together)
        attributes[count++] = (cudaLaunchAttribute){.id = cudaLaunchAttributeCooperative, .val = {.cooperative = 1}};
    if (gpu->streamed_span.bytes > 0 && gpu->window_most > 0)
        attributes[count++] = streaming(gpu);
    cudaLaunchConfig_t config = {
        .gridDim = {(unsigned)plan->tiling.blocks, 1, 1},
        .blockDim = {plan->tiling.threads, 1, 1},
        .dynamicSmemBytes = plan->tiling.smem,
        .stream = gpu->stream,
        .attrs = attributes,
        .numAttrs = count,
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
