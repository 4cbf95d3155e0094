/* SPDX-License-Identifier: Apache-2.0 */
/* The results as their definitions read, computed slowly and without any of the library's code. */
#pragma once

#include "gpuprim/gpuprim.h"
#include <stdbool.h>

__extension__ typedef __int128 oracle_int;

/* The status that gp_reduce_int() owes, and *out with GP_OK. */
gp_status oracle_reduce(gp_reduce_op op, const int32_t *in, size_t n, int64_t *out);

/* Column that a window sees at `index` of a row of cols: index itself inside, -1: a zero. */
ptrdiff_t oracle_border(gp_border border, ptrdiff_t index, size_t cols);

/* Columns [*first, *end) that are computed. */
void oracle_columns(gp_border border, size_t cols, size_t window, size_t *first, size_t *end);

/* Exact sums over the window of pixel (row) at column x. */
void oracle_window_exact(const int32_t *row, size_t cols, size_t window, gp_border border, size_t x, oracle_int *sum,
                         oracle_int *square);

/* As gp_sum_and_square_window(): either output may be NULL. */
void oracle_window(const int32_t *image, size_t rows, size_t cols, size_t image_pitch, size_t window,
                   gp_border border, float *sum, float *square, size_t out_pitch);

/* The float nearest to the integer, ties to even; |value| < 2^127. */
float oracle_float(oracle_int value);

/* in and out may not overlap; pitches in elements. */
void oracle_transpose(size_t elem_bytes, const void *in, size_t rows, size_t cols, size_t in_pitch, void *out,
                      size_t out_pitch);
