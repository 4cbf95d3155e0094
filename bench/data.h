/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of the input's values, and the kernel that makes them. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <cuda_runtime_api.h>
#include <stddef.h>

typedef enum data_kind {
    DATA_32_BIT, /* all of int32 */
    DATA_8_BIT,  /* 0 .. 255 */
    DATA_16_BIT, /* 0 .. 65535 */
    DATA_24_BIT, /* -2^23 .. 2^23 - 1 */
    DATA_FINITE, /* any bits but two: normal as float and as double, so that cuBLAS copies it bit for bit */
    DATA_KINDS
} data_kind;

#ifdef __cplusplus
extern "C" {
#endif

const char *data_name(data_kind kind);

/* Fills words of device memory with pseudo-random values; the same index gives the same value. */
cudaError_t data_fill(void *to, size_t words, data_kind kind, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
