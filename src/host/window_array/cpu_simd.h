/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows over tiles, compiled for each instruction set: loops over columns that the compiler turns into vectors. The
 * including file names one of simd_*.h before, or defines SIMD and NAMED itself.
 *
 * Moments of ints, and of floats as whole numbers of one unit: each column of the tile has the sum of what the window
 * holds of it, and of squares; to them a row that enters is added, from them one that leaves is subtracted. A
 * window's sums are differences of prefix sums along the row. All of it is modulo a power of two above what the
 * window's sums can be.
 */
#include "cpu.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

#if defined(NAMED)

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)

#include "cpu_row_simd.h"

/* ---- moments ---- */

/* What a tile's moments are computed in. */
typedef struct moments {
    const gp_window_tile *tile;
    uint32_t bits;      /* of the elements so far */
    bool exact, small;  /* doubles hold the sums and numerators of the row; floats its sums */
    int32_t *others[2]; /* of the rows that enter and leave */
    double most, scale; /* of floats: all are whole numbers below `most` times 2^unit, which is 1 / scale; else 0 */
    int unit;
    /* Not 0: sums are in 64 bits, and floats' squares are had rounded down to whole numbers of 1 / square_scale. */
    double square_scale;
    size_t failures; /* outputs of row y that this did not decide */
    uint64_t y;
    size_t pad;
    void *sum, *square;   /* of columns, behind `pad` zeros */
    void *sums, *squares; /* of all columns before one, so that those behind the first channels are at a line */
} moments;

/* Outputs of a row whose windows have n elements each. */
typedef struct stretch {
    size_t begin, end;
    uint64_t n;
} stretch;

/* A quotient, or its root, has at most five roundings by 2^-53 behind it: numerator, denominator, inverse, product,
 * root or end. The exact value lies between the ends; where both round to one float, so does the exact value. */
#define BELOW (1 - 0x1p-50)
#define ABOVE (1 + 0x1p-50)

/* Elements of a line of memory, or two or four. */
#define LINE 16

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
#define BLOCK 256

/* How the outputs of a stretch follow from its sums. */
typedef struct how {
    enum {
        EXACTLY, /* one by one */
        AS_SUMS,
        AS_SQUARES,
        AS_WHOLE_MEANS,
        AS_SMALL_MEANS,
        AS_MEANS,
        AS_VARIANCES,
        AS_DEVIATIONS,
        AS_DOUBLE_MEANS,
        AS_DOUBLE_VARIANCES
    } way;
    double divisor;
    bool sure; /* a quotient in double is exact */
} how;

