/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of gp_rearrange(), random or made, with what they owe. */
#pragma once

#include "gpuprim/gpuprim.h"
#include <stdbool.h>

/* A view in `bytes` of memory that it touches from the first to the last; its data comes `first` bytes behind. */
typedef struct placed_view {
    gp_array view;
    size_t first, bytes;
} placed_view;

typedef struct random_move {
    placed_view in, out;
    bool in_place;    /* both are in one memory */
    bool may_refuse;  /* in place, but perhaps a permutation that is not offered */
    size_t offset[2]; /* off alignment, of in and out */
    char label[320];
} random_move;

/* The same for the same seed. elements: at most about. */
void random_move_make(random_move *move, uint64_t seed, size_t elements);

/* Dense `in` of these extents, and dense `out` of its axes in the order `axes`. bytes: of an element. */
void random_move_permutation(random_move *move, size_t bytes, unsigned rank, const size_t *extent,
                             const unsigned *axes);

/* Some axes of `in`, one at least, go the other way in memory. */
void random_move_reverse(random_move *move, uint64_t seed);

/* In place: `count` matrices of rows x cols elements, one behind the other. */
void random_move_rectangles(random_move *move, size_t bytes, size_t count, size_t rows, size_t cols);

/* The views in their memories. */
gp_array random_move_in(const random_move *move, void *memory);
gp_array random_move_out(const random_move *move, void *memory);

/* What the memory of `out` holds after the call: `to` holds what is there before. */
void random_move_oracle(const random_move *move, const unsigned char *in, unsigned char *to);
