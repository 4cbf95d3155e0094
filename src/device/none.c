/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU side of a build without CUDA: the probe says so, and no context with a GPU ever comes to be. */
#include "launch.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static gp_status built_without(void) {
    return gp_fail(GP_ERR_NO_DEVICE, "libgpuprim was built without CUDA");
}

gp_status gp_gpu_probe(int *count) {
    return built_without();
}

gp_status gp_gpu_query(int ordinal, gp_device *device) {
    return built_without();
}

gp_status gp_gpu_open(int ordinal, gp_gpu **out) {
    return built_without();
}

void gp_gpu_close(gp_gpu *gpu, bool forked) {}

gp_status gp_gpu_set_stream(gp_gpu *gpu, struct CUstream_st *stream) {
    return built_without();
}

gp_status gp_gpu_synchronize(gp_gpu *gpu) {
    return built_without();
}

gp_status gp_gpu_await(gp_gpu *gpu) {
    return built_without();
}

gp_status gp_gpu_alloc(gp_gpu *gpu, gp_memory memory, size_t bytes, void **out) {
    return built_without();
}

gp_status gp_gpu_free(gp_gpu *gpu, void *memory) {
    return built_without();
}

gp_status gp_gpu_copy(gp_gpu *gpu, void *to, const void *from, size_t bytes) {
    return built_without();
}

gp_status gp_gpu_where(gp_gpu *gpu, const char *name, const void *pointer, gp_place *memory) {
    return built_without();
}

gp_status gp_gpu_enqueue(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return built_without();
}

gp_status gp_gpu_stage(gp_context *context, const gp_problem *problem, const gp_operand operand[GP_OPERANDS]) {
    return built_without();
}
