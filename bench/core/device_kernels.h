/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of device.cu, each enqueued on a stream. */
#pragma once

#include "device.h"
#include <cuda_runtime_api.h>

#define KERNEL_READ_WAYS 9u
#define KERNEL_WRITE_WAYS 9u

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t kernel_fill(void *to, size_t words, data_kind kind, size_t spike, uint64_t seed, cudaStream_t stream);
cudaError_t kernel_differ(const void *a, const void *b, size_t bytes, unsigned long long *count, cudaStream_t stream);
cudaError_t kernel_read(unsigned way, const void *in, size_t bytes, int32_t *sink, unsigned multiprocessors,
                        cudaStream_t stream);
cudaError_t kernel_write(unsigned way, unsigned outs, const void *in, void *out, void *out2, size_t bytes,
                         cudaStream_t stream);
cudaError_t kernel_flush(const void *in, size_t bytes, int32_t *sink, unsigned multiprocessors, cudaStream_t stream);
cudaError_t kernel_nothing(cudaStream_t stream);

#ifdef __cplusplus
}
#endif
