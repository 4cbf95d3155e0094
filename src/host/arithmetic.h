/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic that planning and cutting share. */
#ifndef GP_ARITHMETIC_H
#define GP_ARITHMETIC_H

#include <stdint.h>

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

#endif
