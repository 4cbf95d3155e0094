/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread gathers of floats of any type, of those that a mask leaves, or of pairs: sums and sums of squares,
 * each a double with bounds of what its roundings lost. Slower than forms of one type, and it proves nearly all
 * results, of doubles too. And the greatest difference of pairs of any type.
 */
#pragma once

#include "lane_moments.cuh"
#include "lane_pairs.cuh"

/* linear: of elements, their magnitudes, products with partners, or magnitudes of differences from these. With a
   pivot, of differences from it. Counts are below 2^30; bits of what is not finite stand above them. */
struct twofold_state {
    twofold linear, square;
    double pivot;
    uint32_t nonzero, skipped;
    static const uint32_t PLUS = 1u << 31, MINUS = 1u << 30; /* of nonzero: infinities */
    static const uint32_t NONE = 1u << 31;                   /* of skipped: no number */
    static __device__ twofold_state none() {
        return {twofold::none(), twofold::none(), 0, 0, 0};
    }
    __device__ void join(const twofold_state &other) {
        const uint32_t infinite = (nonzero | other.nonzero) & (PLUS | MINUS), nan = (skipped | other.skipped) & NONE;
        linear.join(other.linear);
        square.join(other.square);
        nonzero = (((nonzero & ~(PLUS | MINUS)) + other.nonzero) & ~(PLUS | MINUS)) | infinite;
        skipped = (((skipped & ~NONE) + other.skipped) & ~NONE) | nan;
    }
};

/* x times what is between the bounds. */
__device__ __forceinline__ bounds scaled(double x, const bounds &b) {
    return {__dmul_rd(x, x < 0 ? b.up : b.down), __dmul_ru(x, x < 0 ? b.down : b.up)};
}

template <int WIDTH> __device__ __forceinline__ double real_or_double(raw_of<WIDTH> raw, bool is_bf16) {
    return WIDTH == 8             ? __longlong_as_double((long long)raw)
           : real_of < WIDTH == 8 ? 4
                                  : WIDTH > ((uint32_t)raw, is_bf16);
}

#define TINY 0x1p-960 /* products below may lose bits that no double holds */

/* PAIRED: with partners or none. */
template <int WIDTH, bool PAIRED> struct lane_twofold : lane_base<twofold_state, lane_twofold<WIDTH, PAIRED>, WIDTH> {
    typedef raw_of<WIDTH> raw_t;
    static const int SIDE_BY_SIDE = 2, AT_ONCE = 4;
    static const bool PAIRS = PAIRED;
    raw_t kept;
    bool is_bf16, skip_nan, where, of_pairs, dots, abs, sums, squares, pivots;
    partner_mask mask;

    __device__ explicit lane_twofold(const reduce_arguments &a)
        : kept(a.pass.kind == GP_PASS_MOMENTS && (a.pass.wants & GP_WANT_ABS) ? ~((raw_t)1 << (8 * WIDTH - 1))
                                                                              : ~(raw_t)0),
          is_bf16(a.pass.type == GP_BF16), skip_nan(a.pass.skip_nan), where(a.pass.where),
          of_pairs(PAIRED && a.pass.kind == GP_PASS_PAIR), dots(a.pass.wants & GP_WANT_DOT),
          abs(of_pairs && (a.pass.wants & GP_WANT_ABS)), sums(a.pass.wants & (GP_WANT_SUM | GP_WANT_ABS)),
          squares(a.pass.wants & GP_WANT_SQUARES), pivots(has_pivots(a.pass)), mask(a.pass) {}
    __device__ __forceinline__ double value(raw_t raw) const {
        return real_or_double<WIDTH>(raw, is_bf16);
    }
    /* The pivot of an output is its first element. */
    __device__ void begin(const unsigned char *first, twofold_state &s, uint32_t = 0, uint32_t = 1) const {
        const double x = pivots ? value(load_unit<WIDTH>(first, WIDTH) & kept) : 0;
        s.pivot = x - x == 0 ? x : 0;
    }
    /* p, which is x y rounded, and what that lost: by __dmul_rn(), as the compiler would fuse the product with sums.
     */
    static __device__ __forceinline__ void add_product(twofold &t, double x, double y, double p) {
        t.add(p);
        t.rest.add(__fma_rn(x, y, -p));
        if (fabs(p) < TINY && x != 0 && y != 0) {
            t.rest.down = __dsub_rd(t.rest.down, 0x1p-1073);
            t.rest.up = __dadd_ru(t.rest.up, 0x1p-1073);
        }
    }
    /* (d + e)^2, of which e is what d lost. */
    static __device__ __forceinline__ void add_square(twofold &t, double d, double e) {
        add_product(t, d, d, __dmul_rn(d, d));
        if (e != 0) {
            t.rest.down = __dadd_rd(t.rest.down, __dmul_rd(2 * d, e));
            t.rest.up = __dadd_ru(t.rest.up, __fma_ru(e, e, __dmul_ru(2 * d, e)));
        }
    }
    /* What is not finite, as it goes to the linear sum. */
    static __device__ __forceinline__ void note(twofold_state &s, double x) {
        s.nonzero |= x > 0 ? s.PLUS : x < 0 ? s.MINUS : 0;
        s.skipped |= x != x ? s.NONE : 0;
    }
    __device__ __forceinline__ void add(twofold_state &s, double x, double y) const {
        if (skip_nan && (x != x || (of_pairs && y != y))) {
            s.skipped++;
            return;
        }
        s.nonzero += of_pairs ? x != y : x != 0;
        if (x - x != 0 || y - y != 0) {
            note(s, !of_pairs ? x : dots ? x * y : fabs(x - y));
            return;
        }
        if (of_pairs && dots) {
            add_product(s.linear, x, y, __dmul_rn(x, y));
            return;
        }
        double d = x, e = 0;
        if (of_pairs || pivots) {
            d = x - y;
            const double back = d - x;
            e = (x - (d - back)) - (y + back);
        }
        if (sums || pivots) {
            s.linear.add(abs ? fabs(d) : d);
            s.linear.rest.add(abs && d < 0 ? -e : e);
        }
        if (squares)
            add_square(s.square, d, e);
    }
    __device__ __forceinline__ void take(twofold_state &s, raw_t raw, uint32_t) const {
        add(s, value(raw & kept), s.pivot);
    }
    __device__ __forceinline__ void take_pair(twofold_state &s, raw_t raw, uint64_t partner, uint32_t) const {
        if (where && !mask.covers(partner))
            s.skipped++;
        else
            add(s, value(raw & kept), where ? s.pivot : value((raw_t)partner));
    }
};

