/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread gathers of elements that a mask leaves, and of pairs; any sums of integers. */
#pragma once

#include "lane_sums.cuh"

/* Whether elements of `with` are not zero: -0 is. */
struct partner_mask {
    uint64_t kept;
    __device__ explicit partner_mask(const gp_pass &pass)
        : kept(gp_type_is_float(pass.with_type) ? ~((uint64_t)1 << (8 * bytes_of(pass.with_type) - 1))
                                                : ~(uint64_t)0) {}
    __device__ bool covers(uint64_t partner) const {
        return (partner & kept) != 0;
    }
};

/* LANE's elements where the partner is not zero. */
template <class LANE> struct lane_masked : LANE {
    typedef lane_masked one_t;
    static const bool PAIRS = true;
    static const int PAIRS_AT_ONCE = LANE::BYTES == 8 ? 4 : 8, PAIRS_THEN = LANE::BYTES == 8 ? 1 : 4;
    partner_mask mask;
    __device__ explicit lane_masked(const reduce_arguments &a) : LANE(a), mask(a.pass) {}
    __device__ __forceinline__ void take_pair(typename LANE::state &s, raw_of<LANE::BYTES> raw, uint64_t partner,
                                              uint32_t id) const {
        if (mask.covers(partner))
            LANE::take(s, raw, id);
    }
};

/*
 * Any sums of integers of 8 bytes, of those that a mask leaves, or of pairs. What a mask hides is counted in the
 * upper half of the count. Products have the squares' words, and a sign.
 */
struct lane_integers : lane_base<integers_total, lane_integers, 8> {
    typedef uint64_t raw_t;
    static const bool HAS_NOTHING = true, PAIRS = true;
    static const int QUICKS = 2;
    uint32_t wants;
    bool has_sign, where;
    double n, inverse; /* to nearest */
    unsigned quick_type;
    partner_mask mask;
    __device__ explicit lane_integers(const reduce_arguments &a)
        : wants(a.pass.wants), has_sign(gp_type_is_signed(a.pass.type)), where(a.pass.where), n(a.n),
          inverse(a.inverse), quick_type(a.pass.result[0].type), mask(a.pass) {}
    __device__ __forceinline__ uint64_t apart(uint64_t x, uint64_t y) const {
        return (has_sign ? (int64_t)x > (int64_t)y : x > y) ? x - y : y - x;
    }
    __device__ __forceinline__ void take(integers_total &s, uint64_t x, uint32_t) const {
        if (wants == GP_WANT_SUM)
            integers_take(s, x, GP_WANT_SUM, has_sign);
        else if (wants == (GP_WANT_SUM | GP_WANT_SQUARES))
            integers_take(s, x, GP_WANT_SUM | GP_WANT_SQUARES, has_sign);
        else
            integers_take(s, x, wants, has_sign);
    }
    /* For a sum that s64 holds, and for a mean, variance or deviation whose elements' sum a double holds. */
    __device__ uint32_t quick_bytes(const gp_pass &pass) const {
        if (has_quick_spread(pass))
            return 4;
        return where || pass.results > 1 || pass.result[0].op != GP_REDUCE_SUM ? 0 : whole_bytes(quick_type);
    }
    __device__ __forceinline__ bool quick(const integers_total &s, unsigned op, uint64_t *raw) const {
        const int64_t sum = (int64_t)s.sum[0];
        const bool fits = s.sum[1] == (uint64_t)(sum >> 63);
        if (op != GP_REDUCE_SUM)
            return quick_spread((double)sum, __fma_rn((double)s.square[1], 0x1p64, (double)s.square[0]), n, inverse,
                                op, raw) &&
                   fits && (uint64_t)(sum + ((int64_t)1 << 53)) <= (uint64_t)1 << 54 && s.square[2] == 0;
        *raw = whole_raw(sum, quick_type);
        return fits && !(quick_type == GP_U64 && sum < 0);
    }
    __device__ __forceinline__ void take_pair(integers_total &s, uint64_t x, uint64_t y, uint32_t) const {
        if (where && !mask.covers(y)) {
            s.count += (uint64_t)1 << 32;
        } else if (where) {
            integers_take(s, x, wants, has_sign);
        } else {
            if (wants & GP_WANT_DOT) {
                const uint64_t high = has_sign ? (uint64_t)__mul64hi((int64_t)x, (int64_t)y) : __umul64hi(x, y);
                add_words(s.square, x * y, high, has_sign ? (uint64_t)((int64_t)high >> 63) : 0);
            }
            integers_take(s, apart(x, y), wants, false);
        }
    }
};

template <int WIDTH> struct ints_state {
    halves_sum sum, square; /* of up to 2 bytes: in the lower halves */
    uint64_t abs;
    uint32_t count, hidden; /* hidden: by a mask */
    uint32_t most, unused;
    static __device__ ints_state none() {
        return {{0, 0}, {0, 0}, 0, 0, 0, 0, 0};
    }
    __device__ void join(const ints_state &other) {
        sum.low += other.sum.low;
        square.low += other.square.low;
        if (WIDTH == 4) {
            sum.high += other.sum.high;
            square.high += other.square.high;
        }
        abs += other.abs;
        count += other.count;
        hidden += other.hidden;
        most = __vmaxu2(most, other.most);
    }
};

