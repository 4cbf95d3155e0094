/* SPDX-License-Identifier: Apache-2.0 */
/* Means of bytes as bytes in windows of few elements: sums have 16 bits, and all columns of a window are added. */
#if defined(LANES)
#define SHORT_AREA_MAX 256  /* elements, whose sum, and half so many more, 16 bits hold */
#define SHORT_WINDOW_MAX 16 /* columns, all of which are added */

typedef uint8_t bytes_of_16 __attribute__((vector_size(sizeof(vec) / 2)));

static bool is_short(const gp_window_tile *t) {
    const gp_window_box *box = t->one->box;
    const gp_pass_result *result = &box->result[0];
    return box->type == GP_U8 && box->results == 1 && result->op == GP_REDUCE_MEAN && result->type == GP_U8 &&
           box->border != GP_BORDER_SHRINK && area(t) > 1 && area(t) <= SHORT_AREA_MAX &&
           t->x.window <= SHORT_WINDOW_MAX && t->x.window == gp_window_x(box)->window;
}

GP_WINDOW_EXTEND(extend_short, uint16_t, SIMD)

/* A row is there some times more, or takes the place of another. */
SIMD static void short_step(uint16_t *restrict sum, const uint8_t *restrict enters, const uint8_t *restrict leaves,
                            size_t held, uint64_t times) {
    for (size_t i = 0; i < held && leaves == NULL; i++)
        sum[i] = (uint16_t)(sum[i] + enters[i] * times);
    for (size_t i = 0; i < held && leaves != NULL; i++)
        sum[i] = (uint16_t)(sum[i] + enters[i] - leaves[i]);
}

/*
 * Of windows that begin with these columns. The quotient of a sum, with half a divisor n more, is the upper half of
 * its product with 2^(16 + shift) / n, rounded up, or 1 less, as that is too large by less than 2 / n. Halfway, n is
 * even and the sum a multiple of it. Some results behind the last may be written.
 */
SIMD static void short_means(const uint16_t *column, size_t count, size_t window, size_t apart, unsigned n,
                             uint8_t *to) {
    const unsigned shift = gp_log2(n - 1), multiplier = ((1u << (16 + shift)) + n - 1) / n;
    const lanes_16 none = {0}, divisor = none + (uint16_t)n, half = divisor / 2, odd = none + (uint16_t)(n % 2 == 0),
                   inverse = none + (uint16_t)multiplier;
    for (size_t i = 0; i < count; i += 2 * LANES) {
        lanes_16 sum = half;
        for (size_t k = 0; k < window; k++)
            sum += (lanes_16)load(column + i + k * apart);
        lanes_16 mean = upper_products(sum, inverse) >> shift;
        const lanes_16 product = mean * divisor;
        mean += (lanes_16)(product > sum); /* true: -1 */
        mean -= (lanes_16)(product == sum) & odd & mean;
        const bytes_of_16 bytes = __builtin_convertvector(mean, bytes_of_16);
        memcpy(to + i, &bytes, sizeof bytes);
    }
}

SIMD static void slide_short(moments *m) {
    const gp_window_tile *t = m->tile;
    const gp_window_held rows = gp_window_held_of(&t->y, t->one->box->border, t->y_begin);
    uint16_t *const column = (uint16_t *)m->sum + m->pad, *const held = column + t->left;
    memset(m->sum, 0, m->columns * sizeof *column);
    for (unsigned s = 0; s < rows.stretches; s++)
        for (int64_t i = 0; i < rows.at[s].count; i++)
            short_step(held, line_at(m, rows.at[s].first + i, true), NULL, t->held, rows.at[s].times);
    for (uint64_t y = t->y_begin;;) {
        const int64_t first = (int64_t)y - t->y.before;
        unsigned char *const to = gp_window_result_row(t, 0, y);
        extend_short(t, column, t->channels, 0);
        for (stretch at = {0}; at.begin < t->n; at.begin = at.end) {
            at.end = gp_least(t->n, at.begin + SLID - (uintptr_t)(to + at.begin) % 64);
            prefetch_row(t, gp_window_row(t, first + t->y.window), at.begin, at.end);
            short_means(column + t->skew + at.begin, at.end - at.begin, (size_t)t->x.window, t->channels,
                        (unsigned)area(t), t->row);
            put(t, 0, to, at);
        }
        if (++y == t->y_end)
            return;
        short_step(held, line_at(m, first + t->y.window, true), line_at(m, first, false), t->held, 1);
    }
}
#else
#define is_short(tile) false
#define slide_short(moments) (void)(moments)
#endif
