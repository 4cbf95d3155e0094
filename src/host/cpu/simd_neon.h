/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of NEON, of 64-bit ARM, under the names that simd_avx512.h tells of. */
#ifndef GP_CPU_SIMD_NEON_H
#define GP_CPU_SIMD_NEON_H

#if defined(__aarch64__)
#include <arm_neon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMD
#define INLINE static inline __attribute__((always_inline))
#define NAMED(name) name##_neon

#define LANES 4

typedef int32x4_t vec;
typedef int64x2_t wide;
typedef float32x4_t fvec;

#define min_32 vminq_s32
#define max_32 vmaxq_s32
#define abs_32 vabsq_s32
#define multiply_32 vmulq_s32
#define and_bits vandq_s32
#define or_bits vorrq_s32
#define xor_bits veorq_s32
#define round_32 vcvtq_f32_s32
#define store_floats vst1q_f32
#define stream_floats vst1q_f32 /* there are no stores past the caches */

/* Without signs, so that additions may overflow. */
#define U32 vreinterpretq_u32_s32
#define S32 vreinterpretq_s32_u32
#define U64 vreinterpretq_u64_s64
#define S64 vreinterpretq_s64_u64
#define add_32(a, b) S32(vaddq_u32(U32(a), U32(b)))
#define subtract_32(a, b) S32(vsubq_u32(U32(a), U32(b)))
#define max_unsigned(a, b) S32(vmaxq_u32(U32(a), U32(b)))
#define add_64(a, b) S64(vaddq_u64(U64(a), U64(b)))
#define subtract_64(a, b) S64(vsubq_u64(U64(a), U64(b)))
#define upper_half(x) S64(vshrq_n_u64(U64(x), 32)) /* x / 2^32 */

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

/* Lanes that have changed places with those `distance` away, a power of two. */
INLINE vec swap_lanes(vec x, size_t distance) {
    return distance == 2 ? vextq_s32(x, x, 2) : vrev64q_s32(x);
}

INLINE int32_t first_lane(vec x) {
    return vgetq_lane_s32(x, 0);
}

INLINE bool any_negative(vec x) {
    return vminvq_s32(x) < 0;
}

/* ---- sums ---- */

/* Modulo 2^64. */
INLINE uint64_t add_lanes_64(wide x) {
    return (uint64_t)vaddvq_s64(x);
}

INLINE int64_t add_lanes(vec x) {
    return vaddlvq_s32(x);
}

/* Sums of any number of elements: pairs of neighbours are added straight into 64 bits. */
typedef struct {
    wide pairs;
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

/* ---- lanes in 64 bits ---- */

/* The first two lanes' and the last two lanes'. */
typedef struct {
    wide even, odd;
} pairs;

INLINE pairs multiply(vec a, vec b) {
    return (pairs){vmull_s32(vget_low_s32(a), vget_low_s32(b)), vmull_high_s32(a, b)};
}

INLINE pairs widen(vec x) {
    return (pairs){vmovl_s32(vget_low_s32(x)), vmovl_high_s32(x)};
}

/* Of numbers below 2^BITS_64: exact in double, rounded once to float. */
#define BITS_64 51
INLINE fvec round_64(pairs p) {
    return vcvt_high_f32_f64(vcvt_f32_f64(vcvtq_f64_s64(p.even)), vcvtq_f64_s64(p.odd));
}
#define round_unsigned round_64

/* ---- prefix sums: each lane becomes the sum of those up to it and of all before the vector ---- */

/* carry: of all before, in every lane. */
INLINE vec scan_32(vec x, vec *carry) {
    x = add_32(x, vextq_s32(all(0), x, 3));
    x = add_32(x, vextq_s32(all(0), x, 2));
    x = add_32(x, *carry);
    *carry = vdupq_laneq_s32(x, 3);
    return x;
}

INLINE pairs scan_64(pairs p, wide *carry) {
    const wide zero = vdupq_n_s64(0);
    p.even = add_64(add_64(p.even, vextq_s64(zero, p.even, 1)), *carry);
    p.odd = add_64(add_64(p.odd, vextq_s64(zero, p.odd, 1)), vdupq_laneq_s64(p.even, 1));
    *carry = vdupq_laneq_s64(p.odd, 1);
    return p;
}

/* Of two kinds at once, in every lane. */
typedef struct {
    wide first, second;
} two_totals;

INLINE two_totals begin_totals(int64_t first, int64_t second) {
    return (two_totals){vdupq_n_s64(first), vdupq_n_s64(second)};
}

INLINE int64_t first_total(two_totals t) {
    return vgetq_lane_s64(t.first, 0);
}

INLINE int64_t second_total(two_totals t) {
    return vgetq_lane_s64(t.second, 0);
}

INLINE void scan_two(bool has_a, bool has_b, pairs *a, pairs *b, two_totals *carry) {
    *a = has_a ? scan_64(*a, &carry->first) : *a;
    *b = has_b ? scan_64(*b, &carry->second) : *b;
}

/* Of 32 bits, and of 64; *carry begins with the former's total in both halves. */
INLINE void scan_32_and_64(vec *a, pairs *b, two_totals *carry) {
    vec carry_32 = vreinterpretq_s32_s64(carry->first);
    *a = scan_32(*a, &carry_32);
    carry->first = vreinterpretq_s64_s32(carry_32);
    *b = scan_64(*b, &carry->second);
}

#define stream_one(at, x) (*(at) = (x))

/* ---- bytes, for transposes: lanes of 16 bytes ---- */

INLINE vec load_bytes(const char *at) {
    return vreinterpretq_s32_u8(vld1q_u8((const uint8_t *)at));
}

INLINE void store_bytes(char *at, vec x) {
    vst1q_u8((uint8_t *)at, vreinterpretq_u8_s32(x));
}

/* A plain store: there is no intrinsic function for one past the caches (stnp). */
INLINE void stream_bytes(char *at, vec x) {
    store_bytes(at, x);
}

INLINE vec load_lanes(const char *at, size_t step) {
    (void)step;
    return load_bytes(at);
}

INLINE void store_lanes(char *at, size_t step, vec x) {
    (void)step;
    store_bytes(at, x);
}

INLINE vec zip_lower(size_t bytes, vec a, vec b) {
    const uint8x16_t x = vreinterpretq_u8_s32(a), y = vreinterpretq_u8_s32(b);
    return bytes == 1   ? vreinterpretq_s32_u8(vzip1q_u8(x, y))
           : bytes == 2 ? vreinterpretq_s32_u16(vzip1q_u16(vreinterpretq_u16_s32(a), vreinterpretq_u16_s32(b)))
           : bytes == 4 ? vzip1q_s32(a, b)
                        : vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

INLINE vec zip_upper(size_t bytes, vec a, vec b) {
    const uint8x16_t x = vreinterpretq_u8_s32(a), y = vreinterpretq_u8_s32(b);
    return bytes == 1   ? vreinterpretq_s32_u8(vzip2q_u8(x, y))
           : bytes == 2 ? vreinterpretq_s32_u16(vzip2q_u16(vreinterpretq_u16_s32(a), vreinterpretq_u16_s32(b)))
           : bytes == 4 ? vzip2q_s32(a, b)
                        : vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

INLINE vec pick_bytes(vec x, const unsigned char *order) {
    return vreinterpretq_s32_u8(vqtbl1q_u8(vreinterpretq_u8_s32(x), vld1q_u8(order)));
}

#endif

#endif
