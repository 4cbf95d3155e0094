/* SPDX-License-Identifier: Apache-2.0 */
/* Exact sums of floats of 2 bytes, as doubles. */
#pragma once

#include "element.cuh"

/* How floats of 2 bytes become doubles, and which of them try_halves() takes. */
struct half_form {
    uint32_t kept;          /* bits of two elements: no signs for sums of magnitudes */
    uint32_t shift, inside; /* of the upper half of a word to that of a double */
    uint32_t least, limit;  /* of magnitudes, as bits: the least wanted but for 0, less 1; below the limit */
    double rounds;          /* what is added to it is rounded to units of the second level */

    /* Numbers are expected below 2^t, and the last level's unit is 2^(t - 45). */
    __device__ half_form(bool is_bf16, bool of_magnitudes, int t) {
        kept = of_magnitudes ? 0x7fff7fff : ~0u;
        shift = is_bf16 ? 3 : 6;
        inside = is_bf16 ? 0x8fffe000 : 0x81fffc00;
        least = is_bf16 ? max((t - 38 + 127) * 128, 1) - 1 : 0;
        limit = is_bf16 ? (t + 127) * 128 : 0x7c00;
        rounds = __hiloint2double((1023 + t - 45 + 52 - (is_bf16 ? 896 : 1008)) << 20 | 0x80000, 0);
    }
    __device__ __forceinline__ double real_of(uint32_t upper) const {
        return __hiloint2double((int)((uint32_t)((int32_t)upper >> shift) & inside), 0);
    }
};

/*
 * Exponent and mantissa, moved to where a double has them, are the number times 2^-896 (bf16) or 2^-1008 (f16), of
 * subnormal ones too. These are added up exactly, and counted in units of the second level. False: one is too small
 * for that, or too great, or no number.
 */
template <int N>
__device__ __forceinline__ bool try_halves(const uint4 (&v)[N], const half_form &form, int64_t &units) {
    double sum[4] = {0, 0, 0, 0};
    uint32_t least = ~0u, most = 0; /* magnitudes: of two elements; the least less 1, so that 0 is none */
#pragma unroll
    for (int i = 0; i < 4 * N; i++) {
        const uint32_t word = word_of(v[i / 4], i % 4) & form.kept, magnitude = word & 0x7fff7fff;
        least = __viaddmin_u16x2(magnitude, ~0u, least);
        most = __vmaxu2(most, magnitude);
        sum[i % 2 * 2] += form.real_of(word << 16);
        sum[i % 2 * 2 + 1] += form.real_of(word);
    }
    const double all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    units = __double_as_longlong(all + form.rounds) - __double_as_longlong(form.rounds);
    return min(least >> 16, least & 0xffff) >= form.least && max(most >> 16, most & 0xffff) < form.limit;
}
