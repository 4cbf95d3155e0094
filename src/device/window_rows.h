/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that window_rows and its rows in the catalogue must agree on. Plain C. */
#ifndef GP_WINDOW_ROWS_H
#define GP_WINDOW_ROWS_H

#include "../host/problem.h"
#include <stddef.h>

/*
 * One H200, 2^26 pixels of 8 bits, windows of 31, share of the floor with 40, 48 and 56 registers: 64 columns and
 * zeros beyond them 0.97, 1.00, 0.99; 1024 columns and REFLECT_101 0.80, 0.89, 0.92. 256 threads: 0.97, 0.99, 0.99;
 * 0.79, 0.86, 0.85.
 */
#define GP_WINDOW_ROWS_THREADS 128
#define GP_WINDOW_ROWS_REGS 56

/* Pixels a thread. Odd, so that 32 threads' chunks of 8-byte prefixes lie in different banks without padding. */
#define GP_WINDOW_ROWS_CHUNK 17
#define GP_WINDOW_ROWS_ALIGN 3 /* pixels before the block's first, to load 16 bytes */
#define GP_WINDOW_ROWS_COLS ((size_t)GP_WINDOW_ROWS_THREADS * GP_WINDOW_ROWS_CHUNK - GP_WINDOW_ROWS_ALIGN)
#define GP_WINDOW_ROWS_EDGES 128 /* border columns at most for which a block keeps a table */
#define GP_WINDOW_ROWS_EDGE_BYTES 16

/* Prefixes of all pixels and one more; a prefix and a word a warp, and a zero, to a multiple of 16; the table. */
#define GP_WINDOW_ROWS_PREFIX_BYTES (((size_t)GP_WINDOW_ROWS_THREADS * GP_WINDOW_ROWS_CHUNK + 2) * 8)
#define GP_WINDOW_ROWS_SMEM(edges)                                                                      \
    (GP_WINDOW_ROWS_PREFIX_BYTES + ((size_t)GP_WINDOW_ROWS_THREADS / 32 * (8 + 4) + 4 + 15) / 16 * 16 + \
     (size_t)(edges)*GP_WINDOW_ROWS_EDGE_BYTES)

#ifdef __cplusplus
extern "C" {
#endif

/* Columns whose window sees something beyond the row, as far as they fit the table; 0: there is none. */
unsigned gp_window_rows_edges(const gp_problem *problem);

/* Whole rows that a block takes. */
unsigned gp_window_rows_of_block(const gp_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
