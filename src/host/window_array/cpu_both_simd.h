/* SPDX-License-Identifier: Apache-2.0 */
/* Means and variances of narrow sums, both from one reading of these, by vectors. */
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
