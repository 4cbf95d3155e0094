/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of the bus and of packing, measured on memory that is made for it and freed again. */
#include "../host/cpu/threads.h"
#include "stage.h"

#include <time.h>

#define PIECE_BYTES ((size_t)4 << 20)
#define COPIES 4                     /* of a piece, one after the other, after one uncounted */
#define PACK_BYTES (2 * PIECE_BYTES) /* a sleeping thread's start counts for less */
#define PACKS 6

typedef struct lab {
    gp_context *context;
    gp_gpu *gpu;
    unsigned char *host[2], *device[2]; /* PIECE_BYTES each, one behind the other */
} lab;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static gp_status make(lab *l) {
    void *host = NULL, *device = NULL;
    GP_CUDA(cudaHostAlloc(&host, 2 * PIECE_BYTES, cudaHostAllocPortable));
    l->host[0] = host;
    l->host[1] = l->host[0] + PIECE_BYTES;
    GP_CUDA(cudaMalloc(&device, 2 * PIECE_BYTES));
    l->device[0] = device;
    l->device[1] = l->device[0] + PIECE_BYTES;
    /* For tools that watch what was never written: a copy down would read it. */
    GP_CUDA(cudaMemsetAsync(l->device[1], 0, PIECE_BYTES, l->gpu->stage->down));
    return GP_OK;
}

static void drop(const lab *l) {
    if (l->device[0])
        (void)cudaFree(l->device[0]);
    if (l->host[0])
        (void)cudaFreeHost(l->host[0]);
}

static gp_status copy(const lab *l, bool up, bool down, int times) {
    for (int i = 0; i < times; i++) {
        if (up)
            GP_CUDA(cudaMemcpyAsync(l->device[0], l->host[0], PIECE_BYTES, cudaMemcpyHostToDevice, l->gpu->side));
        if (down)
            GP_CUDA(
                cudaMemcpyAsync(l->host[1], l->device[1], PIECE_BYTES, cudaMemcpyDeviceToHost, l->gpu->stage->down));
    }
    GP_CUDA(cudaStreamSynchronize(l->gpu->side));
    GP_CUDA(cudaStreamSynchronize(l->gpu->stage->down));
    return GP_OK;
}

static gp_status time_copies(const lab *l, bool up, bool down, double *rate) {
    GP_TRY(copy(l, up, down, 1));
    const double begin = now();
    GP_TRY(copy(l, up, down, COPIES));
    *rate = COPIES * (double)PIECE_BYTES * (up + down) / (now() - begin);
    return GP_OK;
}

static void help(void *work, unsigned part, unsigned parts) {
    (void)part, (void)parts;
    while (gp_stage_help(work))
        continue;
}

/* The problem's first pieces, one after the other, into all of `host`; the fastest counts. */
static void time_packing(lab *l, const gp_problem *problem, double *rate) {
    gp_stage *stage = l->gpu->stage;
    gp_chunk *chunk = &stage->input.chunk[0];
    unsigned char *const own = chunk->bytes;
    gp_cut cut;
    gp_piece piece = {0};
    gp_cut_make(&cut, problem, (gp_staged){.in = true}, PACK_BYTES);
    chunk->bytes = l->host[0];
    for (int i = 0; i < PACKS && gp_cut_next(&cut, &piece); i++) {
        gp_part part[2];
        gp_box box;
        size_t row = 0, col = 0;
        (void)gp_cut_parts(&cut, &piece, l->device[0], part);
        if (!gp_box_next(&part[0].in, PACK_BYTES, &row, &col, &box))
            continue;
        const double begin = now();
        gp_chunk_offer(chunk, &box, false);
        gp_threads_run(l->context, l->context->device.cpu_threads, help, stage);
        const double seen = (double)box.width * (double)box.height / (now() - begin);
        *rate = seen > *rate ? seen : *rate;
    }
    chunk->bytes = own;
}

static gp_status measure(lab *l, const gp_problem *problem, gp_bus *bus) {
    gp_memory memory;
    GP_TRY(gp_gpu_refuse_capture(l->gpu, "cannot measure the bus"));
    GP_TRY(gp_gpu_where(l->gpu, problem->in, &memory));
    GP_TRY(gp_stage_create(l->gpu));
    GP_TRY(make(l));
    GP_TRY(time_copies(l, true, false, &bus->up));
    GP_TRY(time_copies(l, false, true, &bus->down));
    GP_TRY(time_copies(l, true, true, &bus->both));
    if (memory == GP_MEMORY_HOST || memory == GP_MEMORY_PINNED)
        time_packing(l, problem, &bus->pack);
    return GP_OK;
}

gp_status gp_gpu_measure_bus(gp_context *context, const gp_problem *problem, gp_bus *bus) {
    gp_found found;
    lab l = {.context = context, .gpu = context->gpu};
    *bus = (gp_bus){0};
    GP_TRY(gp_gpu_enter(l.gpu->ordinal, &found));
    const gp_status status = measure(&l, problem, bus);
    if (status != GP_OK && l.gpu->stage) {
        (void)cudaStreamSynchronize(l.gpu->side);
        (void)cudaStreamSynchronize(l.gpu->stage->down);
    }
    drop(&l);
    gp_gpu_leave(l.gpu->ordinal, found);
    return status;
}
