/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments in sums of one width, included once for each: CLASS, its name; SUM_T, modulo whose size all is computed;
 * SIGNED_T, the same with a sign; HOLDS(moments): whether a window's sums fit; NUMERATOR, of a variance, as a double
 * with at most one rounding.
 */
#define IN_CLASS(name) JOINED(name##_, CLASS)

/* Of the window of output i. */
#define SUM_AT(m, i, reach) ((SUM_T)(((const SUM_T *)(m)->sums)[(i) + (reach)] - ((const SUM_T *)(m)->sums)[i]))
#define SQUARES_AT(m, i, reach) \
    ((SUM_T)(((const SUM_T *)(m)->squares)[(i) + (reach)] - ((const SUM_T *)(m)->squares)[i]))

SIMD static void IN_CLASS(write_exactly)(const moments *m, unsigned r, uint64_t n, size_t i) {
    const gp_window_tile *t = m->tile;
    const size_t reach = (size_t)t->x.window * t->channels;
    const bool squares = t->one->box->wants & GP_WANT_SQUARES;
    gp_window_write_exact(t->one, r, (SIGNED_T)SUM_AT(m, i, reach),
                          squares ? (gp_window_int)SQUARES_AT(m, i, reach) : 0, n,
                          t->row + i * gp_type_bytes(t->one->box->result[r].type));
}

/* A mean, or with `variance` a variance, or its root, as a double. */
static inline __attribute__((always_inline)) SIMD double
IN_CLASS(quotient)(const moments *m, size_t i, size_t reach, SUM_T n, double inverse, bool variance, bool root) {
    const SUM_T s = SUM_AT(m, i, reach), q = variance ? SQUARES_AT(m, i, reach) : 0;
    const double x = (variance ? NUMERATOR(n, s, q) : (double)(SIGNED_T)s) * inverse;
    return root ? sqrt(x) : x;
}

static inline __attribute__((always_inline)) SIMD void IN_CLASS(write_quotients)(const moments *m, unsigned r,
                                                                                 stretch at, double divisor,
                                                                                 bool sure, bool variance,
                                                                                 bool root) {
    const double inverse = 1 / divisor, below = sure ? 1 : BELOW, above = sure ? 1 : ABOVE;
    const size_t reach = (size_t)m->tile->x.window * m->tile->channels;
    float *to = (float *)(void *)m->tile->row;
    for (size_t begin = at.begin; begin < at.end; begin += BLOCK) {
        const size_t end = at.end - begin < BLOCK ? at.end : begin + BLOCK;
        unsigned apart = 0;
        for (size_t i = begin; i < end; i++) {
            const double x = IN_CLASS(quotient)(m, i, reach, (SUM_T)at.n, inverse, variance, root);
            const float low = (float)(x * below), high = (float)(x * above);
            to[i] = low;
            apart |= low != high;
        }
        for (size_t i = begin; i < end && apart; i++) {
            const double x = IN_CLASS(quotient)(m, i, reach, (SUM_T)at.n, inverse, variance, root);
            if ((float)(x * below) != (float)(x * above))
                IN_CLASS(write_exactly)(m, r, at.n, i);
        }
    }
}

/* To doubles: the numerator and the divisor are exact. */
SIMD static void IN_CLASS(write_doubles)(const moments *m, stretch at, double divisor, bool variance) {
    const size_t reach = (size_t)m->tile->x.window * m->tile->channels;
    double *to = (double *)(void *)m->tile->row;
    for (size_t i = at.begin; i < at.end; i++) {
        const SUM_T s = SUM_AT(m, i, reach), q = variance ? SQUARES_AT(m, i, reach) : 0;
        to[i] = (variance ? NUMERATOR((SUM_T)at.n, s, q) : (double)(SIGNED_T)s) / divisor;
    }
}