/* Q - S^2 / n. */
static __device__ __noinline__ twofold spread_of(const twofold &s, const twofold &q, double n) {
    const double x = __dmul_rn(s.sum, s.sum), lost = __fma_rn(s.sum, s.sum, -x), over = __ddiv_rn(x, n),
                 left = __fma_rn(-over, n, x);
    const bounds cross = scaled(2 * s.sum, s.rest);
    const double most = fmax(fabs(s.rest.down), fabs(s.rest.up));
    bounds less = {__dadd_rd(__dadd_rd(left, lost), cross.down),
                   __dadd_ru(__dadd_ru(left, lost), __fma_ru(most, most, cross.up))};
    less = less.over(n);
    twofold t = q;
    t.rest = {__dsub_rd(q.rest.down, less.up), __dsub_ru(q.rest.up, less.down)};
    t.add(-over);
    if (s.sum != 0 && x < TINY)
        t.sum = NAN; /* nothing is proved */
    return t;
}

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const twofold_state &t,
                                uint64_t *raw) {
    const uint64_t n = pass.length - (t.skipped & ~t.NONE);
    const bool sample = op == GP_REDUCE_VARIANCE_SAMPLE || op == GP_REDUCE_STDDEV_SAMPLE,
               variance = op >= GP_REDUCE_VARIANCE && op <= GP_REDUCE_STDDEV_SAMPLE,
               squares = op == GP_REDUCE_NORM || op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_SUM_SQUARE_DIFF;
    const uint32_t infinite = t.nonzero & (t.PLUS | t.MINUS);
    *raw = t.nonzero & ~(t.PLUS | t.MINUS);
    if (op == GP_REDUCE_COUNT || op == GP_REDUCE_COUNT_DIFF)
        return true;
    if ((op == GP_REDUCE_MEAN && n == 0) || (variance && n <= sample))
        return settle({NAN, NAN}, type, raw);
    if (infinite != 0 || t.skipped >= t.NONE) {
        const bool nan = t.skipped >= t.NONE || variance || (!squares && infinite == (t.PLUS | t.MINUS));
        const double x = nan ? NAN : squares || infinite == t.PLUS ? INFINITY : -INFINITY;
        return settle({x, x}, type, raw);
    }
    if (squares)
        return settle_twofold(t.square, 1, op == GP_REDUCE_NORM, type, raw);
    if (variance)
        return settle_twofold(spread_of(t.linear, t.square, (double)n), (double)(n - sample),
                              op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE, type, raw);
    twofold sum = t.linear;
    if (t.pivot != 0) {
        const double more = __dmul_rn((double)n, t.pivot);
        sum.rest.add(__fma_rn((double)n, t.pivot, -more));
        sum.add(more);
        if (fabs(more) < TINY)
            return false;
    }
    return settle_twofold(sum, op == GP_REDUCE_MEAN ? (double)n : 1, false, type, raw);
}

/* A sum of numbers that doubles hold, and how many do not count. */
struct counted_state {
    sum_and_rest sum;
    uint64_t left_out;
    static __device__ counted_state none() {
        return {sum_and_rest::none(), 0};
    }
    __device__ void join(const counted_state &other) {
        sum.join(other.sum);
        left_out += other.left_out;
    }
};

