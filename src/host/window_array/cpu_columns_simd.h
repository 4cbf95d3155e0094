/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of columns of a tile, and of windows over them, in the width of the file that includes this one. */
/* An element; of floats, from its bits, in units; its square; what squares grow by where b leaves and a enters. */
#define WHOLE(x) ((SUM_T)(x))
#define WHOLE_OF(x) (sizeof(SUM_T) == 8 ? s64_of(x) : (int64_t)(x))
#define UNITS(x) ((SUM_T)WHOLE_OF((double)(x)*scale))
#define SQUARED(number, x) (number(x) * number(x))
#define GROWN(number, a, b) ((number(a) - number(b)) * (number(a) + number(b)))

/* Squares rounded down, of ints and of floats. */
#define SHIFTED(number, x) ((SUM_T)(number(x) * number(x)) >> shift)
#define SHIFTED_GROWN(number, a, b) (SHIFTED(number, a) - SHIFTED(number, b))
#define SCALED(number, x) ((SUM_T)WHOLE_OF((double)(x) * (double)(x)*square_scale))
#define SCALED_GROWN(number, a, b) (SCALED(number, a) - SCALED(number, b))

#define EACH(to_sum, to_square)                 \
    do {                                        \
        if (squares)                            \
            for (size_t i = 0; i < held; i++) { \
                to_sum;                         \
                to_square;                      \
            }                                   \
        else                                    \
            for (size_t i = 0; i < held; i++)   \
                to_sum;                         \
    } while (0)

/* A row is alone, or is there some times more, or takes the place of another. */
#define COLUMNS_BY(squared, grown, element, number)                                                           \
    do {                                                                                                      \
        const element *restrict in = enters, *restrict out = leaves;                                          \
        if (leaves != NULL)                                                                                   \
            EACH(sum[i] += number(in[i]) - number(out[i]), square[i] += grown(number, in[i], out[i]));        \
        else if (times == 0)                                                                                  \
            EACH(sum[i] = number(in[i]), square[i] = squared(number, in[i]));                                 \
        else                                                                                                  \
            EACH(sum[i] += number(in[i]) * (SUM_T)times, square[i] += squared(number, in[i]) * (SUM_T)times); \
    } while (0)
#define COLUMNS(element, number) COLUMNS_BY(SQUARED, GROWN, element, number)

/* Where squares may have more bits than sums. */
#define COLUMNS_OR(squared, grown, element, number)      \
    do {                                                 \
        if (sizeof(SUM_T) == 8 && m->square_unit > 0)    \
            COLUMNS_BY(squared, grown, element, number); \
        else                                             \
            COLUMNS(element, number);                    \
    } while (0)

SIMD static void IN_CLASS(step)(moments *m, const void *enters, const void *leaves, uint64_t times) {
    const gp_window_tile *t = m->tile;
    const bool squares = t->one->box->wants & GP_WANT_SQUARES;
    const double scale = m->scale, square_scale = m->square_scale;
    const unsigned shift = m->shift;
    const size_t held = t->held;
    SUM_T *restrict sum = COLUMN(m, sum) + t->left, *restrict square = COLUMN(m, square) + t->left;
    switch (t->one->box->type) {
    case GP_U8:
        COLUMNS(uint8_t, WHOLE);
        break;
    case GP_S8:
        COLUMNS(int8_t, WHOLE);
        break;
    case GP_U16:
        COLUMNS(uint16_t, WHOLE);
        break;
    case GP_S16:
        COLUMNS(int16_t, WHOLE);
        break;
    case GP_U32:
        COLUMNS_OR(SHIFTED, SHIFTED_GROWN, uint32_t, WHOLE);
        break;
    case GP_S32:
        COLUMNS_OR(SHIFTED, SHIFTED_GROWN, int32_t, WHOLE);
        break;
    default:
        COLUMNS_OR(SCALED, SCALED_GROWN, any_float, UNITS);
    }
}

INLINE_ SUM_T IN_CLASS(total)(const SUM_T *at, size_t n, size_t apart) {
    SUM_T sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += at[i * apart];
    return sum;
}

