/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments in sums of one width, included once for each: CLASS, its name; SUM_T, modulo whose size all is computed;
 * SIGNED_T, the same with a sign; VALUE_T, which holds numerators; HOLDS(moments): whether a window's sums fit;
 * NUMERATOR, of a variance, as a double with at most one rounding. The macros that it defines read the same each
 * time, and stay.
 */
#define IN_CLASS(name) JOINED(name##_, CLASS)

/* The extended row's first column. */
#define COLUMN(m, which) ((SUM_T *)(m)->which + (m)->pad)
#define MORE(a, b) (sizeof(SUM_T) == 8 ? (vec)add_64(a, b) : add_32(a, b))
#define LESS(a, b) (sizeof(SUM_T) == 8 ? (vec)subtract_64(a, b) : subtract_32(a, b))

/* Of a row's windows, some of which are there. */
#define WINDOWS(m, which) ((SUM_T *)(m)->which - (m)->slid_begin)

/* Local variables for the sums in windows, and those of output i of a stretch. */
#define READS(m, at)                                                                    \
    __attribute__((unused)) const SUM_T *sums_of = WINDOWS(m, sums) + (at).begin,       \
                                        *squares_of = WINDOWS(m, squares) + (at).begin; \
    __attribute__((unused)) const size_t count = (at).end - (at).begin
#define SUM_AT(i) (sums_of[i])
#define SQUARES_AT(i) (squares_of[i])
#define NUMBER(x) (sizeof(SUM_T) == 8 ? f64_of((int64_t)(x)) : (double)(SIGNED_T)(x))

SIMD static void IN_CLASS(write_exactly)(const moments *m, unsigned r, stretch at, size_t i) {
    const gp_window_tile *t = m->tile;
    READS(m, at);
    gp_window_write_exact(t->one, r, m->unit, (SIGNED_T)SUM_AT(i),
                          t->one->box->wants & GP_WANT_SQUARES ? (gp_window_int)SQUARES_AT(i) : 0,
                          counted_at(t, &at, i), t->row + i * gp_type_bytes(t->one->box->result[r].type));
}

/* Means, or with `variance` variances, or with `root` deviations, as floats. */
static inline __attribute__((always_inline)) SIMD void
IN_CLASS(write_quotients)(const moments *m, unsigned r, stretch at, const how *h, bool variance, bool root) {
    const bool sure = h->sure && !root;
    /* The divisor has so few bits beside a power of two that the middle of two floats times that is exact. */
    const bool simple = variance ? !root && m->exact && at.n < 1 << 14 : at.n < 1 << 24;
    const double inverse = 1 / h->divisor, scale = root ? 1 : inverse;
    const double below = scale * (sure ? 1 : BELOW), above = scale * (sure ? 1 : ABOVE);
    const SUM_T n = (SUM_T)at.n;
    float *const to = (float *)(void *)m->tile->row;
    READS(m, at);
/* Without optimisation sqrt() and fmaf() are calls of libm, which the library does without; __builtin_ makes them
 * instructions. */
#define ROOT(x) (root ? __builtin_sqrt((x)*inverse) : (x))
#define VALUE(i) ROOT(variance ? NUMERATOR(n, SUM_AT(i), SQUARES_AT(i)) : NUMBER(SUM_AT(i)))
    unsigned apart = 0;
    float *const end = to + count; /* a result has room for 8 bytes */
    for (size_t i = 0; i < count; i++) {
        const double x = VALUE(i);
        const float low = (float)(x * below), high = (float)(x * above);
        to[i] = low, end[i] = high;
        apart |= gp_bits_of_f32(low) ^ gp_bits_of_f32(high);
    }
    for (size_t i = 0; i < count && apart; i++) {
        if (to[i] == end[i])
            continue;
        const double x = VALUE(i);
        if (simple && __builtin_fabs(x) <= 0x1p53 && __builtin_fabsf(end[i]) <= FLT_MAX)
            to[i] = nearest(x, h->divisor, to[i], end[i]);
        else
            IN_CLASS(write_exactly)(m, r, at, i);
    }
}

