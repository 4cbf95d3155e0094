/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems with host memory among their arrays that are not cut into pieces. Inputs are copied to the device as a
 * whole, gaps and all; outputs are written there without gaps and come back in one copy if they have none on the host
 * either, else element by element, so that nothing between them is touched. In place one memory is both.
 */
#include "../../host/rearrange_array/array.h"
#include "../../host/rearrange_array/walk.h"
#include "stage.h"

#include <stdlib.h>

#define RESULT 2 /* operand of the first output but of a move, which has but one input */

typedef struct whole {
    gp_context *context;
    gp_problem local; /* of those below, which have addresses that the device reaches */
    gp_pass pass;     /* or the results of the box as a pass's */
    gp_window_box box;
    gp_move move;
    gp_pass_span in[RESULT]; /* on the host; bytes 0: the device reaches it */
    unsigned outputs;
    gp_move back[GP_PASS_RESULTS]; /* each output from staging memory to the host; count 0: the device reaches it */
    size_t first[RESULT + GP_PASS_RESULTS]; /* of the bytes in staging memory */
    size_t bytes;
} whole;

static bool is_host(const gp_operand *operand) {
    return operand->data != NULL && (operand->place == GP_PLACE_PAGEABLE || operand->place == GP_PLACE_PINNED);
}

static void reserve(whole *w, unsigned which, size_t bytes) {
    w->first[which] = w->bytes;
    w->bytes += gp_slot_bytes(bytes);
}

/* A single output of a pass goes to the slot, as one element is too little to be copied. */
static bool goes_to_slot(const whole *w) {
    return w->local.move == NULL && w->pass.outputs == 1;
}

/* From staging memory without gaps. In place its axes are those of the host. */
static void add_output(whole *w, gp_move back) {
    int64_t stride = (int64_t)back.run;
    back.count = 1;
    for (unsigned i = back.rank; i-- > 0; stride *= (int64_t)back.axis[i].n) {
        back.axis[i].in = back.in_place ? back.axis[i].out : stride;
        back.count *= back.axis[i].n;
    }
    if (!back.in_place && !goes_to_slot(w))
        reserve(w, RESULT + w->outputs, back.count * back.run);
    w->back[w->outputs] = back;
}

static void lay_out_move(whole *w, const gp_operand operand[GP_OPERANDS]) {
    const gp_move_span in = gp_move_span_of(&w->move, false);
    if (is_host(&operand[0])) {
        w->in[0] = (gp_pass_span){in.begin, in.bytes};
        reserve(w, 0, in.bytes);
    }
    if (is_host(&operand[1]))
        add_output(w, w->move);
    w->outputs = 1;
}

static void lay_out_pass(whole *w, const gp_operand operand[GP_OPERANDS]) {
    const gp_pass *pass = &w->pass;
    for (unsigned i = 0; i < RESULT; i++)
        if (is_host(&operand[i])) {
            w->in[i] = w->local.box != NULL ? (gp_pass_span){w->box.in, gp_window_input_bytes(&w->box)}
                                            : gp_pass_input_span(pass, i == 1);
            reserve(w, i, w->in[i].bytes);
        }
    for (; w->outputs < pass->results; w->outputs++) {
        const gp_pass_result *result = &pass->result[w->outputs];
        gp_move back = {.run = gp_type_bytes(result->type), .rank = pass->kept, .out = pass->to[w->outputs]};
        for (unsigned i = 0; i < back.rank; i++)
            back.axis[i] = (gp_move_axis){pass->axis[i].n, 0, result->stride[i]};
        if (is_host(&operand[RESULT + w->outputs]))
            add_output(w, back);
    }
}

/* An address on the device at the distance from its span's begin that it has on the host. */
static const unsigned char *staged(const whole *w, unsigned which, const unsigned char *at, unsigned char *memory) {
    return w->in[which].bytes > 0 ? memory + w->first[which] + (at - w->in[which].begin) : at;
}

static void set_move(whole *w, unsigned char *memory) {
    gp_move *move = &w->move, *back = &w->back[0];
    if (move->in_place)
        back->in = move->out = (unsigned char *)(uintptr_t)staged(w, 0, move->out, memory);
    move->in = staged(w, 0, move->in, memory);
    if (move->in_place || back->count == 0)
        return;
    back->in = move->out = memory + w->first[RESULT];
    for (unsigned i = 0; i < move->rank; i++)
        move->axis[i].out = back->axis[i].in;
}

static void set_pass(whole *w, unsigned char *memory) {
    gp_pass *pass = &w->pass;
    pass->in = staged(w, 0, pass->in, memory);
    pass->with = staged(w, 1, pass->with, memory);
    for (unsigned r = 0; r < w->outputs; r++) {
        if (w->back[r].count == 0)
            continue;
        w->back[r].in = pass->to[r] =
            goes_to_slot(w) ? (void *)&w->context->gpu->slot_device->reduced[r] : memory + w->first[RESULT + r];
        for (unsigned i = 0; i < pass->kept; i++)
            pass->result[r].stride[i] = w->back[r].axis[i].in;
    }
    w->box.in = pass->in;
    memcpy(w->box.to, pass->to, sizeof pass->to);
    memcpy(w->box.result, pass->result, sizeof pass->result);
}

