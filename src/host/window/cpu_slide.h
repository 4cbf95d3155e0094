/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the instruction-set rows of the window share. A line is done in blocks of columns. For each, the elements that
 * enter the window and those that leave it are two runs of memory, at the row's edges copied into a buffer, so that
 * one kernel without special cases does it all; and a bound on the elements' size is known, so that it computes no
 * wider than it must.
 */
#pragma once

#include "cpu.h"

/* Columns a block. Its elements are looked at for their size and then read again from the first-level cache. With 512
 * the 4096 x 4096 window of 31 took 0.84 of the memory's own time, with 1024 0.73, with 256 as with 512. */
#define GP_WINDOW_BLOCK 512

typedef struct gp_window_totals {
    gp_i128 sum;
    gp_u128 square;
    uint32_t magnitude; /* a bound on the absolute values of the elements added */
} gp_window_totals;

typedef struct gp_window_block {
    const int32_t *enters, *leaves;
    uintptr_t ahead; /* address of what enters two blocks later, or in the next row: to prefetch, may be no memory */
    float *sum, *square; /* where the first column's results go; either may be NULL */
    size_t n;            /* columns, at most GP_WINDOW_BLOCK */
    size_t window;
    uint32_t bound; /* on the absolute values of all elements in the block's windows */
    bool stream;    /* both outputs have whole lines at the same places, and are too large for the caches */
} gp_window_block;

typedef struct gp_window_kernels {
    uint32_t (*magnitude)(const int32_t *in, size_t n); /* the largest absolute value, 2^31 for the lowest int32 */
    void (*accumulate)(const int32_t *in, size_t n, gp_window_totals *to);
    /* On entry, sum and square are those of the window one column left of the block; on return, of its last, where
     * they are asked for. */
    void (*slide)(const gp_window_block *block, gp_window_totals *totals);
} gp_window_kernels;

/* A gp_window_line but for the kernels. window <= 2^30. */
void gp_window_slide_line(const gp_window_kernels *kernels, const gp_problem *problem, size_t y, size_t begin,
                          size_t end);

/* A slide kernel for any processor and any numbers. */
void gp_window_slide_scalar(const gp_window_block *block, gp_window_totals *totals);
