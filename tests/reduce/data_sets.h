/* SPDX-License-Identifier: Apache-2.0 */
/* The data that exact reductions are tested and timed on, of every element type. */
#pragma once

#include "gpuprim/gpuprim.h"

/* Of ints, the sets that ask for fractions, subnormals, NaN or infinities are their nearest relatives. */
typedef enum data_set {
    DATA_SET_UNIFORM,    /* in [0, 1); ints: all bits */
    DATA_SET_NORMAL,     /* mean 0, deviation 1; ints: of half their bits */
    DATA_SET_FAR_MEAN,   /* mean 1000, deviation 1; ints: near the greatest */
    DATA_SET_12_DECADES, /* log-uniform, both signs; ints: magnitudes of random length */
    DATA_SET_60_DECADES,
    DATA_SET_CANCELLING, /* pairs of x and -x over 12 decades, and one tiny rest */
    DATA_SET_SUBNORMALS, /* half of them subnormal, half in [0, 1); ints: 0 and 1 */
    DATA_SET_EQUAL,
    DATA_SET_HALF_ZEROS, /* of either sign */
    DATA_SET_NAN,        /* one, of any payload and sign */
    DATA_SET_INFINITY,   /* one */
    DATA_SET_INFINITIES, /* of both signs */
    DATA_SET_EDGE,       /* greatest, -greatest, and what decides whether a sum of them is infinite */
    DATA_SET_TIES,       /* sums halfway between two floats of some type, or a little beside */
    DATA_SET_ALL_BITS,   /* every finite bit pattern alike; ints: all bits */
    DATA_SETS
} data_set;

const char *data_set_name(data_set set);

/* Bytes of an element. */
size_t data_set_element(gp_type type);

/* n elements of any type but GP_BYTES, the same for the same seed. For the default rounding mode, without FTZ. */
void data_set_fill(void *to, gp_type type, size_t n, data_set set, uint64_t seed);

/* The same in text: "cancelling, f32, n 100, seed 7". As snprintf. */
int data_set_label(gp_type type, size_t n, data_set set, uint64_t seed, char *text, size_t size);
