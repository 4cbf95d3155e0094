/* SPDX-License-Identifier: Apache-2.0 */
/* How the GPU rows that reduce views cut a pass. */
#ifndef GP_REDUCE_ARRAY_FIT_H
#define GP_REDUCE_ARRAY_FIT_H

#include "../kernel.h"

GP_DECLARE_ROW(reduce_all);
GP_DECLARE_ROW(reduce_any);

#endif
