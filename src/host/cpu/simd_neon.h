/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of NEON, of 64-bit ARM, under the names that simd_avx512.h tells of. */
#ifndef GP_CPU_SIMD_NEON_H
#define GP_CPU_SIMD_NEON_H

#if defined(__aarch64__)
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#define SIMD
#define INLINE static inline __attribute__((always_inline))
#define NAMED(name) name##_neon

#define LANES 4

typedef int32x4_t vec;

INLINE vec load(const int32_t *at) {
    return vld1q_s32(at);
}

/* n elements, fewer than LANES, and `rest` in the other lanes. */
INLINE vec load_first(const int32_t *at, size_t n, vec rest) {
    rest = n > 0 ? vld1q_lane_s32(at, rest, 0) : rest;
    rest = n > 1 ? vld1q_lane_s32(at + 1, rest, 1) : rest;
    return n > 2 ? vld1q_lane_s32(at + 2, rest, 2) : rest;
}

INLINE vec all(int32_t x) {
    return vdupq_n_s32(x);
}

INLINE vec min_32(vec a, vec b) {
    return vminq_s32(a, b);
}

INLINE vec max_32(vec a, vec b) {
    return vmaxq_s32(a, b);
}

INLINE vec and_bits(vec a, vec b) {
    return vandq_s32(a, b);
}

INLINE vec or_bits(vec a, vec b) {
    return vorrq_s32(a, b);
}

INLINE vec xor_bits(vec a, vec b) {
    return veorq_s32(a, b);
}

/* Lanes that have changed places with those `distance` away, a power of two. */
INLINE vec swap_lanes(vec x, size_t distance) {
    return distance == 2 ? vextq_s32(x, x, 2) : vrev64q_s32(x);
}

INLINE int32_t first_lane(vec x) {
    return vgetq_lane_s32(x, 0);
}

INLINE int64_t add_lanes(vec x) {
    return vaddlvq_s32(x);
}

/* Sums of any number of elements: pairs of neighbours are added straight into 64 bits. */
typedef struct {
    int64x2_t pairs;
} sums;

INLINE void add_to(sums *to, vec x) {
    to->pairs = vpadalq_s32(to->pairs, x);
}

INLINE sums join(sums a, sums b) {
    return (sums){vaddq_s64(a.pairs, b.pairs)};
}

INLINE int64_t total_of(sums s) {
    return vaddvq_s64(s.pairs);
}

#endif

#endif
