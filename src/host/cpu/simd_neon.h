/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors of simd.h with NEON, of 64-bit ARM. */
#pragma once

#if defined(__aarch64__)
#include <arm_neon.h>

#define SIMD
#define NAMED(name) name##_neon

#define LANES 4

typedef int32x4_t vec;
typedef int64x2_t wide;
typedef float32x4_t fvec;
typedef float64x2_t dvec;

#include "simd.h"

#define min_32 vminq_s32
#define max_32 vmaxq_s32
#define max_unsigned(a, b) ((vec)vmaxq_u32((uint32x4_t)(a), (uint32x4_t)(b)))
#define abs_32 vabsq_s32
#define round_32 vcvtq_f32_s32
#define add_bytes(x) ((wide)vpaddlq_u32(vpaddlq_u16(vpaddlq_u8((uint8x16_t)(x)))))

INLINE lanes_16 upper_products(lanes_16 a, lanes_16 b) {
    const uint16x8_t x = (uint16x8_t)a, y = (uint16x8_t)b;
    return (lanes_16)vcombine_u16(vshrn_n_u32(vmull_u16(vget_low_u16(x), vget_low_u16(y)), 16),
                                  vshrn_n_u32(vmull_high_u16(x, y), 16));
}

INLINE vec load_first(const int32_t *at, size_t n, vec rest) {
    rest = n > 0 ? vld1q_lane_s32(at, rest, 0) : rest;
    rest = n > 1 ? vld1q_lane_s32(at + 1, rest, 1) : rest;
    return n > 2 ? vld1q_lane_s32(at + 2, rest, 2) : rest;
}

/* Plain stores: there is no intrinsic function for one past the caches (stnp). */
INLINE void stream(void *at, vec x) {
    store(at, x);
}

INLINE void stream_one(float *at, float x) {
    *at = x;
}

INLINE vec kept(vec x) {
    return x;
}

INLINE vec swap_lanes(vec x, size_t distance) {
    return distance == 2 ? vextq_s32(x, x, 2) : vrev64q_s32(x);
}

INLINE pairs multiply(vec a, vec b) {
    return (pairs){vmull_s32(vget_low_s32(a), vget_low_s32(b)), vmull_high_s32(a, b)};
}

INLINE pairs widen(vec x) {
    return (pairs){vmovl_s32(vget_low_s32(x)), vmovl_high_s32(x)};
}

INLINE dvec doubles_of(wide x) {
    return vcvtq_f64_s64(x);
}

INLINE fvec floats_of(dvec even, dvec odd) {
    return vcvt_high_f32_f64(vcvt_f32_f64(even), odd);
}

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

INLINE vec lanes_up(vec x, size_t n) {
    static const unsigned char places[2 * 16] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                                 255, 255, 255, 255, 255, 0,   1,   2,   3,   4,   5,
                                                 6,   7,   8,   9,   10,  11,  12,  13,  14,  15};
    return (vec)vqtbl1q_u8((uint8x16_t)x, vld1q_u8(places + 16 - 4 * n));
}

INLINE vec pick_lanes(vec x, vec order) {
    const vec bytes = add_32(multiply_32(order, all(0x04040404)), all(0x03020100));
    return (vec)vqtbl1q_u8((uint8x16_t)x, (uint8x16_t)bytes);
}

INLINE vec load_lanes(const void *at, size_t step) {
    (void)step;
    return load(at);
}

INLINE vec load_rows(const char *const *row, size_t step, size_t first) {
    (void)step;
    return load(row[0] + first);
}

INLINE void store_lane(void *at, vec x, size_t lane) {
    (void)lane;
    store(at, x);
}

INLINE vec zip_lower(size_t bytes, vec a, vec b) {
    return bytes == 1   ? (vec)vzip1q_u8((uint8x16_t)a, (uint8x16_t)b)
           : bytes == 2 ? (vec)vzip1q_u16((uint16x8_t)a, (uint16x8_t)b)
           : bytes == 4 ? vzip1q_s32(a, b)
                        : (vec)vzip1q_s64((wide)a, (wide)b);
}

INLINE vec zip_upper(size_t bytes, vec a, vec b) {
    return bytes == 1   ? (vec)vzip2q_u8((uint8x16_t)a, (uint8x16_t)b)
           : bytes == 2 ? (vec)vzip2q_u16((uint16x8_t)a, (uint16x8_t)b)
           : bytes == 4 ? vzip2q_s32(a, b)
                        : (vec)vzip2q_s64((wide)a, (wide)b);
}

INLINE vec max_signed(size_t bytes, vec a, vec b) {
    return bytes == 1   ? (vec)vmaxq_s8((int8x16_t)a, (int8x16_t)b)
           : bytes == 2 ? (vec)vmaxq_s16((int16x8_t)a, (int16x8_t)b)
           : bytes == 4 ? vmaxq_s32(a, b)
                        : (vec)vbslq_s64(vcgtq_s64((wide)a, (wide)b), (wide)a, (wide)b);
}

#define lower_halves(x) vcvt_f32_f16(vget_low_f16((float16x8_t)(x)))
#define upper_halves(x) vcvt_high_f32_f16((float16x8_t)(x))
#define widen_lower(x) vcvt_f64_f32(vget_low_f32(x))
#define widen_upper(x) vcvt_high_f64_f32(x)
#define narrow_both(lower, upper) vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)(lower)), (float64x2_t)(upper))

INLINE vec pick_bytes(vec x, const unsigned char *order) {
    return (vec)vqtbl1q_u8((uint8x16_t)x, vld1q_u8(order));
}

#endif
