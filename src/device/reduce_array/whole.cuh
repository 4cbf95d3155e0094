/* SPDX-License-Identifier: Apache-2.0 */
/* Results of sums of ints from their total, by whole numbers where few instructions do not do. */
#pragma once

#include "lane_floats.cuh"

/* x / by, of which `near` is off by less than 2^-50; exactly where that is it, as it may be halfway between floats.
 */
__device__ __forceinline__ bounds around(double x, double by, double near) {
    return __fma_rn(-near, by, x) == 0 ? bounds{near, near} : bounds{near * (1 - 0x1p-50), near * (1 + 0x1p-50)};
}

/* x, below 2^112, as a double and what it lacks; or x and less than 1 more, which is unknown. */
__device__ inline twofold twofold_of(unsigned __int128 x, bool more = false) {
    const double near = __fma_rn((double)(uint64_t)(x >> 64), 0x1p64, (double)(uint64_t)x);
    const int64_t rest = (int64_t)(x - (unsigned __int128)near);
    return {near, {__ll2double_rd(rest), __ll2double_ru(rest + more)}};
}

/* Adds a product of two words to word `at` and those above it, or subtracts it. */
__device__ __forceinline__ void add_product(uint64_t (&x)[4], int at, uint64_t a, uint64_t b, bool minus) {
    const uint64_t low = a * b, high = __umul64hi(a, b), sign = minus ? ~(uint64_t)0 : 0;
    uint64_t carry = minus;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i >= at) {
            const uint64_t more = (i == at ? low : i == at + 1 ? high : 0) ^ sign, sum = x[i] + more;
            x[i] = sum + carry;
            carry = (sum < more) | (x[i] < carry);
        }
}

/* n q - s^2, of all words. */
static __device__ __noinline__ twofold spread_of_words(const integers_total &t, uint64_t n, bool norm) {
    const uint64_t below = (uint64_t)((int64_t)t.sum[1] >> 63);
    uint64_t x[4] = {0, 0, 0, 0}, s[2] = {below & 1, 0};
    add_words(s, t.sum[0] ^ below, t.sum[1] ^ below, 0);
#pragma unroll
    for (int i = 0; i < 3; i++)
        add_product(x, i, t.square[i], norm ? 1 : n, false);
    for (int i = 0; i < 2 && !norm; i++)
        for (int k = 0; k < 2; k++)
            add_product(x, i + k, s[i], s[k], true);
    double scale = 1;
    bool more = false;
#pragma unroll 1
    for (; (x[3] | x[2] | x[1] >> 48) != 0; scale *= 65536) { /* 16 bits less */
        more |= (x[0] & 0xffff) != 0;
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[i] = x[i] >> 16 | (i < 3 ? x[i + (i < 3)] << 48 : 0);
    }
    const twofold near = twofold_of((unsigned __int128)x[1] << 64 | x[0], more);
    return {near.sum * scale, {near.rest.down * scale, near.rest.up * scale}};
}

/*
 * A norm, variance or deviation, by a double that is off by less than 2^-50 of it, or by one and what it lacks.
 * False: that leaves it open; never for floats of up to 4 bytes of up to 2^20 elements of up to 2 bytes, as such a
 * result is either halfway between two or as far from there as bounds tell apart.
 */
__device__ inline bool whole_spread(unsigned op, unsigned type, const integers_total &t, uint64_t n, uint64_t *raw) {
    typedef unsigned __int128 whole;
    const bool norm = op == GP_REDUCE_NORM, sample = op == GP_REDUCE_VARIANCE_SAMPLE || op == GP_REDUCE_STDDEV_SAMPLE,
               root = norm || op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE;
    const uint64_t below = (uint64_t)((int64_t)t.sum[0] >> 63), magnitude = (t.sum[0] ^ below) - below;
    if (!norm && n <= sample)
        return settle({NAN, NAN}, type, raw);
    const double m = norm ? 1 : (double)n, less = norm ? 1 : (double)(n - sample), by = m * less;
    if (t.square[2] == 0 && (norm || (n >> 32 == 0 && t.square[1] >> 32 == 0 && t.sum[1] == below))) {
        const whole q = (whole)t.square[1] << 64 | t.square[0], x = norm ? q : q * n - (whole)magnitude * magnitude;
        const double over = __fma_rn((double)(uint64_t)(x >> 64), 0x1p64, (double)(uint64_t)x);
        bounds b = {over / by * (1 - 0x1p-50), over / by * (1 + 0x1p-50)};
        if (x >> 53 == 0 && by < 0x1p53)
            b = around(over, by, over / by);
        if (root)
            b = {__dsqrt_rd(b.down), __dsqrt_ru(b.up)};
        if (type != GP_F64 && settle(b, type, raw))
            return true;
    }
    const twofold x = spread_of_words(t, n, norm);
    return by < 0x1p53 ? settle_twofold(x, by, root, type, raw) : settle_twofold(over(x, m), less, root, type, raw);
}

