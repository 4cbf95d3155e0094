/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a CUDA error to a gp_status and words. Only what the failing call itself returned is used: the thread's last
 * CUDA error may be the program's own, so it is neither read nor cleared.
 */
#pragma once

#include "../host/kernel.h"
#include <cuda_runtime_api.h>

/* Sets the thread's gp_last_error() to the call, the error's name and its text; returns the status it amounts to. */
GP_C_LINKAGE gp_status gp_cuda_fail(cudaError_t error, const char *call);

/* Returns a failed CUDA call to the caller, in words. */
#define GP_CUDA(call)                                   \
    do {                                                \
        cudaError_t gp_cuda_error_ = (call);            \
        if (gp_cuda_error_ != cudaSuccess)              \
            return gp_cuda_fail(gp_cuda_error_, #call); \
    } while (0)
