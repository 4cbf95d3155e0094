/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of minima and maxima share: elements as whole numbers of which the least wins, as many in a word of 32
 * bits as it holds. */
#pragma once

#include "strip.cuh"

/* A word of E elements, as they are compared: those of a byte two by two. */
template <int E> struct lanes {
    uint32_t even, odd;

    static __device__ lanes all() {
        return {~0u, ~0u};
    }
    static __device__ lanes of(uint32_t word) {
        return E == 4 ? lanes{__byte_perm(word, 0, 0x4240), __byte_perm(word, 0, 0x4341)} : lanes{word, 0};
    }
    __device__ uint32_t word() const {
        return E == 4 ? __byte_perm(even, odd, 0x6240) : even;
    }
    __device__ void least(const lanes &other) {
        even = E == 1 ? min(even, other.even) : __vminu2(even, other.even);
        if (E == 4)
            odd = __vminu2(odd, other.odd);
    }
};

/* Numbers of which the least wins: of signed ints and floats in their order, NaN before all. */
template <int E> struct order {
    static constexpr int bits = 32 / E;
    static constexpr uint32_t all = ~0u >> (32 - bits), top = all / 2 + 1, ones = ~0u / all; /* 1 in each element */
    static constexpr uint32_t infinity = E == 1 ? 0x7f800000u : 0x7c00, nan = E == 1 ? 0x7fc00000u : 0x7e00;
    bool is_float;
    uint32_t flip; /* bits of all elements: of ints the signs that they have, and all for maxima */

    __device__ order(unsigned type, bool of_maximum)
        : is_float(E < 4 && gp_type_is_float(type)),
          flip((!is_float && gp_type_is_signed(type) ? top * ones : 0) ^ (of_maximum ? ~0u : 0)) {}
    __device__ uint32_t keys_of(uint32_t word) const {
        if (E == 4 || !is_float)
            return word ^ flip;
        uint32_t keys = 0;
#pragma unroll
        for (int i = 0; i < 32; i += bits) {
            const uint32_t x = word >> i & all;
            keys |= ((x & ~top) > infinity ? 0 : ((x & top ? ~x : x | top) ^ flip) & all) << i;
        }
        return keys;
    }
    __device__ uint32_t bits_of(uint32_t keys) const {
        if (E == 4 || !is_float)
            return keys ^ flip;
        uint32_t word = 0;
#pragma unroll
        for (int i = 0; i < 32; i += bits) {
            const uint32_t won = keys >> i & all, x = (won ^ flip) & all;
            word |= (won == 0 ? nan : x & top ? x & ~top : ~x & all) << i;
        }
        return word;
    }
};

/* Four words of four bytes, two of two halves: element j of word i becomes element i of word j. */
template <int E> __device__ inline void turn(uint32_t (&w)[E]) {
    if constexpr (E == 4) {
        const uint32_t a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[0], w[1], 0x7362),
                       c = __byte_perm(w[2], w[3], 0x5140), d = __byte_perm(w[2], w[3], 0x7362);
        w[0] = __byte_perm(a, c, 0x5410);
        w[1] = __byte_perm(a, c, 0x7632);
        w[2] = __byte_perm(b, d, 0x5410);
        w[3] = __byte_perm(b, d, 0x7632);
    } else if constexpr (E == 2) {
        const uint32_t a = __byte_perm(w[0], w[1], 0x5410);
        w[1] = __byte_perm(w[0], w[1], 0x7632);
        w[0] = a;
    }
}
