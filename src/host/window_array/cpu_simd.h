/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows over tiles, compiled for each instruction set: loops over columns that the compiler turns into vectors. The
 * including file names one of simd_*.h before, or defines SIMD and NAMED itself.
 *
 * Moments of ints, and of floats as whole numbers of one unit: each column of the tile has the sum of what the window
 * holds of it, and of squares; to them a row that enters is added, from them one that leaves is subtracted. Along the
 * row a window's sums are those of the window before it, more by the column that enters and less by the one that
 * leaves. All of it is modulo a power of two above what the window's sums can be.
 */
#include "cpu.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

#if defined(NAMED)

#include "../cpu/quotients.h"

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)

#include "cpu_row_simd.h"

/* ---- moments ---- */

#define SMALL_WINDOW 4 /* columns */
#define FAILING_ROWS 8 /* that may leave as many results open as squares in full would cost, before these are had */

/* What a tile's moments are computed in. */
typedef struct moments {
    const gp_window_tile *tile;
    gp_window_held first; /* the first window along X */
    uint32_t bits;        /* of the elements so far */
    bool small_window;    /* all columns are added */
    bool exact, small;    /* doubles hold the sums and numerators of the row; floats its sums */
    void *copies[2];      /* of rows that enter and leave, where the input does not have them as they are needed */
    float *floats[2];
    double most, scale; /* of floats, all whole numbers below `most` of 2^unit, which is 1 / scale; of ints 0, 1 */
    int unit;
    bool specials; /* of the tile's elements some are NaNs or infinite, and are summed as zeros */
    /* Not 0: sums are in 64 bits, and squares are rounded down to whole numbers of this. */
    double square_unit, square_scale; /* scale: of floats, 1 / unit */
    unsigned shift;                   /* of ints: log2 of the unit */
    size_t failures;                  /* outputs of rows first_y to y that this did not decide */
    uint64_t first_y, y;
    size_t pad, columns;
    int32_t last[2][16]; /* lanes of a vector, of 32 and of 64 bits, that hold what the next vector's go on from */
    void *sum, *square;  /* of the extended row's columns, behind `pad` others */
    size_t slid_begin, slid_end;
    void *sums, *squares; /* of a row's windows from the one to the other; a few before them are there too */
} moments;

/* A row of the input's held elements, of halves as floats; with `specials` these are zeros. */
SIMD static const void *line_at(moments *m, int64_t i, bool enters) {
    const gp_window_tile *t = m->tile;
    const unsigned char *row = gp_window_row(t, i);
    if (row == NULL)
        return memset(m->copies[enters], 0, t->held * sizeof(float));
    const void *held = gp_window_held_row(t, row, m->copies[enters]);
    const bool half = t->one->box->type == GP_F16;
    if (half)
        widen_halves(m->floats[enters], held, t->held);
    if (m->specials)
        clear_specials(m->floats[enters], half ? m->floats[enters] : held, t->held);
    m->bits |= enters ? bits_of(t->one->box->type, held, t->held) : 0;
    return half || m->specials ? m->floats[enters] : held;
}

static uint32_t bits_of_bytes(unsigned type) {
    return type == GP_U8 ? UINT8_MAX : type == GP_S8 ? INT8_MAX : 0;
}

/* Outputs of a row. The windows of output `base` and of its pixel's others have n elements each, and those of every
 * further pixel `more` than the one before. */
typedef struct stretch {
    size_t begin, end, base;
    uint64_t n;
    int64_t more;
} stretch;

/* A quotient, or its root, has at most five roundings by 2^-53 behind it: numerator, denominator, inverse, product,
 * root or end. The exact value lies between the ends; where both round to one float, so does the exact value. */
#define BELOW (1 - 0x1p-50)
#define ABOVE (1 + 0x1p-50)

/* Of a whole number of 64 bits those that a double has no room for; and parts of one of 128 bits, for which it has.
 */
#define LOW_BITS ((int64_t)0x7ff)
#define MIDDLE_BITS (((int64_t)1 << 48) - 1)

/* Elements of a line of memory, or two or four. */
#define LINE 16
#if defined(LANES)
#define INLINE_ INLINE
#else
#define INLINE_ static inline
#endif

/* A float that is 1 / n, or the next above it. */
static inline float inverse_above(int32_t n) {
    float x = (float)(1.0 / n);
    const uint32_t next = gp_bits_of_f32(x) + 1;
    if ((double)x * n < 1) /* exact: of 24 and at most 28 bits */
        memcpy(&x, &next, sizeof x);
    return x;
}