/* Means of sums and numbers that floats hold. With fused multiplications the quotient by way of the inverse is right
 * after one correction (P. Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor").
 */
SIMD static void IN_CLASS(write_small_means)(const moments *m, stretch at) {
    const float n = (float)at.n;
    float *restrict to = (float *)(void *)m->tile->row;
    READS(m, at);
    for (size_t i = 0; i < count; i++) {
        const float s = (float)(SIGNED_T)SUM_AT(i);
#if defined(HAS_FUSED)
        const float inverse = 1 / n, near = s * inverse;
        to[i] = __builtin_fmaf(__builtin_fmaf(-near, n, s), inverse, near);
#else
        to[i] = s / n;
#endif
    }
}

/* Where the windows' numbers of elements differ. */
SIMD static void IN_CLASS(write_small_quotients)(const moments *m, stretch at, const how *h) {
    float *restrict to = (float *)(void *)m->tile->row;
    counts counted;
    READS(m, at);
    count_elements(m->tile, &at, h, &counted);
    for (size_t i = 0; i < count; i++)
        to[i] = (float)(SIGNED_T)SUM_AT(i) / (float)counted.number[i];
}

/* To doubles: the numerator and the divisor are exact. */
SIMD static void IN_CLASS(write_doubles)(const moments *m, stretch at, double divisor, bool variance) {
    const SUM_T n = (SUM_T)at.n;
    double *restrict to = (double *)(void *)m->tile->row;
    READS(m, at);
    for (size_t i = 0; i < count; i++)
        to[i] = (variance ? NUMERATOR(n, SUM_AT(i), SQUARES_AT(i)) : NUMBER(SUM_AT(i))) / divisor;
}

/* Quotients of whole numbers by one that a double holds. */
SIMD static void IN_CLASS(write_proven)(const moments *m, unsigned r, stretch at, const how *h) {
    const bool to_float = m->tile->one->box->result[r].type == GP_F32;
    float *const floats = (float *)(void *)m->tile->row;
    uint64_t bits[NUMBERS], unsure[NUMBERS];
    counts counted;
    numbers x;
    READS(m, at);
    const SUM_T *const of = h->squares ? squares_of : sums_of; /* also as signed numbers none is negative */
    const bool variance = h->variance;
    count_elements(m->tile, &at, h, &counted);
    for (size_t i = 0; i < count; i++) {
        const VALUE_T n = counted.whole[i], s = (SIGNED_T)SUM_AT(i), q = (SIGNED_T)of[i],
                      value = variance ? n * q - s * s : q;
        unsure[i] = 0;
        if (sizeof value == 8) {
            const int64_t whole = (int64_t)value;
            x.high[i] = sum_and_rest(f64_of(whole & ~LOW_BITS), f64_of(whole & LOW_BITS), &x.low[i]);
            x.off[i] = 0;
        } else {
            const gp_window_int whole = value;
            x.high[i] = (double)(int64_t)(whole >> 96) * 0x1p96;
            x.low[i] = (double)(int64_t)(whole >> 48 & MIDDLE_BITS) * 0x1p48;
            x.off[i] = (double)(int64_t)(whole & MIDDLE_BITS);
        }
    }
    for (size_t i = 0; i < count && sizeof(VALUE_T) > 8; i++) {
        double rest, off;
        const double high = sum_and_rest(x.high[i], x.low[i], &rest);
        x.high[i] = sum_and_rest(high, sum_and_rest(rest, x.off[i], &off), &x.low[i]);
        x.off[i] = __builtin_fabs(off);
    }
    round_quotients(h->root, to_float, &x, counted.by, count, bits, unsure);
    for (size_t i = 0; i < count && to_float; i++)
        floats[i] = gp_f32_of_bits((uint32_t)bits[i]);
    if (!to_float)
        memcpy(m->tile->row, bits, count * sizeof *bits);
    for (size_t i = 0; i < count; i++)
        if (unsure[i] != 0)
            IN_CLASS(write_exactly)(m, r, at, i);
}

