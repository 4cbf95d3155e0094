/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU half of tiled_matmul, in plain C; tiled_matmul.cu has it, built only where nvcc is. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers a thread of the kernel, as built for the current device; 0 and a message if that cannot be found out. */
unsigned matmul_registers(const char **message);

/*
 * Enqueues c = a b on the default stream, with tiles of width x width; all in device memory, row after row.
 * NULL, or CUDA's message if the launch failed.
 */
const char *matmul_launch(const float *a, const float *b, float *c, size_t rows, size_t inner, size_t cols,
                          unsigned width);

#ifdef __cplusplus
}
#endif
