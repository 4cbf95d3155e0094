/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of views: what follows from a pass, and the entry in the table of primitives. */
#include "../arithmetic.h"
#include "../primitive.h"
#include "array.h"
#include <stdio.h>

static void derive(gp_problem *problem) {
    const gp_pass *pass = problem->pass;
    const unsigned bytes = gp_type_bytes(pass->type);
    const unsigned all = pass->kept + pass->reduced;
    const bool rows = pass->reduced > 0 && pass->axis[all - 1].in == (int64_t)bytes;
    const unsigned along =
        rows ? all - 1 : pass->kept - 1u; /* whose elements are loaded together; rows may overlap */
    /* rows without gaps are as one: what begins in one of them is the kernel's */
    const unsigned across = rows ? 0 : pass->kept;
    const bool dense = (rows ? pass->kept == 1 : pass->kept > 0) && pass->reduced == 1 && pass->with_type == 0 &&
                       pass->axis[along].in == (int64_t)bytes &&
                       pass->axis[across].in == (int64_t)(pass->axis[along].n * bytes);
    const bool pairs = pass->with_type != 0 && gp_type_bytes(pass->with_type) == bytes;
    uintptr_t bits = (uintptr_t)pass->in | (pairs ? (uintptr_t)pass->with : 0);
    for (unsigned axis = 0; axis < all; axis++)
        if ((axis != along || pass->axis[axis].in != (int64_t)bytes) && !(dense && axis == across))
            bits |= (uintptr_t)pass->axis[axis].in | (pairs ? (uintptr_t)pass->axis[axis].with : 0);
    problem->in_align = gp_alignment(bits);
    problem->out_align = GP_ALIGN_MAX;
    problem->rows = pass->outputs;
    problem->cols = pass->length;
    problem->n = pass->outputs * pass->length;
    problem->elem_bytes = bytes;
    problem->bytes_read = gp_times(problem->n, bytes + gp_type_bytes(pass->with_type));
    problem->bytes_written = 0;
    for (unsigned r = 0; r < pass->results; r++)
        problem->bytes_written =
            gp_plus(problem->bytes_written, gp_times(pass->outputs, gp_type_bytes(pass->result[r].type)));
}

static bool is_empty(const gp_problem *problem) {
    return problem->pass->outputs == 0;
}

static int describe(const gp_problem *problem, char *text, size_t size) {
    static const char *const layouts[] = {"contiguous", "rows", "columns", "strided"};
    const gp_pass *pass = problem->pass;
    char ops[GP_OPS_CHARS] = "", passes[128] = "";
    size_t length = 0;
    for (unsigned r = 0; r < pass->results && length < sizeof ops; r++)
        length += (size_t)snprintf(ops + length, sizeof ops - length, "%s%s", r > 0 ? ", " : "",
                                   gp_operation_facts_of(pass->result[r].op)->name);
    if (pass->of > 1)
        (void)snprintf(passes, sizeof passes,
                       "; pass %u of %u: one for each of bits, extremes and moments, with and without NaNs, up to %u "
                       "results each",
                       pass->number, pass->of, GP_PASS_RESULTS);
    return snprintf(text, size, "reduce %s%s of %s%s: %llu output%s of %llu element%s, %s, %u-byte aligned%s", ops,
                    pass->skip_nan ? " (NaNs skipped)" : "", gp_type_name(pass->type), pass->where ? ", masked" : "",
                    (unsigned long long)pass->outputs, pass->outputs == 1 ? "" : "s",
                    (unsigned long long)pass->length, pass->length == 1 ? "" : "s", layouts[gp_pass_layout_of(pass)],
                    problem->in_align, passes);
}

static void name_operands(const gp_problem *problem, gp_operand operand[GP_OPERANDS]) {
    const gp_pass *pass = problem->pass;
    operand[0] = (gp_operand){.name = "in", .data = pass->length > 0 ? pass->in : NULL};
    operand[1] = (gp_operand){.name = "with", .data = pass->length > 0 ? pass->with : NULL};
    for (unsigned r = 0; r < pass->results; r++)
        operand[2 + r] = (gp_operand){.name = "results[].to", .data = pass->to[r], .scalar = pass->outputs == 1};
}

static bool same_shape(const gp_problem *of_a, const gp_problem *of_b) {
    const gp_pass *a = of_a->pass, *b = of_b->pass;
    return memcmp(a, b, offsetof(gp_pass, axis)) == 0 &&
           memcmp(a->axis, b->axis, (size_t)(a->kept + a->reduced) * sizeof *a->axis) == 0 &&
           memcmp(a->result, b->result, a->results * sizeof *a->result) == 0;
}

static void show_views(void *whole, gp_view view[GP_OPERANDS]) {
    gp_pass *pass = whole;
    view[0] = (gp_view){.address = &pass->in, .bytes = gp_type_bytes(pass->type)};
    view[1] = (gp_view){.address = &pass->with, .bytes = gp_type_bytes(pass->with_type)};
    for (unsigned r = 0; r < pass->results; r++)
        view[2 + r] =
            (gp_view){.address = &pass->to[r], .bytes = gp_type_bytes(pass->result[r].type), .output = true};
    for (unsigned i = 0; i < (unsigned)pass->kept + pass->reduced; i++) {
        gp_view_add_axis(&view[0], pass->axis[i].n, &pass->axis[i].in);
        gp_view_add_axis(&view[1], pass->axis[i].n, &pass->axis[i].with);
        for (unsigned r = 0; r < pass->results && i < pass->kept; r++)
            gp_view_add_axis(&view[2 + r], pass->axis[i].n, &pass->result[r].stride[i]);
    }
}

/* Integers that a sum may pass. */
static bool may_overflow(const gp_problem *problem) {
    const gp_pass *pass = problem->pass;
    bool may = false;
    for (unsigned r = 0; r < pass->results; r++)
        may = may || pass->result[r].type == GP_S64 || pass->result[r].type == GP_U64;
    return may && (pass->wants & (GP_WANT_SUM | GP_WANT_ABS | GP_WANT_SQUARES | GP_WANT_DOT)) != 0;
}

GP_DECLARE_ROWS(reduce_array);

const gp_primitive gp_primitive_reduce_array = {
    GP_PRIMITIVE_ENTRY(reduce_array, GP_OPERATION_REDUCE_ARRAY),
    GP_PRIMITIVE_OF_VIEWS(gp_pass),
    .may_overflow = may_overflow,
};
