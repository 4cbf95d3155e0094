/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What loops over vectors of elements do with them, as numbers that are constants where the loops are inlined. A
 * vector of elements becomes one, two or four of wider lanes, which are added to partial results, lane by lane.
 */

typedef double reals __attribute__((vector_size(sizeof(vec))));
typedef uint16_t lanes_16 __attribute__((vector_size(sizeof(vec))));
typedef int16_t signed_16 __attribute__((vector_size(sizeof(vec))));
typedef int64_t signed_64 __attribute__((vector_size(sizeof(vec))));

#define REALS (sizeof(vec) / sizeof(double))

typedef enum {
    TOTAL,  /* of ints */
    BOUNDS, /* of floats: their sum rounded down, and the opposite of it rounded up */
    PAIRS,  /* of floats: their sum, what its roundings lost, and the magnitudes of what rounding that lost */
    BYTES,  /* the sum of bytes of one output, which are not widened */
    BEST,   /* the greatest key, and the greatest of inverted ones */
    AND,
    OR,
    XOR
} method;

/* Besides GP_SUM .. GP_DOT: of elements that are not 0; GP_SUM, and GP_SQUARES behind it. */
enum { COUNTED = GP_SUMS, GP_MOMENTS };

typedef struct {
    method how;
    unsigned type, sum; /* GP_SUM .. GP_MOMENTS */
} form;

/* Not constants. The bits of an element that count; of BEST what makes a key of it. */
typedef struct {
    vec mask, flip;
} masks;

#define PARTS 4

/* Partial results of lanes: of TOTAL the low words and what is above these, where 64 bits do not hold it. */
typedef struct {
    vec of[PARTS];
} partial;

INLINE size_t bytes_of(form f) {
    return gp_type_bytes(f.type);
}

/* Sums of ints that need more than the 64 bits of a lane, and have their low words and what is above these. */
INLINE bool has_high(form f) {
    return f.how == TOTAL && f.sum != COUNTED && bytes_of(f) >= (f.sum == GP_SQUARES ? 4u : 8u);
}

/* Ints of 32 bits are summed modulo 2^32, with the sum of their upper halves: see widen_sums(). */
INLINE bool has_halves(form f) {
    return f.how == TOTAL && f.sum == GP_SUM && bytes_of(f) == 4;
}

/* Of a lane: sums of bytes have 16 bits, of which 256 fit, those of other small ints 32, all others 64. */
INLINE size_t lane_bytes(form f) {
    const size_t bytes = bytes_of(f);
    if (f.how >= BYTES)
        return bytes;
    if (f.how == TOTAL && f.sum == GP_SUM && bytes == 1)
        return 2;
    return has_halves(f) || (f.how == TOTAL && bytes <= (f.sum == GP_SQUARES ? 1u : 2u)) ? 4 : 8;
}

/* How many vectors of lanes a vector of elements becomes. */
INLINE size_t pieces_of(form f) {
    return lane_bytes(f) / bytes_of(f);
}

INLINE size_t parts_of(form f) {
    if (f.how == BOUNDS && f.sum == GP_MOMENTS)
        return 4;
    return f.how == PAIRS ? 3 : f.how == BOUNDS || f.how == BEST || has_high(f) || has_halves(f) ? 2 : 1;
}

/* x in every lane of so many bytes, of one. */
INLINE vec all_of(size_t bytes, int64_t x) {
    return bytes == 1   ? all((int32_t)((uint32_t)(uint8_t)x * 0x01010101u))
           : bytes == 2 ? all((int32_t)((uint32_t)(uint16_t)x * 0x00010001u))
           : bytes == 4 ? all((int32_t)x)
                        : (vec)all_64(x);
}

/* Floats as doubles. Of bf16, which are upper halves of floats, those at even places come before those at odd ones.
 */
INLINE vec widened_floats(unsigned type, vec x, size_t piece) {
    fvec y = (fvec)x;
    if (type == GP_F64)
        return x;
    if (type == GP_F16)
        y = piece < 2 ? lower_halves(x) : upper_halves(x);
    if (type == GP_BF16)
        y = piece < 2 ? (fvec)((lanes_32)x << 16) : (fvec)((lanes_32)x & 0xffff0000u);
    return piece % 2 == 0 ? (vec)widen_lower(y) : (vec)widen_upper(y);
}

