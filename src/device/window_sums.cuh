/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accumulators of window_scan, one for each class of data, narrowest first. Prefix sums may wrap: differences of
 * two are exact modulo 2^32 or 2^64 as long as each window's own value fits, which pick_class() makes sure of.
 */
#ifndef GP_WINDOW_SUMS_CUH
#define GP_WINDOW_SUMS_CUH

#include "warp.cuh"
#include "window.cuh"

enum window_class { CLASS_32, CLASS_32_64, CLASS_64, CLASS_WIDE };

/* SUM holds the window's sum, SQUARE its sum of squares. */
template <typename SUM, typename SQUARE> struct narrow_sums {
    SUM sum;
    SQUARE square;

    static __device__ __forceinline__ narrow_sums zero() {
        return {0, 0};
    }
    __device__ __forceinline__ void add(int32_t pixel) {
        sum += pixel;
        square +=
            sizeof(SQUARE) == 4 ? (SQUARE)((uint32_t)pixel * (uint32_t)pixel) : (SQUARE)((int64_t)pixel * pixel);
    }
    /* One step to the right: `in` enters, `out` leaves. */
    __device__ __forceinline__ void slide(int32_t in, int32_t out) {
        if (sizeof(SQUARE) == 4) {
            sum += (SUM)((uint32_t)in - (uint32_t)out);
            square += (SQUARE)(((uint32_t)in - (uint32_t)out) * ((uint32_t)in + (uint32_t)out));
        } else if (sizeof(SUM) == 4) { /* |pixel| <= 2^30: in - out and in + out fit 32 bits */
            sum += (SUM)(in - out);
            square += (SQUARE)((int64_t)(in - out) * (in + out));
        } else {
            sum += (SUM)in - (SUM)out;
            square += (SQUARE)((int64_t)in * in) - (SQUARE)((int64_t)out * out);
        }
    }
    __device__ __forceinline__ void plus(const narrow_sums &other) {
        sum += other.sum;
        square += other.square;
    }
    __device__ __forceinline__ void minus(const narrow_sums &other) {
        sum -= other.sum;
        square -= other.square;
    }
    __device__ __forceinline__ narrow_sums shuffle_up(int lanes) const {
        return {__shfl_up_sync(GP_FULL_WARP, sum, lanes), __shfl_up_sync(GP_FULL_WARP, square, lanes)};
    }
    __device__ __forceinline__ float sum_float() const {
        return sizeof(SUM) == 4 ? __int2float_rn((int)sum) : __ll2float_rn((int64_t)sum);
    }
    __device__ __forceinline__ float square_float() const {
        return sizeof(SQUARE) == 4 ? __uint2float_rn((uint32_t)square) : __ull2float_rn((uint64_t)square);
    }
};

struct split_sums : wide_sums {
    static __device__ __forceinline__ split_sums make(int64_t sum, uint64_t low, uint64_t high) {
        split_sums s;
        s.sum = sum;
        s.low = low;
        s.high = high;
        return s;
    }
    static __device__ __forceinline__ split_sums zero() {
        return make(0, 0, 0);
    }
    __device__ __forceinline__ void slide(int32_t in, int32_t out) {
        const uint64_t square = (uint64_t)((int64_t)out * out);
        add(in);
        sum -= out;
        low -= (uint32_t)square;
        high -= square >> 32;
    }
    __device__ __forceinline__ void plus(const split_sums &other) {
        sum += other.sum;
        low += other.low;
        high += other.high;
    }
    __device__ __forceinline__ void minus(const split_sums &other) {
        sum -= other.sum;
        low -= other.low;
        high -= other.high;
    }
    __device__ __forceinline__ split_sums shuffle_up(int lanes) const {
        return make(__shfl_up_sync(GP_FULL_WARP, sum, lanes), __shfl_up_sync(GP_FULL_WARP, low, lanes),
                    __shfl_up_sync(GP_FULL_WARP, high, lanes));
    }
};

/*
 * The class for pixels of at most 2^bits in magnitude: the window's squares add up to at most window * 2^(2 bits),
 * its pixels to window * 2^bits.
 */
__device__ __forceinline__ window_class pick_class(uint32_t magnitudes, uint32_t window) {
    const int bits = 32 - __clz((int)magnitudes);
    const int window_bits = 32 - __clz((int)window); /* window < 2^window_bits */
    if (window_bits + 2 * bits <= 32)
        return CLASS_32;
    if (window_bits + 2 * bits <= 63 && window_bits + bits <= 31)
        return CLASS_32_64;
    return window_bits + 2 * bits <= 63 ? CLASS_64 : CLASS_WIDE;
}

#endif
