/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes and boxes of windows with host memory among their arrays. Inputs are copied to the device as a whole, gaps
 * and all; results are written there without gaps and come back element by element, so that nothing between them is
 * touched.
 */
#include "stage.h"

#include <stdlib.h>

typedef struct whole {
    gp_context *context;
    const gp_pass *pass;      /* as it was asked for */
    const gp_window_box *box; /* whose results `pass` then has; or NULL */
    gp_pass moved;            /* with addresses that the device reaches */
    gp_window_box moved_box;
    bool host[GP_OPERANDS];
    size_t first[GP_OPERANDS]; /* of its bytes in staging memory */
    size_t bytes;
} whole;

#define RESULT 2 /* operand of the first result */

static gp_pass_span input_span(const whole *w, unsigned operand) {
    if (w->box != NULL)
        return (gp_pass_span){w->box->in, gp_window_input_bytes(w->box)};
    return gp_pass_input_span(w->pass, operand == 1);
}

static size_t result_bytes(const gp_pass *pass, unsigned r) {
    return pass->outputs * gp_type_bytes(pass->result[r].type);
}

static size_t reserve(whole *w, size_t bytes) {
    const size_t first = w->bytes;
    w->bytes += gp_slot_bytes(bytes);
    return first;
}

/* A single output goes to the slot, as one element is too little to be copied. */
static void lay_out(whole *w, const gp_operand operand[GP_OPERANDS]) {
    for (unsigned i = 0; i < GP_OPERANDS; i++) {
        w->host[i] =
            operand[i].data != NULL && (operand[i].place == GP_PLACE_PAGEABLE || operand[i].place == GP_PLACE_PINNED);
        if (w->host[i] && i < RESULT)
            w->first[i] = reserve(w, input_span(w, i).bytes);
        else if (w->host[i] && w->pass->outputs > 1)
            w->first[i] = reserve(w, result_bytes(w->pass, i - RESULT));
    }
}

static void set_result(whole *w, unsigned r, unsigned char *memory) {
    gp_pass *moved = &w->moved;
    int64_t stride = gp_type_bytes(moved->result[r].type);
    if (moved->outputs == 1) {
        moved->to[r] = (void *)&w->context->gpu->slot_device->reduced[r];
        return;
    }
    moved->to[r] = memory + w->first[RESULT + r];
    for (unsigned axis = moved->kept; axis-- > 0; stride *= (int64_t)moved->axis[axis].n)
        moved->result[r].stride[axis] = stride;
}

/* Addresses on the device, inputs at the distance from their span's begin that they have on the host. */
static void set_addresses(whole *w, unsigned char *memory) {
    gp_pass *moved = &w->moved;
    if (w->host[0])
        moved->in = memory + w->first[0] + (w->pass->in - input_span(w, 0).begin);
    if (w->host[1])
        moved->with = memory + w->first[1] + (w->pass->with - input_span(w, 1).begin);
    for (unsigned r = 0; r < moved->results; r++)
        if (w->host[RESULT + r])
            set_result(w, r, memory);
    if (w->box == NULL)
        return;
    w->moved_box.in = moved->in;
    memcpy(w->moved_box.to, moved->to, sizeof moved->to);
    memcpy(w->moved_box.result, moved->result, sizeof moved->result);
}

static gp_status copy_in(const whole *w, unsigned char *memory) {
    for (unsigned i = 0; i < RESULT; i++)
        if (w->host[i])
            GP_CUDA(cudaMemcpyAsync(memory + w->first[i], input_span(w, i).begin, input_span(w, i).bytes,
                                    cudaMemcpyHostToDevice, w->context->gpu->stream));
    return GP_OK;
}

/* The elements of a result, which lie one behind the other. */
static void deliver(const gp_pass *pass, unsigned r, const unsigned char *from) {
    const size_t bytes = gp_type_bytes(pass->result[r].type);
    for (uint64_t output = 0; output < pass->outputs; output++, from += bytes)
        memcpy(gp_pass_address(pass, r, output), from, bytes);
}

static gp_status copy_out(const whole *w, unsigned r) {
    const gp_gpu *gpu = w->context->gpu;
    const size_t bytes = result_bytes(w->pass, r);
    if (w->pass->outputs == 1) {
        const uint64_t result = gpu->slot->reduced[r];
        deliver(w->pass, r, (const unsigned char *)&result);
        return GP_OK;
    }
    unsigned char *copy = malloc(bytes);
    if (copy == NULL)
        return gp_fail(GP_ERR_MEMORY, "no %zu bytes of host memory for a result", bytes);
    cudaError_t error = cudaMemcpyAsync(copy, w->moved.to[r], bytes, cudaMemcpyDeviceToHost, gpu->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(gpu->stream);
    if (error == cudaSuccess)
        deliver(w->pass, r, copy);
    free(copy);
    return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, "copying a result");
}

/* Integers that a sum may pass. */
static bool may_overflow(const gp_pass *pass) {
    for (unsigned r = 0; r < pass->results; r++)
        if (pass->wants & (GP_WANT_SUM | GP_WANT_ABS | GP_WANT_SQUARES | GP_WANT_DOT) &&
            (pass->result[r].type == GP_S64 || pass->result[r].type == GP_U64))
            return true;
    return false;
}

static gp_status run(whole *w, gp_problem *local, unsigned char *memory) {
    gp_gpu *gpu = w->context->gpu;
    bool polled = false, overflow;
    for (unsigned r = 0; r < w->pass->results; r++)
        polled = polled || (w->pass->outputs == 1 && w->host[RESULT + r]);
    set_addresses(w, memory);
    local->primitive->derive(local);
    GP_TRY(gp_context_replan(w->context, local));
    GP_TRY(copy_in(w, memory));
    GP_TRY(gp_slot_run(w->context, local, polled, may_overflow(w->pass), &overflow));
    if (w->bytes > 0) {
        GP_TRY(gp_gpu_settle(gpu, gpu->stream));
        GP_CUDA(cudaStreamSynchronize(gpu->stream));
    }
    for (unsigned r = 0; r < w->pass->results; r++)
        if (w->host[RESULT + r])
            GP_TRY(copy_out(w, r));
    if (overflow)
        return gp_fail(GP_ERR_OVERFLOW, "an integer result of %llu elements passes its 64 bits",
                       (unsigned long long)w->pass->length);
    return GP_OK;
}

gp_status gp_stage_whole(gp_context *context, const gp_problem *problem, const gp_operand operand[GP_OPERANDS]) {
    gp_gpu *gpu = context->gpu;
    whole w = {.context = context, .box = problem->box};
    gp_problem local = *problem;
    gp_pass of_box;
    unsigned slots = 1;
    if (w.box != NULL) {
        gp_window_as_pass(w.box, &of_box);
        w.moved_box = *w.box;
        local.box = &w.moved_box;
    } else {
        local.pass = &w.moved;
    }
    w.pass = w.box != NULL ? &of_box : problem->pass;
    w.moved = *w.pass;
    lay_out(&w, operand);
    if (w.bytes == 0)
        return run(&w, &local, NULL);
    GP_TRY(gp_stage_create(gpu));
    GP_TRY(gp_stage_reserve(gpu, w.bytes, &slots));
    const gp_status status = run(&w, &local, gpu->stage->memory);
    if (status != GP_OK)
        (void)cudaStreamSynchronize(gpu->stream);
    gp_stage_trim(gpu);
    return status;
}
