/* SPDX-License-Identifier: Apache-2.0 */
/* Means and variances of narrow sums, both from one reading of these, by vectors. */
#if defined(LANES)
INLINE bool any_bits(vec x) {
    for (size_t distance = LANES / 2; distance > 0; distance /= 2)
        x = x | swap_lanes(x, distance);
    return first_lane(x) != 0;
}

static const int32_t *sums_before(const moments *m, const void *prefix) {
    return (const int32_t *)prefix + gp_round_up(m->tile->channels, LINE) - m->tile->channels + m->pad;
}

/* Means and variances of narrow sums, where they are wanted: how many of the first ones, 0 if not all are sure. */
SIMD static size_t write_both(const moments *m, const how *h, stretch at, unsigned char *const to[2]) {
    const int32_t *sum = sums_before(m, m->sums) + at.begin, *square = sums_before(m, m->squares) + at.begin;
    const size_t reach = (size_t)m->tile->x.window * m->tile->channels, count = (at.end - at.begin) / LANES * LANES;
    const fvec n = (fvec){0} + (float)at.n;
    const dvec below = (dvec){0} + (h->sure ? 1 : BELOW) / h->divisor,
               above = (dvec){0} + (h->sure ? 1 : ABOVE) / h->divisor;
    float *means = (float *)(void *)to[0] + at.begin, *variances = (float *)(void *)to[1] + at.begin;
    const bool past_caches = gp_window_is_streamed(m->tile, 0) && ((uintptr_t)means | (uintptr_t)variances) % 64 == 0;
    vec apart = all(0);
    for (size_t i = 0; i < count; i += LANES) {
        const vec s = subtract_32(load(sum + i + reach), load(sum + i)),
                  q = subtract_32(load(square + i + reach), load(square + i));
        const pairs ss = multiply(s, s), nq = multiply(q, all((int32_t)at.n));
        const dvec even = doubles_of(subtract_64(nq.even, ss.even)), odd = doubles_of(subtract_64(nq.odd, ss.odd));
        const vec mean = (vec)(round_32(s) / n), variance = (vec)floats_of(even * below, odd * below);
        apart = apart | (variance ^ (vec)floats_of(even * above, odd * above));
        if (past_caches) {
            stream(means + i, mean);
            stream(variances + i, variance);
        } else {
            store(means + i, mean);
            store(variances + i, variance);
        }
    }
    return any_bits(apart) ? 0 : count;
}
#else
#define write_both(...) 0
#endif
