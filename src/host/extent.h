/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a call's arrays that every primitive makes: addresses, spans that overflow, arrays that overlap. Pure. */
#ifndef GP_EXTENT_H
#define GP_EXTENT_H

#include <stdint.h>

#include "status.h"

/* A pitched array of bytes, as the overlap test sees it: `count` rows of `row` bytes, `pitch` bytes apart. */
typedef struct gp_extent {
    const char *name;
    uintptr_t start;
    size_t count, row, pitch;
    size_t span; /* bytes from the first to past the last one */
} gp_extent;

/* row and pitch in elements. GP_ERR_OVERFLOW: they pass the address space. */
gp_status gp_extent_make(gp_extent *e, const char *name, const void *start, size_t count, size_t row, size_t pitch,
                         size_t elem_bytes);

gp_status gp_check_apart(const gp_extent *a, const gp_extent *b);

static inline gp_status gp_check_aligned(const char *name, const void *pointer, size_t bytes) {
    if ((uintptr_t)pointer % bytes != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: the address is not a multiple of %zu bytes", name, bytes);
    return GP_OK;
}

#endif
