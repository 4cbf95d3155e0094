/* SPDX-License-Identifier: Apache-2.0 */
/* What is wanted of many points at once, how they stand, and those that miss it. */
#pragma once

#include <stdbool.h>

typedef struct verdict {
    const char *what;
    double wanted;
    double share; /* of the points that must meet it */
    bool at_most; /* values are at most `wanted`; else at least */
} verdict;

bool verdict_met(const verdict *v, double value);
void verdict_note(const verdict *v, const char *of, const char *where, double value);
void verdicts_print(void);
