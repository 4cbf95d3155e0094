/* SPDX-License-Identifier: Apache-2.0 */
/* For those who wait: a moment between two looks. */
#ifndef GP_WAIT_H
#define GP_WAIT_H

#include <sched.h>

/* Leaves the core to its other thread for some cycles. */
static inline void gp_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#define GP_PAUSES 256 /* of 10 to 35 ns */

/* Between two looks for what another thread does: a pause at first, then the processor for whoever wants it. */
static inline void gp_wait_briefly(unsigned looks) {
    if (looks < GP_PAUSES)
        gp_pause();
    else
        sched_yield();
}

#endif
