/* SPDX-License-Identifier: Apache-2.0 */
/* Moving boxes over the bus: directly, or through rings of pinned chunks filled and emptied by the context's threads.
 */
#include "../host/cpu/split.h"
#include "../host/cpu/threads.h"
#include "stage.h"

#include <limits.h>
#include <string.h>

/* A box on the host and a chunk that holds its rows without gaps. */
typedef struct packing {
    gp_box box;
    unsigned char *packed;
    bool unpack;
} packing;

static void pack_bytes(const packing *p, size_t begin, size_t end) {
    const size_t width = p->box.width;
    size_t row = begin / width, col = begin % width;
    while (begin < end) {
        size_t bytes = width - col < end - begin ? width - col : end - begin;
        unsigned char *host = p->box.host + row * p->box.host_pitch + col;
        if (p->unpack)
            memcpy(host, p->packed + begin, bytes);
        else
            memcpy(p->packed + begin, host, bytes);
        begin += bytes;
        row++;
        col = 0;
    }
}

/* Parts begin at whole cache lines of the chunk, so that no line is written by two threads. */
static void pack_part(void *work, unsigned part, unsigned parts) {
    const packing *p = work;
    const size_t line = 64, bytes = p->box.width * p->box.height, lines = (bytes + line - 1) / line;
    const size_t end = gp_part_begin(lines, part + 1, parts) * line;
    pack_bytes(p, gp_part_begin(lines, part, parts) * line, end < bytes ? end : bytes);
}

static void pack(gp_context *context, const gp_box *box, unsigned char *packed, bool unpack) {
    packing work = {*box, packed, unpack};
    uint64_t parts = gp_parts_for_bytes((uint64_t)box->width * box->height);
    if (parts > context->device.cpu_threads)
        parts = context->device.cpu_threads > 0 ? context->device.cpu_threads : 1;
    gp_threads_run(context, (unsigned)parts, pack_part, &work);
}

/* cudaMemcpy2D takes pitches below 2 GiB; rows farther apart are long enough to be copied one by one. */
static gp_status copy_rows(unsigned char *to, size_t to_pitch, const unsigned char *from, size_t from_pitch,
                           const gp_box *box, enum cudaMemcpyKind kind, cudaStream_t stream) {
    if (box->height == 1) {
        GP_CUDA(cudaMemcpyAsync(to, from, box->width, kind, stream));
        return GP_OK;
    }
    if (to_pitch <= INT_MAX && from_pitch <= INT_MAX) {
        GP_CUDA(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, box->width, box->height, kind, stream));
        return GP_OK;
    }
    for (size_t row = 0; row < box->height; row++)
        GP_CUDA(cudaMemcpyAsync(to + row * to_pitch, from + row * from_pitch, box->width, kind, stream));
    return GP_OK;
}

static gp_status copy_up(const gp_box *box, const unsigned char *from, size_t from_pitch, cudaStream_t stream) {
    return copy_rows(box->device, box->device_pitch, from, from_pitch, box, cudaMemcpyHostToDevice, stream);
}

static gp_status copy_down(const gp_box *box, unsigned char *to, size_t to_pitch, cudaStream_t stream) {
    return copy_rows(to, to_pitch, box->device, box->device_pitch, box, cudaMemcpyDeviceToHost, stream);
}

/* False: pinned memory is not to be had, or the box not worth it; the driver can do with pageable memory, slower. */
static bool use_ring(gp_ring *ring, const gp_box *box, gp_memory memory) {
    if (memory == GP_MEMORY_PINNED || box->width * box->height <= GP_RING_LEAST)
        return false;
    if (ring->chunk[0].bytes)
        return true;
    void *bytes = NULL;
    if (cudaHostAlloc(&bytes, GP_RING_CHUNKS * GP_CHUNK_BYTES, cudaHostAllocPortable) != cudaSuccess)
        return false;
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++)
        ring->chunk[i].bytes = (unsigned char *)bytes + i * GP_CHUNK_BYTES;
    return true;
}

/* The next chunk, once its last copy is done and, of output, its bytes are where they belong. */
static gp_status take_chunk(gp_context *context, gp_ring *ring, gp_chunk **taken) {
    gp_chunk *chunk = &ring->chunk[ring->next];
    ring->next = (ring->next + 1) % GP_RING_CHUNKS;
    GP_CUDA(cudaEventSynchronize(chunk->moved));
    if (chunk->waiting.height > 0)
        pack(context, &chunk->waiting, chunk->bytes, true);
    chunk->waiting.height = 0;
    *taken = chunk;
    return GP_OK;
}

/* A box as one row where both sides are without gaps, so that it is copied at once or cut anywhere. */
static gp_box flattened(const gp_box *box) {
    gp_box flat = *box;
    gp_box_flatten(&flat);
    return flat;
}

gp_status gp_stage_upload(gp_context *context, const gp_box *given, gp_memory memory) {
    gp_gpu *gpu = context->gpu;
    gp_ring *ring = &gpu->stage->input;
    const gp_box box = flattened(given);
    if (box.height == 0)
        return GP_OK;
    if (!use_ring(ring, &box, memory))
        return copy_up(&box, box.host, box.host_pitch, gpu->side);
    gp_box part;
    for (size_t row = 0, col = 0; gp_box_next(&box, GP_CHUNK_BYTES, &row, &col, &part);) {
        gp_chunk *chunk = NULL;
        GP_TRY(take_chunk(context, ring, &chunk));
        pack(context, &part, chunk->bytes, false);
        GP_TRY(copy_up(&part, chunk->bytes, part.width, gpu->side));
        GP_CUDA(cudaEventRecord(chunk->moved, gpu->side));
    }
    return GP_OK;
}

gp_status gp_stage_download(gp_context *context, const gp_box *given, gp_memory memory) {
    gp_stage *stage = context->gpu->stage;
    const gp_box box = flattened(given);
    if (box.height == 0)
        return GP_OK;
    if (!use_ring(&stage->output, &box, memory))
        return copy_down(&box, box.host, box.host_pitch, stage->down);
    gp_box part;
    for (size_t row = 0, col = 0; gp_box_next(&box, GP_CHUNK_BYTES, &row, &col, &part);) {
        gp_chunk *chunk = NULL;
        GP_TRY(take_chunk(context, &stage->output, &chunk));
        GP_TRY(copy_down(&part, chunk->bytes, part.width, stage->down));
        GP_CUDA(cudaEventRecord(chunk->moved, stage->down));
        chunk->waiting = part;
    }
    return GP_OK;
}

gp_status gp_stage_drain(gp_context *context) {
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++) {
        gp_chunk *chunk = NULL;
        GP_TRY(take_chunk(context, &context->gpu->stage->output, &chunk));
    }
    return GP_OK;
}

void gp_stage_quiesce(gp_gpu *gpu) {
    (void)cudaStreamSynchronize(gpu->side);
    (void)cudaStreamSynchronize(gpu->stream);
    (void)cudaStreamSynchronize(gpu->stage->down);
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++)
        gpu->stage->output.chunk[i].waiting.height = 0;
}
