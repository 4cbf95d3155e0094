/* SPDX-License-Identifier: Apache-2.0 */
/* Which form of reduce_many and reduce_short a pass is for. */
#include "../arithmetic.h"
#include "fit.h"
#include "tiling.h"

/*
 * One sum, besides it one of squares. A double's bounds do not prove another one; twofold sums do, and know partners;
 * so do those of products that a double holds, as the squares of floats are.
 */
static unsigned form_of_floats(const gp_pass *pass) {
    const unsigned width = gp_log2(gp_type_bytes(pass->type)), wants = pass->wants;
    const unsigned sums = wants & (GP_WANT_SUM | GP_WANT_ABS | GP_WANT_DOT);
    const bool one = wants == GP_WANT_SUM || wants == GP_WANT_ABS;
    bool doubles = false, twofold = pass->with_type != 0 || pass->skip_nan || (wants & GP_WANT_COUNT);
    if ((sums & (sums - 1)) != 0 || (sums == GP_WANT_DOT && (wants & GP_WANT_SQUARES)))
        return GP_MANY_FORMS;
    for (unsigned r = 0; r < pass->results; r++) {
        doubles = doubles || pass->result[r].type == GP_F64;
        twofold = twofold || (pass->result[r].type == GP_F64 && (wants & GP_WANT_SQUARES) &&
                              pass->result[r].op != GP_REDUCE_MEAN);
    }
    const bool products = wants == GP_WANT_DOT || (wants == GP_WANT_SQUARES && pass->with_type == 0 && twofold);
    if (products && width < 3 && !pass->skip_nan)
        return width == 1 ? GP_MANY_PRODUCTS_2 : GP_MANY_PRODUCTS_4;
    if (one && (pass->skip_nan || pass->with_type != 0))
        return GP_MANY_COUNTED + width - 1;
    if (twofold || (width == 3 && !one))
        return GP_MANY_TWOFOLD + width - 1 + (width == 3 && pass->with_type != 0);
    if (width == 3)
        return GP_MANY_DOUBLES_8;
    if (!one)
        return width == 2 ? GP_MANY_MOMENTS_4 : GP_MANY_MOMENTS_2;
    return width == 1 ? GP_MANY_FLOATS_2 : doubles ? GP_MANY_DOUBLES_4 : GP_MANY_FLOATS_4;
}

/* Products of ints of 8 bytes have the words of their squares. */
unsigned gp_many_form_of(const gp_pass *pass) {
    const unsigned width = gp_log2(gp_type_bytes(pass->type)), wants = pass->wants;
    const bool alone = pass->with_type == 0;
    if (pass->kind == GP_PASS_BITS)
        return alone ? GP_MANY_BITS : GP_MANY_MASKED_BITS;
    if (pass->kind == GP_PASS_EXTREMES && !alone)
        return GP_MANY_MASKED_EXTREMES + width;
    if (pass->kind == GP_PASS_EXTREMES)
        return width < 3 && !pass->skip_nan && !(wants & GP_WANT_PLACES) ? GP_MANY_SPAN_1 + 3 * width
                                                                         : GP_MANY_EXTREMES + width;
    if (pass->kind == GP_PASS_PAIR_EXTREME && (gp_type_is_float(pass->type) || width > 1))
        return GP_MANY_APART + width - 1;
    if (gp_type_is_float(pass->type))
        return form_of_floats(pass);
    if (alone && wants == GP_WANT_SUM && width < 3)
        return GP_MANY_SUM_1 + width;
    const unsigned both = GP_WANT_SUM | GP_WANT_SQUARES, products = GP_WANT_DOT | GP_WANT_SQUARES;
    if (alone && width < 2 && (wants | both) == both)
        return width == 0 ? GP_MANY_SQUARES_1 : GP_MANY_SQUARES_2;
    if (width == 3)
        return (wants & products) == products ? GP_MANY_FORMS : GP_MANY_INTS_8;
    return width == 0 ? GP_MANY_INTS_1 : width == 1 ? GP_MANY_INTS_2 : GP_MANY_INTS_4;
}

