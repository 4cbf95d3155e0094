/* SPDX-License-Identifier: Apache-2.0 */
/* One output of a box, from the elements of its window one by one. The GPU computes with the same source. */
#include "one.h"
#include <math.h>

GP_BOTH static void hold(gp_window_held *h, int64_t first, int64_t count, int64_t times) {
    if (count > 0 && times > 0)
        h->at[h->stretches++] = (gp_window_stretch){first, count, (uint64_t)times};
}

GP_BOTH static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* A window that sees the axis again and again: whole periods at once, then at most three stretches of the rest. */
GP_BOTH static void hold_periods(gp_window_held *h, unsigned border, int64_t n, int64_t begin, int64_t window) {
    const int64_t period = gp_window_period(border, n), whole = window / period;
    hold(h, 0, n, border == GP_BORDER_REFLECT ? 2 * whole : whole);
    if (border == GP_BORDER_REFLECT_101)
        hold(h, 1, n - 2, whole);
    for (int64_t at = begin, rest = window % period; rest > 0;) {
        const int64_t phase = (at % period + period) % period;
        const bool forward = phase < n;
        const int64_t count = least(rest, forward ? n - phase : period - phase);
        hold(h, gp_window_source(border, n, forward ? phase : phase + count - 1), count, 1);
        at += count;
        rest -= count;
    }
}

GP_BOTH_OPEN gp_window_held gp_window_held_of(const gp_window_axis *axis, unsigned border, uint64_t output) {
    const int64_t n = (int64_t)axis->n, begin = (int64_t)output - axis->before, end = begin + axis->window;
    gp_window_held h = {.stretches = 0};
    if (gp_window_period(border, n) != 0) {
        hold_periods(&h, border, n, begin, axis->window);
        return h;
    }
    const int64_t first = begin > 0 ? begin : 0;
    hold(&h, first, least(end, n) - first, 1);
    h.zeros = border == GP_BORDER_ZERO && (begin < 0 || end > n);
    if (border == GP_BORDER_REPLICATE || border == GP_BORDER_REFLECT_101) {
        hold(&h, 0, 1, -begin);
        hold(&h, n - 1, 1, end - n);
    }
    return h;
}

GP_BOTH static void take_int(gp_accumulator *a, const gp_window_box *box, gp_number e, uint64_t times) {
    const uint64_t magnitude = gp_number_magnitude(box->type, e);
    const gp_window_int value = gp_type_is_signed(box->type) ? (int64_t)e.whole : (gp_window_int)e.whole;
    a->whole[GP_SUM] += value * (gp_window_int)times;
    a->whole[GP_SQUARES] += (gp_window_int)((gp_window_unsigned)magnitude * magnitude * times);
}

GP_BOTH static void take_float(gp_accumulator *a, const gp_window_one *one, gp_number e, uint64_t times) {
    const gp_exact_parts p = gp_exact_parts_f32((float)e.real);
    const uint32_t squares = p.special & GP_EXACT_NAN ? GP_EXACT_NAN : p.special ? GP_EXACT_PLUS_INFINITY : 0;
    a->flags[GP_SUM] |= p.special;
    a->flags[GP_SQUARES] |= squares;
    gp_exact_add_product_bits(gp_accumulator_limbs(a, &one->pass, GP_SUM), p.bit, p.mantissa, times, p.negative);
    if (one->box->wants & GP_WANT_SQUARES)
        gp_exact_add_product_bits(gp_accumulator_limbs(a, &one->pass, GP_SQUARES), 2 * p.bit, p.mantissa * p.mantissa,
                                  times, false);
}

GP_BOTH static void take_extreme(gp_accumulator *a, const gp_window_box *box, gp_number e) {
    const gp_extreme here = {gp_number_key(box->type, e), 0};
    if (isnan(e.real))
        a->nan = true;
    else
        gp_accumulator_take_extremes(a, &here, &here);
}

/* Carries are spread once in so many elements: their sums stay below 2^63. */
#define CARRY_LENGTH (1 << 20)

GP_BOTH static void take_row(gp_accumulator *a, const gp_window_one *one, const unsigned char *row,
                             const gp_window_held *x, uint64_t times) {
    const gp_window_box *box = one->box;
    const int64_t step = gp_window_x(box)->in;
    for (unsigned s = 0; s < x->stretches; s++) {
        const unsigned char *at = row + x->at[s].first * step;
        for (int64_t i = 0; i < x->at[s].count; i++, at += step) {
            const gp_number e = gp_number_load(box->type, at);
            if (box->kind == GP_PASS_EXTREMES)
                take_extreme(a, box, e);
            else if (gp_type_is_float(box->type))
                take_float(a, one, e, times * x->at[s].times);
            else
                take_int(a, box, e, times * x->at[s].times);
            if (i % CARRY_LENGTH == CARRY_LENGTH - 1)
                gp_accumulator_carry(a, &one->pass);
        }
    }
    gp_accumulator_carry(a, &one->pass);
}

GP_BOTH_OPEN void gp_window_gather_one(gp_accumulator *a, const gp_window_one *one, const unsigned char *in,
                                       uint64_t y, uint64_t x) {
    const gp_window_box *box = one->box;
    const gp_window_axis *axis_y = gp_window_y(box), *axis_x = gp_window_x(box);
    const gp_window_held rows = gp_window_held_of(axis_y, box->border, y),
                         cols = gp_window_held_of(axis_x, box->border, x);
    gp_accumulator_clear(a);
    for (unsigned s = 0; s < rows.stretches; s++)
        for (int64_t i = 0; i < rows.at[s].count; i++)
            take_row(a, one, in + (rows.at[s].first + i) * axis_y->in, &cols, rows.at[s].times);
    if (box->kind == GP_PASS_EXTREMES && (rows.zeros || cols.zeros)) {
        const gp_number zero = {0, 0};
        take_extreme(a, box, zero);
    }
    a->counted = gp_window_counted(axis_y, box->border, y) * gp_window_counted(axis_x, box->border, x);
}

GP_BOTH_OPEN void gp_window_write_one(gp_accumulator *a, const gp_window_one *one,
                                      unsigned char *const to[GP_PASS_RESULTS]) {
    const gp_window_int sum = a->whole[GP_SUM]; /* writing a variance moves it elsewhere */
    for (unsigned r = 0; r < one->box->results; r++) {
        const gp_pass_result *result = &one->box->result[r];
        if (result->op == GP_REDUCE_MEAN && !gp_type_is_float(result->type))
            gp_result_store(result->type, (uint64_t)gp_window_mean(sum, a->counted), to[r]);
        else
            (void)gp_accumulator_write(a, &one->pass, r, to[r]);
    }
}
