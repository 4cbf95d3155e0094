/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and memory for the tests that need a GPU. */
#include "gpu.h"

bool gpu_is_missing(void) {
    if (gp_device_count() > 0)
        return false;
    printf("skipped: %s\n", gp_last_error());
    return true;
}

gp_context *gpu_open(gp_backend backend) {
    return make_context(backend, -1, 0);
}

void *gpu_upload(const void *from, size_t bytes) {
    void *memory = NULL;
    CUDA_OK(cudaMalloc(&memory, bytes));
    CUDA_OK(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
    return memory;
}

void *gpu_need(gp_context *context, size_t bytes) {
    void *memory = NULL;
    if (gp_alloc(context, GP_MEMORY_DEVICE, bytes, &memory) != GP_OK) {
        printf("skipped: %s\n", gp_last_error());
        skip();
    }
    return memory;
}

void gpu_spread(void *memory, size_t bytes, const void *tile, size_t tile_bytes) {
    size_t done = tile_bytes < bytes ? tile_bytes : bytes;
    CUDA_OK(cudaMemcpy(memory, tile, done, cudaMemcpyHostToDevice));
    while (done < bytes) {
        const size_t more = done < bytes - done ? done : bytes - done;
        CUDA_OK(cudaMemcpy((char *)memory + done, memory, more, cudaMemcpyDeviceToDevice));
        done += more;
    }
}