/* Whether bytes, or pairs of them, are for the form of one number of each. */
static bool is_one_term(const gp_pass *pass) {
    return !pass->where &&
           (pass->wants == GP_WANT_COUNT || pass->wants == GP_WANT_ABS || pass->wants == GP_WANT_SQUARES);
}

/* Whether the form that looks elements up in their unit finds this: all units are behind each other. */
static bool looks_up(const gp_pass *pass) {
    return pass->reduced == 1 && !pass->skip_nan;
}

const gp_many_units gp_many_in_units[GP_MANY_IN_UNITS] = {
    {GP_MANY_SUM_1, GP_MANY_SUM_1, 0, GP_MANY_SUM_1_WIDEST, 16, NULL},
    {GP_MANY_SUM_1, GP_MANY_SUM_1_PACKED, 4, GP_MANY_SUM_1_WIDE, 4, NULL},
    {GP_MANY_SUM_2, GP_MANY_SUM_2_PACKED, 4, GP_MANY_SUM_2_WIDE, 4, NULL},
    {GP_MANY_SUM_4, GP_MANY_SUM_4, 0, GP_MANY_SUM_4_WIDE, 16, NULL},
    {GP_MANY_SQUARES_1, GP_MANY_SQUARES_1_PACKED, 4, GP_MANY_SQUARES_1_WIDE, 4, NULL},
    {GP_MANY_SQUARES_2, GP_MANY_SQUARES_2_PACKED, 4, GP_MANY_SQUARES_2, 0, NULL},
    {GP_MANY_INTS_1, GP_MANY_INTS_1_PACKED, 4, GP_MANY_INTS_1, 0, NULL},
    {GP_MANY_INTS_1, GP_MANY_INTS_1, 0, GP_MANY_INTS_1_WIDE, 4, is_one_term},
    {GP_MANY_INTS_2, GP_MANY_INTS_2_PACKED, 4, GP_MANY_INTS_2, 0, NULL},
    {GP_MANY_SPAN_1, GP_MANY_SPAN_1_PACKED, 4, GP_MANY_SPAN_1_WIDE, 4, NULL},
    {GP_MANY_SPAN_2, GP_MANY_SPAN_2_PACKED, 4, GP_MANY_SPAN_2_WIDE, 4, NULL},
    {GP_MANY_SPAN_4, GP_MANY_SPAN_4_PACKED, 16, GP_MANY_SPAN_4_WIDE, 16, NULL},
    {GP_MANY_PRODUCTS_2, GP_MANY_PRODUCTS_2_PACKED, 16, GP_MANY_PRODUCTS_2, 0, NULL},
    {GP_MANY_PRODUCTS_4, GP_MANY_PRODUCTS_4_PACKED, 16, GP_MANY_PRODUCTS_4, 0, NULL},
    {GP_MANY_FLOATS_2, GP_MANY_FLOATS_2_PACKED, 16, GP_MANY_FLOATS_2_WIDE, 8, NULL},
    {GP_MANY_MOMENTS_2, GP_MANY_MOMENTS_2_PACKED, 16, GP_MANY_MOMENTS_2_WIDE, 4, NULL},
    {GP_MANY_FLOATS_4, GP_MANY_FLOATS_4_PACKED, 16, GP_MANY_FLOATS_4_WIDE, 16, NULL},
    {GP_MANY_MOMENTS_4, GP_MANY_MOMENTS_4_PACKED, 16, GP_MANY_MOMENTS_4_WIDE, 8, NULL},
    {GP_MANY_EXTREMES, GP_MANY_PLACES, 16, GP_MANY_EXTREMES, 0, looks_up},
    {GP_MANY_EXTREMES + 1, GP_MANY_PLACES + 1, 16, GP_MANY_EXTREMES + 1, 0, looks_up},
    {GP_MANY_EXTREMES + 2, GP_MANY_PLACES + 2, 16, GP_MANY_EXTREMES + 2, 0, looks_up},
};
