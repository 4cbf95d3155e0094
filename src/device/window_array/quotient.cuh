/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floats as window_strip adds them: whole numbers of a unit, less a pivot, and their squares of another unit, in 64
 * bits; or, for results that are doubles, squares of these numbers in 128 bits, without a pivot. A double of 1.5 2^52
 * units rounds what is added to it to whole ones: its bits are the number, and what stands above it cancels in
 * differences.
 *
 * Results of windows of floats, each rounded once: quotients, or roots of them, of numbers that are known as two
 * doubles, exactly or within an error. A double near the result tells between which two floats it lies; which of both
 * is nearer is decided by comparing what is exact. Where the error leaves that open, nothing is written.
 */
#pragma once

#include "strip.cuh"
#include <cuda_fp16.h>

/* How elements are scaled while a block walks; found anew where they do not fit. */
struct strip_scale {
    double pivot;
    double to_sum, to_square; /* 1.5 2^52 units */
    double to_both;           /* what it leaves as it is has a whole number of both units */
    double unit, unit_square;
    int64_t pivot_units;
    uint32_t limit;   /* upper word of the least double that is too large */
    uint32_t fine;    /* doubled bits, less one, of f32 that may be no whole number of `unit` are below */
    uint32_t nothing; /* the pivot as an element, as often as a word holds one: adds nothing */
    bool careful;     /* there are NaNs or infinities: they are taken out, what sees them is left to window_any */
    double rest_sum, rest_square; /* what inexact elements can make of a window's sum, and of n Q - S^2 */
    double wide_each;             /* of a sum of squares in 128 bits, each, in its unit */
};

/* A thread's elements of a row: of 4 bytes, or of 2. */
template <int COLUMNS, int BYTES> struct scaled_elements {
    typedef strip_row<COLUMNS, BYTES> row;
    static constexpr uint32_t infinity = BYTES == 4 ? 0x7f800000u : 0x7c00u;

    static __device__ uint32_t bits_of(const row &raw, int k) {
        const uint32_t word = raw.word[k * BYTES / 4];
        return BYTES == 4 ? word : permuted(word, k % 2 ? 0x4432 : 0x4410);
    }
    static __device__ double value_of(uint32_t bits) {
        return BYTES == 4 ? __uint_as_float(bits) : __half2float(__ushort_as_half((unsigned short)bits));
    }
    static __device__ void fill(row *raw, uint32_t word) {
#pragma unroll
        for (uint32_t &w : raw->word)
            w = word;
    }
    static __device__ int64_t units_of(double x, double to_sum) {
        return __double_as_longlong(x + to_sum) - __double_as_longlong(to_sum);
    }
    /* Puts the pivot where a float is none. Returns whether one was. */
    static __device__ bool take_out(row *raw, uint32_t nothing) {
        bool any = false;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            const uint32_t keep = BYTES == 4 ? 0 : k % 2 ? 0x0000ffffu : 0xffff0000u;
            uint32_t *const word = &raw->word[k * BYTES / 4];
            const bool none = (bits_of(*raw, k) & infinity) == infinity;
            *word = none ? (*word & keep) | (nothing & ~keep) : *word;
            any = any || none;
        }
        return any;
    }
    /* Adds the row that enters, less the one that leaves. most: of upper words of magnitudes; lost: set if one is no
       whole number of both units; least: of doubled bits less one, where there are two. */
    template <class SUMS>
    static __device__ void slide(const strip_scale &s, SUMS (&held)[COLUMNS], const row &enters, const row &leaves,
                                 uint32_t *most, bool *lost, uint32_t *least) {
        const double pivot = s.pivot, to_sum = s.to_sum, to_square = s.to_square, to_both = s.to_both;
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            const double in = value_of(bits_of(enters, k)) - pivot, out = value_of(bits_of(leaves, k)) - pivot;
            const int64_t more = __double_as_longlong(in + to_sum) - __double_as_longlong(out + to_sum);
            held[k].sum += (uint64_t)more;
            if constexpr (SUMS::widest)
                held[k].square += (uint128)((__int128)more * (more + 2 * units_of(out, to_sum)));
            else if (SUMS::has_squares)
                held[k].square += (uint64_t)(__double_as_longlong(__fma_rn(in, in, to_square)) -
                                             __double_as_longlong(__fma_rn(out, out, to_square)));
            *most = max(*most, (uint32_t)__double2hiint(in) & 0x7fffffffu);
            if (SUMS::has_squares && BYTES == 4)
                *least = min(*least, 2 * bits_of(enters, k) - 1);
            *lost = *lost || (in + to_both) - to_both != in;
        }
    }
};

/* 2^exponent. */
__device__ inline double power(int exponent) {
    return __hiloint2double((1023 + exponent) << 20, 0);
}

/* The least exponent e with |x| < 2^e; x: neither 0 nor subnormal. */
__device__ inline int exponent_above(double x) {
    return (int)((uint32_t)__double2hiint(x) >> 20 & 0x7ff) - 1022;
}

