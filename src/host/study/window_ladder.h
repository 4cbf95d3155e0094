/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that the kernels of the window ladder and their rows in the catalogue must agree on. Plain C.
 *
 * Their results are added up in float: off by up to (window + 3) 2^-24 of the sum of the magnitudes.
 */
#ifndef GP_WINDOW_LADDER_H
#define GP_WINDOW_LADDER_H

#define GP_WINDOW_LADDER_THREADS_MIN 64
#define GP_WINDOW_LADDER_THREADS_MAX 1024
#define GP_WINDOW_LADDER_REGS 32 /* two blocks of 1024 threads on an SM of 65536 registers */

/* Shared bytes of window_smem: each thread has a copy of its window, and of the squares. */
#define GP_WINDOW_LADDER_SMEM(threads, window) (2 * (window) * (threads) * sizeof(float))

#endif
