/* SPDX-License-Identifier: Apache-2.0 */
/* Results that kernels write into the context's pinned slot, for which the host waits. */
#include "../../host/wait.h"
#include "stage.h"

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
