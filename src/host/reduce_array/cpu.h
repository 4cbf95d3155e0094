/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor rows that reduce views share: the walk over outputs, elements and threads. */
#pragma once

#include "../cpu/rows.h"
#include "../primitive.h"
#include "made.h"

/* The reference: any pass. */
void gp_pass_run_any(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                     int64_t place, uint64_t n);

/* The dot product alone of ints of 64 bits. False: it is another pass. */
bool gp_pass_run_dot(gp_accumulator *a, const gp_pass *pass, const unsigned char *in, const unsigned char *with,
                     uint64_t n);

/* Whether elements of an output are taken from where they are gathered; takes elements begin .. end - 1 of the output
 * whose first is at `in`. by_runs: one by one, for places. */
bool gp_gathers(const gp_pass *pass);
void gp_take_gathered(gp_accumulator *a, const gp_pass *pass, gp_pass_run run, const unsigned char *in,
                      uint64_t begin, uint64_t end, bool by_runs);

/* Adds n contiguous floats, their sum and that of their squares, or one of them, to accumulators of what these are
 * not below and not above. False: not here. */
typedef bool (*gp_pass_bounds)(const gp_pass *pass, const unsigned char *in, size_t n, gp_accumulator ends[2]);

/* Whether a pass is worth trying by bounds; adds elements at .. end - 1, or fails; and writes the results if the ends
 * prove them. */
bool gp_bounds_can(const gp_pass *pass);
bool gp_bounds_add(const gp_pass *pass, gp_pass_bounds bounds, gp_accumulator ends[2], uint64_t at, uint64_t end);
bool gp_bounds_write(const gp_pass *pass, gp_accumulator ends[2]);

/* A row's functions; all but the first may be NULL. */
typedef struct gp_pass_loops {
    gp_pass_run run;
    gp_pass_columns columns;
    gp_pass_across across;
    gp_columns_finish finish;
    gp_pass_bounds bounds;
    gp_pass_make make;
} gp_pass_loops;

gp_status gp_reduce_in_runs(gp_context *context, const gp_plan *plan, const gp_problem *problem, gp_pass_loops loops);

GP_DECLARE_LAUNCHER(gp_launch_reduce_array_cpu);
GP_DECLARE_SIMD_LAUNCHERS(reduce_array);
