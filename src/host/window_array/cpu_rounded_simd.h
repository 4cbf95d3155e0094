/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Squares whose sums have more bits than 64: of squares rounded down, in whole numbers of one unit, nothing drifts,
 * and the sum of n of them is less than n units too small. Outputs that this leaves open are computed from their
 * elements; where these are many, the tile goes on with squares in full.
 */
/* Whether so many outputs of the rows so far, and of some to come, were open that squares in full are faster. */
static bool too_many_fail(const moments *m) {
    const double rows = (double)(m->y - m->first_y) + FAILING_ROWS;
    return (double)m->failures * area(m->tile) > rows * (double)m->tile->n;
}

/* Both ends of a block's results, as floats; whether some differ. */
ALWAYS_INLINE bool find_ends(const moments *m, stretch at, const how *h, bool root, bool more, float *to,
                             float *end) {
    const int64_t *sum = (const int64_t *)m->sums + at.begin - m->slid_begin,
                  *squares = (const int64_t *)m->squares + at.begin - m->slid_begin;
    const double unit = m->square_unit, linear = h->variance, square = h->variance ? m->scale * m->scale : 0;
    const double n_of_all = (double)at.n, inverse_of_all = 1 / h->divisor;
    uint32_t apart = 0;
    counts counted;
    if (more)
        count_elements(m->tile, &at, h, &counted);
    for (size_t i = 0; i < at.end - at.begin; i++) {
        const double n = more ? counted.number[i] : n_of_all, inverse = more ? 1 / counted.by[i] : inverse_of_all,
                     each = unit * (n * square + (1 - linear)), missing = 2 * n * each, s = f64_of(sum[i]),
                     s_s = s * s * linear, n_q = f64_of(squares[i]) * each, error = (n_q + s_s) * 0x1p-50,
                     below_it = n_q - s_s - error, least = (below_it > 0 ? below_it : 0) * inverse,
                     most = (n_q - s_s + error + missing) * inverse;
        to[i] = (float)(BELOW * (root ? __builtin_sqrt(least) : least));
        end[i] = (float)(ABOVE * (root ? __builtin_sqrt(most) : most));
        apart |= gp_bits_of_f32(to[i]) ^ gp_bits_of_f32(end[i]);
    }
    return apart != 0;
}

/*
 * Sums of squares, variances or deviations, of sums s in units and of sums q of squares that were rounded down: the
 * exact one is at most n larger. What q, or the difference n q - s^2, may be off by, of that and of roundings,
 * decides which floats its ends become.
 */
SIMD static void write_rounded(moments *m, unsigned r, stretch at, const how *h) {
    const size_t count = at.end - at.begin;
    float *const to = (float *)(void *)m->tile->row, *const end = to + count; /* a result has room for 8 bytes */
    const bool apart = at.more != 0 ? (h->root ? find_ends(m, at, h, true, true, to, end)
                                               : find_ends(m, at, h, false, true, to, end))
                       : h->root    ? find_ends(m, at, h, true, false, to, end)
                                    : find_ends(m, at, h, false, false, to, end);
    for (size_t i = 0; i < count && apart && !too_many_fail(m); i++) {
        if (to[i] == end[i])
            continue;
        m->failures++;
        gp_window_write_singly(m->tile, r, m->y, at.begin + i, m->tile->row + i * sizeof(float));
    }
}

/* Where sums fit 64 bits and those of squares do not, rounded ones decide floats. */
static bool round_squares(moments *m) {
    const gp_window_box *box = m->tile->one->box;
    const bool is_float = m->most > 0;
    const double most = is_float ? m->most : box->type == GP_S32 ? 0x1p31 : 0x1p32;
    if (!(box->wants & GP_WANT_SQUARES) || sums_below(m, 0x1p62, 0x1p63, 0x1p63) || !(area(m->tile) * most < 0x1p62))
        return false;
    for (unsigned r = 0; r < box->results; r++)
        if (box->result[r].type == GP_F64)
            return false;
    const double largest = most / m->scale;
    const int bits = (int)(gp_bits_of_f64(area(m->tile) * largest * largest) >> 52) - 1022; /* that is below 2^bits */
    m->shift = bits > 62 ? (unsigned)(bits - 62) : 0;
    m->square_scale = power_of_two(62 - bits);
    m->square_unit = is_float ? power_of_two(bits - 62) : (double)((uint64_t)1 << m->shift);
    return true;
}

/* ---- means and variances of narrow sums, both from one reading of these, by vectors ---- */

#if defined(LANES)
/* Of whole numbers that floats hold; see write_small_means. */
INLINE fvec quotients(fvec s, fvec n, fvec inverse) {
#if defined(HAS_FUSED)
    const fvec near = s * inverse;
    return fused(fused(-near, n, s), inverse, near);
#else
    (void)inverse;
    return s / n;
#endif
}

/* Means and variances of narrow sums, where they are wanted: how many of the first ones, 0 if not all are sure. */
SIMD static size_t write_both(const moments *m, const how *h, stretch at, unsigned char *const to[2]) {
    const int32_t *sum = (const int32_t *)m->sums + at.begin - m->slid_begin,
                  *square = (const int32_t *)m->squares + at.begin - m->slid_begin;
    const size_t count = (at.end - at.begin) / LANES * LANES;
    const fvec n = (fvec){0} + (float)at.n, inverse = 1 / n;
    const dvec below = (dvec){0} + (h->sure ? 1 : BELOW) / h->divisor,
               above = (dvec){0} + (h->sure ? 1 : ABOVE) / h->divisor;
    float *means = (float *)(void *)to[0] + at.begin, *variances = (float *)(void *)to[1] + at.begin;
    const bool past_caches = gp_window_is_streamed(m->tile, 0) && ((uintptr_t)means | (uintptr_t)variances) % 64 == 0;
    vec apart = all(0);
    for (size_t i = 0; i < count; i += LANES) {
        const vec s = load(sum + i), q = load(square + i);
        const pairs ss = multiply(s, s), nq = multiply(q, all((int32_t)at.n));
        const dvec even = doubles_of(subtract_64(nq.even, ss.even)), odd = doubles_of(subtract_64(nq.odd, ss.odd));
        const vec mean = (vec)quotients(round_32(s), n, inverse),
                  variance = (vec)floats_of(even * below, odd * below);
        apart = apart | (variance ^ (vec)floats_of(even * above, odd * above));
        if (past_caches) {
            stream(means + i, mean);
            stream(variances + i, variance);
        } else {
            store(means + i, mean);
            store(variances + i, variance);
        }
    }
    return bits_over_lanes(apart) != 0 ? 0 : count;
}
#else
#define write_both(...) 0
#endif
