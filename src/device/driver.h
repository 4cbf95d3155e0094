/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions that every call on host data asks, put to the driver itself, which answers sooner than through the run
 * time. It is not linked: the run time tells where its functions are.
 */
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>

/* NULL: not to be had; the run time is asked instead. */
typedef struct gp_driver {
    CUresult(CUDAAPI *pointer_attributes)(unsigned, CUpointer_attribute *, void **, CUdeviceptr);
    CUresult(CUDAAPI *stream_wait)(CUstream);
    CUresult(CUDAAPI *stream_capture)(CUstream, CUstreamCaptureStatus *);
    CUresult(CUDAAPI *current_context)(CUcontext *);
    CUresult(CUDAAPI *exchange_capture_mode)(CUstreamCaptureMode *);
    CUcontext own; /* that streams belong to, current where it was found */
} gp_driver;

/* Of a process in which the run time works, in a thread in which the device is current and has a context. */
void gp_driver_find(gp_driver *driver);

/*
 * As cudaPointerGetAttributes, without the host's pointer; a devicePointer of NULL may mean that the thread has no
 * context yet. False: no answer.
 */
bool gp_driver_ask(const gp_driver *driver, const void *pointer, struct cudaPointerAttributes *attributes);

/* The calling thread's context; NULL: there is none, or that is not known. */
CUcontext gp_driver_context(const gp_driver *driver);

/* Whether the stream is being captured, or cannot be asked because another is. False: no answer. */
bool gp_driver_ask_capture(const gp_driver *driver, cudaStream_t stream, bool *captured);

/*
 * Waits for all work on the stream. False: it failed, or was not tried, as the stream is being captured or another
 * context is the thread's.
 */
bool gp_driver_await(const gp_driver *driver, cudaStream_t stream);
