/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim reduce: what came out, and the printing of it. */
#pragma once

#include "reduction.h"
#include "table.h"

typedef struct reduced {
    const char *path;
    gp_array in;
    unsigned axes; /* reduced, a bit each */
    size_t outputs;
    size_t count;
    gp_result result[REDUCTION_OPS]; /* data on the host, dense */
    const char *kernel;              /* NULL: nothing had to be done */
} reduced;

void reduce_print(const reduced *r, format how);
