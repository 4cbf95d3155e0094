/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accumulators of sums and sums of squares, one for each class of data, narrowest first. Prefix sums may wrap:
 * differences of two are exact modulo 2^32, 2^64 or 2^96 as long as each window's own value fits, which pick_class()
 * makes sure of.
 */
#pragma once

#include "../warp.cuh"
#include "window.cuh"

enum window_class { CLASS_32, CLASS_32_64, CLASS_64, CLASS_WIDE };

/* Both at once: SUM holds the window's sum, SQUARE its sum of squares. */
template <typename SUM, typename SQUARE> struct narrow_sums {
    static constexpr bool has_sum = true, has_square = true;
    SUM sum;
    SQUARE square;

    __device__ __forceinline__ void add(int32_t pixel) {
        sum += pixel;
        square +=
            sizeof(SQUARE) == 4 ? (SQUARE)((uint32_t)pixel * (uint32_t)pixel) : (SQUARE)((int64_t)pixel * pixel);
    }
    /* One step to the right: `in` enters, `out` leaves. With 64 bits |pixel| <= 2^30: both factors fit 32. */
    __device__ __forceinline__ void slide(int32_t in, int32_t out) {
        if (sizeof(SQUARE) == 4) {
            sum += (SUM)((uint32_t)in - (uint32_t)out);
            square += (SQUARE)(((uint32_t)in - (uint32_t)out) * ((uint32_t)in + (uint32_t)out));
        } else {
            sum += (SUM)(in - out);
            square += (SQUARE)((int64_t)(in - out) * (in + out));
        }
    }
    /* OTHER: these, or window_scan's steps. */
    template <typename OTHER> __device__ __forceinline__ void plus(const OTHER &other) {
        sum += other.sum;
        square += other.square;
    }
    __device__ __forceinline__ void minus(const narrow_sums &other) {
        sum -= other.sum;
        square -= other.square;
    }
    __device__ __forceinline__ void times(uint32_t count) {
        sum *= count;
        square *= count;
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

/* Of the widest class the sum and the squares are apart. */
struct wide_sum {
    static constexpr bool has_sum = true, has_square = false;
    int64_t sum;

    __device__ __forceinline__ void add(int32_t pixel) {
        sum += pixel;
    }
    __device__ __forceinline__ void slide(int32_t in, int32_t out) {
        /* 1, which nvcc does not know: one operation a pixel, where else it needs the sign in a register besides */
        const int32_t one = (int32_t)blockDim.y;
        sum = (int64_t)in * one - ((int64_t)out * one - sum);
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

/*
 * A square is at most 2^62: 96 bits hold the squares of 2^34 pixels. Three words and the carry between them, as no
 * type of the language is so wide; nvcc makes a compare and an addition of each carry that it is left to find.
 */
struct wide_square {
    static constexpr bool has_sum = false, has_square = true;
    uint32_t low, mid, high;

    __device__ __forceinline__ void add(int32_t pixel) {
        const int64_t one = (int64_t)pixel * pixel;
        plus({(uint32_t)one, (uint32_t)(one >> 32), 0});
    }
    __device__ __forceinline__ void slide(int32_t in, int32_t out) {
        const int64_t step = (int64_t)in * in - (int64_t)out * out;
        plus({(uint32_t)step, (uint32_t)(step >> 32), (uint32_t)(step >> 63)});
    }
    __device__ __forceinline__ void plus(const wide_square &other) {
        asm("add.cc.u32 %0, %0, %3; addc.cc.u32 %1, %1, %4; addc.u32 %2, %2, %5;"
            : "+r"(low), "+r"(mid), "+r"(high)
            : "r"(other.low), "r"(other.mid), "r"(other.high));
    }
    __device__ __forceinline__ void minus(const wide_square &other) {
        asm("sub.cc.u32 %0, %0, %3; subc.cc.u32 %1, %1, %4; subc.u32 %2, %2, %5;"
            : "+r"(low), "+r"(mid), "+r"(high)
            : "r"(other.low), "r"(other.mid), "r"(other.high));
    }
    __device__ __forceinline__ void times(uint32_t count) {
        const uint64_t first = (uint64_t)low * count, second = (uint64_t)mid * count + (first >> 32);
        low = (uint32_t)first;
        mid = (uint32_t)second;
        high = high * count + (uint32_t)(second >> 32);
    }
    template <typename SHUFFLE> __device__ __forceinline__ wide_square shuffled(SHUFFLE shuffle) const {
        return {shuffle(low), shuffle(mid), shuffle(high)};
    }
    __device__ __forceinline__ float sum_float() const {
        return 0;
    }
    __device__ __forceinline__ float square_float() const {
        const uint64_t top = (uint64_t)high << 32 | mid;
        /* 33 bits or more above `low`: float keeps 24, so `low` matters only as "not zero", below the rounding bit */
        const bool is_long = high != 0;
        const uint64_t kept = is_long ? top | (low != 0) : top << 32 | low;
        return __ull2float_rn(kept) * (is_long ? 4294967296.0f : 1.0f);
    }
};

/* Both of any pixels. */
struct wide_both {
    static constexpr bool has_sum = true, has_square = true;
    wide_sum sum;
    wide_square square;

    __device__ __forceinline__ void add(int32_t pixel) {
        sum.add(pixel);
        square.add(pixel);
    }
    __device__ __forceinline__ void slide(int32_t in, int32_t out) {
        sum.slide(in, out);
        square.slide(in, out);
    }
    __device__ __forceinline__ void plus(const wide_both &other) {
        sum.plus(other.sum);
        square.plus(other.square);
    }
    __device__ __forceinline__ void minus(const wide_both &other) {
        sum.minus(other.sum);
        square.minus(other.square);
    }
    __device__ __forceinline__ void times(uint32_t count) {
        sum.times(count);
        square.times(count);
    }
    template <typename SHUFFLE> __device__ __forceinline__ wide_both shuffled(SHUFFLE shuffle) const {
        return {sum.shuffled(shuffle), square.shuffled(shuffle)};
    }
    __device__ __forceinline__ float sum_float() const {
        return sum.sum_float();
    }
    __device__ __forceinline__ float square_float() const {
        return square.square_float();
    }
};

template <typename SUMS> __device__ __forceinline__ SUMS from_lane(const SUMS &sums, int lane) {
    return sums.shuffled([lane](auto word) { return __shfl_sync(GP_FULL_WARP, word, lane); });
}

/* The sums of all lanes up to this one. */
template <typename SUMS> __device__ __forceinline__ SUMS warp_inclusive(SUMS sums) {
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        const SUMS below = sums.shuffled([lanes](auto word) { return __shfl_up_sync(GP_FULL_WARP, word, lanes); });
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

/* The bits of all magnitudes of the block. Collective; what was written to shared memory before is complete after. */
__device__ __forceinline__ uint32_t join_magnitudes(uint32_t magnitude, uint32_t *of_warp, uint32_t warps) {
    magnitude = gp_warp_or(magnitude);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = magnitude;
    __syncthreads();
#pragma unroll
    for (uint32_t warp = 0; warp < warps; warp++)
        magnitude |= of_warp[warp];
    return magnitude;
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
    if (window_bits + 2 * bits > 63 || bits > 30)
        return CLASS_WIDE;
    return window_bits + bits <= 31 ? CLASS_32_64 : CLASS_64;
}
