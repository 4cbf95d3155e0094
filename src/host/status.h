/* SPDX-License-Identifier: Apache-2.0 */
/* How failures travel: a gp_status up the call chain, its words in this thread's gp_last_error(). */
#pragma once

#include "gpuprim/gpuprim.h"

/* Sets this thread's last error to the formatted words and returns the status, so that one line reports. */
__attribute__((format(printf, 2, 3))) gp_status gp_fail(gp_status status, const char *format, ...);

/* An argument that may not be NULL. */
static inline gp_status gp_check_not_null(const char *name, const void *pointer) {
    return pointer != NULL ? GP_OK : gp_fail(GP_ERR_ARGUMENT, "%s is NULL", name);
}

/* The last error's words, while something is tried whose failure is none of the call's. */
typedef struct gp_saved_error {
    char text[512];
} gp_saved_error;

gp_saved_error gp_error_save(void);
void gp_error_restore(const gp_saved_error *saved);

/* Returns a failure to the caller as it is. */
#define GP_TRY(call)                       \
    do {                                   \
        gp_status gp_try_status_ = (call); \
        if (gp_try_status_ != GP_OK)       \
            return gp_try_status_;         \
    } while (0)