/* The nearest to x / divisor, both exact, of two neighbours; where it lies between them, the even one. */
static float nearest(double x, double divisor, float a, float b) {
    const double between =
        ((double)a + b) / 2 * divisor; /* exact: of 25 bits, and at most 24 beside a power of two */
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

/* Of the outputs from x on, those whose windows have as many elements. */
static stretch stretch_at(const gp_window_tile *t, uint64_t y, size_t x) {
    const gp_window_box *box = t->one->box;
    const unsigned border = box->border;
    const uint64_t at = t->x_begin + x, first = (uint64_t)t->x.before,
                   last = t->x.n + first < (uint64_t)t->x.window ? 0 : t->x.n + first - (uint64_t)t->x.window + 1;
    size_t end = border != GP_BORDER_SHRINK || (at >= first && last > t->x_begin + t->count) ? t->count
                 : at >= first && at < last                                                  ? last - t->x_begin
                                                                                             : x + 1;
    return (stretch){x * t->channels, end * t->channels,
                     gp_window_counted(gp_window_y(box), border, y) *
                         gp_window_counted(gp_window_x(box), border, at)};
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
    for (size_t i = begin * bytes; t->middle > 0 && row != NULL && i < end * bytes; i += 64)
        __builtin_prefetch(row + t->middle_at + i);
}

/* At the end of a line of memory of the first result; with `lines`, first at the end of the one that has begun. */
static size_t end_of_block(const unsigned char *to, size_t x, size_t bytes, bool lines) {
    const size_t end = x + (lines && (uintptr_t)(to + x * bytes) % 64 != 0 ? 64 / bytes : BLOCK);
    return end - (uintptr_t)(to + end * bytes) % 64 / bytes;
}

#include "cpu_both_simd.h"
#include "cpu_rounded_simd.h"

#define CLASS narrow
#define SUM_T uint32_t
#define SIGNED_T int32_t
#define HOLDS(m) ((m)->most == 0 && sums_below(m, 0x1p28, 0x1p31, 0x1p51))
#define NUMERATOR(n, s, q) \
    ((double)(SIGNED_T)(n) * (double)(SIGNED_T)(q) - (double)(SIGNED_T)(s) * (double)(SIGNED_T)(s))
#include "cpu_class_simd.h"

#define CLASS wide
#define SUM_T uint64_t
#define SIGNED_T int64_t
#define HOLDS(m) ((m)->square_scale > 0 || ((m)->bits <= INT32_MAX && sums_below(m, 0x1p62, 0x1p63, 0x1p63)))
#define NUMERATOR(n, s, q) ((double)(int64_t)((n) * (q) - (s) * (s)))
#include "cpu_class_simd.h"

#define CLASS widest
#define SUM_T gp_window_unsigned
#define SIGNED_T gp_window_int
#define HOLDS(m) (sums_below(m, 0x1p126, 0x1p126, 0x1p126))
#define NUMERATOR(n, s, q) ((double)((n) * (q) - (s) * (s)))
#include "cpu_class_simd.h"

/* Floats of a bounded spread are whole numbers of one unit. False: these are not, or not all are numbers. */
SIMD static bool find_unit(moments *m) {
    const gp_window_tile *t = m->tile;
    const int64_t begin = (int64_t)t->y_begin - t->y.before, end = (int64_t)t->y_end - t->y.before + t->y.window - 1;
    uint32_t below = (254u << 23) - 1, most = 1u << 23; /* the least that is not 0, less 1 */
    for (int64_t i = begin; i < end && end - begin <= 4 * (int64_t)t->y.n; i++) {
        const int32_t *row = line_at(t, i, m->others[0], true).others;
        for (size_t k = 0; k < t->ext; k++) {
            const uint32_t x = (uint32_t)row[k] & INT32_MAX;
            below = x - 1 < below ? x - 1 : below;
            most = x > most ? x : most;
        }
    }
    const int low = (below + 1) >> 23 > 0 ? (int)((below + 1) >> 23) : 1, high = (int)(most >> 23);
    m->unit = low - 150;
    m->scale = power_of_two(-m->unit);
    m->most = power_of_two(high - low + 24);
    return high < 255 && high - low + 24 <= 62 && end - begin <= 4 * (int64_t)t->y.n;
}

/* Rows whose elements need wider sums than those before go on with these. */
static bool moments_of(const gp_window_tile *t) {
    const bool is_float = gp_type_is_float(t->one->box->type);
    /* The middle begins at a multiple of a vector, as the sums before its next column do; zeros stand in front. */
    const size_t pad = gp_round_up(t->left, LINE) - t->left, ints = gp_round_up(pad + t->ext, LINE),
                 prefix = gp_round_up(t->channels, LINE) + ints, each = sizeof(gp_window_int);
    unsigned char *memory = aligned_alloc(64, 2 * ints * sizeof(int32_t) + 2 * (ints + prefix) * each);
    moments m = {.tile = t, .pad = pad, .others = {(int32_t *)(void *)memory}};
    if (memory == NULL)
        return false;
    m.others[1] = m.others[0] + ints;
    m.sum = m.others[1] + ints;
    m.square = (unsigned char *)m.sum + ints * each;
    m.sums = (unsigned char *)m.square + ints * each;
    m.squares = (unsigned char *)m.sums + prefix * each;
    if (is_float && !(find_unit(&m) && sums_below(&m, 0x1p126, 0x1p126, 0x1p126))) {
        free(memory);
        return gp_window_float_moments(t);
    }
    m.square_scale = is_float ? scale_of_squares(&m) : 0;
    uint64_t y = slide_narrow(&m, t->y_begin);
    y = y < t->y_end ? slide_wide(&m, y) : y;
    m.square_scale = 0;
    y = y < t->y_end ? slide_widest(&m, y) : y;
    free(memory);
    return y == t->y_end;
}

/* ---- extremes ---- */

#define PICK_TYPE(type, name) type
#define PICK_NAME(type, name) name
#define ELEMENT ELEMENT_OF(PICK_TYPE)
#define OF_TYPE(name) JOINED(name##_, ELEMENT_OF(PICK_NAME))

#define ELEMENT_OF(pick) pick(uint8_t, u8)
#include "cpu_extremes_simd.h"
#define ELEMENT_OF(pick) pick(int8_t, s8)
#include "cpu_extremes_simd.h"
#define ELEMENT_OF(pick) pick(uint16_t, u16)
#include "cpu_extremes_simd.h"
#define ELEMENT_OF(pick) pick(int16_t, s16)
#include "cpu_extremes_simd.h"
#define ELEMENT_OF(pick) pick(uint32_t, u32)
#include "cpu_extremes_simd.h"
#define ELEMENT_OF(pick) pick(int32_t, s32)
#include "cpu_extremes_simd.h"

static bool extremes_of(const gp_window_tile *t) {
    static bool (*const ways[])(const gp_window_tile *, unsigned) = {
        [GP_U8] = extreme_u8,   [GP_S8] = extreme_s8,   [GP_U16] = extreme_u16, [GP_S16] = extreme_s16,
        [GP_U32] = extreme_u32, [GP_S32] = extreme_s32, [GP_F16] = extreme_s16, [GP_F32] = extreme_s32};
    bool done = true;
    for (unsigned r = 0; r < t->one->box->results && done; r++)
        done = ways[t->one->box->type](t, r);
    return done;
}

gp_status NAMED(gp_launch_window_array)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    static const gp_window_kernels kernels = {moments_of, extremes_of};
    return gp_window_in_tiles(context, plan, problem, &kernels);
}

#endif