/* Of ints lane k of a piece has element k * pieces + piece. */
INLINE vec widened(form f, vec x, size_t piece) {
    const size_t bits = 8 * bytes_of(f), lane = 8 * lane_bytes(f), up = lane - bits * (piece + 1), down = lane - bits;
    if (down == 0)
        return x;
    if (gp_type_is_float(f.type))
        return widened_floats(f.type, x, piece);
    if (lane == 16)
        return gp_type_is_signed(f.type) ? (vec)((signed_16)((lanes_16)x << up) >> down)
                                         : (vec)((lanes_16)x << up >> down);
    if (lane == 32)
        return gp_type_is_signed(f.type) ? (vec)((signed_32)((lanes_32)x << up) >> down)
                                         : (vec)((lanes_32)x << up >> down);
    return gp_type_is_signed(f.type) ? (vec)((signed_64)((lanes_64)x << up) >> down)
                                     : (vec)((lanes_64)x << up >> down);
}

/* Elements of 64 bits, whose squares are two doubles each. */
INLINE bool has_wide_squares(form f) {
    return f.how == PAIRS && f.sum == GP_SQUARES && bytes_of(f) == 8;
}

/* What is added of lanes of elements, and of those of a partner. Products of floats of up to 32 bits are exact. */
INLINE vec to_add(form f, vec x, vec y) {
    if (has_wide_squares(f))
        return x;
    const bool narrow = lane_bytes(f) == 4;
    if (f.sum == GP_DOT)
        return (vec)((reals)x * (reals)y);
    if (f.sum == GP_SQUARES && gp_type_is_float(f.type))
        return (vec)((reals)x * (reals)x);
    if (f.sum == GP_SQUARES)
        return narrow ? multiply_32(x, x) : (vec)((lanes_64)x * (lanes_64)x);
    if (f.sum == COUNTED)
        return narrow ? (vec)(0 - ((signed_32)x != 0)) : (vec)(0 - ((signed_64)x != 0));
    if (f.sum == GP_ABS) {
        const vec sign = narrow ? (vec)((signed_32)x >> 31) : (vec)((signed_64)x >> 63);
        return narrow ? subtract_32(x ^ sign, sign) : (vec)subtract_64((x ^ sign), sign);
    }
    return x;
}

/* Elements as signed ints that compare as they do; floats by their bits: -0 below +0, NaNs at the ends. */
INLINE vec key_of(form f, const masks *m, vec x) {
    const size_t bytes = bytes_of(f);
    if (bytes == 1) /* no floats */
        return x ^ m->flip;
    const vec sign = bytes == 2   ? (vec)((signed_16)x >> 15)
                     : bytes == 4 ? (vec)((signed_32)x >> 31)
                                  : (vec)((signed_64)x >> 63);
    return x ^ (sign & m->mask) ^ m->flip;
}

INLINE partial begin(form f) {
    const vec first = f.how == BEST  ? all_of(bytes_of(f), INT64_MIN >> (64 - 8 * bytes_of(f)))
                      : f.how == AND ? all(-1)
                                     : all(0);
    return (partial){{first, first, first, first}};
}

/* An f16 is a whole number of 2^-24 below 2^40 of them: 2^13 of these have a sum in 53 bits, whose bounds are one. */
INLINE bool bounds_are_one(form f) {
    return f.type == GP_F16 && f.sum == GP_SUM;
}

/* a + b, and what rounding it lost. */
INLINE reals added(reals a, reals b, reals *lost) {
    const reals sum = a + b, back = sum - a;
    *lost = (a - (sum - back)) + (b - back);
    return sum;
}

INLINE reals magnitudes_of(reals x) {
    return (reals)((lanes_64)x & (uint64_t)INT64_MAX);
}

/* To what roundings lost. */
INLINE void add_error(partial *t, reals x) {
    reals rest;
    t->of[1] = (vec)added((reals)t->of[1], x, &rest);
    t->of[2] = (vec)((reals)t->of[2] + magnitudes_of(rest));
}

INLINE void add_pair(partial *t, reals x) {
    reals error;
    t->of[0] = (vec)added((reals)t->of[0], x, &error);
    add_error(t, error);
}

/* Ints of 64 bits as doubles, which leave less than 2^11 of them; doubles as they are. */
INLINE reals as_reals(form f, vec x, reals *less) {
    *less = (reals)all(0);
    if (gp_type_is_float(f.type))
        return (reals)x;
    const vec high = gp_type_is_signed(f.type) ? (vec)((signed_64)x >> 32) : (vec)upper_half(x);
    const vec low = x & (vec)all_64(UINT32_MAX);
    return added((reals)doubles_of((wide)high) * 0x1p32, (reals)doubles_of((wide)low), less);
}

/*
 * (x + less)^2: x x and what rounding that lost (T. J. Dekker, Numerische Mathematik 18, 1971), exactly, and what is
 * left rounded, with more than that may lose. What is so small that the first is not exact loses everything.
 */
