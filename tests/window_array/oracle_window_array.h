/* SPDX-License-Identifier: Apache-2.0 */
/* What gp_window() owes, as its definition reads: each window's elements one by one, by the whole numbers of GMP. */
#pragma once

#include "gpuprim/gpuprim.h"

/* Writes what results should hold; all data must be host memory. Arguments are not checked. */
void oracle_window_array(const gp_array *in, const gp_window_shape *window, const gp_result *results, size_t count);
