/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction of contiguous runs with the vectors of the simd_*.h that the including file names before. */
#include "../cpu/rounding.h"
#include "cpu.h"

#if defined(LANES)
#include "../cpu/ahead.h"
#include "../cpu/quotients.h"

#define NOINLINE __attribute__((noinline))

#if defined(HAS_SUMS_DOWN)
#define round_sums_as(direction) ((void)0)
#else
#define sum_down(a, b) ((a) + (b))
#define less_down(a, b) ((a) - (b))
#define round_sums_as gp_round_as
#endif

/* Each needs the one before. */
#include "cpu_forms_simd.h"

#include "cpu_walks_simd.h"

#include "cpu_loops_simd.h"

#include "cpu_columns_simd.h"

#include "cpu_few_simd.h"

#include "cpu_across_simd.h"

#include "cpu_runs_simd.h"

#include "cpu_quotients_simd.h"

#include "cpu_made_simd.h"

#include "cpu_finish_simd.h"

gp_status NAMED(gp_launch_reduce_array)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    return gp_reduce_in_runs(context, plan, problem,
                             (gp_pass_loops){run, columns, across, finish, bounds_of, make_elements});
}

#endif
