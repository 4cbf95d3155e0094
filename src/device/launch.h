/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the host side knows of the GPU: plain C, no CUDA type. Implemented by the files of this folder, or by
 * none.c in a build without CUDA, where gp_gpu_probe() says so and nothing else is reached.
 */
#pragma once

#include "../host/context.h"

/* GP_OK and *count >= 1, or the reason why no GPU is usable. The first answer stands for the whole process. */
gp_status gp_gpu_probe(int *count);
gp_status gp_gpu_query(int ordinal, gp_device *device); /* facts; ordinal -1: of the thread's current device */
gp_status gp_gpu_open(int ordinal, gp_gpu **out);       /* workspace, on the legacy default stream */
void gp_gpu_close(gp_gpu *gpu, bool forked); /* waits first; host memory only in a forked child; NULL allowed */
gp_status gp_gpu_set_stream(gp_gpu *gpu, struct CUstream_st *stream);
gp_status gp_gpu_synchronize(gp_gpu *gpu);
gp_status gp_gpu_await(gp_gpu *gpu); /* for what is on the stream; an overflow is left for synchronize to report */
gp_status gp_gpu_alloc(gp_gpu *gpu, gp_memory memory, size_t bytes, void **out);
gp_status gp_gpu_free(gp_gpu *gpu, void *memory);
gp_status gp_gpu_copy(gp_gpu *gpu, void *to, const void *from, size_t bytes);
gp_status gp_gpu_where(gp_gpu *gpu, const char *name, const void *pointer, gp_place *memory); /* name: for errors */

/* Runs the context's plan for a problem whose arrays are all device-reachable: enqueue only. */
gp_status gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem);

/* Runs a problem with host memory among its arrays, in pieces that are copied and computed at the same time. */
gp_status gp_gpu_stage(gp_context *context, const gp_problem *problem, const gp_operand operand[GP_OPERANDS]);

/* A catalogue row names its launcher with GP_GPU(launcher), which is NULL in a build without CUDA. */
#ifdef GPUPRIM_WITH_CUDA
#define GP_GPU(launcher) launcher
#else
#define GP_GPU(launcher) NULL
#endif

/* A row of kernels that wait for those before them; `fits` is its fit(). */
#define GP_GPU_ROW(row, ceiling, fixed, fits, text)                                                           \
    {                                                                                                         \
        .name = #row, .about = text, .space = GP_SPACE_GPU, .regs_per_thread = ceiling, .smem_static = fixed, \
        .dependent_launch = true, .fit = fits, .launch = GP_GPU(gp_launch_##row)                              \
    }