/*
 * Any sums of integers of up to 4 bytes, of those that a mask leaves, or of pairs, one at a time or as many as fill 4
 * bytes; of 1 and 2 bytes the greatest difference too. Elements that a mask hides are 0, and so is what a single
 * element leaves of a word.
 */
template <int WIDTH, int UNIT = WIDTH> struct lane_ints : lane_base<ints_state<WIDTH>, lane_ints<WIDTH>> {
    typedef ints_state<WIDTH> state;
    static const int BYTES = UNIT, PACKED = UNIT / WIDTH;
    static const bool HAS_NOTHING = true, PAIRS = true, MASKS = UNIT == WIDTH;
    static const int AT_ONCE = 8, PAIRS_AT_ONCE = UNIT == 4 ? 8 : 4, PAIRS_THEN = UNIT == 4 ? 4 : 1, SIDE_BY_SIDE = 2,
                     QUICKS = WIDTH == 4 ? 2 : 1;
    int_words<WIDTH> words;
    uint32_t wants, bias, quick_type;
    bool has_sign, where;
    double n, inverse; /* to nearest */
    partner_mask mask;
    __device__ explicit lane_ints(const reduce_arguments &a)
        : words{gp_type_is_signed(a.pass.type) && a.pass.kind == GP_PASS_MOMENTS}, wants(a.pass.wants),
          bias(!gp_type_is_signed(a.pass.type) ? 0
               : WIDTH == 1                    ? 0x80808080
               : WIDTH == 2                    ? 0x80008000
                                               : 0x80000000),
          quick_type(a.pass.result[0].type), has_sign(gp_type_is_signed(a.pass.type)), where(a.pass.where), n(a.n),
          inverse(a.inverse), mask(a.pass) {}
    __device__ __forceinline__ void take(state &s, uint32_t x, uint32_t) const {
        if (WIDTH == 4 && (wants | GP_WANT_SUM) == (GP_WANT_SUM | GP_WANT_SQUARES)) {
            s.sum.low += (uint64_t)words.sum_of(x);
            s.square.add(words.square_of(x), false);
            return;
        }
        if (wants & GP_WANT_SUM)
            s.sum.low += (uint64_t)words.sum_of(x);
        if (wants & GP_WANT_ABS)
            s.abs += words.abs_of(x);
        if (wants & GP_WANT_SQUARES) {
            if (WIDTH == 4)
                s.square.add(words.square_of(x), false);
            else
                s.square.low += words.square_of(x);
        }
        if (wants & GP_WANT_COUNT)
            s.count += words.count_of(x);
    }
    __device__ __forceinline__ void add_products(state &s, uint32_t x, uint32_t y) const {
        if (WIDTH == 4)
            s.sum.add(has_sign ? (uint64_t)((int64_t)(int32_t)x * (int32_t)y) : (uint64_t)x * y, has_sign);
        else if (WIDTH == 1)
            s.sum.low += has_sign ? (uint64_t)__dp4a((int)x, (int)y, 0) : __dp4a(x, y, 0u);
        else if (has_sign)
            s.sum.low += (uint64_t)((int64_t)((int)(int16_t)x * (int16_t)y) + ((int)x >> 16) * ((int)y >> 16));
        else
            s.sum.low += (uint64_t)((x & 0xffff) * (y & 0xffff)) + (x >> 16) * (y >> 16);
    }
    __device__ __forceinline__ uint32_t apart(uint32_t x, uint32_t y) const {
        x ^= bias;
        y ^= bias;
        return WIDTH == 1 ? __vabsdiffu4(x, y) : WIDTH == 2 ? __vmaxu2(x, y) - __vminu2(x, y) : max(x, y) - min(x, y);
    }
    /* Partners are as wide as the elements, but for masks of single elements. */
    __device__ __forceinline__ void take_pair(state &s, uint32_t x, uint64_t partner, uint32_t) const {
        if (where) {
            uint32_t shown = mask.covers(partner) ? ~0u : 0, hides = shown + 1;
            if (PACKED > 1) {
                const uint32_t marks = words.marks_of((uint32_t)partner & (mask.kept >> 15 & 1 ? ~0u : 0x7fff7fff));
                shown = (marks >> (8 * WIDTH - 1)) * (WIDTH == 1 ? 0xff : 0xffff);
                hides = PACKED - __popc(marks);
            }
            s.hidden += hides;
            take(s, x & shown, 0);
            return;
        }
        const uint32_t y = (uint32_t)partner, between = apart(x, y);
        if (wants & GP_WANT_DOT)
            add_products(s, x, y);
        if (WIDTH < 4 && (wants & GP_WANT_MAX_ABS))
            s.most =
                __vmaxu2(s.most, WIDTH == 2 ? between : __vmaxu2(between & 0x00ff00ff, between >> 8 & 0x00ff00ff));
        take(s, between, 0);
    }
    /*
     * For one total below 2^63: of elements of 4 bytes not of products, and of squares only where doubles hold the
     * sums of their halves. Of such elements also for a norm, means, variances and deviations.
     */
    __device__ uint32_t quick_bytes(const gp_pass &pass) const {
        if (WIDTH == 4 && has_quick_spread(pass))
            return 4;
        const unsigned op = pass.result[0].op, type = pass.result[0].type;
        const bool one = (wants & (wants - 1)) == 0 && pass.results == 1, long_one = pass.length > 1 << 21;
        const bool norm = WIDTH == 4 && op == GP_REDUCE_NORM && type == GP_F32;
        if (!one || (op >= GP_REDUCE_NORM && op < GP_REDUCE_DOT && !norm) || op == GP_REDUCE_MAX_ABS_DIFF ||
            (type == GP_U64 && (wants & (GP_WANT_SUM | GP_WANT_DOT))) ||
            (WIDTH == 4 && ((wants & GP_WANT_DOT) || ((wants & GP_WANT_SQUARES) && long_one))))
            return 0;
        return whole_bytes(type);
    }
    __device__ __forceinline__ bool quick(const state &s, unsigned op, uint64_t *raw) const {
        const double square = __fma_rn((double)s.square.high, 0x1p32, (double)s.square.low);
        if (WIDTH == 4 && is_spread(op))
            return quick_spread((double)(int64_t)s.sum.low, square, n, inverse, op, raw);
        if (WIDTH == 4 && (wants & GP_WANT_SQUARES) && quick_type == GP_F32) {
            const double off = square < 0x1p53 ? 0 : 0x1p-52 * square;
            return settle_squares({square - off, square + off}, op, raw);
        }
        const uint64_t whole = wants & GP_WANT_COUNT     ? s.count
                               : wants & GP_WANT_ABS     ? s.abs
                               : wants & GP_WANT_SQUARES ? s.square.low + (s.square.high << 32)
                                                         : s.sum.low;
        *raw = whole_raw((int64_t)whole, quick_type);
        if (WIDTH == 4 && (wants & GP_WANT_SQUARES))
            return square < 0x1p63;
        return true;
    }
    __device__ integers_total total(const state &s) const {
        integers_total t = {{s.sum.low, 0}, {s.abs, 0}, {s.square.low, 0, 0}, s.count | (uint64_t)s.hidden << 32};
        t.sum[1] = (uint64_t)((int64_t)t.sum[0] >> 63);
        if (WIDTH == 4) {
            uint64_t square[2];
            s.square.words(square);
            t.square[0] = square[0];
            t.square[1] = square[1];
            if (wants & GP_WANT_DOT)
                s.sum.words(t.sum);
        }
        if (wants & GP_WANT_MAX_ABS)
            t.abs[0] = max(s.most >> 16, s.most & 0xffff);
        return t;
    }
};

