/* SPDX-License-Identifier: Apache-2.0 */
/* Words of 1 to 16 bytes that are moved at once, and squares of small elements, turned in registers. */
#pragma once

#include "../l2.cuh"

template <int bytes> struct element_of;
template <> struct element_of<1> { typedef uint8_t type; };
template <> struct element_of<2> { typedef uint16_t type; };
template <> struct element_of<4> { typedef uint32_t type; };
template <> struct element_of<8> { typedef uint2 type; };
template <> struct element_of<16> { typedef uint4 type; };

/* 4 words of 4 bytes, transposed. */
__device__ inline void transpose_bytes(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d) {
    const uint32_t ab_low = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
    const uint32_t cd_low = __byte_perm(c, d, 0x5140), cd_high = __byte_perm(c, d, 0x7362);
    a = __byte_perm(ab_low, cd_low, 0x5410);
    b = __byte_perm(ab_low, cd_low, 0x7632);
    c = __byte_perm(ab_high, cd_high, 0x5410);
    d = __byte_perm(ab_high, cd_high, 0x7632);
}

/* 4 / bytes words of as many elements: rows in, columns out. */
template <int bytes> __device__ inline void transpose_words(uint32_t *w) {
    if constexpr (bytes == 1) {
        transpose_bytes(w[0], w[1], w[2], w[3]);
    } else {
        const uint32_t low = __byte_perm(w[0], w[1], 0x5410);
        w[1] = __byte_perm(w[0], w[1], 0x7632);
        w[0] = low;
    }
}