/* One sum of floats that are no NaN, of those that a mask leaves, or of magnitudes of differences. */
template <int WIDTH> struct lane_counted : lane_base<counted_state, lane_counted<WIDTH>, WIDTH> {
    typedef raw_of<WIDTH> raw_t;
    static const int SIDE_BY_SIDE = 2, AT_ONCE = 4;
    static const bool PAIRS = true;
    raw_t kept;
    bool is_bf16, skip_nan, where;
    partner_mask mask;
    __device__ explicit lane_counted(const reduce_arguments &a)
        : kept(a.pass.kind == GP_PASS_MOMENTS && (a.pass.wants & GP_WANT_ABS) ? ~((raw_t)1 << (8 * WIDTH - 1))
                                                                              : ~(raw_t)0),
          is_bf16(a.pass.type == GP_BF16), skip_nan(a.pass.skip_nan), where(a.pass.where), mask(a.pass) {}
    __device__ __forceinline__ void take(counted_state &s, raw_t raw, uint32_t) const {
        const double x = real_or_double<WIDTH>(raw & kept, is_bf16);
        if (skip_nan && x != x)
            s.left_out++;
        else
            lane_doubles<8>::add(s.sum, x);
    }
    __device__ __forceinline__ void take_pair(counted_state &s, raw_t raw, uint64_t partner, uint32_t) const {
        if (where && mask.covers(partner))
            return take(s, raw, 0);
        const double x = real_or_double<WIDTH>(raw, is_bf16), y = real_or_double<WIDTH>((raw_t)partner, is_bf16);
        if (where || (skip_nan && (x != x || y != y))) {
            s.left_out++;
            return;
        }
        const double d = x - y, back = d - x, lost = (x - (d - back)) - (y + back);
        lane_doubles<8>::add(s.sum, fabs(d));
        if (d - d == 0)
            s.sum.rest.add(d < 0 ? -lost : lost);
    }
};

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const counted_state &s,
                                uint64_t *raw) {
    const uint64_t n = op == GP_REDUCE_MEAN ? pass.length - s.left_out : 1;
    if (n == 0 || s.sum.special != 0)
        return settle(n == 0 ? bounds{NAN, NAN} : bounds{s.sum.special, s.sum.special}, type, raw);
    return settle_twofold(s.sum, (double)n, false, type, raw);
}

/* The greatest difference of two elements, which is rounded to their type: a number, or the bits of a double. */
struct apart_state {
    uint64_t most, nans;
    static __device__ apart_state none() {
        return {0, 0};
    }
    __device__ void join(const apart_state &other) {
        most = max(most, other.most);
        nans |= other.nans;
    }
};

/* Of integers of 4 and 8 bytes, and of floats. */
template <int WIDTH> struct lane_apart : lane_base<apart_state, lane_apart<WIDTH>, WIDTH> {
    typedef raw_of<WIDTH> raw_t;
    static const bool PAIRS = true, MASKS = false;
    static const int PAIRS_AT_ONCE = WIDTH == 8 ? 4 : 8, PAIRS_THEN = WIDTH == 8 ? 1 : 4;
    uint32_t type;
    bool skip_nan;
    lane_integers whole;
    __device__ explicit lane_apart(const reduce_arguments &a)
        : type(a.pass.type), skip_nan(a.pass.skip_nan), whole(a) {}
    __device__ __forceinline__ void take(apart_state &, raw_t, uint32_t) const {}
    __device__ __forceinline__ void take_pair(apart_state &s, raw_t raw, uint64_t partner, uint32_t) const {
        if (WIDTH >= 4 && !gp_type_is_float(type)) {
            const bool has_sign = WIDTH == 4 && gp_type_is_signed(type);
            const uint64_t x = has_sign ? (uint64_t)extend_sign(raw, WIDTH) : raw,
                           y = has_sign ? (uint64_t)extend_sign(partner, WIDTH) : partner;
            s.most = max(s.most, whole.apart(x, y));
            return;
        }
        const double x = real_or_double<WIDTH>(raw, type == GP_BF16),
                     y = real_or_double<WIDTH>((raw_t)partner, type == GP_BF16),
                     d = WIDTH == 8 ? x - y : (double)((float)x - (float)y);
        if (d == d)
            s.most = max(s.most, (uint64_t)__double_as_longlong(fabs(d)));
        else if (!skip_nan || (x == x && y == y))
            s.nans = 1;
    }
};

__device__ inline bool value_of(const gp_pass &pass, unsigned, unsigned type, const apart_state &s, uint64_t *raw) {
    const double d = s.nans ? NAN : __longlong_as_double((long long)s.most);
    *raw = s.most;
    return !gp_type_is_float(pass.type) || settle({d, d}, type, raw);
}
