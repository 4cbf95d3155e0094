/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A move: out[i] = in[i] for every index of two views, checked and in canonical form. Plain C; goes to GPU kernels by
 * value.
 *
 * Canonical: axes of extent 1 are dropped; strides of the output are positive; axes are ordered by falling stride of
 * the output, neighbours fused where both views allow. Elements that lie one behind the other in both views are one
 * longer element: no axis is contiguous in both.
 */
#pragma once

#include "gpuprim/gpuprim.h"
#include <stdbool.h>

/* Strides in bytes. out > 0; in of any sign, or 0. */
typedef struct gp_move_axis {
    uint64_t n;
    int64_t in, out;
} gp_move_axis;

typedef struct gp_move {
    /* The shape, up to and without `in`: all that planning may look at, with the first `rank` axes. All bytes that
       are not named are 0. */
    uint64_t run;   /* bytes of an element */
    uint64_t count; /* elements: product of the extents */
    uint32_t rank;  /* axis[rank - 1] has the smallest stride of the output */
    bool in_place;  /* both views are the same bytes */
    gp_move_axis axis[GP_AXES];

    /* The data: where the element with index 0 on every canonical axis lies. */
    const unsigned char *in;
    unsigned char *out;
} gp_move;