/* One number of each byte, or of each pair of bytes: whether it is none or they differ, how much, or that squared. */
struct lane_term : lane_ints<1> {
    typedef squares_state state, joined;
    typedef lane_term one_t;
    static const bool MASKS = false;
    __device__ explicit lane_term(const reduce_arguments &a) : lane_ints<1>(a) {}
    __device__ __forceinline__ uint32_t terms_of(uint32_t x) const {
        return wants & GP_WANT_COUNT ? words.marks_of(x) >> 7 : words.has_sign ? __vabs4(x) : x;
    }
    __device__ void take(state &s, uint32_t raw, uint32_t) const {
        const uint32_t term = terms_of(raw) & 0xff;
        s.join({term, term * term});
    }
    static __device__ ints_state<1> all_of(const state &s) {
        return {{0, 0}, {s.square, 0}, (uint64_t)s.sum, (uint32_t)s.sum, 0, 0, 0};
    }
    __device__ __forceinline__ bool quick(const state &s, unsigned op, uint64_t *raw) const {
        return lane_ints<1>::quick(all_of(s), op, raw);
    }
    __device__ integers_total total(const state &s) const {
        return lane_ints<1>::total(all_of(s));
    }
};

/* Of 4 neighbouring columns. */
struct lane_terms : lane_term {
    typedef lane_square_bytes::state state;
    typedef lane_square_bytes::joined joined;
    static const int BYTES = 4, PACKED = 1, OUTPUTS = 4;
    static const bool HAS_NOTHING = false;
    __device__ explicit lane_terms(const reduce_arguments &a) : lane_term(a) {}
    static __device__ joined join_of(const state &s) {
        return lane_square_bytes::join_of(s);
    }
    static __device__ const squares_state &part_of(const joined &s, int i) {
        return s.of[i];
    }
    __device__ __forceinline__ void take(state &s, uint32_t raw, uint32_t) const {
        lane_square_bytes::add(s, terms_of(raw), false);
    }
    __device__ __forceinline__ void take_pair(state &s, uint32_t raw, uint64_t partner, uint32_t) const {
        lane_square_bytes::add(s, terms_of(apart(raw, (uint32_t)partner)), wants & GP_WANT_SQUARES);
    }
};
