/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of results where they lie, in device memory, by kernels that do no more than the definitions say. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "gpuprim/gpuprim.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

#define CHECK_POISON 0xff /* every byte of an output before the call that is checked */

#ifdef __cplusplus
extern "C" {
#endif

/* Adds to *wrong the elements with out[c][r] != in[r][c]; pointers aligned to elem_bytes, which is 1, 2, 4, 8 or 16,
   or to 4 with 12. */
cudaError_t check_transpose(size_t elem_bytes, const void *in, size_t rows, size_t cols, size_t in_pitch,
                            const void *out, size_t out_pitch, unsigned long long *wrong, cudaStream_t stream);

/* Adds to *wrong the outputs that are not the exact result rounded once, or, where GP_BORDER_NONE leaves them, not
   poison. Either output may be NULL. */
cudaError_t check_window(const int32_t *image, size_t rows, size_t cols, size_t image_pitch, size_t window,
                         gp_border border, const float *sum, const float *square, size_t out_pitch,
                         unsigned long long *wrong, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
