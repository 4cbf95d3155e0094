/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of ints that a window holds of a column, and of their squares, modulo a power of two above what they can be.
 */
#pragma once

#include "../warp.cuh"

typedef unsigned __int128 uint128;

template <class T> __device__ inline T shuffle_up(T x, int lanes) {
    return __shfl_up_sync(GP_FULL_WARP, x, lanes);
}

__device__ inline uint128 shuffle_up(uint128 x, int lanes) {
    return (uint128)shuffle_up((uint64_t)(x >> 64), lanes) << 64 | shuffle_up((uint64_t)x, lanes);
}

template <class T> __device__ inline void add_from_below(T *x, int lanes) {
    const T below = shuffle_up(*x, lanes);
    *x += threadIdx.x % 32 >= lanes ? below : 0;
}

template <class SUM, class SIGNED, class SQUARE, bool squares> struct walk_sums {
    typedef SIGNED sum_type;
    typedef SQUARE square_type;
    static constexpr bool has_squares = squares;
    static constexpr bool widest = sizeof(SQUARE) > 8;
    static constexpr int bytes = !squares ? sizeof(SUM) : widest ? 24 : 2 * sizeof(SQUARE); /* in shared memory */
    SUM sum;
    SQUARE square;

    __device__ void plus(const walk_sums &other) {
        sum += other.sum;
        if (squares)
            square += other.square;
    }
    __device__ void minus(const walk_sums &other) {
        sum -= other.sum;
        if (squares)
            square -= other.square;
    }
    /* One element enters and another leaves, of which these are the difference and the sum. */
    __device__ void slide(int32_t difference, int32_t both) {
        sum += (SUM)(SIGNED)difference;
        if (squares)
            square += sizeof(SQUARE) == 4 ? (SQUARE)(difference * both) : (SQUARE)((int64_t)difference * both);
    }
    /* Elements of 32 bits, of any magnitude. */
    __device__ void slide_any(uint32_t in, uint32_t out, bool has_sign) {
        const int64_t a = has_sign ? (int64_t)(int32_t)in : in, b = has_sign ? (int64_t)(int32_t)out : out;
        sum += (SUM)(a - b);
        if (squares)
            square += (SQUARE)(uint64_t)(a * a) - (SQUARE)(uint64_t)(b * b);
    }
    /* The sums of all lanes up to this one. */
    __device__ walk_sums scanned() const {
        walk_sums all = *this;
#pragma unroll
        for (int lanes = 1; lanes < 32; lanes *= 2) {
            add_from_below(&all.sum, lanes);
            if (squares)
                add_from_below(&all.square, lanes);
        }
        return all;
    }
    __device__ void put(unsigned char *to) const {
        if constexpr (!squares)
            *(SUM *)to = sum;
        else if constexpr (widest) {
            ((uint64_t *)to)[0] = sum;
            ((uint64_t *)to)[1] = (uint64_t)square;
            ((uint64_t *)to)[2] = (uint64_t)(square >> 64);
        } else if constexpr (bytes == 8)
            *(uint2 *)to = make_uint2(sum, square);
        else
            *(ulonglong2 *)to = make_ulonglong2(sum, square);
    }
    static __device__ walk_sums get(const unsigned char *from) {
        if constexpr (!squares)
            return {*(const SUM *)from, 0};
        else if constexpr (widest) {
            const uint64_t *x = (const uint64_t *)from;
            return {(SUM)x[0], (SQUARE)x[2] << 64 % (8 * sizeof(SQUARE)) | x[1]};
        } else if constexpr (bytes == 8) {
            const uint2 both = *(const uint2 *)from;
            return {both.x, both.y};
        } else {
            const ulonglong2 both = *(const ulonglong2 *)from;
            return {(SUM)both.x, (SQUARE)both.y};
        }
    }
};

typedef walk_sums<uint32_t, int32_t, uint32_t, false> walk_linear;
typedef walk_sums<uint32_t, int32_t, uint32_t, true> walk_narrow;
typedef walk_sums<uint32_t, int32_t, uint64_t, true> walk_long; /* squares of 64 bits */
typedef walk_sums<uint64_t, int64_t, uint64_t, false> walk_wide_linear;
typedef walk_sums<uint64_t, int64_t, uint64_t, true> walk_wide;
typedef walk_sums<uint64_t, int64_t, uint128, true> walk_widest;
