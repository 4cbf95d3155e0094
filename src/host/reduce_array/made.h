/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes of pairs, of masked elements, and of those that are no NaN, as passes of elements that are made of these:
 * what does not count becomes one that changes nothing, and pairs become one element or several, all of one sum.
 */
#pragma once

#include "columns.h"

typedef enum gp_making {
    GP_MAKE_CHOSEN,      /* elements that count, others as `rest` */
    GP_MAKE_DIFFERENCES, /* |x - y| of ints, as unsigned ones of their size */
    GP_MAKE_APART,       /* |x - y| of floats, rounded to f32, or f64 of f64 */
    GP_MAKE_ORDERED,     /* of floats: max(x, y) and -min(x, y) */
    GP_MAKE_UNLIKE,      /* bytes: 1 where floats differ */
    GP_MAKE_PRODUCTS,    /* x y of ints, of twice the size; of floats as doubles, of f64 with what rounding lost */
    GP_MAKE_SQUARES      /* of floats: x x, y y and -2 x y, as such products */
} gp_making;

typedef struct gp_made_pass {
    gp_pass asked;   /* some results of a pass, which has an axis of each kind */
    gp_pass pass;    /* the same of made elements; `where` and skip_nan say that columns count what counts */
    uint64_t rest;   /* an element's bits */
    unsigned pieces; /* elements that one element or pair becomes */
    gp_making how;
} gp_made_pass;

/* Makes a piece of each of n elements, or pairs. counts: 1 of each that counts, found with the first piece. Returns
 * where they are, which may be x. NULL: some cannot be made so. */
typedef const unsigned char *(*gp_pass_make)(const gp_made_pass *made, unsigned piece, const unsigned char *x,
                                             const unsigned char *y, size_t n, uint8_t *counts, unsigned char *out);

/* n elements along the pass's last reduced axis, from `in` and `with` on; `place` is the first's. */
typedef void (*gp_pass_run)(gp_accumulator *a, const gp_pass *pass, const unsigned char *in,
                            const unsigned char *with, int64_t place, uint64_t n);

/* Whether a pass is one of these, and worth it. */
bool gp_made_can(const gp_pass *pass);

/* The pass of results from number *first on that can be made together, and steps to those behind. */
void gp_made_next(const gp_pass *pass, unsigned *first, gp_made_pass *made);

/* How many neighbouring outputs are to be done at once. */
uint64_t gp_made_width(const gp_made_pass *made);

/* As gp_columns_take(), `with`: the first one's partners, or its mask. */
void gp_made_take(gp_columns *c, const gp_made_pass *made, gp_pass_make make, gp_pass_columns columns,
                  const unsigned char *in, const unsigned char *with, size_t width, uint64_t begin, uint64_t end);

/* Elements [begin, end) along the last reduced axis of one output, as an accumulator of the made pass, to one of no
 * elements. False: not here. */
bool gp_made_run(gp_accumulator *a, const gp_made_pass *made, gp_pass_make make, gp_pass_run run,
                 const unsigned char *in, const unsigned char *with, uint64_t begin, uint64_t end);
