/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems with host memory among their arrays that are not cut into pieces. Inputs are copied to the device as a
 * whole, gaps and all; outputs are written there without gaps and come back in one copy if they have none on the host
 * either, else element by element, so that nothing between them is touched. In place one memory is both.
 */
#include "../../host/rearrange_array/walk.h"
#include "../../host/wait.h"
#include "stage.h"

#include <stdlib.h>

/*
 * The host polls the slot this often before it asks the driver to wait: about 1 ms (a pause is some 50 ns), far above
 * the time of a kernel short enough for the difference, 2 us on one H200, to matter. A failed kernel never writes the
 * slot; the driver then says what happened.
 */
#define POLLS 20000

static gp_status wait_for_slot(const gp_gpu *gpu, bool polled) {
    for (int i = 0; polled && i < POLLS; i++) {
        if (__atomic_load_n(&gpu->slot->done, __ATOMIC_ACQUIRE) == gpu->sequence)
            return GP_OK;
        gp_pause();
    }
    GP_CUDA(cudaStreamSynchronize(gpu->stream));
    return GP_OK;
}

gp_status gp_slot_run(gp_context *context, const gp_problem *problem, bool polled, bool *overflow) {
    gp_gpu *gpu = context->gpu;
    const bool may_overflow = problem->primitive->may_overflow != NULL && problem->primitive->may_overflow(problem);
    uint32_t earlier_overflow = 0;
    *overflow = false;
    if (may_overflow) {
        GP_CUDA(cudaStreamSynchronize(gpu->stream));
        earlier_overflow = gpu->slot->overflow;
        gpu->slot->overflow = 0;
    }
    if (++gpu->sequence == 0)
        gpu->sequence = 1; /* 0 tells a kernel that nobody polls */
    gp_status status = gp_gpu_enqueue(context, &context->plan, problem);
    if (status == GP_OK)
        status = wait_for_slot(gpu, polled);
    if (may_overflow) {
        *overflow = gpu->slot->overflow;
        gpu->slot->overflow = earlier_overflow;
    }
    return status;
}

#define RESULT 2 /* operand of the first result that may be scalar */

/* What is staged of an array; bytes and back.count 0: nothing, as the device reaches it. */
typedef struct staged {
    unsigned char *begin; /* of an input's bytes on the host */
    size_t bytes;
    gp_move back; /* of an output: from staging memory to the host */
    size_t first; /* of the bytes in staging memory */
} staged;

typedef struct whole {
    gp_context *context;
    const gp_operand *operand;
    gp_problem local; /* of addresses that the device reaches */
    gp_whole of;      /* what it points to */
    gp_view view[GP_OPERANDS];
    staged array[GP_OPERANDS];
    size_t bytes;
} whole;

static unsigned char *address_of(const gp_view *view) {
    unsigned char *address;
    memcpy(&address, view->address, sizeof address);
    return address;
}

static void put_address(const gp_view *view, const unsigned char *address) {
    memcpy(view->address, &address, sizeof address);
}

static void reserve(whole *w, unsigned i, size_t bytes) {
    w->array[i].first = w->bytes;
    w->bytes += gp_slot_bytes(bytes);
}

static void add_input(whole *w, unsigned i) {
    const gp_view *view = &w->view[i];
    staged *in = &w->array[i];
    in->begin = address_of(view);
    in->bytes = view->bytes;
    for (unsigned axis = 0; axis < view->rank; axis++) {
        const int64_t walk = (int64_t)(view->n[axis] - 1) * *view->stride[axis];
        if (walk < 0)
            in->begin += walk;
        in->bytes += (size_t)(walk < 0 ? -walk : walk);
    }
    reserve(w, i, in->bytes);
}

/* From staging memory without gaps. In place its axes are those of the host. A scalar result goes to the slot, as one
 * element is too little to be copied. */
static void add_output(whole *w, unsigned i) {
    const gp_view *view = &w->view[i];
    gp_move *back = &w->array[i].back;
    int64_t stride = (int64_t)view->bytes;
    *back = (gp_move){
        .run = view->bytes, .count = 1, .rank = view->rank, .in_place = w->local.in_place, .out = address_of(view)};
    for (unsigned axis = view->rank; axis-- > 0; stride *= (int64_t)view->n[axis]) {
        const int64_t out = *view->stride[axis];
        back->axis[axis] = (gp_move_axis){view->n[axis], back->in_place ? out : stride, out};
        back->count *= view->n[axis];
    }
    if (!back->in_place && !w->operand[i].scalar)
        reserve(w, i, back->count * back->run);
}