/* Of a positive number that is not subnormal. */
static inline bool is_power_of_two(double x) {
    return gp_bits_of_f64(x) << 12 == 0;
}

/* Outputs that are written at once: a core holds as many lines on their way to memory while it computes. */
#define BLOCK NUMBERS
#define SLID (4 * BLOCK) /* windows of a row that are summed at once: these sums stay in the first-level cache */

/* How the outputs of a stretch follow from its sums. */
typedef struct how {
    /* EXACTLY: one by one; PROVEN: by quotients.h */
    enum { EXACTLY, PROVEN, AS_SUMS, AS_WHOLE_MEANS, AS_SMALL_MEANS, AS_FLOATS, AS_DOUBLES } way;
    bool squares, variance, root; /* sums of squares, or variances; deviations */
    bool divides, sample;         /* else the divisor is 1 */
    double divisor; /* of windows of a stretch's greatest number n of elements: n, or with variance n (n - sample) */
    double scale;   /* times this */
    bool sure;      /* a quotient in double is exact */
} how;

/* Of a block's outputs: how many elements their windows have, and what sums, or numerators, are divided by. */
typedef struct counts {
    int64_t whole[NUMBERS];
    double number[NUMBERS], by[NUMBERS];
} counts;

SIMD static void count_elements(const gp_window_tile *t, const stretch *at, const how *h, counts *of) {
    const size_t c = t->channels, begin = at->begin - at->base, n = at->end - at->begin;
    const double scale = h->scale, sample = h->sample;
    int64_t now = (int64_t)at->n + (int64_t)(begin / c) * at->more;
    for (size_t i = 0; at->more == 0 && i < n; i++)
        of->whole[i] = now, of->number[i] = (double)now;
    for (size_t i = 0, k = begin % c; at->more != 0 && i < n; i++) {
        of->whole[i] = now, of->number[i] = (double)now;
        k = k + 1 < c ? k + 1 : 0;
        now += k == 0 ? at->more : 0;
    }
    if (at->more == 0 || !h->divides)
        for (size_t i = 0; i < n; i++)
            of->by[i] = h->divisor;
    else if (h->variance)
        for (size_t i = 0; i < n; i++)
            of->by[i] = of->number[i] * (of->number[i] - sample) * scale;
    else
        for (size_t i = 0; i < n; i++)
            of->by[i] = of->number[i] * scale;
}

/* The nearest to x / divisor, both exact, of two neighbours; where it lies between them, the even one. */
static float nearest(double x, double divisor, float a, float b) {
    const double between =
        ((double)a + b) / 2 * divisor; /* exact: of 25 bits, and at most 28 beside a power of two */
    if (x == between)
        return gp_bits_of_f32(a) & 1 ? b : a;
    return (x < between) == (a < b) ? a : b;
}

/* The greatest magnitude that elements may have by their bits. */
static double magnitude(const moments *m) {
    return m->most > 0 ? m->most : (double)m->bits + 1;
}

/* Elements that count in a window, at most. */
static double area(const gp_window_tile *t) {
    const gp_window_box *box = t->one->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    if (box->border == GP_BORDER_SHRINK)
        return (double)gp_least((uint64_t)y->window, y->n) * (double)gp_least((uint64_t)x->window, x->n);
    return (double)y->window * (double)x->window;
}

/* Bits that the sums of a window may have: products of its area a and magnitudes g, as powers of two. */
static bool sums_below(const moments *m, double linear, double square, double numerator) {
    const double a = area(m->tile), g = magnitude(m);
    const bool squares = m->tile->one->box->wants & GP_WANT_SQUARES;
    return a * g < linear && (!squares || (a * g * g < square && a * g * a * g < numerator));
}

/* The outputs from pixel x on whose windows have as many elements each, or one more along the row than those of the
 * pixel before, or one less. */
static stretch stretch_at(const gp_window_tile *t, uint64_t y, size_t x) {
    const gp_window_box *box = t->one->box;
    const int64_t at = (int64_t)(t->x_begin + x), inside = t->x.before,
                  beyond = (int64_t)t->x.n + inside - t->x.window + 1, /* where windows begin, and end, in the row */
        first = inside < beyond ? inside : beyond, last = inside < beyond ? beyond : inside;
    const uint64_t rows = gp_window_counted(gp_window_y(box), box->border, y),
                   n = rows * gp_window_counted(gp_window_x(box), box->border, (uint64_t)at);
    const bool shrinks = box->border == GP_BORDER_SHRINK;
    const int64_t more = !shrinks ? 0 : at < first ? 1 : at < last ? 0 : -1, turn = more > 0 ? first : last;
    const size_t begin = x * t->channels, end = shrinks && turn > at ? (uint64_t)turn - t->x_begin : t->count;
    return (stretch){begin, gp_least(end, t->count) * t->channels, begin, n, more * (int64_t)rows};
}

