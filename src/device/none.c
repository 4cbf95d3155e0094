/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU side of a build without CUDA: the probe says so, and no context with a GPU ever comes to be. */
#include "launch.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NONE(function, ...)                                                    \
    gp_status function(__VA_ARGS__) {                                          \
        return gp_fail(GP_ERR_NO_DEVICE, "libgpuprim was built without CUDA"); \
    }

NONE(gp_gpu_probe, int *count)
NONE(gp_gpu_query, int ordinal, gp_device *device)
NONE(gp_gpu_open, int ordinal, gp_gpu **out)
NONE(gp_gpu_set_stream, gp_gpu *gpu, struct CUstream_st *stream)
NONE(gp_gpu_synchronize, gp_gpu *gpu)
NONE(gp_gpu_await, gp_gpu *gpu)
NONE(gp_gpu_alloc, gp_gpu *gpu, gp_memory memory, size_t bytes, void **out)
NONE(gp_gpu_free, gp_gpu *gpu, void *memory)
NONE(gp_gpu_copy, gp_gpu *gpu, void *to, const void *from, size_t bytes)
NONE(gp_gpu_where, gp_gpu *gpu, const char *name, const void *pointer, gp_place *memory)
NONE(gp_gpu_enqueue, gp_context *context, const gp_plan *plan, const gp_problem *problem)
NONE(gp_gpu_stage, gp_context *context, const gp_problem *problem, const gp_operand operand[GP_OPERANDS])

void gp_gpu_close(gp_gpu *gpu, bool forked) {}
