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
    GP_MAKE_SQUARES      /* of floats: x x, y y and -2 x y, as such products; or the square of what doubles hold */
} gp_making;

#define GP_MADE_ALL UINT32_MAX /* pieces */

typedef struct gp_made_pass {
    gp_pass asked;   /* some results of the caller's pass, with a kept and a reduced axis at least */
    gp_pass pass;    /* the same results of made elements; `where` and skip_nan say that not all of them count */
    uint64_t rest;   /* bits of the element that stands for one that does not count */
    unsigned pieces; /* elements that one element or pair becomes */
    gp_making how;
} gp_made_pass;

/* Makes number *piece of the elements that each of n elements or pairs becomes, the first 0, and sets it to the next
 * one's or to GP_MADE_ALL. counts: 1 for each that counts, set with the first piece and read with the others. Returns
 * where the made ones are: `out`, or x where nothing changes. NULL: some cannot be made, such as products that two
 * doubles do not hold. */
typedef const unsigned char *(*gp_pass_make)(const gp_made_pass *made, unsigned *piece, const unsigned char *x,
                                             const unsigned char *y, size_t n, uint8_t *counts, unsigned char *out);

/* n elements along the pass's last reduced axis, from `in` and `with` on; `place` is the first's. */
typedef void (*gp_pass_run)(gp_accumulator *a, const gp_pass *pass, const unsigned char *in,
                            const unsigned char *with, int64_t place, uint64_t n);

/* Whether all results of a pass can be had from made elements, and it is large enough. */
bool gp_made_can(const gp_pass *pass);

/* Sets *made to the results from number *first on that one making serves, and *first to the next one. */
void gp_made_next(const gp_pass *pass, unsigned *first, gp_made_pass *made);

/* How many neighbouring outputs a block has. */
uint64_t gp_made_width(const gp_made_pass *made);

/* As gp_columns_take(); `with` is where the first output's partners begin, or its mask. */
void gp_made_take(gp_columns *c, const gp_made_pass *made, gp_pass_make make, gp_pass_columns columns,
                  const unsigned char *in, const unsigned char *with, size_t width, uint64_t begin, uint64_t end);

/* Takes elements [begin, end) along the last reduced axis of one output to *a, which is an accumulator of made->pass
 * and has none yet. False: the pass wants places, or some elements cannot be made. */
bool gp_made_run(gp_accumulator *a, const gp_made_pass *made, gp_pass_make make, gp_pass_run run,
                 const unsigned char *in, const unsigned char *with, uint64_t begin, uint64_t end);
