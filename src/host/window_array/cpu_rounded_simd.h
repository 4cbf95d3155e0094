/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variances of floats whose squares have more bits than sums of 64: of squares rounded down, in whole numbers of one
 * unit, nothing drifts, and the sum of n of them is less than n units too small. Outputs that this leaves open are
 * computed from their elements; where these are many, all squares are had in full.
 */
/* 2^k of a normal number; ldexp() would need libm. */
static double power_of_two(int k) {
    return gp_f64_of_bits((uint64_t)(k + 1023) << 52);
}

/* Then the other way is faster, which has all squares in full. */
static bool too_many_fail(const moments *m) {
    return (double)m->failures * area(m->tile) > (double)m->tile->n;
}

/* Output i of the stretch, from the elements of its window. */
static void write_singly(const moments *m, unsigned r, stretch at, size_t i) {
    const gp_window_tile *t = m->tile;
    const gp_window_box *box = t->one->box;
    const size_t column = at.begin + i;
    gp_accumulator a;
    gp_window_gather_one(&a, t->one, t->plane + column % t->channels * gp_type_bytes(box->type), m->y,
                         t->x_begin + column / t->channels);
    (void)gp_accumulator_write(&a, &t->one->pass, r, t->row + i * gp_type_bytes(box->result[r].type));
}

/*
 * Variances, or with `root` deviations, of sums s in units and of sums q of squares that were rounded down: the exact
 * one is at most n larger. What the difference n q - s^2 may be off by, of that and of roundings, decides which
 * floats its ends become.
 */
SIMD static void write_rounded(moments *m, unsigned r, stretch at, const how *h, bool root) {
    const gp_window_tile *t = m->tile;
    const size_t before = gp_round_up(t->channels, LINE) - t->channels + m->pad + at.begin,
                 reach = (size_t)t->x.window * t->channels, count = at.end - at.begin;
    const uint64_t *sum = (const uint64_t *)m->sums + before, *square = (const uint64_t *)m->squares + before;
    const double n = (double)at.n, each = n * (m->scale * m->scale / m->square_scale), missing = 2 * n * each,
                 inverse = 1 / h->divisor;
    float *const to = (float *)(void *)t->row;
    uint32_t apart = 0;
#define ENDS(i)                                                                                                  \
    const double s = (double)(int64_t)(sum[(i) + reach] - sum[i]), s_s = s * s,                                  \
                 n_q = (double)(int64_t)(square[(i) + reach] - square[i]) * each, error = (n_q + s_s) * 0x1p-50, \
                 below_it = n_q - s_s - error, least = (below_it > 0 ? below_it : 0) * inverse,                  \
                 most = (n_q - s_s + error + missing) * inverse;                                                 \
    const float low = (float)(BELOW * (root ? __builtin_sqrt(least) : least)),                                   \
                high = (float)(ABOVE * (root ? __builtin_sqrt(most) : most))
    for (size_t i = 0; i < count; i++) {
        ENDS(i);
        to[i] = low;
        apart |= gp_bits_of_f32(low) ^ gp_bits_of_f32(high);
    }
    for (size_t i = 0; i < count && apart && !too_many_fail(m); i++) {
        ENDS(i);
        if (low == high)
            continue;
        m->failures++;
        write_singly(m, r, at, i);
    }
}

/* Where sums fit 64 bits and those of squares do not, rounded ones decide floats of variances; else 0. */
static double scale_of_squares(const moments *m) {
    const gp_window_box *box = m->tile->one->box;
    if (!(box->wants & GP_WANT_SQUARES) || sums_below(m, 0x1p62, 0x1p63, 0x1p63) ||
        !(area(m->tile) * m->most < 0x1p62))
        return 0;
    for (unsigned r = 0; r < box->results; r++)
        if (box->result[r].type != GP_F32 || box->result[r].op == GP_REDUCE_SUM_SQUARES)
            return 0;
    const double most = m->most / m->scale;
    const int bits = (int)(gp_bits_of_f64(area(m->tile) * most * most) >> 52) - 1022; /* that is below 2^bits */
    return power_of_two(62 - bits);
}
