/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor rows of the window share: lines as pieces of work, and what a window sees outside its row. */
#pragma once

#include "../cpu/rows.h"

__extension__ typedef unsigned __int128 gp_u128;
__extension__ typedef __int128 gp_i128;

/* Computes columns begin .. end-1 of one row. */
typedef void (*gp_window_line)(const gp_problem *problem, size_t row, size_t begin, size_t end);

/* Runs the problem, each row or piece of a row with `line`, divided among the plan's threads. */
gp_status gp_window_in_lines(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                             gp_window_line line);

/* Threads to use, as gp_threads_worth() says; runs items 0 .. items-1, one at least, divided among so many. */
typedef void (*gp_window_range)(const void *argument, size_t first, size_t end);
unsigned gp_window_threads(gp_context *context, const gp_plan *plan, const gp_problem *problem);
gp_status gp_window_in_parts(gp_context *context, unsigned parts, const gp_problem *problem, size_t items,
                             gp_window_range range, const void *argument);

/* Elements that neighbour each other in the row as a window sees it, extended by the border: `count` of them from
 * `first` on, `step` elements apart in memory (+1, -1, or 0 for one element repeated). */
typedef struct gp_window_run {
    const int32_t *first;
    int step;
    size_t count;
} gp_window_run;

/* The run that begins at column x, which may lie outside the row on either side. cols > 0. */
gp_window_run gp_window_run_at(const gp_problem *problem, const int32_t *row, gp_i128 x);

/* What a window holds: each of a run's elements `times` times, and at most once a run with step 0. */
typedef void (*gp_window_visit)(void *argument, const gp_window_run *run, size_t times);

/* Visits all of the window that begins at column x, in any order: of one that has whole periods, each column once. */
void gp_window_visit_all(const gp_problem *problem, const int32_t *row, gp_i128 x, gp_window_visit visit,
                         void *argument);

/* Copies n elements of the extended row from column x on. */
void gp_window_extend(const gp_problem *problem, const int32_t *row, int64_t x, size_t n, int32_t *to);

/* What rows can do that need an instruction set; window_cpu does everything. */
bool gp_window_simd_supports(const gp_problem *problem);                /* window up to 2^30 */
bool gp_window_batch_supports(const gp_problem *problem, size_t lanes); /* short rows, a lane a row */

GP_DECLARE_LAUNCHER(gp_launch_window_cpu);
GP_DECLARE_LAUNCHER(gp_launch_window_batch_avx2);
GP_DECLARE_LAUNCHER(gp_launch_window_batch_avx512);
GP_DECLARE_SIMD_LAUNCHERS(window);