/* What a result is, or for a mean would be times n: a whole number of three words, the least first. */
struct whole_number {
    uint64_t word[3];
    bool has_sign;
    __device__ whole_number(const gp_pass &pass, unsigned op, const integers_total &t) {
        const bool dots = op == GP_REDUCE_DOT,
                   abs = op == GP_REDUCE_SUM_ABS || op == GP_REDUCE_SUM_ABS_DIFF || op == GP_REDUCE_MAX_ABS_DIFF;
        const bool counts = op == GP_REDUCE_COUNT || op == GP_REDUCE_COUNT_DIFF;
        const bool in_squares =
            op == GP_REDUCE_SUM_SQUARES || op == GP_REDUCE_SUM_SQUARE_DIFF || (dots && bytes_of(pass.type) == 8);
        has_sign = gp_type_is_signed(pass.type) && !counts && !abs && (!in_squares || dots);
        word[0] = in_squares ? t.square[0]
                  : !counts  ? abs ? t.abs[0] : t.sum[0]
                             : (pass.where ? (uint32_t)t.count : t.count);
        word[1] = in_squares ? t.square[1] : counts ? 0 : abs ? t.abs[1] : t.sum[1];
        word[2] = in_squares ? t.square[2] : has_sign ? (uint64_t)((int64_t)word[1] >> 63) : 0;
    }
    __device__ bool is_s64() const {
        const uint64_t sign = (uint64_t)((int64_t)word[0] >> 63);
        return word[1] == sign && word[2] == sign && (has_sign || sign == 0);
    }
    __device__ bool is_u64() const {
        return (word[1] | word[2]) == 0;
    }
    __device__ bool negative() const {
        return has_sign && (int64_t)word[2] < 0;
    }
    __device__ void negate() {
        uint64_t x[3] = {1, 0, 0}; /* ~word + 1 */
        add_words(x, ~word[0], ~word[1], ~word[2]);
#pragma unroll
        for (int i = 0; i < 3; i++)
            word[i] = x[i];
    }
};

/* Rounded once to a float: by its upper 64 bits, the last of which is set if there is more below them. */
__device__ inline uint64_t rounded(whole_number whole, unsigned type) {
    const bool negative = whole.negative();
    if (negative)
        whole.negate();
    const bool high = whole.word[2] != 0;
    const unsigned __int128 two = high ? (unsigned __int128)whole.word[2] << 64 | whole.word[1]
                                       : (unsigned __int128)whole.word[1] << 64 | whole.word[0];
    const int shift = two >> 64 != 0 ? 64 - __clzll((long long)(two >> 64)) : 0;
    const bool more = (uint64_t)((two >> shift) << shift) != (uint64_t)two || (high && whole.word[0] != 0);
    const uint64_t top = (uint64_t)(two >> shift) | more;
    const double scale = __hiloint2double((1023 + shift + (high ? 64 : 0)) << 20, 0) * (negative ? -1 : 1);
    if (type == GP_F64)
        return (uint64_t)__double_as_longlong(__ull2double_rn(top) * scale);
    const double cut = __ull2double_rz(top);
    return by_odd(cut * scale, (uint64_t)cut == top, type);
}

/* Any result that value_of() does not know at once. */
static __device__ __noinline__ bool whole_value(const gp_pass &pass, unsigned op, unsigned type,
                                                const integers_total &t, uint64_t *raw) {
    whole_number whole(pass, op, t);
    const uint64_t n = pass.length - (pass.where ? t.count >> 32 : 0);
    const bool negative = whole.negative();
    *raw = whole.word[0];
    if (!gp_type_is_float(type))
        return type == GP_S64 ? whole.is_s64() : whole.is_u64();
    if (op == GP_REDUCE_NORM || (op >= GP_REDUCE_VARIANCE && op <= GP_REDUCE_STDDEV_SAMPLE))
        return whole_spread(op, type, t, n, raw);
    if (op != GP_REDUCE_MEAN) {
        *raw = rounded(whole, type);
        return true;
    }
    if (n == 0)
        return settle({NAN, NAN}, type, raw);
    if (negative)
        whole.negate();
    twofold sum = twofold_of((unsigned __int128)whole.word[1] << 64 | whole.word[0]);
    if (negative)
        sum = {-sum.sum, {-sum.rest.up, -sum.rest.down}};
    return whole.word[1] >> 48 == 0 && settle_twofold(sum, (double)n, false, type, raw);
}

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const integers_total &t,
                                uint64_t *raw) {
    const whole_number whole(pass, op, t);
    const int64_t low = (int64_t)whole.word[0];
    const bool mean = op == GP_REDUCE_MEAN, spread = op >= GP_REDUCE_NORM && op < GP_REDUCE_DOT && !mean;
    const double real = (double)low;
    if (spread || pass.where || !whole.is_s64() || type == GP_F16 || type == GP_BF16 || (type == GP_U64 && low < 0) ||
        (mean && (llabs(low) >= (int64_t)1 << 53 || pass.length >= (uint64_t)1 << 53)))
        return whole_value(pass, op, type, t, raw);
    *raw = (uint64_t)low;
    if (mean)
        *raw = quotient(real, pass.length, type);
    else if (type == GP_F64)
        *raw = (uint64_t)__double_as_longlong(real);
    else if (type == GP_F32)
        *raw = __float_as_uint(__ll2float_rn(low));
    return true;
}
