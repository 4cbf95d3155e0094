/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, as the benches and the command know them. */
#include "../src/host/problem.h"
#include "core/bench.h"

#include <string.h>

#define ORIGINAL_THREADS 512u      /* of the ladder, and of its forms in shared memory: */
#define ORIGINAL_SMEM_THREADS 128u /* the set-up that the steps were first measured with */

static footprint footprint_of(const line *l) {
    const reduce_case *c = CASE_OF(reduce_case, l);
    const size_t bytes = c->n * sizeof(int32_t);
    return (footprint){.in_bytes = bytes,
                       .in_offset = c->offset * sizeof(int32_t),
                       .out_bytes = sizeof(int64_t),
                       .outs = 1,
                       .moved_bytes = bytes,
                       .bytes = (double)bytes + sizeof(int64_t),
                       .data = c->data,
                       .seed = c->seed};
}

static void describe(const line *l, result *r) {
    const reduce_case *c = CASE_OF(reduce_case, l);
    r->op = op_words[c->op];
    r->n = c->n;
    r->offset = c->offset * sizeof(int32_t);
    r->elem_bytes = sizeof(int32_t);
    r->data = cases_data_name(c->data);
    const int used = snprintf(r->shape, sizeof r->shape, "%zu ints", c->n);
    if (c->offset > 0)
        snprintf(r->shape + used, sizeof r->shape - (size_t)used, ", offset %zu", r->offset);
}

static gp_status call(gp_context *context, const line *l, const void *in, void *const out[OUTS_MAX]) {
    const reduce_case *c = CASE_OF(reduce_case, l);
    return gp_reduce_int(context, c->op, in, c->n, out[0]);
}

static gp_status problem(const line *l, const void *in, void *const out[OUTS_MAX], gp_problem *to) {
    const reduce_case *c = CASE_OF(reduce_case, l);
    return gp_problem_reduce(to, c->op, in, c->n, out[0]);
}

static void make(const given *g, line *l) {
    const reduce_case c = {.n = g->n, .op = g->op, .data = DATA_RANDOM};
    memcpy(l->problem, &c, sizeof c);
}

static size_t usual(bool second, bool gpu, bool quick, bool ladder, size_t sizes[4]) {
    const size_t all[4] = {1 << 16, 1 << 20, 1 << 24, gpu ? 1 << 28 : 1 << 26};
    memcpy(sizes, all, sizeof all);
    if (second || quick || ladder)
        sizes[0] = ladder ? 1 << 24 : 1 << 20;
    return second || quick || ladder ? 1 : 4;
}

static unsigned ladder_threads(const char *row, unsigned asked) {
    if (strncmp(row, "reduce_gmem", 11) == 0 || strncmp(row, "reduce_smem", 11) == 0)
        return ORIGINAL_SMEM_THREADS;
    return asked > 0 ? asked : ORIGINAL_THREADS;
}

const primitive primitive_reduce = {
    .name = "reduce",
    .axis = "ints",
    .operation = GP_OPERATION_REDUCE,
    .case_bytes = sizeof(reduce_case),
    .reference = {"reduce_cpu", NULL},
    .last_resort = {{"reduce_cpu", "the reference"},
                    {"reduce_block", "few elements, which no other row is for"},
                    {"reduce_grid", "any number of elements, which no other row does"}},
    .groups = {{"reduce", "device", "sizes, operations, offsets"}},
    .ladder_anew = "reduce_gmem",
    .ladder_cold = true,
    .words = "N",
    .takes_op = true,
    .timed = cases_timed_reduce,
    .footprint = footprint_of,
    .describe = describe,
    .call = call,
    .problem = problem,
    .make = make,
    .usual = usual,
    .ladder_threads = ladder_threads,
};
