/* SPDX-License-Identifier: Apache-2.0 */
/* Words to reductions, and which type each result has unless told otherwise. */
#include "reduction.h"
#include "../src/host/reduce_array/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[REDUCTION_OPS] = {
    [GP_REDUCE_SUM] = "sum",
    [GP_REDUCE_MIN] = "min",
    [GP_REDUCE_MAX] = "max",
    [GP_REDUCE_AND] = "and",
    [GP_REDUCE_OR] = "or",
    [GP_REDUCE_XOR] = "xor",
    [GP_REDUCE_ARGMIN] = "argmin",
    [GP_REDUCE_ARGMAX] = "argmax",
    [GP_REDUCE_COUNT] = "count",
    [GP_REDUCE_SUM_ABS] = "sum_abs",
    [GP_REDUCE_SUM_SQUARES] = "sum_squares",
    [GP_REDUCE_MAX_ABS] = "max_abs",
    [GP_REDUCE_NORM] = "norm",
    [GP_REDUCE_MEAN] = "mean",
    [GP_REDUCE_VARIANCE] = "var",
    [GP_REDUCE_STDDEV] = "std",
    [GP_REDUCE_VARIANCE_SAMPLE] = "var_sample",
    [GP_REDUCE_STDDEV_SAMPLE] = "std_sample",
};

const char *reduction_op_word(gp_reduce_op op) {
    return words[op];
}

const char *type_word(gp_type type) {
    return gp_type_name((unsigned)type);
}

void parse_ops(struct argp_state *state, const char *text, reduction *r) {
    char word[16];
    r->count = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), at);
        const gp_reduce_op op = (gp_reduce_op)word_index(state, "--op", word, REDUCTION_OPS, words);
        for (size_t i = 0; i < r->count; i++)
            if (r->op[i] == op)
                argp_error(state, "--op: %s stands there twice", word);
        r->op[r->count++] = op;
        at += length;
        if (*at == '\0')
            return;
    }
}

/* False: it is no list. */
static bool read_axes(const char *text, axis_list *axes) {
    *axes = (axis_list){0};
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        const long axis = strtol(at, &end, 10);
        if (end == at || errno != 0 || (*end != ',' && *end != '\0') || axes->count == GP_AXES)
            return false;
        axes->axis[axes->count++] = axis;
        at = end;
        if (*at == '\0')
            return true;
    }
}

void parse_axes(struct argp_state *state, const char *text, axis_list *axes) {
    if (strcmp(text, "all") == 0)
        *axes = (axis_list){.all = true};
    else if (!read_axes(text, axes))
        argp_error(state, "axes are all or a list such as 0,2 of up to 8 axes, not '%s'", text);
}

void parse_order(struct argp_state *state, const char *text, axis_list *axes) {
    if (!read_axes(text, axes))
        argp_error(state, "--axes is a list such as 2,0,1 that names every axis, not '%s'", text);
}

gp_type parse_type(struct argp_state *state, const char *what, const char *text) {
    const char *names[GP_F64];
    for (unsigned i = 0; i < GP_F64; i++)
        names[i] = gp_type_name(i + 1);
    return (gp_type)(word_index(state, what, text, GP_F64, names) + 1);
}

unsigned axes_mask(const char *name, const axis_list *axes, unsigned rank) {
    unsigned mask = axes->all ? (1u << rank) - 1 : 0;
    for (unsigned i = 0; i < axes->count; i++) {
        const long axis = axes->axis[i] < 0 ? axes->axis[i] + (long)rank : axes->axis[i];
        if (axis < 0 || axis >= (long)rank)
            fail("%s: there is no axis %ld, it has %u", name, axes->axis[i], rank);
        if (mask >> axis & 1)
            fail("%s: axis %ld is named twice", name, axis);
        mask |= 1u << axis;
    }
    return mask;
}

void axes_order(const char *name, const axis_list *axes, unsigned rank, unsigned order[GP_AXES]) {
    if (axes->count != rank)
        fail("%s: --axes names %u axes, but there are %u", name, axes->count, rank);
    (void)axes_mask(name, axes, rank); /* fails on one that is not there, or is named twice */
    for (unsigned i = 0; i < rank; i++)
        order[i] = (unsigned)(axes->axis[i] < 0 ? axes->axis[i] + (long)rank : axes->axis[i]);
}

/* The first that the result may have of: the type asked for, the elements' (extremes, bits), u64 and s64, f64. */
static gp_type result_type(const gp_operation_facts *facts, gp_reduce_op op, unsigned in, unsigned may,
                           gp_type asked) {
    const bool is_signed_sum = op == GP_REDUCE_SUM && gp_type_is_signed(in);
    const unsigned liked[] = {asked, facts->kind != GP_PASS_MOMENTS ? in : 0, is_signed_sum ? GP_S64 : GP_U64,
                              GP_F64};
    for (size_t i = 0; i < sizeof liked / sizeof *liked; i++)
        if (liked[i] != 0 && may >> liked[i] & 1)
            return (gp_type)liked[i];
    return (gp_type)__builtin_ctz(may);
}

size_t reduction_results(const char *name, const reduction *r, const gp_array *in, unsigned axes, gp_result want[]) {
    size_t extent[GP_AXES], count = 1;
    bool none = r->type != (gp_type)0;
    for (unsigned i = 0; i < in->rank; i++) {
        extent[i] = axes >> i & 1 ? 1 : in->extent[i];
        if (__builtin_mul_overflow(count, extent[i], &count) || count > PTRDIFF_MAX / 8)
            fail("%s: its results pass the address space", name);
    }
    for (size_t i = 0; i < r->count; i++) {
        const gp_operation_facts *facts = gp_operation_facts_of(r->op[i]);
        const unsigned may = gp_result_types(facts, (unsigned)in->type);
        if (may == 0)
            fail("%s: %s has no %s", name, gp_type_name((unsigned)in->type), words[r->op[i]]);
        const gp_type type = result_type(facts, r->op[i], (unsigned)in->type, may, r->type);
        none = none && type != r->type;
        const uint32_t flags = r->skip_nan ? GP_SKIP_NAN : 0;
        want[i] = gp_want((uint32_t)r->op[i] | flags, gp_dense(type, NULL, in->rank, extent));
    }
    if (none)
        fail("%s: of %s nothing that is asked for can be %s", name, gp_type_name((unsigned)in->type),
             gp_type_name((unsigned)r->type));
    return count;
}
