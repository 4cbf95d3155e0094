/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread of reduce_many gathers of one output of floats: sums in doubles, added rounding down and up. Where
 * both round to one result, that is the exact sum's; all else is done again: single sums where they were found
 * (redo.cuh), one contiguous output by reduce_all, the rest by reduce_any.
 */
#pragma once

#include "lane.cuh"

/* An exact number is between them. */
struct bounds {
    double down, up;
    static __device__ bounds none() {
        return {0, 0};
    }
    __device__ void add(double x) {
        down = __dadd_rd(down, x);
        up = __dadd_ru(up, x);
    }
    __device__ void join(const bounds &other) {
        down = __dadd_rd(down, other.down);
        up = __dadd_ru(up, other.up);
    }
    __device__ bounds over(double n) const {
        return {__ddiv_rd(down, n), __ddiv_ru(up, n)};
    }
    /* Times a number above 0. */
    __device__ bounds times(const bounds &factor) const {
        return {__dmul_rd(down, down >= 0 ? factor.down : factor.up),
                __dmul_ru(up, up >= 0 ? factor.up : factor.down)};
    }
    __device__ bool exact() const {
        return down == up;
    }
};

/* sum / n: exactly where a double holds it, as a result that is halfway between two is proved by that alone. */
__device__ inline bounds quotient_of(const bounds &sum, double n, const bounds &inverse) {
    const double near = sum.down * inverse.down, q = __fma_rn(__fma_rn(-near, n, sum.down), inverse.down, near);
    return sum.exact() && __fma_rn(-q, n, sum.down) == 0 ? bounds{q, q} : sum.times(inverse);
}

/* sum / n, of finite numbers, rounded once to a float by way of the double that is odd if something was lost. */
__device__ __forceinline__ float quotient_of(double sum, double n, double inverse) {
    const double near = sum * inverse, q = __fma_rn(__fma_rn(-near, n, sum), inverse, near),
                 left = __fma_rn(-q, n, sum);
    long long bits = __double_as_longlong(q);
    if (left != 0)
        bits = (bits - ((left < 0) != (q < 0))) | 1;
    return __double2float_rn(__longlong_as_double(bits));
}

/* Whether a result is a square root. */
__device__ __forceinline__ bool is_root(unsigned op) {
    return op == GP_REDUCE_NORM || op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE;
}

/* The float that a sum of squares or a variance is, or its root; false: there may be two. */
__device__ __forceinline__ bool settle_squares(bounds b, unsigned op, uint64_t *raw) {
    if (is_root(op))
        b = {__dsqrt_rd(b.down), __dsqrt_ru(b.up)};
    const float least = __double2float_rn(b.down);
    *raw = __float_as_uint(least);
    return least == __double2float_rn(b.up);
}

/* Of other types than f32. */
static __device__ __noinline__ bool settle_other(bounds b, unsigned type, uint64_t *raw) {
    if (b.down != b.down) {
        *raw = type == GP_F16 ? 0x7e00 : type == GP_BF16 ? 0x7fc0 : 0x7ff8000000000000;
        return true;
    }
    if (type == GP_F64) {
        *raw = (uint64_t)__double_as_longlong(b.down);
        return b.exact();
    }
    *raw = narrowed(b.down, type);
    return b.exact() || *raw == narrowed(b.up, type);
}

/* The result, if it is one that all numbers between the bounds round to. Both are NaN, or none. */
__device__ __forceinline__ bool settle(const bounds &b, unsigned type, uint64_t *raw) {
    const double down = b.down + 0.0, up = b.up + 0.0; /* a zero is +0; what rounds to it keeps its sign */
    if (type != GP_F32) {
        uint64_t other; /* in memory, so that *raw need not be */
        const bool settled = settle_other({down, up}, type, &other);
        *raw = other;
        return settled;
    }
    const float least = __double2float_rn(down), most = __double2float_rn(up);
    *raw = least == least ? __float_as_uint(least) : 0x7fc00000;
    return __float_as_uint(least) == __float_as_uint(most);
}

/* One sum of floats of 2 or 4 bytes, or of their magnitudes. */
template <int WIDTH> struct lane_floats : lane_base<bounds, lane_floats<WIDTH>, WIDTH> {
    static const bool HAS_NOTHING = true, REDOES = true;
    static const int REDO_BYTES = WIDTH;
    uint32_t kept; /* bits of an element: without the sign for sums of magnitudes */
    bool is_bf16;
    double n, inverse; /* to nearest */
    __device__ explicit lane_floats(const reduce_arguments &a)
        : kept(a.pass.wants & GP_WANT_ABS ? ~((uint32_t)1 << (8 * WIDTH - 1)) : ~(uint32_t)0),
          is_bf16(a.pass.type == GP_BF16), n(a.n), inverse(a.inverse) {}
    __device__ __forceinline__ void take(bounds &sum, uint32_t raw, uint32_t) const {
        sum.add(real_of<WIDTH>(raw & kept, is_bf16));
    }
    __device__ uint32_t quick_bytes(const gp_pass &pass) const {
        return pass.result[0].type == GP_F32 ? 4 : 0;
    }
    __device__ __forceinline__ bool quick(const bounds &sum, unsigned op, uint64_t *raw) const {
        if (op != GP_REDUCE_MEAN)
            return settle(sum, GP_F32, raw);
        *raw = __float_as_uint(quotient_of(sum.up, n, inverse));
        return sum.up - sum.down == 0; /* exact and finite */
    }
};

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const bounds &sum, uint64_t *raw) {
    if (op != GP_REDUCE_MEAN)
        return settle(sum, type, raw);
    const double n = (double)pass.length;
    if (type == GP_F64 && sum.exact() && sum.down - sum.down == 0) {
        *raw = quotient(sum.down, pass.length, type);
        return true;
    }
    return settle(sum.over(n), type, raw);
}

