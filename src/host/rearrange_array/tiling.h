/* SPDX-License-Identifier: Apache-2.0 */
/* How the GPU rows that rearrange views cut a move: the numbers that fit() decides, a plan keeps and kernels take. */
#pragma once

#include "../plan.h"
#include "cut.h"
#include "cycle.h"

/*
 * The forms of rearrange_tile: way, bytes of a piece, pieces loaded and stored at once, and blocks an SM that the
 * kernel's registers leave room for. Of those that can, the first that stores whole sectors is taken, then raw rows,
 * then the first of all.
 */
/* clang-format off */
#define GP_MOVE_FORMS(FORM)                                                                                 \
    FORM(RUNS, 1, 1, 16, 3) FORM(DIRECT, 16, 1, 1, 6) FORM(TRIPLES, 2, 2, 2, 4) FORM(TRIPLES, 1, 4, 4, 4)   \
    FORM(SQUARES, 4, 4, 4, 4) FORM(SQUARES, 2, 4, 2, 4) FORM(SQUARES, 2, 2, 2, 4) FORM(SQUARES, 1, 4, 4, 4) \
    FORM(GATHER, 16, 1, 1, 4) FORM(GATHER, 8, 1, 1, 4) FORM(GATHER, 2, 2, 2, 4) FORM(GATHER, 1, 4, 4, 4)    \
    FORM(GATHER, 4, 1, 1, 4) FORM(GATHER, 2, 1, 1, 4) FORM(GATHER, 1, 1, 1, 4)                              \
    FORM(RAW, 16, 1, 1, 3) FORM(RAW, 8, 1, 1, 3) FORM(RAW, 4, 1, 2, 3) FORM(RAW, 2, 1, 4, 3)                \
    FORM(RAW, 1, 1, 8, 3)
/* clang-format on */

#define GP_REARRANGE_TILE_REGS 64
#define GP_REARRANGE_TILE_SMEM 768         /* static: where the next tiles begin */
#define GP_REARRANGE_RAW_REGS 56           /* of raw rows */
#define GP_PAIRS_ROOM GP_CYCLE_SPACE_BYTES /* of a part in place, see pairs.h */
#define GP_REARRANGE_ANY_REGS 48
#define GP_REARRANGE_ANY_THREADS 256u

GP_DECLARE_ROW(rearrange_tile);
GP_DECLARE_ROW(rearrange_cycle);
GP_DECLARE_ROW(rearrange_any);

GP_C_LINKAGE gp_move_form gp_move_form_at(unsigned form);
