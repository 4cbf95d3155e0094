/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of gp_window(). */
#pragma once

#include "../reduce_array/random_call.h"

/* The same for the same seed. work: elements of all windows together, about; tens of millions take seconds. */
void random_window_make(random_call *call, uint64_t seed, size_t work);
