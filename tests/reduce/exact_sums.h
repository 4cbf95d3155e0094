/* SPDX-License-Identifier: Apache-2.0 */
/* The sum and the sum of products of an array by src/host/exact.h, and every result of them. */
#pragma once

#include "../../src/host/exact.h"

typedef struct exact_sums {
    gp_type type;
    gp_exact_form form, square_form;
    uint32_t flags, square_flags;
    uint64_t n;
    int64_t limb[68], square[GP_EXACT_LIMBS];
} exact_sums;

typedef enum exact_op {
    EXACT_SUM,
    EXACT_MEAN,
    EXACT_SQUARES, /* or products */
    EXACT_NORM,
    EXACT_ROOT_MEAN_SQUARE,
    EXACT_PRODUCT_OPS, /* those above make sense of products of two arrays */
    EXACT_VARIANCE = EXACT_PRODUCT_OPS,
    EXACT_VARIANCE_SAMPLE,
    EXACT_STDDEV,
    EXACT_STDDEV_SAMPLE,
    EXACT_OPS
} exact_op;

#define EXACT_TYPES 4
#define EXACT_RESULTS (EXACT_OPS * EXACT_TYPES)

extern const gp_type exact_types[EXACT_TYPES]; /* of results */

void exact_sums_clear(exact_sums *s, gp_type type);

/* Adds x, and x y, both elements of the type. The bits of `way` say by which of several functions. */
void exact_sums_add(exact_sums *s, const void *x, const void *y, unsigned way);

/* Adds all that another has. */
void exact_sums_merge(exact_sums *s, const exact_sums *from);

uint64_t exact_sums_result(exact_sums *s, exact_op op, gp_type to);

/* Result [op * EXACT_TYPES + t] of each operation to exact_types[t]. */
void exact_sums_results(exact_sums *s, uint64_t results[EXACT_RESULTS]);
