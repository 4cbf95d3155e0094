/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of views that every primitive makes: their shape, the bytes they cover, and whether two views share any.
 * Pure. */
#pragma once

#include "status.h"
#include <stdbool.h>
#include <stdint.h>

/* The bytes of a view: blocks of `block` bytes at multiples of `step` from `start` on, all within `span`. */
typedef struct gp_footprint {
    char name[24]; /* as the caller knows the view */
    uintptr_t start;
    uint64_t span, block, step;
    size_t elem_bytes;  /* of views */
    bool empty, folded; /* folded: elements may lie upon each other */
} gp_footprint;

/* Fills in all but the name. Fails on an unknown type, on a rank, extents or strides that no memory holds, and on
 * NULL with elements. It also fails on GP_BYTES, and on an address that is not a multiple of an element's size,
 * unless the elements are only `moved`. */
gp_status gp_footprint_measure(const gp_array *a, bool moved, gp_footprint *f);

/* Fills in all but the name: `count` rows, `pitch` elements apart. Fails where they pass the address space. */
gp_status gp_footprint_of_rows(gp_footprint *f, const void *start, size_t count, size_t row, size_t pitch,
                               size_t elem_bytes);

/* bytes: a power of two. */
static inline gp_status gp_check_aligned(const char *name, const void *pointer, size_t bytes) {
    if (((uintptr_t)pointer & (bytes - 1)) != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: the address is not a multiple of %zu bytes", name, bytes);
    return GP_OK;
}

/* That a view has the rank and the extents of `in`. */
gp_status gp_check_same_extents(const char *name, const gp_array *a, const gp_array *in);

/* GP_ERR_OVERLAP: they share bytes. Exact, but that blocks are taken to lie at every multiple of the step. */
gp_status gp_footprint_check_apart(const gp_footprint *a, const gp_footprint *b);

/* Rows of one pitch may lie in each other's padding, those of different pitches may not interleave. */
gp_status gp_footprint_check_rows_apart(const gp_footprint *a, const gp_footprint *b);

/* Whether two views whose footprints are not folded cover the very same elements, in whatever order. Exact. */
bool gp_footprint_is_same(const gp_footprint *f, const gp_array *a, const gp_footprint *g, const gp_array *b);
