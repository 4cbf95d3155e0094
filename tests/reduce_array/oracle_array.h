/* SPDX-License-Identifier: Apache-2.0 */
/* What gp_reduce() and gp_reduce_pair() owe, as their definitions read, by the whole numbers of GMP. */
#pragma once

#include "gpuprim/gpuprim.h"

/*
 * Writes what result->to should hold; its data, and that of the inputs, must be host memory. with NULL: gp_reduce().
 * GP_OK, GP_ERR_EMPTY (nothing written), or GP_ERR_OVERFLOW (all written). Arguments are not checked.
 */
gp_status oracle_array(const gp_array *in, const gp_array *with, const gp_result *result);

size_t oracle_bytes(int32_t type);
