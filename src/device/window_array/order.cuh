/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of minima and maxima share: elements as whole numbers of which the least wins, as many in a word of 32
 * bits as it holds. */
#pragma once

#include "strip.cuh"

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
