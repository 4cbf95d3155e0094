/* SPDX-License-Identifier: Apache-2.0 */
/* What a context owns on its GPU, made and freed; its stream; device memory, and where a pointer's memory lives. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

gp_status gp_gpu_settle(const gp_gpu *gpu, cudaStream_t stream) {
    GP_CUDA(cudaEventRecord(gpu->settled, stream));
    return GP_OK;
}

/* Kernels from the PTX of an older architecture do not wait for each other, whatever the device can do. */
static gp_status find_facts(gp_gpu *gpu) {
    struct cudaFuncAttributes attributes;
    int most = 0;
    GP_CUDA(cudaFuncGetAttributes(&attributes, gp_sample_kernel()));
    gpu->dependent_launch = attributes.ptxVersion >= GP_DEPENDENT_LAUNCH_ARCHITECTURE;
    GP_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, gpu->ordinal));
    gpu->window_most = most > 0 ? (size_t)most : 0;
    gp_driver_find(&gpu->driver);
    return GP_OK;
}

static gp_status open_parts(gp_gpu *gpu) {
    void *slot = NULL, *slot_device = NULL;
    GP_TRY(find_facts(gpu));
    GP_CUDA(cudaStreamCreateWithFlags(&gpu->side, cudaStreamNonBlocking));
    GP_CUDA(cudaEventCreateWithFlags(&gpu->hand_over, cudaEventDisableTiming));
    GP_CUDA(cudaEventCreateWithFlags(&gpu->settled, cudaEventDefault));
    GP_CUDA(cudaMalloc(&gpu->workspace, GP_WORKSPACE_BYTES));
    GP_CUDA(cudaHostAlloc(&slot, sizeof(gp_slot), cudaHostAllocMapped | cudaHostAllocPortable));
    gpu->slot = memset(slot, 0, sizeof(gp_slot));
    GP_CUDA(cudaHostGetDevicePointer(&slot_device, slot, 0));
    gpu->slot_device = slot_device;
    GP_CUDA(cudaMemsetAsync(gpu->workspace, 0, GP_WORKSPACE_BYTES, gpu->side));
    GP_TRY(gp_gpu_settle(gpu, gpu->side));
    GP_CUDA(cudaStreamSynchronize(gpu->side));
    return GP_OK;
}

/* Frees whatever of it is there; a dead device refuses, which changes nothing. */
static void close_parts(gp_gpu *gpu) {
    gp_stage_close(gpu->stage);
    if (gpu->slot)
        (void)cudaFreeHost(gpu->slot);
    if (gpu->workspace)
        (void)cudaFree(gpu->workspace);
    if (gpu->hand_over)
        (void)cudaEventDestroy(gpu->hand_over);
    if (gpu->settled)
        (void)cudaEventDestroy(gpu->settled);
    if (gpu->side)
        (void)cudaStreamDestroy(gpu->side);
}

/* Whether the stream is being captured, or cannot be asked because another capture forbids it. */
static bool is_captured(const gp_gpu *gpu, cudaStream_t stream) {
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    bool captured;
    if (gp_driver_ask_capture(&gpu->driver, stream, &captured))
        return captured;
    const cudaError_t error = cudaStreamIsCapturing(stream, &capture);
    return error == cudaErrorStreamCaptureImplicit ||
           (error == cudaSuccess && capture != cudaStreamCaptureStatusNone);
}

void gp_gpu_close(gp_gpu *gpu, bool forked) {
    gp_found found GP_LEAVES = {0};
    if (!gpu)
        return;
    if (!forked) {
        if (gp_gpu_enter(gpu->ordinal, &found) == GP_OK && !is_captured(gpu, gpu->stream))
            (void)cudaStreamSynchronize(gpu->stream);
        close_parts(gpu);
    }
    free(gpu->stage);
    free(gpu);
}

gp_status gp_gpu_open(int ordinal, gp_gpu **out) {
    gp_found found GP_LEAVES = {0};
    GP_TRY(gp_gpu_enter(ordinal, &found));
    gp_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return gp_fail(GP_ERR_MEMORY, "no host memory for a context");
    gpu->ordinal = ordinal;
    const gp_status status = open_parts(gpu);
    if (status == GP_OK) {
        *out = gpu;
        return GP_OK;
    }
    close_parts(gpu);
    free(gpu);
    return status;
}

gp_status gp_gpu_refuse_capture(const gp_gpu *gpu, const char *what) {
    return is_captured(gpu, gpu->stream) ? gp_fail(GP_ERR_DEVICE, "%s while the stream is being captured", what)
                                         : GP_OK;
}

gp_status gp_gpu_set_stream(gp_gpu *gpu, struct CUstream_st *stream) {
    gp_found found GP_LEAVES = {0};
    if (stream == gpu->stream)
        return GP_OK;
    GP_TRY(gp_gpu_enter(gpu->ordinal, &found));
    if (!is_captured(gpu, gpu->stream) && !is_captured(gpu, stream)) {
        GP_CUDA(cudaEventRecord(gpu->hand_over, gpu->stream));
        GP_CUDA(cudaStreamWaitEvent(stream, gpu->hand_over, 0));
    }
    gpu->stream = stream;
    return GP_OK;
}

static gp_status wait_for_stream(const gp_gpu *gpu) {
    gp_found found GP_LEAVES = {0};
    GP_TRY(gp_gpu_enter(gpu->ordinal, &found));
    GP_TRY(gp_gpu_refuse_capture(gpu, "cannot wait"));
    GP_CUDA(cudaStreamSynchronize(gpu->stream));
    return GP_OK;
}

