/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancellation of the calling thread waits until the call is over. Who waits for threads or for a GPU would otherwise
 * be unwound out of that wait: with locks held, while others work on what its stack holds. Every public call that may
 * wait or read a file opens with GP_UNCANCELLED. A call that a processor computes in its own thread does neither, and
 * is spared what it costs: 66 ns on one virtual machine.
 */
#pragma once

#include <pthread.h>

static inline int gp_cancel_disable(void) {
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void gp_cancel_restore(const int *before) {
    int now;
    (void)pthread_setcancelstate(*before, &now);
}

/* Until its scope is left. */
#define GP_UNCANCELLED \
    const int cancellation __attribute__((cleanup(gp_cancel_restore), unused)) = gp_cancel_disable()
