/* SPDX-License-Identifier: Apache-2.0 */
/* Staging memory: made on first need, kept with the context. */
#include "stage.h"

#include <stdlib.h>

bool gp_stage_fill_ring(gp_chunk *ring) {
    void *bytes = NULL;
    if (ring[0].bytes)
        return true;
    if (cudaHostAlloc(&bytes, GP_RING_CHUNKS * GP_CHUNK_BYTES, cudaHostAllocPortable) != cudaSuccess)
        return false;
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++)
        ring[i].bytes = (unsigned char *)bytes + i * GP_CHUNK_BYTES;
    return true;
}

static gp_status create_parts(gp_stage *stage) {
    GP_CUDA(cudaStreamCreateWithFlags(&stage->down, cudaStreamNonBlocking));
    for (unsigned i = 0; i < 2 * GP_RING_CHUNKS; i++)
        GP_CUDA(cudaEventCreateWithFlags(&stage->ring[i % 2][i / 2].moved, cudaEventDisableTiming));
    for (unsigned i = 0; i < GP_STAGE_SLOTS; i++) {
        GP_CUDA(cudaEventCreateWithFlags(&stage->slot[i].computed, cudaEventDisableTiming));
        GP_CUDA(cudaEventCreateWithFlags(&stage->slot[i].downloaded, cudaEventDisableTiming));
    }
    return GP_OK;
}

gp_status gp_stage_create(gp_gpu *gpu) {
    if (gpu->stage)
        return GP_OK;
    gp_stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return gp_fail(GP_ERR_MEMORY, "no host memory for staging");
    const gp_status status = create_parts(stage);
    if (status == GP_OK) {
        gpu->stage = stage;
    } else {
        gp_stage_close(stage);
        free(stage);
    }
    return status;
}

static void free_memory(gp_stage *stage) {
    if (stage->memory)
        (void)cudaFree(stage->memory);
    stage->memory = NULL;
    stage->memory_bytes = 0;
}

static void destroy_event(cudaEvent_t event) {
    if (event)
        (void)cudaEventDestroy(event);
}

void gp_stage_close(gp_stage *stage) {
    if (!stage)
        return;
    free_memory(stage);
    for (unsigned i = 0; i < 2 * GP_RING_CHUNKS; i++)
        destroy_event(stage->ring[i % 2][i / 2].moved);
    for (unsigned i = 0; i < 2; i++)
        if (stage->ring[i]->bytes)
            (void)cudaFreeHost(stage->ring[i]->bytes);
    for (unsigned i = 0; i < GP_STAGE_SLOTS; i++) {
        destroy_event(stage->slot[i].computed);
        destroy_event(stage->slot[i].downloaded);
    }
    if (stage->down)
        (void)cudaStreamDestroy(stage->down);
}

/* Fewer pieces at once where memory is short. */
gp_status gp_stage_reserve(gp_gpu *gpu, size_t slot_bytes, unsigned *count) {
    gp_stage *stage = gpu->stage;
    const size_t affordable = gp_at_least_one(GP_SLOTS_BYTES_MOST / gp_at_least_one(slot_bytes));
    *count = (unsigned)gp_least(*count, affordable);
    if (stage->memory_bytes >= *count * slot_bytes)
        return GP_OK;
    free_memory(stage);
    void *memory = NULL;
    cudaError_t error;
    while ((error = cudaMalloc(&memory, *count * slot_bytes)) == cudaErrorMemoryAllocation && *count > 1)
        --*count;
    if (error != cudaSuccess)
        return gp_cuda_fail(error, "cudaMalloc of staging memory");
    stage->memory = memory;
    stage->memory_bytes = *count * slot_bytes;
    return GP_OK;
}

void gp_stage_trim(gp_gpu *gpu) {
    if (gpu->stage->memory_bytes > GP_SLOTS_BYTES_MOST)
        free_memory(gpu->stage);
}