/* A sum and what its roundings lost, between bounds. */
struct twofold {
    double sum;
    bounds rest;
    static __device__ twofold none() {
        return {0, {0, 0}};
    }
    __device__ __forceinline__ void add(double x) {
        const double s = sum + x, back = s - sum;
        rest.add((sum - (s - back)) + (x - back));
        sum = s;
    }
    __device__ void join(const twofold &other) {
        add(other.sum);
        rest.join(other.rest);
    }
};

/* t / by. The quotient's rest is exact but for subnormal numbers. */
__device__ inline twofold over(const twofold &t, double by) {
    const double q = __ddiv_rn(t.sum, by), left = __fma_rn(-q, by, t.sum);
    return {q, bounds{__dadd_rd(t.rest.down, left), __dadd_ru(t.rest.up, left)}.over(by)};
}

/*
 * t / by, or its root, rounded once. The root's rest is exact as a quotient's is, and sqrt(q^2 + r) lies up to
 * r^2 / 7 q^3 below q + r / 2 q. False: the bounds leave it open.
 */
static __device__ __noinline__ bool settle_twofold(twofold t, double by, bool root, unsigned type, uint64_t *raw) {
    if (!(fabs(t.sum) < 0x1p1000) || !(t.rest.down - t.rest.up <= 0))
        return false;
    if (by != 1) {
        t = over(t, by);
        if (t.sum != 0 && fabs(t.sum) < 0x1p-900)
            return false;
    }
    double sum = t.sum;
    bounds rest = t.rest;
    if (root && !(sum == 0 && rest.down == 0 && rest.up == 0)) {
        const double q = __dsqrt_rn(sum), left = __fma_rn(-q, q, sum);
        rest = {__dadd_rd(rest.down, left), __dadd_ru(rest.up, left)};
        const double most = fmax(fabs(rest.down), fabs(rest.up)), part = __ddiv_ru(most, q);
        if (!(sum > 0x1p-900) || most > 0x1p-20 * sum)
            return false;
        rest = rest.over(2 * q);
        rest.down = __dsub_rd(rest.down, __dmul_ru(__dmul_ru(part, part), __ddiv_ru(1.0 / 7, q)));
        sum = q;
    }
    *raw = rounded(sum, rest.down, type);
    return rest.exact() || *raw == rounded(sum, rest.up, type);
}

/* That of doubles, or of floats for a result that is one. special: of infinities and NaNs, which it is without. */
struct sum_and_rest : twofold {
    double special;
    static __device__ sum_and_rest none() {
        return {twofold::none(), 0};
    }
    __device__ void join(const sum_and_rest &other) {
        twofold::join(other);
        special += other.special;
    }
};

template <int WIDTH> struct lane_doubles : lane_base<sum_and_rest, lane_doubles<WIDTH>, WIDTH> {
    typedef raw_of<WIDTH> raw_t;
    static const bool HAS_NOTHING = true;
    raw_t kept;
    __device__ explicit lane_doubles(const reduce_arguments &a)
        : kept(a.pass.wants & GP_WANT_ABS ? ~((raw_t)1 << (8 * WIDTH - 1)) : ~(raw_t)0) {}
    static __device__ __forceinline__ void add(sum_and_rest &s, double x) {
        if (((uint32_t)__double2hiint(x) & 0x7fffffff) >= 0x7ff00000)
            s.special += x;
        else
            s.add(x);
    }
    __device__ __forceinline__ void take(sum_and_rest &s, raw_t raw, uint32_t) const {
        add(s, WIDTH == 8 ? __longlong_as_double((long long)(raw & kept))
                          : (double)__uint_as_float((uint32_t)(raw & kept)));
    }
};

/* Products of floats, or squares of those without partners, which are exact. */
template <int WIDTH> struct lane_products : lane_base<sum_and_rest, lane_products<WIDTH>, WIDTH> {
    static const bool HAS_NOTHING = true, PAIRS = true, MASKS = false;
    static const int PAIRS_AT_ONCE = 8, PAIRS_THEN = 4;
    bool is_bf16;
    __device__ explicit lane_products(const reduce_arguments &a) : is_bf16(a.pass.type == GP_BF16) {}
    __device__ __forceinline__ void take_pair(sum_and_rest &s, uint32_t x, uint32_t y, uint32_t) const {
        lane_doubles<8>::add(s, (double)real_of<WIDTH>(x, is_bf16) * real_of<WIDTH>(y, is_bf16));
    }
    __device__ __forceinline__ void take(sum_and_rest &s, uint32_t x, uint32_t id) const {
        take_pair(s, x, x, id);
    }
};

__device__ inline bool value_of(const gp_pass &pass, unsigned op, unsigned type, const sum_and_rest &s,
                                uint64_t *raw) {
    if (s.special != 0)
        return settle({s.special, s.special}, type, raw);
    return settle_twofold(s, op == GP_REDUCE_MEAN ? (double)pass.length : 1, op == GP_REDUCE_NORM, type, raw);
}
