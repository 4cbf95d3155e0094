/* SPDX-License-Identifier: Apache-2.0 */
/* The host part of the reduction ladder: scratch memory, the launch, the blocks' sums added up. */
#include "../../host/kernel.h"
#include "../../host/study/ladder.h"
#include "../gpu.h"

#define CHUNK 4096 /* sums fetched at once: 16 KiB of stack */

static gp_status add_partials(const gp_gpu *gpu, const uint32_t *partial, uint64_t count, int64_t *total) {
    int32_t chunk[CHUNK];
    int64_t sum = 0; /* below 2^31 blocks of an int32 each: 64 bits hold it */
    for (uint64_t done = 0; done < count; done += CHUNK) {
        const size_t part = count - done < CHUNK ? (size_t)(count - done) : CHUNK;
        GP_CUDA(cudaMemcpyAsync(chunk, partial + done, part * sizeof *chunk, cudaMemcpyDeviceToHost, gpu->stream));
        GP_CUDA(cudaStreamSynchronize(gpu->stream));
        for (size_t i = 0; i < part; i++)
            sum += chunk[i];
    }
    *total = sum;
    return GP_OK;
}

static gp_status fill(const gp_gpu *gpu, const gp_ladder_arguments *arguments, uint64_t elements) {
    const uint64_t n = arguments->n;
    if (n > 0 && elements > 0)
        GP_CUDA(cudaMemcpyAsync(arguments->data, arguments->in, n * sizeof(int32_t), cudaMemcpyDefault, gpu->stream));
    if (elements > n)
        GP_CUDA(cudaMemsetAsync(arguments->data + n, 0, (elements - n) * sizeof(int32_t), gpu->stream));
    return GP_OK;
}

/* As a kernel would, it writes the result where the device reaches it, then tells the host that polls. */
static gp_status run(gp_context *context, const gp_plan *plan, const gp_problem *problem, const void *kernel,
                     gp_ladder_arguments *arguments, uint64_t elements) {
    gp_gpu *gpu = context->gpu;
    void *list[] = {arguments};
    int64_t total = 0;
    GP_TRY(fill(gpu, arguments, elements));
    gp_context_bracket(context, false);
    GP_TRY(gp_gpu_launch(context, plan, kernel, list));
    gp_context_bracket(context, true);
    GP_TRY(add_partials(gpu, arguments->partial, plan->tiling.blocks, &total));
    GP_CUDA(cudaMemcpyAsync(problem->result, &total, sizeof total, cudaMemcpyDefault, gpu->stream));
    GP_CUDA(cudaStreamSynchronize(gpu->stream));
    if (problem->result == (int64_t *)&gpu->slot_device->value)
        gpu->slot->done = gpu->sequence;
    return GP_OK;
}

gp_status gp_ladder_sum(gp_context *context, const gp_plan *plan, const gp_problem *problem, const void *kernel,
                        unsigned data_blocks) {
    gp_gpu *gpu = context->gpu;
    gp_found found GP_LEAVES = {0};
    const uint64_t elements = plan->tiling.blocks * plan->tiling.threads * data_blocks;
    void *scratch = NULL;
    GP_TRY(gp_gpu_refuse_capture(gpu, "cannot add up the sums of blocks"));
    GP_TRY(gp_gpu_enter(gpu->ordinal, &found));
    GP_CUDA(cudaMalloc(&scratch, (elements + plan->tiling.blocks) * sizeof(uint32_t)));
    gp_ladder_arguments arguments = {
        .in = problem->in, .n = problem->n, .data = scratch, .partial = (uint32_t *)scratch + elements};
    gp_status status = run(context, plan, problem, kernel, &arguments, elements);
    (void)cudaFree(scratch);
    return status;
}