#define SCALE_MARGIN 1           /* bits that elements may grow until they are scaled anew */
#define WHOLE 6755399441055744.0 /* 1.5 2^52 */

/*
 * For elements from `low` to `high`, in windows of up to `area`. A pivot is an element: the least, whose bits are
 * `raw`. In units of the sums it is below 2^51, and an element below 2^51; a square below 2^51 of its unit, or its
 * own where they are wide. An element that is no whole number of both units is off by half a one.
 */
__device__ inline void make_scale(strip_scale *s, bool squares, bool wide, bool pivots, double low, double high,
                                  uint32_t raw, uint32_t area) {
    const double most = low <= high ? fmax(fabs(low), fabs(high)) : 0, n = area;
    const bool pivot = squares && pivots && most > 0 && high - low < 0.0625 * most;
    const double spread = pivot ? fmax(high - low, fabs(low) * 0x1p-10) : most;
    const int counted = 32 - __clz((int)area); /* area < 2^counted */
    const int sum_bits = min(51, 62 - counted), square_bits = min(51, 63 - counted);
    s->pivot = pivot ? low : 0;
    const int above = exponent_above(s->pivot);
    int top = exponent_above(spread) + SCALE_MARGIN; /* elements are below 2^top */
    if (spread == 0)
        top = -300; /* only zeros: nothing else fits */
    if (pivot)
        top = min(top, above - 2); /* elements from half to twice the pivot: the difference is exact */
    const int unit = (pivot ? max(top, above) : top) - sum_bits;
    const int unit_square = squares && !wide ? 2 * top - square_bits : 2 * unit;
    const int both = max(unit, (unit_square + 1) >> 1);
    s->nothing = pivot ? raw : 0;
    s->to_sum = WHOLE * power(unit);
    s->to_square = WHOLE * power(unit_square);
    s->to_both = WHOLE * power(both);
    s->unit = power(unit);
    s->unit_square = power(unit_square);
    s->pivot_units = (int64_t)(s->pivot * power(-unit));
    s->limit = (uint32_t)(1023 + top) << 20;
    s->fine = unit <= -149 ? 0 : (uint32_t)(unit + 150) << 24;
    s->rest_sum = 0.5 * n * s->unit;
    s->wide_each = 1.01 * power(sum_bits);
    s->rest_square = (wide ? 8 * s->wide_each : 4) * n * n * s->unit_square;
}

/* ---- results ---- */

/* A number near high + low, the double nearest to which is `high`, at most `error` away; 0: it is that number. */
struct two_doubles {
    double high, low, error;
};

/* high + low, the upper double being the nearest. */
static __device__ __forceinline__ two_doubles normal_of(double high, double low, double error) {
    const double sum = __dadd_rn(high, low), back = __dadd_rn(sum, -high);
    return {sum, (high - (sum - back)) + (low - back), error};
}

/* By patterns of 2^52 + x and 2^84 + 2^32 x: conversions of the machine are slower. x + 2^63, or x. */
__device__ inline two_doubles two_doubles_of(uint64_t x, uint32_t sign = 0) {
    const double two_52 = 0x1p52, bias = sign ? 0x1p84 + 0x1p63 : 0x1p84;
    const double high = __hiloint2double(0x45300000, (int)((uint32_t)(x >> 32) ^ sign)) - bias,
                 low = __hiloint2double(0x43300000, (int)(uint32_t)x) - two_52, sum = high + low;
    return {sum, low - (sum - high), 0};
}

/* x below 2^126, by three parts of 42 bits. */
__device__ inline two_doubles two_doubles_of(uint128 x) {
    const uint64_t part = ((uint64_t)1 << 42) - 1;
    const double a = (double)(uint64_t)(x >> 84) * 0x1p84, b = (double)((uint64_t)(x >> 42) & part) * 0x1p42,
                 c = (double)((uint64_t)x & part), sum = b + c, rest = c - (sum - b), high = a + sum,
                 first = sum - (high - a), low = first + rest;
    return {high, low, low - first == rest ? 0 : fabs(low) * 0x1p-52};
}

/* 1 / x, off by a unit or two of its last bits, of whole numbers. 0: an infinity, or NaN. */
__device__ inline double inverse_near(double x) {
    double inverse = __frcp_rn((float)x);
    inverse = __fma_rn(inverse, __fma_rn(-x, inverse, 1.0), inverse);
    return __fma_rn(inverse, __fma_rn(-x, inverse, 1.0), inverse);
}

/* What a number of `count` elements is divided by. */
__host__ __device__ inline double divisor_of(unsigned op, uint32_t count) {
    const double n = count;
    return op == GP_REDUCE_MEAN              ? n
           : op < GP_REDUCE_VARIANCE         ? 1
           : op >= GP_REDUCE_VARIANCE_SAMPLE ? n * (n - 1)
                                             : n * n;
}

