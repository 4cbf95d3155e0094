/* SPDX-License-Identifier: Apache-2.0 */
/* What test_window_array's files share. */
#pragma once

#include "../harness.h"

/* Where few cases are wanted, three pictures of four; another seed leaves out others. */
bool windows_left_out(size_t picture);

/* Every kernel's results, `bytes` each, are those expected. */
void expect_windows(harness *h, const gp_array *in, const gp_window_shape *window, const gp_result *results,
                    size_t count, size_t bytes, float *const *expected, const char *what);

/* Tests of float_windows.c. */
void a_long_row_of_floats(void **state);
void variances_of_almost_equal_floats(void **state);
void variances_of_floats_far_from_zero(void **state);
void means_that_warps_walk_down(void **state);
void windows_that_see_no_numbers(void **state);

/* Tests of large_windows.c. */
void nothing_behind_many_results(void **state);
void edges_of_large_pictures(void **state);

/* Tests of lines.c. */
void windows_along_lines(void **state);
void windows_along_many_lines(void **state);
