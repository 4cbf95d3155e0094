/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of ints of the walk of window_strip by blocks, and its elements and stores. */
#ifndef GP_WINDOW_BLOCK_CUH
#define GP_WINDOW_BLOCK_CUH

#include "results.cuh"

__device__ inline uint128 shuffle_xor(uint128 x, int lanes) {
    return (uint128)__shfl_xor_sync(GP_FULL_WARP, (uint64_t)(x >> 64), lanes) << 64 |
           __shfl_xor_sync(GP_FULL_WARP, (uint64_t)x, lanes);
}

template <class T> __device__ inline T shuffle_xor(T x, int lanes) {
    return __shfl_xor_sync(GP_FULL_WARP, x, lanes);
}

template <class T> __device__ inline T warp_sum(T x) {
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == 4)
        return __reduce_add_sync(GP_FULL_WARP, x);
    else
#endif
    {
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2)
            x += shuffle_xor(x, lanes);
        return x;
    }
}

template <class SUM, class SIGNED, class SQUARE, bool squares> struct strip_sums {
    typedef SIGNED sum_type;
    typedef SQUARE square_type;
    static constexpr bool wide = sizeof(SUM) > 4;
    static constexpr int bytes = squares ? sizeof(SUM) + sizeof(SQUARE) : sizeof(SUM); /* in shared memory */
    SUM sum;
    SQUARE square;

    __device__ void plus(const strip_sums &other) {
        sum += other.sum;
        if (squares)
            square += other.square;
    }
    __device__ void minus(const strip_sums &other) {
        sum -= other.sum;
        if (squares)
            square -= other.square;
    }
    /* An element of 32 bits at most, whose sign is extended, or of an unsigned type is not. */
    __device__ void slide(uint32_t in, uint32_t out, bool has_sign) {
        if (!wide) {
            sum += in - out;
            if (squares)
                square += (SQUARE)((in - out) * (in + out));
        } else {
            const int64_t a = has_sign ? (int64_t)(int32_t)in : in, b = has_sign ? (int64_t)(int32_t)out : out;
            sum += (SUM)(a - b);
            if (squares)
                square += (SQUARE)(uint64_t)(a * a) - (SQUARE)(uint64_t)(b * b);
        }
    }
    /* The sums of all lanes, in each. */
    __device__ strip_sums total() const {
        strip_sums all = {warp_sum(sum), 0};
        if (squares)
            all.square = warp_sum(square);
        return all;
    }
    /* The sums of all lanes up to this one. */
    __device__ strip_sums scanned() const {
        strip_sums all = *this;
#pragma unroll
        for (int lanes = 1; lanes < 32; lanes *= 2) {
            add_from_below(&all.sum, lanes);
            if (squares)
                add_from_below(&all.square, lanes);
        }
        return all;
    }
};

typedef strip_sums<uint32_t, int32_t, uint32_t, false> linear_sums;
typedef strip_sums<uint32_t, int32_t, uint32_t, true> narrow_sums;
typedef strip_sums<uint64_t, int64_t, uint64_t, true> wide_sums;
typedef strip_sums<uint64_t, int64_t, uint128, true> widest_sums;

/* In shared memory. */
__device__ inline void put(void *kept, unsigned at, const linear_sums &s) {
    ((uint32_t *)kept)[at] = s.sum;
}

__device__ inline linear_sums get(const void *kept, unsigned at, linear_sums) {
    return {((const uint32_t *)kept)[at], 0};
}

__device__ inline void put(void *kept, unsigned at, const narrow_sums &s) {
    ((uint2 *)kept)[at] = make_uint2(s.sum, s.square);
}

__device__ inline narrow_sums get(const void *kept, unsigned at, narrow_sums) {
    const uint2 both = ((const uint2 *)kept)[at];
    return {both.x, both.y};
}

__device__ inline void put(void *kept, unsigned at, const wide_sums &s) {
    ((ulonglong2 *)kept)[at] = make_ulonglong2(s.sum, s.square);
}

__device__ inline wide_sums get(const void *kept, unsigned at, wide_sums) {
    const ulonglong2 both = ((const ulonglong2 *)kept)[at];
    return {both.x, both.y};
}

__device__ inline void put(void *kept, unsigned at, const widest_sums &s) {
    uint64_t *to = (uint64_t *)kept + 3 * at;
    to[0] = s.sum;
    to[1] = (uint64_t)s.square;
    to[2] = (uint64_t)(s.square >> 64);
}

__device__ inline widest_sums get(const void *kept, unsigned at, widest_sums) {
    const uint64_t *from = (const uint64_t *)kept + 3 * at;
    return {from[0], (uint128)from[2] << 64 | from[1]};
}

/* Column k, extended with its sign. */
template <int COLUMNS, int BYTES>
__device__ inline uint32_t element_of(const strip_row<COLUMNS, BYTES> &raw, int k, bool has_sign) {
    const uint32_t word = raw.word[k * BYTES / 4];
    if (BYTES == 1)
        return permuted(word, has_sign ? 0x8880 + k % 4 * 0x1111 : 0x4440 + k % 4);
    if (BYTES == 2)
        return permuted(word, k % 2 == 0 ? (has_sign ? 0x9910 : 0x4410) : (has_sign ? 0xbb32 : 0x4432));
    return word;
}

/* Four outputs of a row from number `first` on, of 1, 2 or 4 bytes, as far as there are so many. */
template <int CHANNELS>
__device__ inline void store_four(unsigned char *line, unsigned first, int64_t pixel, int64_t side, bool together,
                                  int outputs, unsigned bytes, const uint32_t *raw) {
    if (together && (int)first + 4 <= outputs) {
        unsigned char *const to = line + first * bytes;
        if (bytes == 4)
            *(uint4 *)to = make_uint4(raw[0], raw[1], raw[2], raw[3]);
        else if (bytes == 2)
            *(uint2 *)to = make_uint2(__byte_perm(raw[0], raw[1], 0x5410), __byte_perm(raw[2], raw[3], 0x5410));
        else
            *(uint32_t *)to =
                __byte_perm(__byte_perm(raw[0], raw[1], 0x40), __byte_perm(raw[2], raw[3], 0x40), 0x5410);
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if ((int)(first + k) < outputs)
            store_bits(bytes, raw[k], line + (first + k) / CHANNELS * pixel + (first + k) % CHANNELS * side);
}

#endif