#define WRITE_SUMS(type)               \
    for (size_t i = 0; i < count; i++) \
    ((type *)(void *)to)[i] = of_squares ? (type)SQUARES_AT(i) : (type)(SIGNED_T)SUM_AT(i)

SIMD static void IN_CLASS(write_sums)(const moments *m, unsigned r, stretch at, bool of_squares) {
    void *restrict to = m->tile->row;
    READS(m, at);
    if (m->tile->one->box->result[r].type == GP_F32)
        WRITE_SUMS(float);
    else
        WRITE_SUMS(double);
}

/*
 * Means in the elements' type, of magnitudes below 2^18; a bias makes the sums positive. Of odd n and sums below
 * 2^22: floor((2 s + n) / 2 n) = floor((s + n / 2) / n), by the inverse rounded up: never too little, and too much by
 * less than 1 / n, as that and the product's rounding are less than 2^-22 of it. Of others the quotient is less than
 * 1 too low, which its rest tells; where that is 0 and the quotient odd, the even one below is as near.
 */
#define WRITE_MEANS(type)                                                             \
    if (simple)                                                                       \
        for (size_t i = 0; i < count; i++) {                                          \
            const int32_t sum = (int32_t)SUM_AT(i) + n * bias + n / 2;                \
            ((type *)(void *)to)[i] = (type)((int32_t)((float)sum * above) - bias);   \
        }                                                                             \
    else                                                                              \
        for (size_t i = 0; i < count; i++) {                                          \
            const int32_t twice = 2 * ((int32_t)SUM_AT(i) + n * bias) + n;            \
            const int32_t mean = (int32_t)((float)twice * below);                     \
            const int32_t rest = twice - mean * divisor, more = rest >= divisor;      \
            const int32_t exact = rest == (more ? divisor : 0), odd = mean ^ more;    \
            ((type *)(void *)to)[i] = (type)(mean + more - (exact & odd & 1) - bias); \
        }

SIMD static void IN_CLASS(write_means)(const moments *m, unsigned r, stretch at) {
    const gp_window_tile *t = m->tile;
    const size_t bytes = gp_type_bytes(t->one->box->type);
    void *restrict to = t->row;
    READS(m, at);
    if (sizeof(SUM_T) > 4 || m->bits >> 18 != 0 || at.more != 0) {
        for (size_t i = 0; i < count; i++)
            gp_result_store(t->one->box->result[r].type,
                            (uint64_t)gp_window_mean((SIGNED_T)SUM_AT(i), counted_at(t, &at, i)), t->row + i * bytes);
        return;
    }
    const int32_t n = (int32_t)at.n, divisor = 2 * n,
                  bias = gp_type_is_signed(t->one->box->type) ? 2 << gp_log2(m->bits | 1) : 0;
    const bool simple = n % 2 == 1 && (magnitude(m) + bias + 1) * n < 0x1p22;
    const float below = 1 / (float)divisor * (1 - 0x1p-21f), above = inverse_above(n);
    if (bytes == 1) {
        WRITE_MEANS(uint8_t)
    } else if (bytes == 2) {
        WRITE_MEANS(uint16_t)
    } else {
        WRITE_MEANS(uint32_t)
    }
}

