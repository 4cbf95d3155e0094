/* SPDX-License-Identifier: Apache-2.0 */
/* Which form of reduce_many and reduce_short a pass is for. */
#include "../arithmetic.h"
#include "fit.h"
#include "tiling.h"

/* One sum, besides it one of squares. A double's bounds do not prove another one; twofold sums do, and know partners.
 */
static unsigned form_of_floats(const gp_pass *pass) {
    const unsigned sums = pass->wants & (GP_WANT_SUM | GP_WANT_ABS | GP_WANT_DOT);
    const bool one = pass->wants == GP_WANT_SUM || pass->wants == GP_WANT_ABS;
    bool doubles = false, twofold = pass->with_type != 0 || pass->skip_nan || (pass->wants & GP_WANT_COUNT);
    if ((sums & (sums - 1)) != 0 || (sums == GP_WANT_DOT && (pass->wants & GP_WANT_SQUARES)))
        return GP_MANY_FORMS;
    for (unsigned r = 0; r < pass->results; r++) {
        doubles = doubles || pass->result[r].type == GP_F64;
        twofold = twofold || (pass->result[r].type == GP_F64 && pass->result[r].op >= GP_REDUCE_NORM &&
                              pass->result[r].op != GP_REDUCE_MEAN);
    }
    if (pass->wants == GP_WANT_DOT && pass->type == GP_F32 && !pass->skip_nan)
        return GP_MANY_DOT_4;
    if (twofold || (pass->type == GP_F64 && !one))
        return pass->type == GP_F64 && pass->with_type == 0 ? GP_MANY_TWOFOLD_8 : GP_MANY_TWOFOLD;
    if (pass->type == GP_F64)
        return GP_MANY_DOUBLES_8;
    if (!one)
        return pass->type == GP_F32 ? GP_MANY_MOMENTS_4 : GP_MANY_MOMENTS_2;
    return pass->type != GP_F32 ? GP_MANY_FLOATS_2 : doubles ? GP_MANY_DOUBLES_4 : GP_MANY_FLOATS_4;
}

/* Products of ints of 64 bits have sums that pass 128. */
unsigned gp_many_form_of(const gp_pass *pass) {
    const unsigned width = gp_log2(gp_type_bytes(pass->type)), wants = pass->wants;
    const bool alone = pass->with_type == 0;
    if (pass->kind == GP_PASS_BITS)
        return alone ? GP_MANY_BITS : GP_MANY_MASKED_BITS;
    if (pass->kind == GP_PASS_EXTREMES && !alone)
        return GP_MANY_MASKED_EXTREMES_1 + width;
    if (pass->kind == GP_PASS_EXTREMES)
        return width == 2 && !pass->skip_nan && !(wants & GP_WANT_PLACES) ? GP_MANY_SPAN_4
                                                                          : GP_MANY_EXTREMES_1 + width;
    if (pass->kind == GP_PASS_PAIR_EXTREME)
        return GP_MANY_APART;
    if (gp_type_is_float(pass->type))
        return form_of_floats(pass);
    if (width == 3 && (wants & GP_WANT_DOT))
        return GP_MANY_FORMS;
    if (alone && wants == GP_WANT_SUM && width < 3)
        return GP_MANY_SUM_1 + width;
    const unsigned both = GP_WANT_SUM | GP_WANT_SQUARES;
    const bool squares = alone && width < 2 && (wants | both) == both;
    return !alone ? GP_MANY_INT_PAIRS : !squares ? GP_MANY_INTS : width == 0 ? GP_MANY_SQUARES_1 : GP_MANY_SQUARES_2;
}
