/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's answers: see driver.h. */
#include "driver.h"

#include <string.h>

#define DRIVER_API 12000 /* from this release on, the functions are as driver.h declares them */

static void find(const char *name, void *function) {
    void *entry = NULL;
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &entry, DRIVER_API, cudaEnableLegacyStream, &found);
#else
    const cudaError_t error = cudaGetDriverEntryPoint(name, &entry, cudaEnableLegacyStream, &found);
#endif
    if (error == cudaSuccess && found == cudaDriverEntryPointSuccess)
        memcpy(function, &entry, sizeof entry);
}

CUcontext gp_driver_context(const gp_driver *driver) {
    CUcontext current = NULL;
    return driver->current_context && driver->current_context(&current) == CUDA_SUCCESS ? current : NULL;
}

void gp_driver_find(gp_driver *driver) {
    find("cuPointerGetAttributes", &driver->pointer_attributes);
    find("cuStreamSynchronize", &driver->stream_wait);
    find("cuStreamIsCapturing", &driver->stream_capture);
    find("cuCtxGetCurrent", &driver->current_context);
    find("cuThreadExchangeStreamCaptureMode", &driver->exchange_capture_mode);
    driver->own = gp_driver_context(driver);
}

/*
 * One call for all attributes; what the driver knows nothing of has each of them 0. One H200, pageable memory: 105 ns
 * by cudaPointerGetAttributes with cudaGetDevice, 71 by this.
 */
bool gp_driver_ask(const gp_driver *driver, const void *pointer, struct cudaPointerAttributes *attributes) {
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    unsigned type = 0, managed = 0;
    void *on_device = NULL;
    void *values[] = {&type, &managed, &attributes->device, &on_device};
    if (!driver->pointer_attributes || driver->pointer_attributes(sizeof wanted / sizeof *wanted, wanted, values,
                                                                  (CUdeviceptr)pointer) != CUDA_SUCCESS)
        return false;
    attributes->devicePointer = on_device;
    attributes->type = managed                      ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                       : type == 0                  ? cudaMemoryTypeUnregistered
                                                    : cudaMemoryTypeDevice;
    return true;
}

bool gp_driver_ask_capture(const gp_driver *driver, cudaStream_t stream, bool *captured) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!driver->stream_capture)
        return false;
    const CUresult result = driver->stream_capture(stream, &status);
    *captured = result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || status != CU_STREAM_CAPTURE_STATUS_NONE;
    return result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

/* Relaxed: a thread that captures another stream may not wait otherwise, and would spoil that capture. */
bool gp_driver_await(const gp_driver *driver, cudaStream_t stream) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool captured = true;
    if (!driver->stream_wait || !driver->exchange_capture_mode || !driver->own ||
        gp_driver_context(driver) != driver->own || driver->exchange_capture_mode(&mode) != CUDA_SUCCESS)
        return false;
    const bool done =
        gp_driver_ask_capture(driver, stream, &captured) && !captured && driver->stream_wait(stream) == CUDA_SUCCESS;
    (void)driver->exchange_capture_mode(&mode);
    return done;
}
