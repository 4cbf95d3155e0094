/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accumulators of sums and sums of squares, one for each class of data, narrowest first. Prefix sums may wrap:
 * differences of two are exact modulo 2^32, 2^64 or 2^96 as long as each window's own value fits, which pick_class()
 * makes sure of.
 */
#ifndef GP_WINDOW_SUMS_CUH
#define GP_WINDOW_SUMS_CUH

#include "warp.cuh"
#include "window.cuh"

enum window_class { CLASS_32, CLASS_32_64, CLASS_64, CLASS_WIDE };

/* Both at once: SUM holds the window's sum, SQUARE its sum of squares. */
template <typename SUM, typename SQUARE> struct narrow_sums {
    static constexpr bool has_sum = true, has_square = true;
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
    template <typename SHUFFLE> __device__ __forceinline__ narrow_sums shuffled(SHUFFLE shuffle) const {
        return {shuffle(sum), shuffle(square)};
    }
    __device__ __forceinline__ float sum_float() const {
        return sizeof(SUM) == 4 ? __int2float_rn((int)sum) : __ll2float_rn((int64_t)sum);
    }
    __device__ __forceinline__ float square_float() const {
        return sizeof(SQUARE) == 4 ? __uint2float_rn((uint32_t)square) : __ull2float_rn((uint64_t)square);
    }
};

/* The widest class takes the sum and the squares one after the other: both at once do not fit the registers. */
struct wide_sum {
    static constexpr bool has_sum = true, has_square = false;
    int64_t sum;

    static __device__ __forceinline__ wide_sum zero() {
        return {0};
    }
    __device__ __forceinline__ void add(int32_t pixel) {
        sum += pixel;
    }
    __device__ __forceinline__ void slide(int32_t in, int32_t out) {
        sum += (int64_t)in - out;
    }
    __device__ __forceinline__ void plus(const wide_sum &other) {
        sum += other.sum;
    }
    __device__ __forceinline__ void minus(const wide_sum &other) {
        sum -= other.sum;
    }
    __device__ __forceinline__ void times(uint32_t count) {
        sum *= count;
    }
    template <typename SHUFFLE> __device__ __forceinline__ wide_sum shuffled(SHUFFLE shuffle) const {
        return {shuffle(sum)};
    }
    __device__ __forceinline__ float sum_float() const {
        return __ll2float_rn(sum);
    }
    __device__ __forceinline__ float square_float() const {
        return 0;
    }
};

/* A square is at most 2^62: 96 bits hold the squares of 2^34 pixels. */
struct wide_square {
    static constexpr bool has_sum = false, has_square = true;
    uint64_t low;
    uint32_t high;

    static __device__ __forceinline__ wide_square zero() {
        return {0, 0};
    }
    __device__ __forceinline__ void add_signed(int64_t value) {
        low += (uint64_t)value;
        high += (uint32_t)(value >> 63) + (low < (uint64_t)value);
    }
    __device__ __forceinline__ void add(int32_t pixel) {
        add_signed((int64_t)pixel * pixel);
    }
    __device__ __forceinline__ void slide(int32_t in, int32_t out) {
        add_signed((int64_t)in * in - (int64_t)out * out);
    }
    __device__ __forceinline__ void plus(const wide_square &other) {
        low += other.low;
        high += other.high + (low < other.low);
    }
    __device__ __forceinline__ void minus(const wide_square &other) {
        high -= other.high + (low < other.low);
        low -= other.low;
    }
    __device__ __forceinline__ void times(uint32_t count) {
        high = high * count + (uint32_t)__umul64hi(low, count);
        low *= count;
    }
    template <typename SHUFFLE> __device__ __forceinline__ wide_square shuffled(SHUFFLE shuffle) const {
        return {shuffle(low), shuffle(high)};
    }
    __device__ __forceinline__ float sum_float() const {
        return 0;
    }
    __device__ __forceinline__ float square_float() const {
        return round_split((uint32_t)low, (uint64_t)high << 32 | low >> 32);
    }
};

/* The sums of `lanes` lanes below; the warp's own in the lowest ones. */
template <typename SUMS> __device__ __forceinline__ SUMS from_below(const SUMS &sums, int lanes) {
    return sums.shuffled([lanes](auto word) { return __shfl_up_sync(GP_FULL_WARP, word, lanes); });
}

template <typename SUMS> __device__ __forceinline__ SUMS from_lane(const SUMS &sums, int lane) {
    return sums.shuffled([lane](auto word) { return __shfl_sync(GP_FULL_WARP, word, lane); });
}

/* The sums of all lanes up to this one. */
template <typename SUMS> __device__ __forceinline__ SUMS warp_inclusive(SUMS sums) {
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        const SUMS below = from_below(sums, lanes);
        if (threadIdx.x % 32 >= lanes)
            sums.plus(below);
    }
    return sums;
}

/* The sums of all lanes, in each. */
template <typename SUMS> __device__ __forceinline__ SUMS warp_total(SUMS sums) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sums.plus(sums.shuffled([lanes](auto word) { return __shfl_xor_sync(GP_FULL_WARP, word, lanes); }));
    return sums;
}

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
