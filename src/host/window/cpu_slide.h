/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the instruction-set rows of the window share. A line is done in blocks of columns. For each, the elements that
 * enter the window and those that leave it are two runs of memory, at the row's edges copied into a buffer, so that
 * one kernel without special cases does it all; and a bound on the elements' size is known, so that it computes no
 * wider than it must.
 */
#ifndef GP_CPU_WINDOW_SLIDE_H
#define GP_CPU_WINDOW_SLIDE_H

#include "cpu.h"

/*
 * Columns a block. Its elements are looked at for their size and then read again from the first-level cache. With 512
 * the 4096 x 4096 window of 31 took 0.84 of the memory's own time, with 1024 0.73, with 256 as with 512.
 */
#define GP_WINDOW_BLOCK 512

/* An absolute value from which on elements are only known to be large. */
#define GP_WINDOW_LARGE (1 << 30)

/* Sums of two elements below this in absolute value fit 16 bits with their sign. */
#define GP_WINDOW_SMALL (1 << 14)

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
    bool sum_in_32;      /* every window's sum fits 32 bits */
    bool narrow;     /* every element is below GP_WINDOW_LARGE in absolute value, every sum of squares asked for below
                        2^63 */
    unsigned shift;  /* every window's sum of squares is at most 2^(62 + shift) */
    bool small;      /* every element is below GP_WINDOW_SMALL, every result asked for fits 32 bits */
    bool below_2_64; /* every sum of squares asked for is below 2^64; every sum of elements is anyway below 2^62 */
    bool below_2_51; /* narrow, and every result asked for is below 2^51 in absolute value */
    bool stream;     /* both outputs have whole lines at the same places, and are too large for the caches */
} gp_window_block;

typedef struct gp_window_kernels {
    /*
     * A bound on the absolute values, 2^31 for the lowest int32, with no more bits than the largest; any bound if
     * that is GP_WINDOW_LARGE or more.
     */
    uint32_t (*magnitude)(const int32_t *in, size_t n);
    void (*accumulate)(const int32_t *in, size_t n, gp_window_totals *to);
    void (*reverse)(const int32_t *in, size_t n, int32_t *out); /* out[i] = in[n - 1 - i]; unused with extend */
    /* On entry, sum and square are those of the window one column left of the block; on return, of its last. */
    void (*slide)(const gp_window_block *block, gp_window_totals *totals);
    /* Copies n elements of the extended row from column x on, and may write up to a line, 64 bytes. NULL: run by run.
     */
    void (*extend)(const gp_problem *problem, const int32_t *row, int64_t x, size_t n, int32_t *out);
} gp_window_kernels;

/* A gp_window_line but for the kernels. window <= 2^30. */
void gp_window_slide_line(const gp_window_kernels *kernels, const gp_problem *problem, size_t y, size_t begin,
                          size_t end);

/* The block less its first n columns. */
gp_window_block gp_window_block_after(const gp_window_block *block, size_t n);

/* A slide kernel for any processor and any numbers. */
void gp_window_slide_scalar(const gp_window_block *block, gp_window_totals *totals);

#endif
