/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of views, as the benches and the command know them. */
#include "core/bench.h"

#include <string.h>

static const char *const types[] = {"",    "u8",  "s8",  "u16",  "s16", "u32", "s32",
                                    "u64", "s64", "f16", "bf16", "f32", "f64"};

/* What a case asks for, in one pass. */
typedef struct wanted {
    const char *name;
    unsigned count;
    unsigned op[OUTS_MAX];
    gp_type to[OUTS_MAX]; /* 0: the input's */
} wanted;

static const wanted all_wanted[] = {
    [ARRAY_SUM] = {"sum", 1, {GP_REDUCE_SUM}, {GP_F32}},
    [ARRAY_TOTAL] = {"total", 1, {GP_REDUCE_SUM}, {GP_S64}},
    [ARRAY_MAX] = {"max", 1, {GP_REDUCE_MAX}, {0}},
    [ARRAY_MEAN] = {"mean", 1, {GP_REDUCE_MEAN}, {GP_F32}},
    [ARRAY_SQUARES] = {"squares", 1, {GP_REDUCE_SUM_SQUARES}, {GP_F32}},
    [ARRAY_MOMENTS] = {"mean+variance", 2, {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE}, {GP_F32, GP_F32}},
    [ARRAY_PLACES] = {"argmin+argmax", 2, {GP_REDUCE_ARGMIN, GP_REDUCE_ARGMAX}, {GP_S64, GP_S64}},
    [ARRAY_COUNT] = {"count", 1, {GP_REDUCE_COUNT}, {GP_S64}},
    [ARRAY_BITS] = {"xor", 1, {GP_REDUCE_XOR}, {0}},
    [ARRAY_NAN_MEAN] = {"nan-mean", 1, {GP_REDUCE_MEAN | GP_SKIP_NAN}, {GP_F32}},
    [ARRAY_DOT] = {"dot", 1, {GP_REDUCE_DOT}, {GP_F32}},
    [ARRAY_APART] = {"sum-abs-diff", 1, {GP_REDUCE_SUM_ABS_DIFF}, {GP_F32}},
    [ARRAY_MASKED_MEAN] = {"masked-mean", 1, {GP_REDUCE_MEAN | GP_WHERE}, {GP_F32}},
};

static size_t bytes_of(gp_type type) {
    static const size_t bytes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return bytes[type];
}

static gp_type result_type(const array_case *c, unsigned which) {
    const gp_type to = all_wanted[c->what].to[which];
    return to != 0 ? to : c->type;
}

static size_t outputs_of(const array_case *c) {
    return c->axis == ARRAY_ALL ? 1 : c->axis == ARRAY_ROWS ? c->rows : c->cols;
}

static footprint footprint_of(const line *l) {
    const array_case *c = CASE_OF(array_case, l);
    const wanted *w = &all_wanted[c->what];
    const size_t bytes = c->rows * c->cols * bytes_of(c->type), out = outputs_of(c) * bytes_of(result_type(c, 0));
    return (footprint){.in_bytes = bytes,
                       .out_bytes = out,
                       .outs = w->count,
                       .moved_bytes = bytes,
                       .bytes = (double)bytes + (double)(w->count * out),
                       .data = c->data,
                       .seed = c->seed,
                       .largest = {c->what == ARRAY_SUM ? 2.0 * (double)(c->rows * c->cols / outputs_of(c)) : 256}};
}

/* "sum f32 all", "mean u8 axis 0". */
static void describe(const line *l, result *r) {
    static char op[64];
    static const char *const axes[] = {"all", "axis 1", "axis 0"};
    const array_case *c = CASE_OF(array_case, l);
    snprintf(op, sizeof op, "%s %s %s", all_wanted[c->what].name, types[c->type], axes[c->axis]);
    r->op = op;
    r->rows = c->rows;
    r->cols = c->cols;
    r->n = c->rows * c->cols;
    r->elem_bytes = bytes_of(c->type);
    r->data = cases_data_name(c->data);
    snprintf(r->shape, sizeof r->shape, "%zu x %zu, %s", c->rows, c->cols, r->data);
}

static gp_status call(gp_context *context, const line *l, const void *in, void *const out[OUTS_MAX]) {
    const array_case *c = CASE_OF(array_case, l);
    const wanted *w = &all_wanted[c->what];
    gp_array from = gp_matrix(c->type, in, c->rows, c->cols, c->cols), with;
    gp_result results[OUTS_MAX];
    const bool pairs = c->what >= ARRAY_DOT;
    if (pairs) {
        const unsigned halved = c->axis != ARRAY_COLUMNS;
        from.extent[halved] /= 2;
        with = from;
        with.data =
            (unsigned char *)from.data + from.extent[halved] * (size_t)from.stride[halved] * bytes_of(c->type);
    }
    for (unsigned i = 0; i < w->count; i++) {
        const gp_type to = result_type(c, i);
        results[i] = gp_want(w->op[i], c->axis == ARRAY_ALL    ? gp_scalar(to, out[i])
                                       : c->axis == ARRAY_ROWS ? gp_matrix(to, out[i], c->rows, 1, 1)
                                                               : gp_matrix(to, out[i], 1, c->cols, c->cols));
    }
    return pairs ? gp_reduce_pair(context, &from, &with, results, w->count)
                 : gp_reduce(context, &from, results, w->count);
}

static void make(const given *g, line *l) {
    const array_case c = {.rows = 1, .cols = g->n, .type = GP_F32, .axis = ARRAY_ALL, .data = DATA_FLOATS};
    memcpy(l->problem, &c, sizeof c);
}

static size_t usual(bool second, bool gpu, bool quick, bool ladder, size_t sizes[4]) {
    const size_t all[4] = {1 << 12, 1 << 16, 1 << 20, 1 << 24}; /* no more, as the plain row takes 0.1 us a float */
    memcpy(sizes, all, sizeof all);
    if (second || quick)
        sizes[0] = 1 << 20;
    return ladder ? 0 : second || quick ? 1 : gpu ? 4 : 3;
}

const primitive primitive_reduce_array = {
    .name = "reduce_array",
    .axis = "floats",
    .operation = GP_OPERATION_REDUCE_ARRAY,
    .case_bytes = sizeof(array_case),
    .reference = {NULL, NULL}, /* the processor's choice, as the plain row takes seconds */
    .last_resort = {{"reduce_array_cpu", "the reference"}, {"reduce_all_singles", "GPUs with few FP64 lanes"}},
    .groups = {{"reduce_array", "device", "sums, extremes and moments of all types, all of them, rows, columns"}},
    .words = "N",
    .timed = cases_timed_array,
    .footprint = footprint_of,
    .describe = describe,
    .call = call,
    .make = make,
    .usual = usual,
};