static void deliver(const gp_move *back) {
    gp_move_place place;
    gp_move_go_to(back, back->rank, 0, &place);
    for (uint64_t i = 0; i < back->count; i++, gp_move_next(back, back->rank, &place))
        memcpy(place.out, place.in, back->run);
}

static gp_status copy_out(const gp_gpu *gpu, gp_move *back) {
    const gp_move_span from = gp_move_span_of(back, false), to = gp_move_span_of(back, true);
    bool same = to.bytes == back->count * back->run;
    for (unsigned i = 0; i < back->rank; i++)
        same = same && back->axis[i].in == back->axis[i].out;
    unsigned char *copy = same ? to.begin : malloc(from.bytes);
    if (copy == NULL)
        return gp_fail(GP_ERR_MEMORY, "no %zu bytes of host memory for an output", from.bytes);
    cudaError_t error = cudaMemcpyAsync(copy, from.begin, from.bytes, cudaMemcpyDeviceToHost, gpu->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(gpu->stream);
    back->in = copy + (back->in - from.begin);
    if (error == cudaSuccess && !same)
        deliver(back);
    if (!same)
        free(copy);
    return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, "copying an output");
}

static gp_status copy_all_out(whole *w) {
    const gp_gpu *gpu = w->context->gpu;
    for (unsigned r = 0; r < w->outputs; r++) {
        gp_move *back = &w->back[r];
        const uint64_t reduced = gpu->slot->reduced[r];
        if (back->count > 0 && goes_to_slot(w))
            memcpy(back->out, &reduced, back->run);
        else if (back->count > 0)
            GP_TRY(copy_out(gpu, back));
    }
    return GP_OK;
}

/* Integers that a sum may pass. */
static bool may_overflow(const whole *w) {
    const gp_pass *pass = &w->pass;
    for (unsigned r = 0; r < pass->results; r++)
        if (pass->wants & (GP_WANT_SUM | GP_WANT_ABS | GP_WANT_SQUARES | GP_WANT_DOT) &&
            (pass->result[r].type == GP_S64 || pass->result[r].type == GP_U64))
            return true;
    return false;
}

static gp_status run(whole *w, unsigned char *memory) {
    gp_gpu *gpu = w->context->gpu;
    bool polled = false, overflow;
    for (unsigned r = 0; r < w->outputs; r++)
        polled = polled || (goes_to_slot(w) && w->back[r].count > 0);
    (w->local.move != NULL ? set_move : set_pass)(w, memory);
    w->local.primitive->derive(&w->local);
    GP_TRY(gp_context_replan(w->context, &w->local));
    for (unsigned i = 0; i < RESULT; i++)
        if (w->in[i].bytes > 0)
            GP_CUDA(cudaMemcpyAsync(memory + w->first[i], w->in[i].begin, w->in[i].bytes, cudaMemcpyHostToDevice,
                                    gpu->stream));
    GP_TRY(gp_slot_run(w->context, &w->local, polled, may_overflow(w), &overflow));
    if (w->bytes > 0) {
        GP_TRY(gp_gpu_settle(gpu, gpu->stream));
        GP_CUDA(cudaStreamSynchronize(gpu->stream));
    }
    GP_TRY(copy_all_out(w));
    if (overflow)
        return gp_fail(GP_ERR_OVERFLOW, "an integer result of %llu elements passes its 64 bits",
                       (unsigned long long)w->pass.length);
    return GP_OK;
}

gp_status gp_stage_whole(gp_context *context, const gp_problem *problem, const gp_operand operand[GP_OPERANDS]) {
    gp_gpu *gpu = context->gpu;
    whole w = {.context = context, .local = *problem};
    unsigned slots = 1;
    if (problem->move != NULL) {
        w.move = *problem->move;
        w.local.move = &w.move;
        lay_out_move(&w, operand);
    } else {
        if (problem->box != NULL) {
            gp_window_as_pass(problem->box, &w.pass);
            w.box = *problem->box;
            w.local.box = &w.box;
        } else {
            w.pass = *problem->pass;
            w.local.pass = &w.pass;
        }
        lay_out_pass(&w, operand);
    }
    if (w.bytes == 0)
        return run(&w, NULL);
    GP_TRY(gp_stage_create(gpu));
    GP_TRY(gp_stage_reserve(gpu, w.bytes, &slots));
    const gp_status status = run(&w, gpu->stage->memory);
    if (status != GP_OK)
        (void)cudaStreamSynchronize(gpu->stream);
    gp_stage_trim(gpu);
    return status;
}