/* What the results of a window of n elements are quotients of. inexact: it sees elements that are. */
template <class SUMS> struct window_numbers {
    const strip_scale &scale;
    const uint32_t count;

    __device__ two_doubles total(const SUMS &w, bool inexact) const {
        const uint64_t whole = w.sum + (uint64_t)(scale.pivot_units * (int64_t)count);
        const two_doubles x = two_doubles_of(whole, 0x80000000u);
        return {x.high * scale.unit, x.low * scale.unit, inexact ? scale.rest_sum : 0};
    }
    __device__ two_doubles squares(const SUMS &w, bool inexact) const {
        const double each = SUMS::widest ? scale.wide_each : 0.5;
        return in_squares(two_doubles_of(w.square), inexact ? each * count * scale.unit_square : 0);
    }
    /* n Q - S^2, with what rounding it loses; what S and Q are beyond doubles is within the error. */
    __device__ two_doubles spread(const SUMS &w, bool inexact) const {
        if constexpr (SUMS::widest) {
            const uint64_t sum = (uint64_t)llabs((int64_t)w.sum);
            return in_squares(two_doubles_of(count * w.square - (uint128)sum * sum), inexact ? scale.rest_square : 0);
        }
        const two_doubles sum = two_doubles_of(w.sum, 0x80000000u), square = two_doubles_of((uint64_t)w.square);
        const double s = sum.high * scale.unit, by = count * scale.unit_square, product = __dmul_rn(s, s),
                     more = __dmul_rn(by, square.high), x = __dadd_rn(more, -product), back = __dadd_rn(x, -more),
                     of_products = __fma_rn(by, square.high, -more) - __fma_rn(s, s, -product),
                     of_x = (more - (x - back)) - (product + back);
        const bool kept = sum.low == 0 && square.low == 0;
        return normal_of(x, of_products + of_x,
                         (inexact ? scale.rest_square : 0) +
                             (kept ? (fabs(of_products) + fabs(of_x)) * 0x1p-51 : more * 0x1.2p-51));
    }

  private:
    __device__ two_doubles in_squares(const two_doubles &x, double rest) const {
        return {x.high * scale.unit_square, x.low * scale.unit_square, x.error * scale.unit_square + rest};
    }
};

/*
 * x / by, or its root, as a float. The quotient lies between two floats: the middle of both has 25 bits, its square
 * 50, so that fused multiplications tell on which side of it the number is, and 0 that it is the middle. A quotient
 * that is as near to a float as it is far from its true value ends at that float from either side.
 * decided: set to false if the error leaves the side open, or the result is no normal float.
 */
__device__ __forceinline__ uint32_t nearest_float(const two_doubles &x, double by, double inverse, bool root,
                                                  bool *decided) {
    double near = x.high * inverse;
    if (root)
        near = sqrt(near);
    const double middle =
        __hiloint2double(__double2hiint(near), (__double2loint(near) & (int)0xe0000000) | 0x10000000);
    const uint32_t below = __float_as_uint(__double2float_rz(near));
    const double beyond = __fma_rn(-(root ? middle * middle : middle), by, x.high) + x.low;
    const bool normal = (below & 0x7fffffff) - 0x00800000 < 0x7effffff; /* and not the largest */
    *decided = *decided && (x.error == 0 ? normal || x.high == 0 : fabs(beyond) > x.error && normal);
    const int side = __double2hiint(beyond), away = (int)below < 0 ? -side : side;
    return below + (away + (int)(below & 1) > 0);
}

/* x / by, or its root, as a double: the quotient's rest is added to it, enlarged and diminished. That of what is
 * exact by a power of two is exact. */
static __device__ __noinline__ double nearest_double(two_doubles x, double by, bool root, bool *decided) {
    const double inverse = inverse_near(by);
    const bool exact = x.error == 0 && (__double_as_longlong(by) & 0xfffffffffffff) == 0 && !root;
    double near = __dmul_rn(x.high, inverse), rest = (__fma_rn(-near, by, x.high) + x.low) * inverse,
           error = x.error * inverse;
    if (root && near != 0) {
        const double first = sqrt(near), half = 0.5 / first;
        rest = (__fma_rn(-first, first, near) + rest) * half;
        error *= 2 * half;
        near = first;
    }
    error = 2 * error + (exact ? 0 : fabs(rest) * 0x1p-40);
    *decided = *decided && near + (rest - error) == near + (rest + error) && (near == 0 || fabs(near) > 0x1p-900);
    return near + rest;
}

/* Result `op` of `count` elements, whose numerator is near `number`, as bits. Returns whether it is decided. */
static __device__ bool decide(const two_doubles &number, unsigned op, unsigned type, uint32_t count, uint64_t *raw) {
    const bool root = op == GP_REDUCE_STDDEV || op == GP_REDUCE_STDDEV_SAMPLE;
    const double by = divisor_of(op, count);
    bool decided = by != 0;
    *raw = type == GP_F32 ? nearest_float(number, by, 1 / by, root, &decided)
                          : (uint64_t)__double_as_longlong(nearest_double(number, by, root, &decided));
    return decided;
}