/* counted: the greatest number of elements in a window; they_differ: others have fewer. */
SIMD static how IN_CLASS(how_to_write)(const moments *m, unsigned r, uint64_t counted, bool they_differ) {
    const gp_pass_result *result = &m->tile->one->box->result[r];
    const bool linear = result->op == GP_REDUCE_SUM, square = result->op == GP_REDUCE_SUM_SQUARES,
               variance = result->op >= GP_REDUCE_VARIANCE, sample = result->op >= GP_REDUCE_VARIANCE_SAMPLE,
               is_double = result->type == GP_F64, rounds = m->square_unit > 0 && variance;
    const double n = (double)counted;
    how h = {.squares = square || variance,
             .variance = variance,
             .root = result->op == GP_REDUCE_STDDEV || result->op == GP_REDUCE_STDDEV_SAMPLE,
             .divides = !linear && !square,
             .sample = sample,
             .divisor = variance ? n * (n - sample) : n,
             .scale = 1};
    h.sure = m->exact && h.divisor < 0x1p53 && h.divisor > 0;
    if (m->most > 0 && m->square_unit == 0 && square)
        h.way = PROVEN, h.divisor = 1;
    else if (m->most > 0 && linear)
        h = (how){.way = is_double ? AS_DOUBLES : AS_FLOATS, .divisor = 1, .sure = m->exact};
    else if (linear || square)
        h.way = AS_SUMS, h.divisor = 1;
    else if (!gp_type_is_float(result->type))
        h.way = AS_WHOLE_MEANS;
    else if (!variance && !is_double && n < 0x1p24 && m->small && m->most == 0)
        h.way = AS_SMALL_MEANS;
    else if (!(h.divisor > 0) || !sums_below(m, INFINITY, INFINITY, 0x1p126))
        h.way = EXACTLY;
    else if (is_double && (h.root || !h.sure))
        h.way = h.divisor < 0x1p53 ? PROVEN : EXACTLY;
    else
        h.way = is_double ? AS_DOUBLES : AS_FLOATS;
    if (they_differ && h.divides && (h.way == AS_DOUBLES || (h.way == AS_FLOATS && !rounds)))
        h.way = h.divisor < 0x1p53 ? PROVEN : EXACTLY;
    h.sure = h.sure && is_power_of_two(h.divisor);
    if (m->most > 0 && h.way != AS_SUMS)
        h.scale = h.squares ? m->scale * m->scale : m->scale;
    h.divisor *= h.scale;
    return h;
}

SIMD static void IN_CLASS(write_block)(moments *m, unsigned r, const how *h, const stretch *block) {
    const stretch at = *block;
    const bool rounded = m->square_unit > 0;
    if (rounded && h->squares && (h->way == AS_SUMS || h->way == AS_FLOATS))
        write_rounded(m, r, at, h);
    else if (h->way == AS_SUMS)
        IN_CLASS(write_sums)(m, r, at, h->squares);
    else if (h->way == AS_WHOLE_MEANS)
        IN_CLASS(write_means)(m, r, at);
    else if (h->way == AS_SMALL_MEANS && at.more != 0)
        IN_CLASS(write_small_quotients)(m, at, h);
    else if (h->way == AS_SMALL_MEANS)
        IN_CLASS(write_small_means)(m, at);
    else if (h->way == PROVEN)
        IN_CLASS(write_proven)(m, r, at, h);
    else if (h->way == AS_DOUBLES)
        IN_CLASS(write_doubles)(m, at, h->divisor, h->squares);
    else if (h->way == AS_FLOATS && h->root)
        IN_CLASS(write_quotients)(m, r, at, h, true, true);
    else if (h->way == AS_FLOATS && h->squares)
        IN_CLASS(write_quotients)(m, r, at, h, true, false);
    else if (h->way == AS_FLOATS)
        IN_CLASS(write_quotients)(m, r, at, h, false, false);
    else
        for (size_t i = 0; i < at.end - at.begin; i++)
            if (rounded)
                gp_window_write_singly(m->tile, r, m->y, at.begin + i, m->tile->row + i * sizeof(float));
            else
                IN_CLASS(write_exactly)(m, r, at, i);
}

#include "cpu_columns_simd.h"

/* By blocks, so that what is written drains while the next one's windows are added up; where results are contiguous
 * they end with lines of memory. */
