/* SPDX-License-Identifier: Apache-2.0 */
/* The peers that are kernels, enqueued on a stream. */
#pragma once

#include "gpuprim/gpuprim.h"
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sum or minimum with CUB's own temporary memory, which grows here if it must. n < 2^31. */
cudaError_t cub_prepare(gp_reduce_op op, size_t n);
cudaError_t cub_reduce(gp_reduce_op op, const int32_t *in, size_t n, int64_t *out, cudaStream_t stream);
cudaError_t cub_sum_floats(const float *in, size_t n, float *out, cudaStream_t stream); /* not exact */
int64_t *cub_pinned(void); /* host memory for a result, after cub_prepare() */

/* The window as it is first written well: no shared memory, neighbouring outputs of a thread share what they add up,
   32-bit sums (right for 8-bit pixels). Zeros outside the row. */
cudaError_t plain_window(const int32_t *image, size_t rows, size_t cols, size_t image_pitch, size_t window,
                         float *sum, float *square, size_t out_pitch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