static inline uint64_t counted_at(const gp_window_tile *t, const stretch *at, size_t i) {
    return at->n + (uint64_t)((int64_t)((at->begin + i - at->base) / t->channels) * at->more);
}

/* A large contiguous result goes past the caches, by whole vectors. */
SIMD static void put(const gp_window_tile *t, unsigned r, unsigned char *to, stretch at) {
    size_t begin = at.begin;
#if defined(LANES)
    const size_t bytes = gp_type_bytes(t->one->box->result[r].type), end = at.end * bytes;
    const size_t head = (0 - (uintptr_t)(to + begin * bytes)) % sizeof(vec);
    if (gp_window_is_streamed(t, r) && end - begin * bytes >= head + sizeof(vec)) {
        size_t i = begin * bytes + head;
        memcpy(to + begin * bytes, t->row, head);
        for (const unsigned char *from = t->row + head; i + sizeof(vec) <= end; i += sizeof(vec), from += sizeof(vec))
            stream(to + i, load(from));
        memcpy(to + i, t->row + (i - begin * bytes), end - i);
        return;
    }
#endif
    gp_window_put(t, r, to, begin, at.end);
}

/* What the next step reads of the input, for outputs begin .. end - 1. */
static void prefetch_row(const gp_window_tile *t, const unsigned char *row, size_t begin, size_t end) {
    const size_t bytes = gp_type_bytes(t->one->box->type);
    for (size_t i = begin * bytes; t->direct && row != NULL && i < end * bytes; i += 64)
        __builtin_prefetch(row + t->first * t->x.in + i);
}

/* At the end of a line of memory of the first result; with `lines`, first at the end of the one that has begun. */
static size_t end_of_block(const unsigned char *to, size_t x, size_t bytes, bool lines) {
    const size_t end = x + (lines && (uintptr_t)(to + x * bytes) % 64 != 0 ? 64 / bytes : BLOCK);
    return end - (uintptr_t)(to + end * bytes) % 64 / bytes;
}

#include "cpu_rounded_simd.h"

#define CLASS narrow
#define SUM_T uint32_t
#define SIGNED_T int32_t
#define VALUE_T int64_t
#define HOLDS(m) ((m)->most == 0 && sums_below(m, 0x1p28, 0x1p31, 0x1p51))
#define NUMERATOR(n, s, q) \
    ((double)(SIGNED_T)(n) * (double)(SIGNED_T)(q) - (double)(SIGNED_T)(s) * (double)(SIGNED_T)(s))
#include "cpu_class_simd.h"

#define CLASS wide
#define SUM_T uint64_t
#define SIGNED_T int64_t
#define VALUE_T int64_t
#define HOLDS(m) ((m)->square_unit > 0 || ((m)->bits <= INT32_MAX && sums_below(m, 0x1p62, 0x1p63, 0x1p63)))
#define NUMERATOR(n, s, q) f64_of((int64_t)((n) * (q) - (s) * (s)))
#include "cpu_class_simd.h"

#define CLASS widest
#define SUM_T gp_window_unsigned
#define SIGNED_T gp_window_int
#define VALUE_T gp_window_int
#define HOLDS(m) true /* at most 2^62 elements below 2^32; of floats see moments_of() */
#define NUMERATOR(n, s, q) ((double)((n) * (q) - (s) * (s)))
#include "cpu_class_simd.h"

#include "cpu_units_simd.h"

#include "cpu_short_simd.h"

/* The last pixel's lanes, again and again. */
static void find_last(moments *m) {
#if defined(LANES)
    for (size_t is_64 = 0; is_64 < 2; is_64++)
        for (size_t i = 0, channels = m->tile->channels; i < LANES; i++) {
            const size_t lanes = is_64 ? LANES / 2 : LANES, lane = is_64 ? i / 2 : i;
            const size_t from = channels <= lanes ? lanes - channels + lane % channels : 0;
            m->last[is_64][i] = (int32_t)(is_64 ? 2 * from + i % 2 : from);
        }
#else
    (void)m;
#endif
}

