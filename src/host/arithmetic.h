/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic that planning and cutting share. */
#pragma once

#include <stdint.h>

/* Sums, products and narrowings of made-up sizes and facts do not wrap: what passes a type's range is the most, or
 * the least, that it holds. Planning has no narrowing cast besides; tests/check/structure.sh holds it to that. */
static inline uint64_t gp_plus(uint64_t a, uint64_t b) {
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

static inline uint64_t gp_times(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint32_t gp_to_u32(uint64_t value) {
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static inline int32_t gp_to_s32(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static inline uint64_t gp_divide_up(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

static inline uint64_t gp_round_up(uint64_t a, uint64_t unit) {
    return gp_divide_up(a, unit) * unit;
}

static inline uint64_t gp_least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t gp_greatest(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static inline uint64_t gp_at_least_one(uint64_t a) {
    return a > 0 ? a : 1;
}

static inline unsigned gp_log2(uint64_t n) {
    unsigned log2 = 0;
    while (n >>= 1)
        log2++;
    return log2;
}