static void lay_out(whole *w) {
    w->local.primitive->show_views(&w->of, w->view);
    for (unsigned i = 0; i < GP_OPERANDS; i++) {
        const gp_operand *operand = &w->operand[i];
        if (operand->data != NULL && (operand->place == GP_PLACE_PAGEABLE || operand->place == GP_PLACE_PINNED))
            (w->view[i].output ? add_output : add_input)(w, i);
    }
}

/* Gives the problem its arrays' addresses on the device: an input's at the distance from its span's begin that it has
 * on the host. */
static void set_addresses(whole *w, unsigned char *memory) {
    const staged *first = &w->array[0];
    for (unsigned i = 0; i < GP_OPERANDS; i++) {
        const gp_view *view = &w->view[i];
        staged *array = &w->array[i];
        if (array->bytes > 0)
            put_address(view, memory + array->first + (address_of(view) - array->begin));
        if (array->back.count == 0)
            continue;
        if (array->back.in_place)
            array->back.in = memory + first->first + (array->back.out - first->begin);
        else if (w->operand[i].scalar)
            array->back.in = (unsigned char *)&w->context->gpu->slot_device->reduced[i - RESULT];
        else
            array->back.in = memory + array->first;
        put_address(view, array->back.in);
        for (unsigned axis = 0; axis < view->rank; axis++)
            *view->stride[axis] = array->back.axis[axis].in;
    }
}

static void deliver(const gp_move *back) {
    gp_move_place place;
    gp_move_go_to(back, back->rank, 0, &place);
    for (uint64_t i = 0; i < back->count; i++, gp_move_next(back, back->rank, &place))
        memcpy(place.out, place.in, back->run);
}

static gp_status copy_out(const gp_gpu *gpu, gp_move *back) {
    size_t bytes = back->run;
    bool same = true;
    for (unsigned i = 0; i < back->rank; i++) {
        const gp_move_axis *axis = &back->axis[i];
        bytes += (size_t)(axis->n - 1) * (size_t)axis->in;
        same = same && (axis->n == 1 || axis->in == axis->out);
    }
    same = same && bytes == back->count * back->run;
    unsigned char *copy = same ? back->out : malloc(bytes);
    if (copy == NULL)
        return gp_fail(GP_ERR_MEMORY, "no %zu bytes of host memory for an output", bytes);
    cudaError_t error = cudaMemcpyAsync(copy, back->in, bytes, cudaMemcpyDeviceToHost, gpu->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(gpu->stream);
    back->in = copy;
    if (error == cudaSuccess && !same)
        deliver(back);
    if (!same)
        free(copy);
    return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, "copying an output");
}

static gp_status copy_all_out(whole *w) {
    const gp_gpu *gpu = w->context->gpu;
    for (unsigned i = 0; i < GP_OPERANDS; i++) {
        gp_move *back = &w->array[i].back;
        if (back->count == 0)
            continue;
        if (w->operand[i].scalar) {
            const uint64_t reduced = gpu->slot->reduced[i - RESULT];
            memcpy(back->out, &reduced, back->run);
        } else {
            GP_TRY(copy_out(gpu, back));
        }
    }
    return GP_OK;
}

static gp_status run(whole *w, unsigned char *memory) {
    const gp_primitive *primitive = w->local.primitive;
    gp_gpu *gpu = w->context->gpu;
    bool polled = false, overflow;
    for (unsigned i = 0; i < GP_OPERANDS; i++)
        polled = polled || (w->operand[i].scalar && w->array[i].back.count > 0);
    set_addresses(w, memory);
    primitive->derive(&w->local);
    GP_TRY(gp_context_replan(w->context, &w->local));
    for (unsigned i = 0; i < GP_OPERANDS; i++)
        if (w->array[i].bytes > 0)
            GP_CUDA(cudaMemcpyAsync(memory + w->array[i].first, w->array[i].begin, w->array[i].bytes,
                                    cudaMemcpyHostToDevice, gpu->stream));
    GP_TRY(gp_slot_run(w->context, &w->local, polled, &overflow));
    if (w->bytes > 0) {
        GP_TRY(gp_gpu_settle(gpu, gpu->stream));
        GP_CUDA(cudaStreamSynchronize(gpu->stream));
    }
    GP_TRY(copy_all_out(w));
    if (overflow)
        return gp_fail(GP_ERR_OVERFLOW, "an integer result of %zu elements passes its 64 bits", w->local.cols);
    return GP_OK;
}

gp_status gp_stage_whole(gp_context *context, const gp_problem *problem, const gp_operand operand[GP_OPERANDS]) {
    gp_gpu *gpu = context->gpu;
    whole w = {.context = context, .operand = operand, .local = *problem};
    unsigned slots = 1;
    w.local.whole = memcpy(&w.of, problem->whole, problem->primitive->whole_bytes);
    lay_out(&w);
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
