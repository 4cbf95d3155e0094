/* SPDX-License-Identifier: Apache-2.0 */
/* Staging memory: made on first need, kept with the context. */
#include "stage.h"

#include <stdlib.h>

bool gp_stage_fill_ring(gp_ring *ring) {
    void *bytes = NULL;
    if (ring->chunk[0].bytes)
        return true;
    if (cudaHostAlloc(&bytes, GP_RING_CHUNKS * GP_CHUNK_BYTES, cudaHostAllocPortable) != cudaSuccess)
        return false;
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++)
        ring->chunk[i].bytes = (unsigned char *)bytes + i * GP_CHUNK_BYTES;
    return true;
}

static gp_status make_event(cudaEvent_t *event) {
    GP_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return GP_OK;
}

static void destroy_event(cudaEvent_t event) {
    if (event)
        (void)cudaEventDestroy(event);
}

static gp_status create_parts(gp_stage *stage) {
    GP_CUDA(cudaStreamCreateWithFlags(&stage->down, cudaStreamNonBlocking));
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++) {
        GP_TRY(make_event(&stage->input.chunk[i].moved));
        GP_TRY(make_event(&stage->output.chunk[i].moved));
    }
    for (unsigned i = 0; i < GP_STAGE_SLOTS; i++) {
        GP_TRY(make_event(&stage->slot[i].uploaded));
        GP_TRY(make_event(&stage->slot[i].computed));
        GP_TRY(make_event(&stage->slot[i].downloaded));
    }
    return GP_OK;
}

gp_status gp_stage_create(gp_gpu *gpu) {
    if (gpu->stage)
        return GP_OK;
    gp_stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return gp_fail(GP_ERR_MEMORY, "no host memory for staging");
    gp_status status = create_parts(stage);
    if (status == GP_OK)
        gpu->stage = stage;
    else
        gp_stage_destroy(stage);
    return status;
}

static void free_slots(gp_stage *stage) {
    for (unsigned i = 0; i < GP_STAGE_SLOTS; i++) {
        if (stage->slot[i].bytes)
            (void)cudaFree(stage->slot[i].bytes);
        stage->slot[i].bytes = NULL;
    }
    stage->slot_bytes = 0;
}

static void destroy_ring(gp_ring *ring) {
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++)
        destroy_event(ring->chunk[i].moved);
    if (ring->chunk[0].bytes)
        (void)cudaFreeHost(ring->chunk[0].bytes);
}

void gp_stage_destroy(gp_stage *stage) {
    if (!stage)
        return;
    free_slots(stage);
    destroy_ring(&stage->input);
    destroy_ring(&stage->output);
    for (unsigned i = 0; i < GP_STAGE_SLOTS; i++) {
        destroy_event(stage->slot[i].uploaded);
        destroy_event(stage->slot[i].computed);
        destroy_event(stage->slot[i].downloaded);
    }
    if (stage->down)
        (void)cudaStreamDestroy(stage->down);
    free(stage);
}

void gp_stage_abandon(gp_stage *stage) {
    free(stage);
}

gp_status gp_stage_reserve(gp_gpu *gpu, size_t slot_bytes, unsigned *count) {
    gp_stage *stage = gpu->stage;
    if (stage->slot_bytes < slot_bytes) {
        free_slots(stage);
        stage->slot_bytes = slot_bytes;
    }
    const size_t affordable = stage->slot_bytes > 0 ? GP_SLOTS_BYTES_MOST / stage->slot_bytes : GP_STAGE_SLOTS;
    *count = 0;
    while (*count < GP_STAGE_SLOTS && (*count == 0 || *count < affordable)) {
        gp_stage_slot *slot = &stage->slot[*count];
        void *memory = NULL;
        if (!slot->bytes && stage->slot_bytes > 0) {
            cudaError_t error = cudaMalloc(&memory, stage->slot_bytes);
            if (error != cudaSuccess && (*count == 0 || error != cudaErrorMemoryAllocation)) {
                free_slots(stage);
                return gp_cuda_fail(error, "cudaMalloc of staging memory");
            }
            if (error != cudaSuccess)
                break;
            slot->bytes = memory;
        }
        ++*count;
    }
    return GP_OK;
}

void gp_stage_trim(gp_gpu *gpu) {
    if (gpu->stage->slot_bytes > GP_SLOTS_BYTES_MOST / GP_STAGE_SLOTS)
        free_slots(gpu->stage);
}
