/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of columns of a tile, and prefix sums over them, in the width of the file that includes this one. */
/* An element; of floats, from its bits, in units. */
#define WHOLE(x) ((SUM_T)(x))
#define UNITS(x) ((SUM_T)(int64_t)((double)(x)*scale))
#define SQUARE(x) ((SUM_T)(int64_t)((double)(x) * (double)(x)*square_scale))

SIMD static void IN_CLASS(add_row)(moments *m, const int32_t *row, uint64_t times) {
    const bool is_unsigned = !gp_type_is_signed(m->tile->one->box->type);
    const double scale = m->scale, square_scale = m->square_scale;
    SUM_T *sum = COLUMNS(m, sum), *square = COLUMNS(m, square);
    for (size_t i = 0; i < m->tile->ext; i++) {
        const SUM_T x = m->most > 0   ? UNITS(((const any_float *)row)[i])
                        : is_unsigned ? WHOLE((uint32_t)row[i])
                                      : WHOLE(row[i]);
        sum[i] += x * (SUM_T)times;
        square[i] += (square_scale > 0 ? SQUARE(((const any_float *)row)[i]) : x * x) * (SUM_T)times;
    }
}

/* What squares grow by; of floats, whose squares may be rounded. */
#define GROWN(number, a, b) ((number(a) - number(b)) * (number(a) + number(b)))
#define GROWN_ROUNDED(number, a, b) (SQUARE(a) - SQUARE(b))

#define STEP_BY(grown, element, number, begin, end, from, less)                       \
    do {                                                                              \
        const element *restrict in = (from), *restrict out = (less);                  \
        SUM_T *restrict sum = COLUMNS(m, sum), *restrict square = COLUMNS(m, square); \
        if (squares)                                                                  \
            for (size_t i = (begin); i < (end); i++) {                                \
                const element a = in[i - (begin)], b = out[i - (begin)];              \
                sum[i] += number(a) - number(b);                                      \
                square[i] += grown(number, a, b);                                     \
            }                                                                         \
        else                                                                          \
            for (size_t i = (begin); i < (end); i++)                                  \
                sum[i] += number(in[i - (begin)]) - number(out[i - (begin)]);         \
    } while (0)
#define STEP(element, number) STEP_BY(GROWN, element, number, left, right, enters->middle, leaves->middle)

/* What is not in the middle. */
#define STEP_OTHERS(grown, element, number)                                                \
    do {                                                                                   \
        const element *const entering = (const element *)enters->others;                   \
        const element *const leaving = (const element *)leaves->others;                    \
        STEP_BY(grown, element, number, 0, left, entering, leaving);                       \
        STEP_BY(grown, element, number, right, t->ext, entering + right, leaving + right); \
    } while (0)

/* One row enters and one leaves. */
SIMD static void IN_CLASS(step)(moments *m, const line *enters, const line *leaves, bool squares) {
    const gp_window_tile *t = m->tile;
    const size_t left = t->left, right = left + t->middle;
    const double scale = m->scale, square_scale = m->square_scale;
    switch (t->one->box->type) {
    case GP_U8:
        STEP(uint8_t, WHOLE);
        break;
    case GP_S8:
        STEP(int8_t, WHOLE);
        break;
    case GP_U16:
        STEP(uint16_t, WHOLE);
        break;
    case GP_S16:
        STEP(int16_t, WHOLE);
        break;
    case GP_U32:
        STEP(uint32_t, WHOLE);
        STEP_OTHERS(GROWN, uint32_t, WHOLE);
        return;
    case GP_F16:
    case GP_F32:
        if (square_scale > 0) {
            STEP_BY(GROWN_ROUNDED, any_float, UNITS, left, right, enters->middle, leaves->middle);
            STEP_OTHERS(GROWN_ROUNDED, any_float, UNITS);
            return;
        }
        STEP(any_float, UNITS);
        STEP_OTHERS(GROWN, any_float, UNITS);
        return;
    default:
        STEP(int32_t, WHOLE);
    }
    STEP_OTHERS(GROWN, int32_t, WHOLE);
}

SIMD static void IN_CLASS(add_up)(const moments *m, const SUM_T *of, SUM_T *before) {
    const size_t channels = m->tile->channels, n = m->tile->ext;
    memset(before, 0, channels * sizeof *before);
#if defined(LANES)
    if (channels == 1 && sizeof(SUM_T) == 4) {
        vec carry = all(0);
        of -= m->pad, before -= m->pad;
        for (size_t i = 0; i < m->pad + n; i += LANES)
            store(before + 1 + i, scan_32(load(of + i), &carry));
        return;
    }
#endif
    for (size_t channel = 0; channel < channels; channel++) {
        SUM_T so_far = 0;
        for (size_t i = channel; i < n; i += channels)
            before[i + channels] = so_far += of[i];
    }
}
