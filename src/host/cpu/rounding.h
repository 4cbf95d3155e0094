/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounding to nearest, subnormal numbers as they are, and no signal for what is inexact, whatever a program has set
 * for the calling thread, or had when a thread of the context's was started. Elsewhere than on these two processors a
 * program must not change it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t
    gp_rounding; /* bits of the control register: direction, subnormals flushed, which exceptions signal */

#if defined(__x86_64__)
#define GP_ROUNDING_BITS UINT32_C(0xffc0) /* of MXCSR: FTZ, direction, exceptions without a signal, DAZ */
#define GP_ROUNDING_NEAREST UINT32_C(0x1f80)
#define GP_ROUNDING_DOWN UINT32_C(0x3f80)

static inline void gp_round_as(gp_rounding direction) {
    const uint32_t now = __builtin_ia32_stmxcsr();
    if ((now & GP_ROUNDING_BITS) != direction)
        __builtin_ia32_ldmxcsr((now & ~GP_ROUNDING_BITS) | (uint32_t)direction);
}

static inline gp_rounding gp_rounding_now(void) {
    return __builtin_ia32_stmxcsr() & GP_ROUNDING_BITS;
}

#elif defined(__aarch64__)
#define GP_ROUNDING_BITS ((UINT64_C(0x1c8) << 16) | 0x9f00) /* of FPCR: FZ, direction, FZ16, traps */
#define GP_ROUNDING_NEAREST 0
#define GP_ROUNDING_DOWN (UINT64_C(2) << 22)

static inline uint64_t gp_rounding_register(void) {
    uint64_t now;
    __asm__ volatile("mrs %0, fpcr" : "=r"(now));
    return now;
}

static inline void gp_round_as(gp_rounding direction) {
    const uint64_t now = gp_rounding_register();
    if ((now & GP_ROUNDING_BITS) != direction)
        __asm__ volatile("msr fpcr, %0" : : "r"((now & ~GP_ROUNDING_BITS) | direction) : "memory");
}

static inline gp_rounding gp_rounding_now(void) {
    return gp_rounding_register() & GP_ROUNDING_BITS;
}

#else
#define GP_ROUNDING_NEAREST 0

static inline gp_rounding gp_rounding_now(void) {
    return GP_ROUNDING_NEAREST;
}

static inline void gp_round_as(gp_rounding direction) {
    (void)direction;
}
#endif

static inline gp_rounding gp_round_to_nearest(void) {
    const gp_rounding before = gp_rounding_now();
    if (before != GP_ROUNDING_NEAREST)
        gp_round_as(GP_ROUNDING_NEAREST);
    return before;
}

/* Whoever rounds in another way meanwhile is back at nearest by then; looking takes 5 ns. */
static inline void gp_round_back(const gp_rounding *before) {
    if (*before != GP_ROUNDING_NEAREST)
        gp_round_as(*before);
}

/* In front of what computes on the host: to nearest until its scope is left. */
#define GP_ROUNDS_TO_NEAREST \
    __attribute__((cleanup(gp_round_back), unused)) const gp_rounding rounding_before = gp_round_to_nearest()