INLINE void add_square(partial *t, reals x, reals less) {
    const reals product = x * x, shifted = x * (0x1p27 + 1), high = shifted - (shifted - x), low = x - high;
    const reals error = ((high * high - product) + 2 * high * low) + low * low, left = (2 * x + less) * less;
    const vec tiny = (vec)(x != 0) & (vec)(product < 0x1p-900);
    add_pair(t, product);
    add_error(t, error);
    add_error(t, left);
    t->of[2] =
        (vec)((reals)t->of[2] + magnitudes_of(left) * 0x1p-50 + (reals)(tiny & (vec)all_64(0x7ff0000000000000)));
}

/* Lanes of a vector, widened, or keys. BOUNDS after round_sums_as(GP_ROUNDING_DOWN). */
INLINE void take(form f, partial *t, vec x) {
    if (has_halves(f)) {
        x = kept(x);
        t->of[0] = add_32(t->of[0], x);
        t->of[1] = add_32(t->of[1], gp_type_is_signed(f.type) ? (vec)((signed_32)x >> 16) : (vec)((lanes_32)x >> 16));
    } else if (has_high(f)) {
        const bool with_sign = gp_type_is_signed(f.type) && f.sum == GP_SUM;
        t->of[0] = (vec)add_64(t->of[0], x & (vec)all_64(UINT32_MAX));
        t->of[1] = (vec)add_64(t->of[1], with_sign ? (vec)((signed_64)x >> 32) : (vec)upper_half(x));
    } else if (f.how == TOTAL) {
        t->of[0] = lane_bytes(f) == 2   ? (vec)((lanes_16)t->of[0] + (lanes_16)x)
                   : lane_bytes(f) == 4 ? add_32(t->of[0], x)
                                        : (vec)add_64(t->of[0], x);
    } else if (f.how == BOUNDS) {
        const reals y[2] = {(reals)x, (reals)x * (reals)x};
        for (size_t i = 0; i < parts_of(f); i += 2) {
            t->of[i] = (vec)sum_down((reals)t->of[i], y[i / 2]);
            if (!bounds_are_one(f))
                t->of[i + 1] = (vec)less_down((reals)t->of[i + 1], y[i / 2]);
        }
    } else if (has_wide_squares(f)) {
        reals less;
        const reals whole = as_reals(f, x, &less);
        add_square(t, whole, less);
    } else if (f.how == PAIRS) {
        add_pair(t, (reals)x);
    } else if (f.how == BYTES) {
        t->of[0] = (vec)add_64(t->of[0], add_bytes(x));
    } else if (f.how == BEST) {
        t->of[0] = max_signed(bytes_of(f), t->of[0], x);
        t->of[1] = max_signed(bytes_of(f), t->of[1], ~x);
    } else {
        t->of[0] = f.how == AND ? t->of[0] & x : f.how == OR ? t->of[0] | x : t->of[0] ^ x;
    }
}

/* Elements as they are widened, or added as bytes without a sign, or their keys. */
INLINE vec masked(form f, const masks *m, vec x) {
    if (f.how == BEST)
        return key_of(f, m, x);
    if (f.how == BYTES)
        return x ^ m->flip;
    const bool real = gp_type_is_float(f.type) && f.how != TOTAL;
    return f.sum == COUNTED || (real && f.sum == GP_SUM) ? (vec)(x & m->mask) : x;
}

/* Elements of one output. */
INLINE void take_all(form f, const masks *m, partial *t, vec x, vec y) {
    x = masked(f, m, x);
    if (f.how >= BYTES)
        take(f, t, x);
    else
        for (size_t piece = 0; piece < pieces_of(f); piece++)
            take(f, t, to_add(f, widened(f, x, piece), widened(f, y, piece)));
}

/* Both, of sums in 64 bits. */
INLINE partial joined_parts(form f, partial s, partial t) {
    if (f.how == TOTAL || f.how == BYTES) {
        for (size_t i = 0; i <= has_high(f); i++)
            s.of[i] = (vec)add_64(s.of[i], t.of[i]);
    } else if (f.how == BOUNDS) {
        for (size_t i = 0; i < parts_of(f); i++)
            s.of[i] = (vec)sum_down((reals)s.of[i], (reals)t.of[i]);
    } else if (f.how == PAIRS) {
        add_pair(&s, (reals)t.of[0]);
        add_pair(&s, (reals)t.of[1]);
        s.of[2] = (vec)((reals)s.of[2] + (reals)t.of[2]);
    } else if (f.how == BEST) {
        for (size_t i = 0; i < 2; i++)
            s.of[i] = max_signed(bytes_of(f), s.of[i], t.of[i]);
    } else {
        take(f, &s, t.of[0]);
    }
    return s;
}
