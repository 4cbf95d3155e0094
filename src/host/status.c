/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses in words, and each thread's last failure. */
#include "status.h"
#include <stdarg.h>
#include <stdio.h>

static _Thread_local gp_saved_error last_error;

gp_status gp_fail(gp_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(last_error.text, sizeof last_error.text, format, arguments);
    va_end(arguments);
    return status;
}

const char *gp_last_error(void) {
    return last_error.text;
}

gp_saved_error gp_error_save(void) {
    return last_error;
}

void gp_error_restore(const gp_saved_error *saved) {
    last_error = *saved;
}

const char *gp_status_string(gp_status status) {
    static const char *const words[] = {
        [GP_OK] = "success",
        [GP_ERR_ARGUMENT] = "bad argument",
        [GP_ERR_EMPTY] = "minimum or maximum of no elements",
        [GP_ERR_OVERFLOW] = "overflow of a size or sum",
        [GP_ERR_OVERLAP] = "arrays overlap",
        [GP_ERR_MEMORY] = "out of memory",
        [GP_ERR_NO_DEVICE] = "no usable GPU",
        [GP_ERR_DRIVER] = "driver missing, too old or not started",
        [GP_ERR_DEVICE] = "device failure",
        [GP_ERR_NO_KERNEL] = "no kernel can do this here",
        [GP_ERR_UNSUPPORTED] = "not supported",
        [GP_ERR_FORKED] = "GPU context used in a forked child",
    };
    size_t index = (size_t)status;
    return index < sizeof words / sizeof *words ? words[index] : "unknown status";
}

unsigned gp_version(void) {
    return GP_VERSION;
}
