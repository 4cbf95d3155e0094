/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many outputs side by side, element by element of each: columns of a matrix row by row, and short rows, each of
 * which is a column whose neighbours are not contiguous. Ints are taken as int64_t, floats as doubles; sums of those
 * are kept with their errors, and a column whose errors are not all held is done again by the reference.
 */
#ifndef GP_COLUMNS_H
#define GP_COLUMNS_H

#include "accumulator.h"

#define GP_COLUMNS 256 /* at most at once: their sums stay in the first-level cache */

#define GP_LONG_ROW 1024 /* elements of a row of floats at most */

/* Sums of floats with two levels of errors; `rest` has a bit set but the sign if that was not enough. */
typedef struct gp_column_sums {
    double sum[GP_COLUMNS], errors[GP_COLUMNS];
    uint64_t rest[GP_COLUMNS];
} gp_column_sums;

/* Sums of ints: low + 2^32 high. */
typedef struct gp_column_totals {
    int64_t low[GP_COLUMNS], high[GP_COLUMNS];
} gp_column_totals;

typedef struct gp_columns {
    _Alignas(64) int64_t nonzero[GP_COLUMNS];
    int64_t bits_and[GP_COLUMNS], bits_or[GP_COLUMNS], bits_xor[GP_COLUMNS];
    int64_t min[GP_COLUMNS], max[GP_COLUMNS]; /* signed keys */
    int64_t argmin[GP_COLUMNS], argmax[GP_COLUMNS];
    union {
        gp_column_totals totals[GP_DOT];
        gp_column_sums sums[GP_DOT];
    };
    size_t count;             /* of columns */
    int64_t apart;            /* bytes from one to the next */
    const unsigned char *end; /* of the input */
} gp_columns;

/* `rows` rows, `step` bytes apart; a row's place is place + i * place_step. */
typedef void (*gp_pass_columns)(gp_columns *c, const gp_pass *pass, const unsigned char *in, uint64_t rows,
                                int64_t step, int64_t place, int64_t place_step);

/* Whether outputs can be done so. */
bool gp_columns_can(const gp_pass *pass);

/* Sums of floats whose rows of up to GP_LONG_ROW elements are taken one after the other. */
bool gp_columns_have_rows(const gp_pass *pass);

/* How many are to be done at once. */
uint64_t gp_columns_width(const gp_pass *pass);

/*
 * Takes all rows of `width` neighbouring columns, the first from `in` on. Returns how many rows were taken as one:
 * what is wanted of column j is then in columns j, j + width, and so on.
 */
uint64_t gp_columns_take(gp_columns *c, const gp_pass *pass, gp_pass_columns columns, const unsigned char *in,
                         size_t width);

/* The only result of the pass, of column j, if that takes no more than rounding one double. */
bool gp_columns_quick(const gp_columns *c, const gp_pass *pass, size_t j, uint64_t *bits);

/* Adds column j to an accumulator. False: it is not held exactly, and has to be done again. */
bool gp_columns_read(const gp_columns *c, const gp_pass *pass, size_t j, gp_accumulator *a);

#endif
