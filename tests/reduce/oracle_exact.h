/* SPDX-License-Identifier: Apache-2.0 */
/* Exact results by the whole numbers of GMP. Shares no code with the library, and none of its ways. */
#pragma once

#include "exact_sums.h" /* exact_op */
#include <gmp.h>

typedef struct oracle_sums {
    mpz_t sum, square; /* in units of 2^exponent and 2^(2 exponent) */
    long exponent;
    bool nan[2], plus[2], minus[2]; /* what of it is in the sum, in the sum of products */
    unsigned long n;
} oracle_sums;

void oracle_sums_open(oracle_sums *o, gp_type type);
void oracle_sums_close(oracle_sums *o);
void oracle_sums_add(oracle_sums *o, gp_type type, const void *x, const void *y);
uint64_t oracle_sums_result(const oracle_sums *o, exact_op op, gp_type to);

/* numerator 2^exponent / denominator, or its root, to nearest with ties to even. A root of less than 0: NaN. */
uint64_t oracle_round(const mpz_t numerator, const mpz_t denominator, long exponent, bool root, gp_type to);

/* The value of an f16 or bf16, by ldexp(). */
double oracle_half(gp_type type, uint16_t bits);