gp_status gp_gpu_synchronize(gp_gpu *gpu) {
    GP_TRY(wait_for_stream(gpu));
    if (!gpu->slot->overflow)
        return GP_OK;
    gpu->slot->overflow = 0;
    return gp_fail(GP_ERR_OVERFLOW, "a sum enqueued since the last synchronization passes 64 bits");
}

/* The driver tells sooner than the run time, which says why it failed. One H200, an idle stream: 280 ns, then 245. */
gp_status gp_gpu_await(gp_gpu *gpu) {
    return gp_driver_await(&gpu->driver, gpu->stream) ? GP_OK : wait_for_stream(gpu);
}

/* Host memory is usable by every device of the process, as memory from elsewhere that is pinned. */
gp_status gp_gpu_alloc(gp_gpu *gpu, gp_memory memory, size_t bytes, void **out) {
    gp_found found GP_LEAVES = {0};
    void *got = NULL;
    const bool host = memory == GP_MEMORY_HOST;
    GP_TRY(gp_gpu_enter(gpu->ordinal, &found));
    cudaError_t error =
        host ? cudaHostAlloc(&got, bytes, cudaHostAllocPortable | cudaHostAllocMapped) : cudaMalloc(&got, bytes);
    if (error == cudaErrorMemoryAllocation && host)
        return gp_fail(GP_ERR_MEMORY, "no %zu bytes of pinned host memory", bytes);
    if (error == cudaErrorMemoryAllocation)
        return gp_fail(GP_ERR_MEMORY, "device %d has no %zu bytes of memory left", gpu->ordinal, bytes);
    if (error != cudaSuccess)
        return gp_cuda_fail(error, host ? "cudaHostAlloc" : "cudaMalloc");
    *out = got;
    return GP_OK;
}

/*
 * Asks the run time, in a thread that has a context: without one, pinned memory has no address on the device. A
 * context that the program made itself on this device stays current.
 */
static gp_status ask_run_time(const gp_gpu *gpu, const void *pointer, struct cudaPointerAttributes *attributes) {
    int found;
    GP_CUDA(cudaGetDevice(&found));
    if (found != gpu->ordinal || !gp_driver_context(&gpu->driver))
        GP_CUDA(cudaSetDevice(gpu->ordinal));
    const cudaError_t error = cudaPointerGetAttributes(attributes, pointer);
    gp_device_restore(gpu->ordinal, found);
    return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, "cudaPointerGetAttributes");
}

gp_status gp_gpu_where(gp_gpu *gpu, const char *name, const void *pointer, gp_place *memory) {
    struct cudaPointerAttributes found;
    *memory = GP_PLACE_PAGEABLE;
    if (!pointer)
        return GP_OK;
    if (!gp_driver_ask(&gpu->driver, pointer, &found) || (found.type == cudaMemoryTypeHost && !found.devicePointer))
        GP_TRY(ask_run_time(gpu, pointer, &found));
    if (found.type == cudaMemoryTypeDevice && found.device != gpu->ordinal)
        return gp_fail(GP_ERR_ARGUMENT, "%s: memory of device %d, the context uses device %d", name, found.device,
                       gpu->ordinal);
    if (found.type == cudaMemoryTypeDevice)
        *memory = GP_PLACE_DEVICE;
    else if (found.type == cudaMemoryTypeManaged)
        *memory = GP_PLACE_MANAGED;
    /* Registered memory that the device sees at another address is no use to a kernel given this pointer. */
    else if (found.type == cudaMemoryTypeHost && found.devicePointer == pointer)
        *memory = GP_PLACE_PINNED;
    return GP_OK;
}

gp_status gp_gpu_free(gp_gpu *gpu, void *memory) {
    gp_found found GP_LEAVES = {0};
    gp_place place;
    GP_TRY(gp_gpu_enter(gpu->ordinal, &found));
    GP_TRY(gp_gpu_where(gpu, "memory", memory, &place));
    if (place != GP_PLACE_DEVICE && place != GP_PLACE_PINNED)
        return gp_fail(GP_ERR_ARGUMENT, "memory: neither memory of device %d nor pinned", gpu->ordinal);
    if (!is_captured(gpu, gpu->stream))
        GP_CUDA(cudaStreamSynchronize(gpu->stream));
    cudaError_t error = place == GP_PLACE_PINNED ? cudaFreeHost(memory) : cudaFree(memory);
    if (error == cudaErrorInvalidValue)
        return gp_fail(GP_ERR_ARGUMENT, "memory: not the start of an allocation");
    return error == cudaSuccess ? GP_OK : gp_cuda_fail(error, place == GP_PLACE_PINNED ? "cudaFreeHost" : "cudaFree");
}

static bool on_host(gp_place memory) {
    return memory == GP_PLACE_PAGEABLE || memory == GP_PLACE_PINNED;
}

gp_status gp_gpu_copy(gp_gpu *gpu, void *to, const void *from, size_t bytes) {
    gp_found found GP_LEAVES = {0};
    gp_place source, target;
    GP_TRY(gp_gpu_enter(gpu->ordinal, &found));
    GP_TRY(gp_gpu_where(gpu, "from", from, &source));
    GP_TRY(gp_gpu_where(gpu, "to", to, &target));
    const bool waits = on_host(source) || on_host(target);
    if (waits)
        GP_TRY(gp_gpu_refuse_capture(gpu, "cannot copy from or to host memory"));
    if (!on_host(source) || !on_host(target))
        GP_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, gpu->stream));
    if (waits)
        GP_CUDA(cudaStreamSynchronize(gpu->stream));
    if (on_host(source) && on_host(target))
        memcpy(to, from, bytes);
    return GP_OK;
}
