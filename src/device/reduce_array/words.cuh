/* SPDX-License-Identifier: Apache-2.0 */
/* Several elements at once, in a word of 4 bytes: their ordered keys, and sums of integers. */
#pragma once

#include "element.cuh"

template <int BYTES> using key_int = std::conditional_t<BYTES == 8, int64_t, int32_t>;

/* How elements become keys; of up to 4 bytes those of a word at once. */
template <int WIDTH> struct word_keys {
    typedef key_int<WIDTH> key_t;
    key_t bias, inverted;
    __device__ void keys_of(unsigned type) {
        const key_form form(type);
        bias = (key_t)(form.bias * (WIDTH == 1 ? 0x01010101 : WIDTH == 2 ? 0x00010001 : 1));
        inverted = (key_t)form.inverted;
    }

    /* Of no elements; the greatest is ~ of it. */
    static __device__ key_t least_none() {
        return WIDTH == 8 ? (key_t)INT64_MAX : WIDTH == 4 ? (key_t)INT32_MAX : (key_t)0x7fff7fff;
    }
    /* Those of 2 bytes as two of 16 bits in a word; of bytes the even ones so in one and the odd ones in another, as
       0 .. 255 above -128. */
    __device__ __forceinline__ uint2 pairs(uint32_t word) const {
        const uint32_t key = word ^ (WIDTH == 1 ? (uint32_t)bias ^ 0x80808080
                                                : (word >> 15 & 0x00010001) * (uint32_t)inverted ^ (uint32_t)bias);
        return WIDTH == 1 ? make_uint2(key & 0x00ff00ff, key >> 8 & 0x00ff00ff) : make_uint2(key, key);
    }
    static __device__ __forceinline__ void stretch(uint32_t pair, key_t &low, key_t &high) {
        low = (key_t)__vmins2((uint32_t)low, pair);
        high = (key_t)__vmaxs2((uint32_t)high, pair);
    }
    __device__ __forceinline__ void span(uint32_t word, key_t &low, key_t &high) const {
        if (WIDTH == 4) {
            const key_t key = (key_t)word ^ (((key_t)word >> 31) & inverted) ^ bias;
            low = min(low, key);
            high = max(high, key);
        } else if (WIDTH < 4) {
            const uint2 pair = pairs(word);
            low = (key_t)__vmins2((uint32_t)low, WIDTH == 1 ? __vmins2(pair.x, pair.y) : pair.x);
            high = (key_t)__vmaxs2((uint32_t)high, WIDTH == 1 ? __vmaxs2(pair.x, pair.y) : pair.x);
        }
    }
    /* One key of two. */
    static __device__ __forceinline__ key_t least_of(key_t low) {
        return WIDTH < 4 ? min((key_t)(int16_t)low, (key_t)((int32_t)low >> 16)) - (WIDTH == 1 ? 128 : 0) : low;
    }
    static __device__ __forceinline__ key_t most_of(key_t high) {
        return WIDTH < 4 ? max((key_t)(int16_t)high, (key_t)((int32_t)high >> 16)) - (WIDTH == 1 ? 128 : 0) : high;
    }
};

/* Of a word's elements, of up to 4 bytes. */
template <int BYTES> struct int_words {
    bool has_sign;
    /* A bit for each element that is not 0: its upper one. */
    static __device__ __forceinline__ uint32_t marks_of(uint32_t word) {
        const uint32_t below = BYTES == 1 ? 0x7f7f7f7f : BYTES == 2 ? 0x7fff7fff : 0x7fffffff;
        return (((word & below) + below) | word) & ~below;
    }
    __device__ __forceinline__ int64_t sum_of(uint32_t word) const {
        if (BYTES == 1)
            return has_sign ? __dp4a((int)word, 0x01010101, 0) : (int)__dp4a(word, 0x01010101u, 0u);
        if (BYTES == 2)
            return has_sign ? __dp2a_lo((int)word, 0x0101, 0) : (int)__dp2a_lo(word, 0x0101u, 0u);
        return has_sign ? (int64_t)(int32_t)word : (int64_t)word;
    }

    __device__ __forceinline__ uint64_t abs_of(uint32_t word) const {
        if (!has_sign)
            return (uint64_t)sum_of(word);
        if (BYTES == 1)
            return (uint64_t)(__dp4a((int)word, 0x01010101, 0) -
                              2 * __dp4a((int)(word & ((word >> 7 & 0x01010101) * 0xff)), 0x01010101, 0));
        if (BYTES == 2)
            return (uint64_t)(::abs((int)(int16_t)word) + ::abs((int)word >> 16));
        return (uint32_t)::abs((int)word);
    }

    __device__ __forceinline__ uint64_t square_of(uint32_t word) const {
        if (BYTES == 1)
            return has_sign ? (uint32_t)__dp4a((int)word, (int)word, 0) : __dp4a(word, word, 0u);
        if (BYTES == 2) {
            const uint32_t low = has_sign ? (uint32_t)::abs((int)(int16_t)word) : word & 0xffff;
            const uint32_t high = has_sign ? (uint32_t)::abs((int)word >> 16) : word >> 16;
            return (uint64_t)(low * low) + high * high;
        }
        const uint32_t magnitude = has_sign ? (uint32_t)::abs((int)word) : word;
        return (uint64_t)magnitude * magnitude;
    }

    __device__ __forceinline__ uint32_t count_of(uint32_t word) const {
        if (BYTES == 1)
            return __dp4a(marks_of(word) >> 7, 0x01010101u, 0u);
        if (BYTES == 2)
            return (word & 0xffff ? 1 : 0) + (word >> 16 ? 1 : 0);
        return word ? 1 : 0;
    }
};