SIMD static void IN_CLASS(write_row)(moments *m, uint64_t y) {
    const gp_window_tile *t = m->tile;
    const unsigned results = t->one->box->results;
    const size_t bytes = gp_type_bytes(t->one->box->result[0].type);
    const unsigned char *next = gp_window_row(t, (int64_t)y - t->y.before + t->y.window);
    unsigned char *to[GP_PASS_RESULTS];
    for (unsigned r = 0; r < results; r++)
        to[r] = gp_window_result_row(t, r, y);
    m->exact = sums_below(m, 0x1p53, 0x1p53, 0x1p53);
    m->small = sums_below(m, 0x1p24, INFINITY, INFINITY);
    m->slid_end = 0;
    for (size_t x = 0; x < t->n;) {
        const stretch all_of_it = stretch_at(t, y, x / t->channels);
        const size_t furthest = all_of_it.more > 0 ? all_of_it.end - all_of_it.begin - 1 : 0;
        how h[GP_PASS_RESULTS];
        for (unsigned r = 0; r < results; r++)
            h[r] = IN_CLASS(how_to_write)(m, r, counted_at(t, &all_of_it, furthest), all_of_it.more != 0);
        const bool both = results == 2 && all_of_it.more == 0 && sizeof(SUM_T) == 4 && h[0].way == AS_SMALL_MEANS &&
                          h[1].way == AS_FLOATS && h[1].squares && !h[1].root && gp_window_is_contiguous(t, 0) &&
                          gp_window_is_contiguous(t, 1);
        for (stretch at = all_of_it; x < all_of_it.end; x = at.end) {
            if (x >= m->slid_end)
                IN_CLASS(slide_on)(m, x, gp_least(t->n, end_of_block(to[0], x + SLID - BLOCK, bytes, false)));
            at.end = gp_least(end_of_block(to[0], x, bytes, both), m->slid_end);
            at.begin = x;
            at.end = gp_least(at.end, all_of_it.end);
            prefetch_row(t, next, at.begin, at.end);
            at.begin += both ? write_both(m, &h[1], at, to) : 0;
            for (unsigned r = 0; r < results && at.begin < at.end; r++) {
                IN_CLASS(write_block)(m, r, &h[r], &at);
                put(t, r, to[r], at);
            }
        }
    }
}

/* Rows of outputs from y on; returns the first that is not done, as elements came that need wider sums. A row that is
 * its windows' only one says alone how wide sums must be. */
SIMD static uint64_t IN_CLASS(slide)(moments *m, uint64_t y) {
    const gp_window_tile *t = m->tile;
    const gp_window_box *box = t->one->box;
    const bool alone = t->y.window == 1;
    const gp_window_held rows = gp_window_held_of(&t->y, box->border, y);
    m->first_y = y;
    m->failures = 0;
    memset(m->sum, 0, m->columns * sizeof(SUM_T));
    memset(m->square, 0, m->columns * sizeof(SUM_T));
    for (unsigned s = 0; s < rows.stretches && !alone; s++)
        for (int64_t i = 0; i < rows.at[s].count; i++) {
            const void *enters = line_at(m, rows.at[s].first + i, true);
            if (!HOLDS(m))
                return y;
            IN_CLASS(step)(m, enters, NULL, rows.at[s].times);
        }
    for (;; y++) {
        const int64_t first = (int64_t)y - t->y.before;
        if (alone) {
            m->bits = bits_of_bytes(box->type);
            const void *row = line_at(m, first, true);
            if (!HOLDS(m))
                return y;
            IN_CLASS(step)(m, row, NULL, 0);
        }
        m->y = y;
        IN_CLASS(write_row)(m, y);
        if (too_many_fail(m))
            return y;
        if (alone || y + 1 == t->y_end)
            return y + 1;
        const void *enters = line_at(m, first + t->y.window, true);
        if (!HOLDS(m))
            return y + 1;
        IN_CLASS(step)(m, enters, line_at(m, first, false), 1);
    }
}

#undef CLASS
#undef SUM_T
#undef SIGNED_T
#undef VALUE_T
#undef HOLDS
#undef NUMERATOR
