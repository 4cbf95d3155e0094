/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU side of a build without CUDA: the probe says so, and no context with a GPU ever comes to be. */
#include "launch.h"

static gp_status built_without(void) {
    return gp_fail(GP_ERR_NO_DEVICE, "libgpuprim was built without CUDA");
}

gp_status gp_gpu_probe(int *count) {
    (void)count;
    return built_without();
}

gp_status gp_gpu_current(int *ordinal) {
    (void)ordinal;
    return built_without();
}

gp_status gp_gpu_query(int ordinal, gp_device *device) {
    (void)ordinal, (void)device;
    return built_without();
}

gp_status gp_gpu_open(int ordinal, gp_gpu **out) {
    (void)ordinal, (void)out;
    return built_without();
}

void gp_gpu_close(gp_gpu *gpu) {
    (void)gpu;
}

void gp_gpu_abandon(gp_gpu *gpu) {
    (void)gpu;
}

gp_status gp_gpu_set_stream(gp_gpu *gpu, struct CUstream_st *stream) {
    (void)gpu, (void)stream;
    return built_without();
}

gp_status gp_gpu_synchronize(gp_gpu *gpu) {
    (void)gpu;
    return built_without();
}

gp_status gp_gpu_await(gp_gpu *gpu) {
    (void)gpu;
    return built_without();
}

gp_status gp_gpu_alloc(gp_gpu *gpu, gp_memory memory, size_t bytes, void **out) {
    (void)gpu, (void)memory, (void)bytes, (void)out;
    return built_without();
}

gp_status gp_gpu_free(gp_gpu *gpu, void *memory) {
    (void)gpu, (void)memory;
    return built_without();
}

gp_status gp_gpu_copy(gp_gpu *gpu, void *to, const void *from, size_t bytes) {
    (void)gpu, (void)to, (void)from, (void)bytes;
    return built_without();
}

gp_status gp_gpu_where(gp_gpu *gpu, const char *name, const void *pointer, gp_place *memory) {
    (void)gpu, (void)name, (void)pointer, (void)memory;
    return built_without();
}

gp_status gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    (void)context, (void)plan, (void)problem;
    return built_without();
}

gp_status gp_gpu_stage(gp_context *context, gp_problem *problem) {
    (void)context, (void)problem;
    return built_without();
}

void gp_gpu_observe(gp_gpu *gpu, gp_observer observer, void *user) {
    (void)gpu, (void)observer, (void)user;
}