SIMD static void IN_CLASS(write_sums)(const moments *m, unsigned r, stretch at, bool squares) {
    const size_t reach = (size_t)m->tile->x.window * m->tile->channels;
    float *to = (float *)(void *)m->tile->row;
    double *to_double = (double *)(void *)m->tile->row;
    const bool narrow = m->tile->one->box->result[r].type == GP_F32;
    if (narrow && squares)
        for (size_t i = at.begin; i < at.end; i++)
            to[i] = (float)SQUARES_AT(m, i, reach);
    else if (narrow)
        for (size_t i = at.begin; i < at.end; i++)
            to[i] = (float)(SIGNED_T)SUM_AT(m, i, reach);
    else
        for (size_t i = at.begin; i < at.end; i++)
            to_double[i] = squares ? (double)SQUARES_AT(m, i, reach) : (double)(SIGNED_T)SUM_AT(m, i, reach);
}

/*
 * Means in the elements' type, of sums below 2^28 and magnitudes below 2^20: floor((2 s + n) / 2 n), less 1 where
 * that is exact and odd. The quotient in floats is off by less than 1, which its rest tells. A bias makes s positive.
 */
#define WRITE_MEANS(type)                                                                \
    for (size_t i = at.begin; i < at.end; i++) {                                         \
        const int32_t twice = 2 * ((int32_t)SUM_AT(m, i, reach) + n * bias) + n;         \
        int32_t mean = (int32_t)((float)twice * inverse), rest = twice - mean * divisor; \
        mean += (rest >= divisor) - (rest < 0);                                          \
        rest = twice - mean * divisor;                                                   \
        ((type *)(void *)t->row)[i] = (type)(mean - ((rest == 0) & mean & 1) - bias);    \
    }

SIMD static void IN_CLASS(write_means)(const moments *m, unsigned r, stretch at) {
    const gp_window_tile *t = m->tile;
    const size_t reach = (size_t)t->x.window * t->channels, bytes = gp_type_bytes(t->one->box->type);
    if (sizeof(SUM_T) > 4 || m->bits >> 20 != 0) {
        for (size_t i = at.begin; i < at.end; i++)
            gp_result_store(t->one->box->result[r].type,
                            (uint64_t)gp_window_mean((SIGNED_T)SUM_AT(m, i, reach), at.n), t->row + i * bytes);
        return;
    }
    const int32_t n = (int32_t)at.n, divisor = 2 * n,
                  bias = gp_type_is_signed(t->one->box->type) ? 2 << gp_log2(m->bits | 1) : 0;
    const float inverse = 1 / (float)divisor;
    if (bytes == 1)
        WRITE_MEANS(uint8_t)
    else if (bytes == 2)
        WRITE_MEANS(uint16_t)
    else
        WRITE_MEANS(uint32_t)
}

SIMD static void IN_CLASS(write_stretch)(const moments *m, unsigned r, stretch at) {
    const gp_pass_result *result = &m->tile->one->box->result[r];
    const bool sample = result->op >= GP_REDUCE_VARIANCE_SAMPLE, variance = result->op >= GP_REDUCE_VARIANCE,
               root = result->op == GP_REDUCE_STDDEV || result->op == GP_REDUCE_STDDEV_SAMPLE;
    const double n = (double)at.n, divisor = variance ? n * (n - sample) : n;
    const bool exact = sums_below(m, 0x1p53, 0x1p53, 0x1p53) && divisor < 0x1p53 && divisor > 0;
    int exponent;
    if (result->op == GP_REDUCE_SUM || result->op == GP_REDUCE_SUM_SQUARES)
        IN_CLASS(write_sums)(m, r, at, result->op == GP_REDUCE_SUM_SQUARES);
    else if (!gp_type_is_float(result->type))
        IN_CLASS(write_means)(m, r, at);
    else if (divisor == 0 || (result->type == GP_F64 && (root || !exact)))
        for (size_t i = at.begin; i < at.end; i++)
            IN_CLASS(write_exactly)(m, r, at.n, i);
    else if (result->type == GP_F64)
        IN_CLASS(write_doubles)(m, at, divisor, variance);
    else if (root)
        IN_CLASS(write_quotients)(m, r, at, divisor, false, true, true);
    else if (variance)
        IN_CLASS(write_quotients)(m, r, at, divisor, exact && frexp(divisor, &exponent) == 0.5, true, false);
    else
        IN_CLASS(write_quotients)(m, r, at, divisor, exact && frexp(divisor, &exponent) == 0.5, false, false);
}

