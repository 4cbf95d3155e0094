/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that move and allocate, and the occupancy of made-up kernels. Those that compute are in the
 * primitives' folders. */
#include "../device/launch.h"
#include "cancel.h"
#include "context.h"
#include "copy_out.h"
#include "occupancy.h"
#include <stdlib.h>
#include <string.h>

#define HOST_ALIGNMENT 256 /* as cudaMalloc promises */

gp_status gp_context_set_stream(gp_context *context, struct CUstream_st *stream) {
    GP_UNCANCELLED;
    GP_TRY(gp_context_check(context));
    return context->gpu != NULL ? gp_gpu_set_stream(context->gpu, stream) : GP_OK;
}

gp_status gp_context_synchronize(gp_context *context) {
    GP_UNCANCELLED;
    GP_TRY(gp_context_check(context));
    return context->gpu != NULL ? gp_gpu_synchronize(context->gpu) : GP_OK;
}

gp_status gp_alloc(gp_context *context, gp_memory memory, size_t bytes, void **out) {
    GP_UNCANCELLED;
    GP_TRY(gp_context_check(context));
    if (memory != GP_MEMORY_DEVICE && memory != GP_MEMORY_HOST)
        return gp_fail(GP_ERR_ARGUMENT, "memory: %d is no gp_memory", (int)memory);
    GP_TRY(gp_check_not_null("out", out));
    if (bytes == 0) {
        *out = NULL;
        return GP_OK;
    }
    if (bytes > PTRDIFF_MAX - HOST_ALIGNMENT)
        return gp_fail(GP_ERR_MEMORY, "bytes: %zu pass the address space", bytes);
    if (context->gpu != NULL)
        return gp_gpu_alloc(context->gpu, memory, bytes, out);
    void *got = aligned_alloc(HOST_ALIGNMENT, gp_round_up(bytes, HOST_ALIGNMENT));
    if (got == NULL)
        return gp_fail(GP_ERR_MEMORY, "no %zu bytes of host memory", bytes);
    *out = got;
    return GP_OK;
}

gp_status gp_free(gp_context *context, void *memory) {
    GP_UNCANCELLED;
    GP_TRY(gp_context_check(context));
    if (memory == NULL)
        return GP_OK;
    if (context->gpu != NULL)
        return gp_gpu_free(context->gpu, memory);
    free(memory);
    return GP_OK;
}

gp_status gp_copy(gp_context *context, void *to, const void *from, size_t bytes) {
    GP_UNCANCELLED;
    GP_TRY(gp_context_check(context));
    if (bytes == 0)
        return GP_OK;
    GP_TRY(gp_check_not_null("to", to));
    GP_TRY(gp_check_not_null("from", from));
    const uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;
    if (bytes > PTRDIFF_MAX || a > UINTPTR_MAX - bytes || b > UINTPTR_MAX - bytes)
        return gp_fail(GP_ERR_OVERFLOW, "bytes: %zu from to or from pass the address space", bytes);
    if (a < b + bytes && b < a + bytes)
        return gp_fail(GP_ERR_OVERLAP, "to and from overlap");
    if (context->gpu != NULL)
        return gp_gpu_copy(context->gpu, to, from, bytes);
    if (context->backend != GP_BACKEND_MODEL)
        memcpy(to, from, bytes);
    return GP_OK;
}

gp_status gp_occupancy(const gp_device_info *device, unsigned threads, unsigned regs_per_thread, size_t smem_bytes,
                       gp_occupancy_info *info) {
    GP_TRY(gp_check_input_struct("device", device, sizeof *device));
    GP_TRY(gp_check_struct("info", info, sizeof *info));
    if (threads == 0)
        return gp_fail(GP_ERR_ARGUMENT, "threads is 0");
    gp_device filled;
    memcpy(&filled, device, sizeof filled);
    if (!gp_device_is_gpu(&filled))
        return gp_fail(GP_ERR_ARGUMENT,
                       "device lacks one of threads_per_sm, regs_per_sm, smem_per_sm, blocks_per_sm");
    gp_device_fill_defaults(&filled);
    gp_occupancy_info known;
    gp_occupancy_compute(&filled, threads, regs_per_thread, smem_bytes, &known);
    gp_copy_out(info, &known, sizeof known);
    return GP_OK;
}
