/* SPDX-License-Identifier: Apache-2.0 */
/* Device times, by a pair of events on a context's stream. */
#include "measure.h"
#include "gpu.h"
#include <stdlib.h>

struct gp_timer {
    gp_gpu *gpu;
    cudaEvent_t begin, end;
};

static gp_status create_events(gp_timer *timer) {
    GP_CUDA(cudaEventCreate(&timer->begin));
    GP_CUDA(cudaEventCreate(&timer->end));
    return GP_OK;
}

gp_status gp_timer_create(gp_context *context, gp_timer **out) {
    int found;
    gp_timer *timer = calloc(1, sizeof *timer);
    if (timer == NULL)
        return gp_fail(GP_ERR_MEMORY, "no memory for a timer");
    timer->gpu = context->gpu;
    gp_status status = gp_device_set(timer->gpu->ordinal, &found);
    if (status == GP_OK) {
        status = create_events(timer);
        gp_device_restore(timer->gpu->ordinal, found);
    }
    if (status == GP_OK)
        *out = timer;
    else
        gp_timer_destroy(timer);
    return status;
}

void gp_timer_destroy(gp_timer *timer) {
    if (timer == NULL)
        return;
    if (timer->begin != NULL)
        (void)cudaEventDestroy(timer->begin);
    if (timer->end != NULL)
        (void)cudaEventDestroy(timer->end);
    free(timer);
}

static gp_status record(const gp_gpu *gpu, cudaEvent_t event) {
    int found;
    GP_TRY(gp_device_set(gpu->ordinal, &found));
    const cudaError_t error = cudaEventRecord(event, gpu->stream);
    gp_device_restore(gpu->ordinal, found);
    return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, "cudaEventRecord");
}

gp_status gp_timer_begin(gp_timer *timer) {
    return record(timer->gpu, timer->begin);
}

gp_status gp_timer_end(gp_timer *timer) {
    return record(timer->gpu, timer->end);
}

gp_status gp_timer_us(gp_timer *timer, double *us) {
    float ms = 0;
    GP_CUDA(cudaEventSynchronize(timer->end));
    GP_CUDA(cudaEventElapsedTime(&ms, timer->begin, timer->end));
    *us = (double)ms * 1e3;
    return GP_OK;
}
