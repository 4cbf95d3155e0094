/* SPDX-License-Identifier: Apache-2.0 */
/* What processor rows gather of the elements of one output, and how results are made of it. Adding elements in any
 * order, and merging the accumulators of parts in any order, gives the same results. */
#pragma once

#include "../exact.h"
#include "pass.h"

/* The least or the greatest so far: keys of elements compare as the elements do, as unsigned numbers. */
typedef struct gp_extreme {
    uint64_t key, place;
} gp_extreme;

/* Which exact sum. */
enum { GP_SUM, GP_ABS, GP_SQUARES, GP_DOT, GP_SUMS };

typedef struct gp_accumulator {
    uint64_t counted; /* elements that count */
    uint64_t nonzero; /* of these, or pairs that differ */
    uint64_t bits_and, bits_or, bits_xor;
    gp_extreme min, max; /* of elements that are no NaN; places are the first's */
    uint64_t max_abs;    /* the greatest magnitude, or difference: a number, or the bits of a double */
    uint64_t nan_place;
    bool nan;  /* one counts, the first at nan_place */
    bool some; /* one that is no NaN counts */

    /* Each sum is the total of three: of whole, exact, and its limbs. */
    __extension__ __int128 whole[GP_SUMS]; /* of ints */
    double exact[GP_SUMS];                 /* of floats */
    bool in_limbs[GP_SUMS];                /* the sum has limbs, which are not cleared before */
    uint32_t flags[GP_SUMS];               /* GP_EXACT_NAN .. */
    int64_t limb[GP_SUMS][GP_EXACT_LIMBS];
    int64_t scratch[GP_EXACT_LIMBS + GP_EXACT_SCRATCH_MORE]; /* of a result: a GPU has few bytes for local arrays */
} gp_accumulator;

GP_BOTH static inline gp_exact_form gp_accumulator_form(const gp_pass *pass, unsigned sum) {
    return gp_exact_form_of((gp_type)pass->type, sum >= GP_SQUARES);
}

/* The limbs of a sum, cleared before their first use. */
GP_BOTH static inline int64_t *gp_accumulator_limbs(gp_accumulator *a, const gp_pass *pass, unsigned sum) {
    if (!a->in_limbs[sum])
        memset(a->limb[sum], 0, gp_accumulator_form(pass, sum).limbs * sizeof *a->limb[sum]);
    a->in_limbs[sum] = true;
    return a->limb[sum];
}

/* One element, or pair, as all types have it. */
typedef struct gp_number {
    uint64_t whole; /* an int, extended with its sign */
    double real;    /* a float, exactly */
} gp_number;

/* Unsigned numbers that compare as the elements do. */
GP_BOTH_OPEN uint64_t gp_number_key(unsigned type, gp_number e);

/* |x|: a number, or the bits of a double. */
GP_BOTH_OPEN uint64_t gp_number_magnitude(unsigned type, gp_number e);

GP_BOTH_OPEN gp_number gp_number_load(unsigned type, const unsigned char *at);

/* Adds a number to one of the sums; of ints, or of floats. To nearest, subnormals as they are. */
GP_BOTH static inline void gp_accumulator_add_exact(gp_accumulator *a, const gp_pass *pass, unsigned sum, double x) {
    const double y = a->exact[sum], total = x + y, back = total - x, rest = (x - (total - back)) + (y - back);
    if (rest == 0)
        a->exact[sum] = total;
    else
        gp_exact_add_f64(gp_accumulator_limbs(a, pass, sum), gp_accumulator_form(pass, sum), x, &a->flags[sum]);
}

/* Whether a sum is one double, in *x: then that has to be rounded alone. */
GP_BOTH static inline bool gp_accumulator_is_exact(const gp_accumulator *a, unsigned sum, double *x) {
    const int64_t whole = (int64_t)a->whole[sum], limit = (int64_t)1 << 53;
    *x = a->exact[sum] + (double)whole;
    return !a->in_limbs[sum] && (whole == 0 || a->exact[sum] == 0) && a->whole[sum] == whole && whole <= limit &&
           whole >= -limit;
}

/* Of no elements. */
GP_BOTH_OPEN void gp_accumulator_clear(gp_accumulator *a);

/* One element of a pass, and its partner, or NULL. */
GP_BOTH_OPEN void gp_accumulator_take(gp_accumulator *a, const gp_pass *pass, const unsigned char *in,
                                      const unsigned char *with, int64_t place);

/* The least and the greatest of elements without NaNs. */
GP_BOTH_OPEN void gp_accumulator_take_extremes(gp_accumulator *a, const gp_extreme *min, const gp_extreme *max);

GP_BOTH static inline void gp_accumulator_take_magnitude(gp_accumulator *a, uint64_t magnitude) {
    if (magnitude > a->max_abs)
        a->max_abs = magnitude;
}

/* Spreads carries, due once in so many elements. */
#define GP_CARRY_LENGTH ((uint64_t)1 << 27)
GP_BOTH_OPEN void gp_accumulator_carry(gp_accumulator *a, const gp_pass *pass);

/* Moves a sum to its limbs. */
GP_BOTH_OPEN void gp_accumulator_gather(gp_accumulator *a, const gp_pass *pass, unsigned sum);

GP_BOTH_OPEN void gp_accumulator_merge(gp_accumulator *to, gp_accumulator *from, const gp_pass *pass);

/* The low bytes. */
GP_BOTH_OPEN void gp_result_store(unsigned type, uint64_t bits, unsigned char *to);

/* Writes result r. False: an integer that its type does not hold, written modulo 2^64. */
GP_BOTH_OPEN bool gp_accumulator_write(gp_accumulator *a, const gp_pass *pass, unsigned r, unsigned char *to);
