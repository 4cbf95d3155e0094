/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of windows of floats, each rounded once: quotients, or roots of them, of numbers that are known as two
 * doubles, exactly or within an error. A double near the result tells between which two floats it lies; which of both
 * is nearer is decided by comparing what is exact. Where the error leaves that open, nothing is written.
 */
#pragma once

#include "scale.cuh"

/* A number near high + low, at most `error` away; 0: it is that number. */
struct two_doubles {
    double high, low, error;
};

/* By patterns of 2^52 + x and 2^84 + 2^32 x: conversions of the machine are slower. x + 2^63, or x. */
__device__ inline two_doubles two_doubles_of(uint64_t x, uint32_t sign) {
    const double two_52 = 0x1p52, bias = sign ? 0x1p84 + 0x1p63 : 0x1p84;
    const double high = __hiloint2double(0x45300000, (int)((uint32_t)(x >> 32) ^ sign)) - bias,
                 low = __hiloint2double(0x43300000, (int)(uint32_t)x) - two_52, sum = high + low;
    return {sum, low - (sum - high), 0};
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
        const two_doubles x = two_doubles_of(w.square, 0);
        return {x.high * scale.unit_square, x.low * scale.unit_square, inexact ? 0.5 * count * scale.unit_square : 0};
    }
    /* n Q - S^2. */
    __device__ two_doubles spread(const SUMS &w, bool inexact) const {
        const double s = two_doubles_of(w.sum, 0x80000000u).high * scale.unit, q = two_doubles_of(w.square, 0).high,
                     by = count * scale.unit_square, product = s * s;
        const double x = __fma_rn(by, q, -product) - __fma_rn(s, s, -product), lost = inexact ? scale.rest_square : 0;
        return {x, 0, lost + by * q * scale.product_error + fabs(x) * scale.result_error};
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
    const bool normal = (below >> 23 & 0xff) - 1 < 0xfd;
    *decided = *decided && (x.error == 0 ? normal || x.high == 0 : fabs(beyond) > x.error && normal);
    const int side = __double2hiint(beyond), away = (int)below < 0 ? -side : side;
    return below + (away + (int)(below & 1) > 0);
}

/* x / by, or its root, as a double: the quotient's rest is added to it, enlarged and diminished. */
static __device__ __noinline__ double nearest_double(two_doubles x, double by, bool root, bool *decided) {
    double near = __ddiv_rn(x.high, by), rest = (__fma_rn(-near, by, x.high) + x.low) / by, error = x.error / by;
    if (root && near != 0) {
        const double first = sqrt(near);
        rest = (__fma_rn(-first, first, near) + rest) / (2 * first);
        error /= first;
        near = first;
    }
    error = 2 * error + fabs(rest) * 0x1p-40;
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
