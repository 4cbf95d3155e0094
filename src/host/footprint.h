/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes a view covers: checks of views before a byte is read, and whether two of them overlap. Pure. */
#ifndef GP_FOOTPRINT_H
#define GP_FOOTPRINT_H

#include "status.h"
#include <stdbool.h>

/* The bytes of a view: blocks of `block` bytes at multiples of `step` from `start` on, all within `span`. */
typedef struct gp_footprint {
    char name[24]; /* as the caller knows the view */
    uintptr_t start;
    uint64_t span, block, step;
    bool empty, folded; /* folded: elements may lie upon each other */
} gp_footprint;

/* Checks the view a, named f->name, and fills *f. */
gp_status gp_footprint_measure(const gp_array *a, gp_footprint *f);

/* GP_ERR_OVERLAP unless no byte is in both. */
gp_status gp_footprint_check_apart(const gp_footprint *a, const gp_footprint *b);

#endif
