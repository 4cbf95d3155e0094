/* SPDX-License-Identifier: Apache-2.0 */
/* Is there a GPU, what does it have, and what do CUDA's errors mean. */
#include "../host/cpu/rounding.h"
#include "../host/fork.h"
#include "gpu.h"

#include <pthread.h>
#include <stdio.h>

/*
 * Registers are granted to a warp in units of 256 and a thread has at most 255 on every architecture since 3.5;
 * cuda_occupancy.h of CUDA 13.0 also gives the units of shared memory and the partitions of an SM.
 */
enum { REGISTER_UNIT = 256, REGISTERS_PER_THREAD = 255 };

static gp_status status_of(cudaError_t error) {
    switch (error) {
    case cudaErrorMemoryAllocation:
        return GP_ERR_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
        return GP_ERR_NO_DEVICE;
    case cudaErrorInitializationError:
    case cudaErrorStubLibrary:
    case cudaErrorInsufficientDriver:
    case cudaErrorCallRequiresNewerDriver:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
        return GP_ERR_DRIVER;
    default:
        return GP_ERR_DEVICE;
    }
}

gp_status gp_cuda_fail(cudaError_t error, const char *call) {
    return gp_fail(status_of(error), "%s: %s: %s", call, cudaGetErrorName(error), cudaGetErrorString(error));
}

/* The process's one probe. */
static struct {
    gp_status status;
    int count;
    const unsigned char *born_here;
    char words[256];
} probed;
static pthread_once_t probe_once = PTHREAD_ONCE_INIT;

static gp_status ask_driver(int *count) {
    int driver = 0;
    GP_CUDA(cudaDriverGetVersion(&driver));
    if (driver > 0 && driver / 1000 < CUDART_VERSION / 1000)
        return gp_fail(GP_ERR_DRIVER,
                       "the driver is too old: it supports CUDA %d.%d, this library needs %d.0 or newer",
                       driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000);
    const cudaError_t error = cudaGetDeviceCount(count);
    if (driver == 0 && error != cudaErrorStubLibrary)
        return gp_fail(GP_ERR_DRIVER, "no NVIDIA driver is installed");
    if (error == cudaErrorNoDevice || (error == cudaSuccess && *count <= 0))
        return gp_fail(GP_ERR_NO_DEVICE, "no CUDA device found (%s)",
                       error == cudaSuccess ? "the driver counts none" : cudaGetErrorString(error));
    const gp_status status = error == cudaSuccess ? GP_OK : gp_cuda_fail(error, "cudaGetDeviceCount");
    return status == GP_ERR_DEVICE ? GP_ERR_DRIVER : status; /* whatever it says: it could not be started */
}

static void probe(void) {
    probed.born_here = gp_fork_mark();
    probed.status = ask_driver(&probed.count);
    if (probed.status != GP_OK)
        snprintf(probed.words, sizeof probed.words, "%s", gp_last_error());
}

gp_status gp_gpu_probe(int *count) {
    pthread_once(&probe_once, probe);
    if (probed.status != GP_OK)
        return gp_fail(probed.status, "%s", probed.words);
    if (probed.born_here && !*probed.born_here)
        return gp_fail(GP_ERR_FORKED, "CUDA was used before fork; it cannot be used in the child");
    *count = probed.count;
    return GP_OK;
}

gp_status gp_device_set(int ordinal, int *found) {
    GP_CUDA(cudaGetDevice(found));
    if (*found != ordinal)
        GP_CUDA(cudaSetDevice(ordinal));
    return GP_OK;
}

void gp_device_restore(int ordinal, int found) {
    if (found != ordinal)
        (void)cudaSetDevice(found);
}

gp_status gp_gpu_enter(int ordinal, gp_found *found) {
    found->rounding = gp_round_to_nearest();
    found->rounds = true;
    GP_TRY(gp_device_set(ordinal, &found->device));
    found->capture = cudaStreamCaptureModeRelaxed;
    if (cudaThreadExchangeStreamCaptureMode(&found->capture) != cudaSuccess)
        found->capture = cudaStreamCaptureModeGlobal;
    found->ordinal = ordinal;
    found->entered = true;
    return GP_OK;
}

void gp_gpu_leave(gp_found *found) {
    if (found->entered) {
        (void)cudaThreadExchangeStreamCaptureMode(&found->capture);
        gp_device_restore(found->ordinal, found->device);
    }
    if (found->rounds)
        gp_round_as(found->rounding);
}

gp_status gp_gpu_query(int ordinal, gp_device *device) {
    struct cudaDeviceProp found;
    if (ordinal < 0)
        GP_CUDA(cudaGetDevice(&ordinal));
    GP_CUDA(cudaGetDeviceProperties(&found, ordinal));
    snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1, found.name);
    device->ordinal = ordinal;
    device->backend = GP_BACKEND_CUDA;
    device->compute_major = (uint32_t)found.major;
    device->compute_minor = (uint32_t)found.minor;
    device->multiprocessors = (uint32_t)found.multiProcessorCount;
    device->warp_size = (uint32_t)found.warpSize;
    device->threads_per_block = (uint32_t)found.maxThreadsPerBlock;
    device->threads_per_sm = (uint32_t)found.maxThreadsPerMultiProcessor;
    device->blocks_per_sm = (uint32_t)found.maxBlocksPerMultiProcessor;
    device->regs_per_block = (uint32_t)found.regsPerBlock;
    device->regs_per_sm = (uint32_t)found.regsPerMultiprocessor;
    device->regs_per_thread = REGISTERS_PER_THREAD;
    device->reg_unit = REGISTER_UNIT;
    device->sm_partitions = found.major == 6 && found.minor == 0 ? 2 : 4;
    device->smem_per_block = found.sharedMemPerBlock;
    device->smem_per_block_optin = found.sharedMemPerBlockOptin;
    device->smem_per_sm = found.sharedMemPerMultiprocessor;
    device->smem_reserved = found.reservedSharedMemPerBlock;
    device->smem_unit = found.major >= 8 ? 128 : 256;
    device->l2_bytes = (size_t)found.l2CacheSize;
    device->memory_bytes = found.totalGlobalMem;
    return GP_OK;
}
