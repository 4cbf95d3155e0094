/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and arrays on the made-up GPUs: see fake_memory.h. */
#include "fake_memory.h"
#include "../cases.h"
#include "../check.h"

cudaStream_t fake_stream[FAKE_STREAMS];

int fake_open_streams(void **state) {
    (void)state;
    fake_streams_be_late(cases_seed());
    const cudaError_t waiting = cudaStreamCreateWithFlags(&fake_stream[1], cudaStreamDefault),
                      apart = cudaStreamCreateWithFlags(&fake_stream[2], cudaStreamNonBlocking);
    return waiting == cudaSuccess && apart == cudaSuccess ? 0 : -1;
}

int fake_close_streams(void **state) {
    (void)state;
    (void)cudaStreamDestroy(fake_stream[1]);
    (void)cudaStreamDestroy(fake_stream[2]);
    return fake_cuda_is_clean() ? 0 : -1;
}

gp_context *fake_context;

int fake_open_context(void **state) {
    (void)state;
    fake_streams_be_late(cases_seed());
    fake_context = make_context(GP_BACKEND_CUDA, 1, 3);
    return 0;
}

int fake_close_context(void **state) {
    (void)state;
    gp_context_destroy(fake_context);
    return fake_cuda_is_clean() ? 0 : -1;
}

unsigned char *fake_memory_make(gp_context *context, fake_kind kind, size_t bytes) {
    void *memory = NULL;
    if (kind == FAKE_PAGEABLE)
        memory = malloc(bytes + 1);
    else
        assert_int_equal(
            gp_alloc(context, kind == FAKE_DEVICE ? GP_MEMORY_DEVICE : GP_MEMORY_HOST, bytes + 1, &memory), GP_OK);
    assert_non_null(memory);
    return memory;
}

void fake_memory_free(gp_context *context, fake_kind kind, unsigned char *memory) {
    if (kind == FAKE_PAGEABLE)
        free(memory);
    else
        assert_int_equal(gp_free(context, memory), GP_OK);
}

void fake_memory_fill(fake_kind kind, unsigned char *to, const unsigned char *from, size_t bytes,
                      cudaStream_t stream) {
    if (kind == FAKE_PAGEABLE)
        memcpy(to, from, bytes);
    else
        assert_int_equal(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), cudaSuccess);
}
