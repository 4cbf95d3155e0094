/* SPDX-License-Identifier: Apache-2.0 */
/* For those who wait: a moment between two looks. */
#pragma once

#include <sched.h>
#include <time.h>

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

/* A wait that may be long; all zeros at its start, and whenever the waiter has got on. */
typedef struct gp_wait {
    unsigned looks;
    struct timespec began; /* yielding */
} gp_wait;

#define GP_YIELDING_NS 100000
#define GP_NAP_NS 20000 /* Linux adds up to 50 us unless told otherwise */

/* Between two looks of a long wait: yields for a while, then sleeps. On a crowded core one yield takes as long as the
 * time slices of all others there; who has slept goes before them. */
static inline void gp_wait_long(gp_wait *wait) {
    static const struct timespec nap = {.tv_nsec = GP_NAP_NS};
    struct timespec now;
    if (wait->looks < GP_PAUSES) {
        gp_wait_briefly(wait->looks++);
        return;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (wait->looks == GP_PAUSES) {
        wait->looks++;
        wait->began = now;
    }
    if ((now.tv_sec - wait->began.tv_sec) * 1000000000 + now.tv_nsec - wait->began.tv_nsec < GP_YIELDING_NS)
        sched_yield();
    else
        (void)nanosleep(&nap, NULL);
}
