/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of the bus and of packing, and what a call takes at least, measured on memory made for it and freed again. */
#include "../../host/cpu/threads.h"
#include "../../host/wait.h"
#include "stage.h"

#include <sched.h>

#define PIECE_BYTES ((size_t)4 << 20)
#define COPIES 8          /* of a piece, one after the other, after one uncounted */
#define SIDE ((size_t)16) /* of a matrix of bytes that is next to nothing */
#define CALLS 10          /* and one, which is slow */
#define PACK_BYTES (2 * PIECE_BYTES)
#define PACKS 6

typedef struct lab {
    gp_context *context;
    gp_gpu *gpu;
    unsigned char *host[2], *device[2]; /* PIECE_BYTES each, one behind the other */
} lab;

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
    const double begin = gp_now();
    GP_TRY(copy(l, up, down, COPIES));
    *rate = COPIES * (double)PIECE_BYTES * (up + down) / (gp_now() - begin);
    return GP_OK;
}

/* The median of staged calls of next to nothing, by whatever kernel is chosen freely. */
static gp_status time_calls(const lab *l, double *seconds) {
    gp_context *context = l->context;
    const gp_pin pin = context->pins[GP_OPERATION_TRANSPOSE];
    gp_problem problem;
    gp_status status = gp_problem_transpose(&problem, 1, l->host[0], SIDE, SIDE, SIDE, l->host[1], SIDE);
    problem.space = GP_SPACE_GPU;
    context->pins[GP_OPERATION_TRANSPOSE] = (gp_pin){0};
    double sorted[CALLS + 1];
    for (int i = 0; i <= CALLS && status == GP_OK; i++) {
        const double begin = gp_now();
        status = gp_gpu_stage(context, &problem);
        const double seen = gp_now() - begin;
        int at = i;
        for (; at > 0 && sorted[at - 1] > seen; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = seen;
    }
    if (status == GP_OK)
        *seconds = sorted[CALLS / 2];
    context->pins[GP_OPERATION_TRANSPOSE] = pin;
    context->has_plan = false;
    return status;
}

typedef struct packer {
    const lab *lab;
    const gp_problem *problem;
    double rate;
    atomic_bool over;
} packer;

/* The problem's first pieces, one after the other, into all of `host`; the fastest counts. */
static void lead_packing(packer *p) {
    gp_chunk *chunk = &p->lab->gpu->stage->input.chunk[0];
    unsigned char *const own = chunk->bytes;
    gp_cut cut;
    gp_piece piece = {0};
    gp_cut_make(&cut, p->problem, (gp_staged){.in = true}, PACK_BYTES);
    chunk->bytes = p->lab->host[0];
    for (int i = 0; i < PACKS && gp_cut_next(&cut, &piece); i++) {
        gp_part part[2];
        gp_box box;
        size_t row = 0, col = 0;
        (void)gp_cut_parts(&cut, &piece, p->lab->device[0], part);
        if (!gp_box_next(&part[0].in, PACK_BYTES, &row, &col, &box))
            continue;
        const double begin = gp_now();
        gp_chunk_offer(chunk, &box, false);
        while (!gp_chunk_is_copied(chunk))
            (void)gp_stage_help(p->lab->gpu->stage);
        const double seen = (double)box.width * (double)box.height / (gp_now() - begin);
        p->rate = seen > p->rate ? seen : p->rate;
    }
    chunk->bytes = own;
}

/* Threads stay awake from piece to piece, as in a staged call. */
static void take_part(void *work, unsigned part, unsigned parts) {
    packer *p = work;
    (void)parts;
    if (part == 0) {
        lead_packing(p);
        atomic_store_explicit(&p->over, true, memory_order_release);
    }
    while (!atomic_load_explicit(&p->over, memory_order_acquire))
        if (!gp_stage_help(p->lab->gpu->stage))
            sched_yield();
}

static double time_packing(const lab *l, const gp_problem *problem) {
    packer p = {.lab = l, .problem = problem};
    gp_threads_run(l->context, l->context->device.cpu_threads, take_part, &p);
    return p.rate;
}

static gp_status measure(lab *l, const gp_problem *problem, bool packing, gp_bus *bus) {
    gp_memory memory;
    GP_TRY(gp_gpu_refuse_capture(l->gpu, "cannot measure the bus"));
    GP_TRY(gp_gpu_where(l->gpu, gp_problem_in_name(problem), problem->in, &memory));
    GP_TRY(gp_stage_create(l->gpu));
    GP_TRY(make(l));
    if (!(bus->call > 0)) {
        GP_TRY(time_copies(l, true, false, &bus->up));
        GP_TRY(time_copies(l, false, true, &bus->down));
        GP_TRY(time_copies(l, true, true, &bus->both));
        GP_TRY(time_calls(l, &bus->call));
    }
    if (packing && (memory == GP_MEMORY_HOST || memory == GP_MEMORY_PINNED))
        bus->pack = time_packing(l, problem);
    return GP_OK;
}

gp_status gp_gpu_measure_bus(gp_context *context, const gp_problem *problem, bool packing, gp_bus *bus) {
    gp_found found;
    lab l = {.context = context, .gpu = context->gpu};
    GP_TRY(gp_gpu_enter(l.gpu->ordinal, &found));
    const gp_status status = measure(&l, problem, packing, bus);
    if (status != GP_OK && l.gpu->stage) {
        (void)cudaStreamSynchronize(l.gpu->side);
        (void)cudaStreamSynchronize(l.gpu->stage->down);
    }
    drop(&l);
    gp_gpu_leave(l.gpu->ordinal, found);
    return status;
}
