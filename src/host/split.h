/* SPDX-License-Identifier: Apache-2.0 */
/* How a problem on host data is cut into pieces that fit in staging memory, and what each piece moves and computes.
 * Pure: addresses are computed, never followed. */
#pragma once

#include "arithmetic.h"
#include "problem.h"

/* A pitched array on both sides of the bus: `height` rows of `width` bytes, pitches in bytes. height 0: nothing. */
typedef struct gp_box {
    unsigned char *host;
    size_t host_pitch;
    unsigned char *device;
    size_t device_pitch;
    size_t width;
    size_t height;
} gp_box;

/* Which arrays are host memory and are moved; the others are used where they are. */
typedef struct gp_staged {
    bool in;
    bool out[2]; /* transpose: out; window: sum, square */
    bool pinned; /* one of these is, and the copy engines move its rows one by one */
} gp_staged;

typedef struct gp_split {
    const gp_problem *problem;
    gp_staged staged;
    size_t rows, cols;             /* of the input */
    size_t piece_rows, piece_cols; /* at most */
    size_t out_pitch;              /* of the outputs as kernels see them, elements */
    size_t in_bytes, out_bytes;    /* share of one input and one output array in a slot of staging memory */
    size_t slot_bytes;             /* staging memory on the device that a piece needs */
} gp_split;

/* A rectangle of the input; in place, an off-diagonal one goes together with its mirror image. */
typedef struct gp_piece {
    size_t row, col, rows, cols;
    bool pair;
} gp_piece;

/* What one launch needs; problem is derived already, save for a reduction's result. */
typedef struct gp_part {
    gp_problem problem;
    gp_box in;     /* to be moved to the device first */
    gp_box out[2]; /* to be moved back after */
} gp_part;

/*
 * Bytes of one array that a piece aims at. A copy engine reaches 96 % of its rate with 4 MiB a copy (53.2 of 55.4
 * GB/s, DeepSpeed pull request 8283), so `most` is above that; a small job is cut in eight, so that copying and
 * computing overlap.
 */
size_t gp_split_target(uint64_t bytes, size_t most);

/* Steps to the next piece, from an all-zero one to the first. False: none left. */
bool gp_split_next(const gp_split *split, gp_piece *piece);

/* The primitives' own: sizes of pieces from `target`, and of one launch sizes and outputs, staged at `slot`. */
#define GP_DECLARE_SPLIT(name)                              \
    void gp_##name##_split(gp_split *split, size_t target); \
    void gp_##name##_part(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part *part)
GP_DECLARE_SPLIT(window);
GP_DECLARE_SPLIT(transpose);

/* What they share. */
#define GP_SLOT_ALIGNMENT 256u

static inline size_t gp_slot_bytes(uint64_t bytes) {
    return (size_t)gp_round_up(bytes, GP_SLOT_ALIGNMENT);
}

/* Element (row, col) of a pitched array. The box's host side is read or written; the problem's input only read. */
static inline unsigned char *gp_element(const void *array, size_t pitch, size_t elem_bytes, size_t row, size_t col) {
    return (unsigned char *)(uintptr_t)array + (row * pitch + col) * elem_bytes;
}

/* Cuts a box into boxes of at most `limit` bytes: the next one after *at bytes, at first 0. False: none. */
bool gp_box_next(const gp_box *box, size_t limit, size_t *at, gp_box *part);
