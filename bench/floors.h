/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory allows: kernels that only move the bytes that a primitive must move. */
#ifndef BENCH_FLOORS_H
#define BENCH_FLOORS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each has so many variants, all of them fair: the fastest for a size is its floor. */
#define FLOOR_READ_VARIANTS 9
#define FLOOR_WINDOW_VARIANTS 9

/* Reads n int32 from a 16-byte boundary on; writes next to nothing to *sink. */
cudaError_t floor_read(const int32_t *in, size_t n, int32_t *sink, unsigned variant, unsigned multiprocessors,
                       cudaStream_t stream);

/* Reads n int32, writes n float to each output that is not NULL; all from a 16-byte boundary on. */
cudaError_t floor_window(const int32_t *in, size_t n, float *sum, float *square, unsigned variant,
                         cudaStream_t stream);

/* The same without a border: of each row of `cols`, a multiple of 4, only columns first .. end - 1 are written. */
cudaError_t floor_window_inner(const int32_t *in, size_t rows, size_t cols, size_t first, size_t end, float *sum,
                               float *square, cudaStream_t stream);

/* A kernel that does nothing. */
cudaError_t floor_launch(const void *in, void *out, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
