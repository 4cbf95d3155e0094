/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of data that tests and benches compute on, each a function of an element's place, for C and for CUDA. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define CASES_INLINE static __host__ __device__ inline
#else
#define CASES_INLINE static inline
#endif

typedef enum data_kind {
    DATA_RANDOM,      /* all 32 bits */
    DATA_8_BIT,       /* 0 .. 255, as pixels are */
    DATA_16_BIT,      /* -2^15 .. 2^15 - 1 */
    DATA_24_BIT,      /* -2^23 .. 2^23 - 1 */
    DATA_MIN,         /* INT32_MIN everywhere */
    DATA_MAX,         /* INT32_MAX everywhere */
    DATA_EXTREMES,    /* INT32_MIN or INT32_MAX, by chance */
    DATA_ALTERNATING, /* INT32_MIN, INT32_MAX, INT32_MIN ... */
    DATA_SPIKE,       /* 0, but for one INT32_MIN */
    DATA_HALFWAY,     /* sums of squares halfway between two floats, or 1 beside */
    DATA_RUNS,        /* long runs of the least and the greatest number of 7 to 32 bits, by the seed */
    DATA_FINITE,      /* normal as floats and as doubles, which libraries that compute with them copy bit for bit */
    DATA_FLOATS,      /* from 2^-15 to 2 and -2, as f16, bf16, f32 and f64 */
    DATA_KINDS
} data_kind;

/* Draw `index` of a seed: SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators").
 */
CASES_INLINE uint64_t cases_draw(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Squares 2^60, half a float's last place there (2^36), a quarter, and what decides between up and down. */
CASES_INLINE int32_t cases_halfway_datum(uint64_t random) {
    const unsigned which = (unsigned)(random >> 8 & 7);
    const int32_t value = which == 0 ? 1 << 30 : which == 1 ? 1 << 18 : which == 2 ? 1 << 17 : which == 3;
    return random & 1 ? -value : value;
}

/* Windows that reach over two runs take in one extreme and leave the other, output after output. */
CASES_INLINE int32_t cases_run_datum(size_t i, unsigned bits) {
    const int64_t greatest = ((int64_t)1 << (bits - 1)) - 1;
    return (int32_t)(i / 300 % 2 ? greatest : -greatest - 1);
}

/* Where the spike of n elements is, by draw 0. */
CASES_INLINE size_t cases_spike(size_t n, uint64_t seed) {
    return n > 0 ? (size_t)(cases_draw(seed, 0) % n) : 0;
}

/* Element i; of what is no matter of its place alone, `spike` is cases_spike(). */
CASES_INLINE int32_t cases_datum(data_kind kind, size_t i, size_t spike, uint64_t seed) {
    const uint64_t random = cases_draw(seed, i + 1);
    switch (kind) {
    case DATA_RANDOM:
        return (int32_t)(uint32_t)random;
    case DATA_8_BIT:
        return (int32_t)(random & 0xff);
    case DATA_16_BIT:
        return (int32_t)(random & 0xffff) - 0x8000;
    case DATA_24_BIT:
        return (int32_t)(random & 0xffffff) - 0x800000;
    case DATA_MIN:
        return INT32_MIN;
    case DATA_MAX:
        return INT32_MAX;
    case DATA_EXTREMES:
        return random & 1 ? INT32_MIN : INT32_MAX;
    case DATA_HALFWAY:
        return cases_halfway_datum(random);
    case DATA_ALTERNATING:
        return i & 1 ? INT32_MAX : INT32_MIN;
    case DATA_RUNS:
        return cases_run_datum(i, 7 + (unsigned)(spike % 26));
    case DATA_FINITE: /* an exponent whose high bits are 01, of a float, and of a double whose high word this is */
        return (int32_t)(((uint32_t)random & 0xbfffffffu) | 0x20000000u);
    case DATA_FLOATS: /* the upper half has a float's exponent, the lower half is a bf16 from 2^-15 on */
        return (int32_t)(((uint32_t)random & 0x80ffbfffu) | 0x3f003800u);
    default:
        return i == spike ? INT32_MIN : 0;
    }
}
