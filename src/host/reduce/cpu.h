/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor rows of the reduction share, and staging: joining, the walk over parts and chunks. */
#pragma once

#include "../cpu/rows.h"
#include "../primitive.h"
#include "tiling.h"

/* Elements a chunk function is given at most: 1 MiB. Few enough for the sum's 32-bit accumulators (simd.h)
 * and many enough that entering the function costs nothing. */
#define GP_REDUCE_CHUNK ((size_t)1 << 18)

/* Calls f(op, ...) with the operation as a constant. */
#define GP_WITH_OPERATION(f, op, ...)                        \
    ((op) == GP_REDUCE_SUM   ? f(GP_REDUCE_SUM, __VA_ARGS__) \
     : (op) == GP_REDUCE_MIN ? f(GP_REDUCE_MIN, __VA_ARGS__) \
     : (op) == GP_REDUCE_MAX ? f(GP_REDUCE_MAX, __VA_ARGS__) \
     : (op) == GP_REDUCE_AND ? f(GP_REDUCE_AND, __VA_ARGS__) \
     : (op) == GP_REDUCE_OR  ? f(GP_REDUCE_OR, __VA_ARGS__)  \
                             : f(GP_REDUCE_XOR, __VA_ARGS__))

/* Joins two partial results. */
gp_total gp_reduce_combine(gp_reduce_op op, gp_total a, gp_total b);

/* in[0] op ... op in[n-1] for 1 <= n <= GP_REDUCE_CHUNK, extended to 64 bits with its sign.
 * streamed: what the thread has to do is larger than its core's cache: what comes next is worth prefetching. */
typedef int64_t (*gp_reduce_chunk)(gp_reduce_op op, const int32_t *in, size_t n, bool streamed);

/* Runs the problem with a row's chunk function. */
gp_status gp_reduce_in_chunks(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                              gp_reduce_chunk chunk);

GP_DECLARE_LAUNCHER(gp_launch_reduce_cpu);
GP_DECLARE_SIMD_LAUNCHERS(reduce);