/* Sets out the memory: rows of the input, columns behind the held ones' line of memory, windows. */
static unsigned char *make_room(moments *m, gp_window_tile *t) {
    const size_t rows = gp_round_up(t->held, LINE) * sizeof(float), each = sizeof(gp_window_int),
                 before = gp_round_up(t->channels, LINE), windows = (SLID + before + LINE) * each;
    find_last(m);
    m->pad = gp_round_up(t->left, LINE) - t->left + before;
    m->columns = gp_round_up(m->pad + t->ext, LINE) + LINE;
    unsigned char *memory = aligned_alloc(64, 4 * rows + 2 * m->columns * each + 3 * windows), *at = memory;
    if (memory == NULL)
        return NULL;
    for (unsigned i = 0; i < 2; i++, at += 2 * rows) {
        m->copies[i] = at;
        m->floats[i] = (float *)(void *)(at + rows);
    }
    m->sum = at;
    m->square = at += m->columns * each;
    m->sums = (at += m->columns * each) + before * each;
    m->squares = (at += windows) + before * each;
    t->row = at + windows;
    return memory;
}

/* Whether row y needs wider sums than those that came to it: of rows alone, the first. */
static bool goes_on(const gp_window_tile *t, uint64_t first, uint64_t y) {
    return y < t->y_end && (t->y.window > 1 || y == first);
}

/* Rows whose elements need wider sums than those before go on with these. Floats have one unit for all rows. */
static bool moments_of_rows(moments *m, gp_window_tile *t) {
    unsigned char *const row = t->row;
    if (is_short(t)) {
        slide_short(m);
        return true;
    }
    if (gp_type_is_float(t->one->box->type) && !find_unit(m)) {
        const bool done = gp_window_float_moments(t);
        t->row = row;
        return done;
    }
    for (uint64_t y = t->y_begin; y < t->y_end;) {
        const uint64_t first = y;
        y = slide_narrow(m, y);
        y = goes_on(t, first, y) ? slide_wide(m, y) : y;
        y = goes_on(t, first, y) && round_squares(m) ? slide_wide(m, y) : y;
        m->square_unit = 0;
        y = goes_on(t, first, y) ? slide_widest(m, y) : y;
    }
    if (m->specials)
        write_specials(m);
    return true;
}

/* Rows of floats that are their windows' only ones have a unit each. */
static bool moments_of(gp_window_tile *t) {
    const gp_window_box *box = t->one->box;
    const int64_t window = gp_window_x(box)->window;
    const uint64_t end = t->y_end, each = gp_type_is_float(box->type) && t->y.window == 1 ? 1 : end - t->y_begin;
    moments m = {.tile = t,
                 .scale = 1,
                 .small_window = window <= SMALL_WINDOW && t->x.window == window,
                 .bits = bits_of_bytes(box->type),
                 .first = gp_window_first(t)};
    unsigned char *const memory = make_room(&m, t);
    bool done = memory != NULL;
    while (done && t->y_begin < end) {
        t->y_end = t->y_begin + each;
        done = moments_of_rows(&m, t);
        t->y_begin = done ? t->y_end : t->y_begin;
    }
    t->y_end = end;
    free(memory);
    return done;
}

/* ---- extremes ---- */

#define OF_TYPE(name) JOINED(name##_, ELEMENT)

#define ELEMENT uint8_t
#include "cpu_extremes_simd.h"
#define ELEMENT int8_t
#include "cpu_extremes_simd.h"
#define ELEMENT uint16_t
#include "cpu_extremes_simd.h"
#define ELEMENT int16_t
#include "cpu_extremes_simd.h"
#define ELEMENT uint32_t
#include "cpu_extremes_simd.h"
#define ELEMENT int32_t
#include "cpu_extremes_simd.h"

static bool extremes_of(gp_window_tile *t) {
    static bool (*const ways[])(gp_window_tile *, unsigned) = {
        [GP_U8] = extreme_uint8_t,  [GP_S8] = extreme_int8_t,    [GP_U16] = extreme_uint16_t,
        [GP_S16] = extreme_int16_t, [GP_U32] = extreme_uint32_t, [GP_S32] = extreme_int32_t,
        [GP_F16] = extreme_int16_t, [GP_F32] = extreme_int32_t};
    bool done = true;
    for (unsigned r = 0; r < t->one->box->results && done; r++)
        done = ways[t->one->box->type](t, r);
    return done;
}

gp_status NAMED(gp_launch_window_array)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_window_in_tiles(context, plan, problem,
                              problem->box->kind == GP_PASS_EXTREMES ? extremes_of : moments_of);
}

#endif