SIMD static void IN_CLASS(add_row)(moments *m, const int32_t *row, uint64_t times, bool is_unsigned) {
    SUM_T *sum = m->sum, *square = m->square;
    for (size_t i = 0; i < m->tile->ext; i++) {
        const SUM_T x = is_unsigned ? (SUM_T)(uint32_t)row[i] : (SUM_T)row[i];
        sum[i] += x * (SUM_T)times;
        square[i] += x * x * (SUM_T)times;
    }
}

/* One row enters and one leaves. */
SIMD static void IN_CLASS(step)(moments *m, bool squares, bool is_unsigned) {
    SUM_T *sum = m->sum, *square = m->square;
    const int32_t *enters = m->enters, *leaves = m->leaves;
    if (squares)
        for (size_t i = 0; i < m->tile->ext; i++) {
            const SUM_T a = is_unsigned ? (SUM_T)(uint32_t)enters[i] : (SUM_T)enters[i],
                        b = is_unsigned ? (SUM_T)(uint32_t)leaves[i] : (SUM_T)leaves[i];
            sum[i] += a - b;
            square[i] += (a - b) * (a + b);
        }
    else
        for (size_t i = 0; i < m->tile->ext; i++)
            sum[i] += is_unsigned ? (SUM_T)(uint32_t)enters[i] - (SUM_T)(uint32_t)leaves[i]
                                  : (SUM_T)enters[i] - (SUM_T)leaves[i];
}

SIMD static void IN_CLASS(add_up)(const SUM_T *of, SUM_T *before, size_t n, size_t channels) {
    for (size_t c = 0; c < channels; c++)
        before[c] = 0;
    if (channels == 1) {
        SUM_T so_far = 0;
        for (size_t i = 0; i < n; i++)
            before[i + 1] = so_far += of[i];
        return;
    }
    for (size_t i = 0; i < n; i++)
        before[i + channels] = before[i] + of[i];
}

/* Rows of outputs from y on; returns the first that is not done, as elements came that need wider sums. */
SIMD static uint64_t IN_CLASS(slide)(moments *m, uint64_t y) {
    const gp_window_tile *t = m->tile;
    const gp_window_box *box = t->one->box;
    const bool squares = box->wants & GP_WANT_SQUARES, is_unsigned = !gp_type_is_signed(box->type);
    const gp_window_held rows = gp_window_held_of(&t->y, box->border, y);
    memset(m->sum, 0, t->ext * sizeof(SUM_T));
    memset(m->square, 0, t->ext * sizeof(SUM_T));
    for (unsigned s = 0; s < rows.stretches; s++)
        for (int64_t i = 0; i < rows.at[s].count; i++) {
            m->bits |= expand(t, rows.at[s].first + i, m->enters);
            if (!HOLDS(m))
                return y;
            IN_CLASS(add_row)(m, m->enters, rows.at[s].times, is_unsigned);
        }
    for (;; y++) {
        const int64_t leaves = (int64_t)y - t->y.before;
        IN_CLASS(add_up)(m->sum, m->sums, t->ext, t->channels);
        if (squares)
            IN_CLASS(add_up)(m->square, m->squares, t->ext, t->channels);
        for (unsigned r = 0; r < box->results; r++) {
            for (stretch at = stretch_at(t, y, 0);; at = stretch_at(t, y, at.end / t->channels)) {
                IN_CLASS(write_stretch)(m, r, at);
                if (at.end == t->n)
                    break;
            }
            gp_window_put_row(t, r, y);
        }
        if (y + 1 == t->y_end)
            return y + 1;
        m->bits |= expand(t, leaves + t->y.window, m->enters);
        if (!HOLDS(m))
            return y + 1;
        (void)expand(t, leaves, m->leaves);
        IN_CLASS(step)(m, squares, is_unsigned);
    }
}

#undef IN_CLASS
#undef SUM_AT
#undef SQUARES_AT
#undef WRITE_MEANS
#undef CLASS
#undef SUM_T
#undef SIGNED_T
#undef HOLDS
#undef NUMERATOR
