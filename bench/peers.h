/* SPDX-License-Identifier: Apache-2.0 */
/* What a user would take instead: CUB, cuBLAS, and a plain window kernel. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "gpuprim/gpuprim.h"
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sum to int64, or min to int32, with CUB's own temporary memory, which grows here if it must. n < 2^31. */
cudaError_t peer_cub_prepare(size_t n);
cudaError_t peer_cub_sum(const int32_t *in, size_t n, int64_t *out, cudaStream_t stream);
cudaError_t peer_cub_min(const int32_t *in, size_t n, int32_t *out, cudaStream_t stream);

/* Loads cuBLAS, once; false if there is none to load. */
bool peer_geam_open(cudaStream_t stream);
void peer_geam_close(void);
/* out = transpose of in, of 4 or 8 bytes an element; false if cuBLAS refuses. */
bool peer_geam(size_t elem_bytes, const void *in, size_t rows, size_t cols, size_t in_pitch, void *out,
               size_t out_pitch);

/* The window as it is first written well: no shared memory, neighbouring outputs of a thread share what they add up,
   32-bit sums (right for 8-bit pixels). Zeros outside the row. */
cudaError_t peer_window(const int32_t *image, size_t rows, size_t cols, size_t image_pitch, size_t window, float *sum,
                        float *square, size_t out_pitch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
