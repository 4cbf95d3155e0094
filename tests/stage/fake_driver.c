/* SPDX-License-Identifier: Apache-2.0 */
/* The made-up GPUs' driver: the functions that the library looks up by name. Its codes are the run time's. */
#include "../check.h"
#include "fake_streams.h"

#include <cuda.h>

static CUresult outcome(const char *name) {
    return (CUresult)fake_cuda_outcome(name);
}

static void answer(const void *pointer, CUpointer_attribute attribute, void *value) {
    struct cudaPointerAttributes memory;
    const bool known = fake_cuda_memory(pointer, &memory), host = known && memory.type == cudaMemoryTypeHost;
    const unsigned type = !known ? 0 : host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    const unsigned managed = known && memory.type == cudaMemoryTypeManaged;
    if (!known || (host && fake.contextless))
        pointer = NULL;
    if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        memcpy(value, &type, sizeof type);
    else if (attribute == CU_POINTER_ATTRIBUTE_IS_MANAGED)
        memcpy(value, &managed, sizeof managed);
    else if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        memcpy(value, &memory.device, sizeof memory.device);
    else if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
        memcpy(value, &pointer, sizeof pointer);
    else
        fail_msg("pointer attribute %d", (int)attribute);
}

static CUresult pointer_attributes(unsigned count, CUpointer_attribute *attributes, void **values, CUdeviceptr at) {
    const CUresult result = outcome("cuPointerGetAttributes");
    for (unsigned k = 0; k < count && result == CUDA_SUCCESS; k++)
        answer((const void *)(uintptr_t)at, attributes[k], values[k]);
    return result;
}

static CUresult stream_wait(CUstream stream) {
    const CUresult result = outcome("cuStreamSynchronize");
    if (fake.mode != cudaStreamCaptureModeRelaxed || fake.capturing)
        fail_msg("a wait that would spoil a capture");
    if (result == CUDA_SUCCESS) {
        fake.waits++;
        fake.busy = false;
        fake_stream_finish(stream);
    }
    return result;
}

static CUresult stream_capture(CUstream stream, CUstreamCaptureStatus *status) {
    (void)stream;
    const CUresult result = outcome("cuStreamIsCapturing");
    if (result == CUDA_SUCCESS)
        *status = fake.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return result;
}

static CUresult current_context(CUcontext *current) {
    static int made[2]; /* one for each device */
    const CUresult result = outcome("cuCtxGetCurrent");
    if (result == CUDA_SUCCESS)
        *current = fake.contextless ? NULL : (CUcontext)(void *)&made[fake.current];
    return result;
}

static CUresult exchange_capture_mode(CUstreamCaptureMode *mode) {
    const CUresult result = outcome("cuThreadExchangeStreamCaptureMode");
    if (result == CUDA_SUCCESS)
        *mode = (CUstreamCaptureMode)fake_cuda_exchange_mode((enum cudaStreamCaptureMode) * mode);
    return result;
}

bool fake_driver_find(const char *name, void **function) {
    static const struct {
        const char *name;
        void (*function)(void);
    } functions[] = {{"cuPointerGetAttributes", (void (*)(void))pointer_attributes},
                     {"cuStreamSynchronize", (void (*)(void))stream_wait},
                     {"cuStreamIsCapturing", (void (*)(void))stream_capture},
                     {"cuCtxGetCurrent", (void (*)(void))current_context},
                     {"cuThreadExchangeStreamCaptureMode", (void (*)(void))exchange_capture_mode}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(name, functions[i].name) == 0) {
            memcpy(function, &functions[i].function, sizeof *function);
            return true;
        }
    }
    return false;
}
