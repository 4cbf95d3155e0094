/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of elements of any size, by pieces of a size that the compiler knows. */
#ifndef GP_CPU_TRANSPOSE_QUICK_H
#define GP_CPU_TRANSPOSE_QUICK_H

#include "cpu_tiles.h"

/*
 * out[c][r] = in[r][c]. Of elements up to 16 bytes each row of the output is followed by up to 16 bytes of anything.
 */
typedef void (*gp_transpose_quick)(const gp_matrices *at, size_t rows, size_t cols, size_t bytes);

#define GP_QUICK_BYTES_MAX 16
#define GP_QUICK_BEHIND 16

gp_transpose_quick gp_transpose_quick_of(size_t elem_bytes);

#endif
