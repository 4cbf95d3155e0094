/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves with host memory among their arrays. The input is copied to the device as a whole, gaps and all. The output
 * is written there without gaps and comes back in one copy if it has none on the host either, else element by
 * element, so that nothing between them is touched. In place the one memory is both.
 */
#include "../../host/rearrange_array/array.h"
#include "../../host/rearrange_array/walk.h"
#include "stage.h"

#include <stdlib.h>

typedef struct whole {
    gp_context *context;
    const gp_move *move; /* as it was asked for */
    gp_move moved;       /* with addresses that the device reaches */
    gp_move_span in, out;
    bool host[2]; /* in, out */
} whole;

static bool is_host(const gp_operand *operand) {
    return operand->place == GP_PLACE_PAGEABLE || operand->place == GP_PLACE_PINNED;
}

static bool has_gaps(const whole *w) {
    return w->out.bytes != w->move->count * w->move->run;
}

/* Staging memory: the input's span, then the output without gaps. */
static size_t staged_bytes(const whole *w) {
    const size_t out = w->host[1] && !w->move->in_place ? gp_slot_bytes(w->move->count * w->move->run) : 0;
    return out + (w->host[0] ? gp_slot_bytes(w->in.bytes) : 0);
}

static void set_addresses(whole *w, unsigned char *memory) {
    gp_move *moved = &w->moved;
    int64_t stride = (int64_t)moved->run;
    if (w->host[0])
        moved->in = memory + (w->move->in - w->in.begin);
    if (w->move->in_place)
        moved->out = memory + (w->move->out - w->in.begin);
    if (!w->host[1] || w->move->in_place)
        return;
    moved->out = memory + (w->host[0] ? gp_slot_bytes(w->in.bytes) : 0);
    for (unsigned i = moved->rank; i-- > 0; stride *= (int64_t)moved->axis[i].n)
        moved->axis[i].out = stride;
}

/* `copy` is laid out as the output on the device is. */
static void deliver(const whole *w, const unsigned char *copy) {
    gp_move back = *w->move;
    gp_move_place place;
    back.in = copy + (w->move->in_place ? w->move->out - w->out.begin : 0);
    for (unsigned i = 0; i < back.rank; i++)
        back.axis[i].in = w->moved.axis[i].out;
    gp_move_go_to(&back, back.rank, 0, &place);
    for (uint64_t i = 0; i < back.count; i++, gp_move_next(&back, back.rank, &place))
        memcpy(place.out, place.in, back.run);
}

static gp_status copy_out(const whole *w) {
    const gp_gpu *gpu = w->context->gpu;
    const size_t bytes = w->move->in_place ? w->out.bytes : w->move->count * w->move->run;
    const unsigned char *from = w->move->in_place ? w->moved.out - (w->move->out - w->out.begin) : w->moved.out;
    unsigned char *copy = has_gaps(w) ? malloc(bytes) : w->out.begin;
    if (copy == NULL)
        return gp_fail(GP_ERR_MEMORY, "no %zu bytes of host memory for the output", bytes);
    cudaError_t error = cudaMemcpyAsync(copy, from, bytes, cudaMemcpyDeviceToHost, gpu->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(gpu->stream);
    if (copy == w->out.begin)
        return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, "copying the output");
    if (error == cudaSuccess)
        deliver(w, copy);
    free(copy);
    return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, "copying the output");
}

static gp_status run(whole *w, gp_problem *local, unsigned char *memory) {
    const gp_gpu *gpu = w->context->gpu;
    set_addresses(w, memory);
    local->primitive->derive(local);
    GP_TRY(gp_context_replan(w->context, local));
    if (w->host[0])
        GP_CUDA(cudaMemcpyAsync(memory, w->in.begin, w->in.bytes, cudaMemcpyHostToDevice, gpu->stream));
    GP_TRY(gp_gpu_enqueue(w->context, &w->context->plan, local));
    GP_TRY(gp_gpu_settle(w->context->gpu, gpu->stream));
    GP_CUDA(cudaStreamSynchronize(gpu->stream));
    return w->host[1] ? copy_out(w) : GP_OK;
}

gp_status gp_stage_whole_move(gp_context *context, const gp_problem *problem, const gp_operand operand[GP_OPERANDS]) {
    gp_gpu *gpu = context->gpu;
    const gp_move *move = problem->move;
    whole w = {
        .context = context, .move = move, .moved = *move, .host = {is_host(&operand[0]), is_host(&operand[1])}};
    gp_problem local = *problem;
    unsigned slots = 1;
    local.move = &w.moved;
    w.in = gp_move_span_of(move, false);
    w.out = gp_move_span_of(move, true);
    GP_TRY(gp_stage_create(gpu));
    GP_TRY(gp_stage_reserve(gpu, staged_bytes(&w), &slots));
    const gp_status status = run(&w, &local, gpu->stage->memory);
    if (status != GP_OK)
        (void)cudaStreamSynchronize(gpu->stream);
    gp_stage_trim(gpu);
    return status;
}
