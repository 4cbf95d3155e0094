/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of many floats to results with fewer digits than a double: each piece is added twice, rounding down and
 * rounding up, and the ends of the pieces exactly. Results that are the same whichever ends the sums have are the
 * exact sums' own, as each grows or falls with each sum.
 */
#include "cpu.h"

/* Elements from which two additions each, and now and then in vain, are less than a proof for each chunk. */
#define LENGTH_MIN 32768
#define LENGTH_MIN_DOUBLES 4096 /* whose chunks are seldom proved by as little */

/* Elements between two exact additions: few, as what rounding adds grows with the sums. */
#define PIECE_ELEMENTS 65536

#define WANT_BOTH (GP_WANT_SUM | GP_WANT_SQUARES)

/* Products of doubles are rounded. */
bool gp_bounds_can(const gp_pass *pass) {
    if (pass->length < (pass->type == GP_F64 ? LENGTH_MIN_DOUBLES : LENGTH_MIN) || pass->kind != GP_PASS_MOMENTS ||
        !gp_type_is_float(pass->type) || gp_pass_layout_of(pass) != GP_LAYOUT_ALL)
        return false;
    for (unsigned r = 0; r < pass->results; r++)
        if (pass->result[r].type == GP_F64)
            return false;
    return !pass->skip_nan && !pass->where && (pass->wants & ~WANT_BOTH) == 0 &&
           (pass->type != GP_F64 || pass->wants == GP_WANT_SUM);
}

bool gp_bounds_add(const gp_pass *pass, gp_pass_bounds bounds, gp_accumulator ends[2], uint64_t at, uint64_t end) {
    for (uint64_t n; at < end; at += n) {
        n = gp_least(end - at, PIECE_ELEMENTS);
        if (!bounds(pass, pass->in + at * gp_type_bytes(pass->type), n, ends))
            return false;
    }
    return true;
}

static double sum_of(gp_accumulator *a, const gp_pass *pass) {
    gp_pass alone = *pass;
    double sum;
    alone.result[0] = (gp_pass_result){.op = GP_REDUCE_SUM, .type = GP_F64};
    (void)gp_accumulator_write(a, &alone, 0, (unsigned char *)&sum);
    return sum;
}

static void swap_squares(gp_accumulator *a, gp_accumulator *b) {
    gp_accumulator c = *a;
    a->exact[GP_SQUARES] = b->exact[GP_SQUARES], b->exact[GP_SQUARES] = c.exact[GP_SQUARES];
    a->in_limbs[GP_SQUARES] = b->in_limbs[GP_SQUARES], b->in_limbs[GP_SQUARES] = c.in_limbs[GP_SQUARES];
    memcpy(a->limb[GP_SQUARES], b->limb[GP_SQUARES], sizeof c.limb[GP_SQUARES]);
    memcpy(b->limb[GP_SQUARES], c.limb[GP_SQUARES], sizeof c.limb[GP_SQUARES]);
}

/* A variance falls with the square of the sum, which must have one sign. */
bool gp_bounds_write(const gp_pass *pass, gp_accumulator ends[2]) {
    unsigned char first[GP_PASS_RESULTS][8], other[8];
    bool same = pass->wants != WANT_BOTH || (sum_of(&ends[0], pass) < 0) == (sum_of(&ends[1], pass) < 0);
    ends[0].counted = ends[1].counted = pass->length;
    for (unsigned corner = 0; corner < 4 && same; corner++) {
        for (unsigned r = 0; r < pass->results && same; r++) {
            (void)gp_accumulator_write(&ends[corner % 2], pass, r, corner > 0 ? other : first[r]);
            same = corner == 0 || memcmp(first[r], other, gp_type_bytes(pass->result[r].type)) == 0;
        }
        if (corner == 1)
            swap_squares(&ends[0], &ends[1]);
    }
    for (unsigned r = 0; r < pass->results && same; r++)
        memcpy(pass->to[r], first[r], gp_type_bytes(pass->result[r].type));
    return same;
}