/* Of each channel, the sum of the tile's first window. */
SIMD static void IN_CLASS(first_windows)(const moments *m, const SUM_T *of, SUM_T *sum) {
    const gp_window_tile *t = m->tile;
    const size_t channels = t->channels;
    for (size_t c = 0; c < channels; c++) {
        sum[c] = 0;
        for (unsigned s = 0; s < m->first.stretches; s++) {
            const gp_window_stretch *part = &m->first.at[s];
            const SUM_T *from = of + gp_window_place(t, part->first) + (int64_t)c;
            const size_t n = (size_t)part->count;
            sum[c] += (channels == 1 ? IN_CLASS(total)(from, n, 1) : IN_CLASS(total)(from, n, channels)) *
                      (SUM_T)part->times;
        }
    }
}

GP_WINDOW_EXTEND(IN_CLASS(extend), SUM_T, SIMD)

/* The sums of a row's windows begin .. end - 1, each from that one pixel before; some behind them may be written. */
SIMD static void IN_CLASS(slide_along)(const moments *m, SUM_T *of, SUM_T *to, size_t begin, size_t end) {
    const gp_window_tile *t = m->tile;
    const size_t c = t->channels;
    const SUM_T *enters = of + t->skew + (t->x.window - 1) * (int64_t)c, *leaves = of + t->skew - c;
    if (begin == 0)
        IN_CLASS(extend)(t, of, c, 0);
#if defined(LANES)
    const size_t lanes = sizeof(vec) / sizeof(SUM_T);
    const bool is_64 = sizeof(SUM_T) == 8;
    if (sizeof(SUM_T) <= 8 && m->small_window) {
        for (size_t i = begin; i < end; i += lanes) {
            vec sum = load(enters + i);
            for (int64_t k = 1; k < t->x.window; k++)
                sum = MORE(sum, load(enters + i - (size_t)k * c));
            store(to + i, sum);
        }
        return;
    }
#endif
    SUM_T before[GP_CHANNELS_MAX] = {0};
    if (begin == 0)
        IN_CLASS(first_windows)(m, of, before);
    for (size_t i = 0; i < c; i++)
        before[i] = begin > 0 ? to[begin - c + i] : before[i] - (enters[i] - leaves[i]);
#if defined(LANES)
    if (sizeof(SUM_T) <= 8 && c <= lanes) {
        SUM_T carried[sizeof(vec)];
        for (size_t i = 0, k = 0; i < lanes; i++, k = k + 1 < c ? k + 1 : 0)
            carried[i] = before[k];
        vec carry = c == 1 ? is_64 ? (vec)all_64((int64_t)before[0]) : all((int32_t)before[0]) : load(carried);
        const vec last = load(m->last[is_64]);
        if (c == 1)
            for (size_t i = begin; i < end; i += lanes)
                store(to + i, scan_by(is_64, 1, LESS(load(enters + i), load(leaves + i)), &carry, last));
        else
            for (size_t i = begin; i < end; i += lanes)
                store(to + i, scan_by(is_64, c, LESS(load(enters + i), load(leaves + i)), &carry, last));
        return;
    }
#endif
    for (size_t i = begin; i < end; i++)
        to[i] = (i < begin + c ? before[i - begin] : to[i - c]) + (SUM_T)(enters[i] - leaves[i]);
}

/* Sums of windows begin .. end - 1 and of their squares, from those of the windows before, which are there. */
SIMD static void IN_CLASS(slide_on)(moments *m, size_t begin, size_t end) {
    const size_t c = m->tile->channels, there = begin > 0 ? begin - m->slid_begin : 0;
    SUM_T *sums_of = m->sums, *squares_of = m->squares;
    memmove(sums_of - c, sums_of + there - c, c * sizeof *sums_of);
    memmove(squares_of - c, squares_of + there - c, c * sizeof *squares_of);
    IN_CLASS(slide_along)(m, COLUMN(m, sum), sums_of - begin, begin, end);
    if (m->tile->one->box->wants & GP_WANT_SQUARES)
        IN_CLASS(slide_along)(m, COLUMN(m, square), squares_of - begin, begin, end);
    m->slid_begin = begin;
    m->slid_end = end;
}
