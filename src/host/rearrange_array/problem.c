/* SPDX-License-Identifier: Apache-2.0 */
/* Rearrangements of views: checks of a call, what follows from a move, the entry in the table of primitives. */
#include "problem.h"
#include "../footprint.h"
#include "../primitive.h"
#include "../reduce_array/pass.h"
#include "array.h"
#include "cut.h"
#include <stdio.h>

static void derive(gp_problem *problem) {
    const gp_move *move = problem->move;
    const gp_move_axis *last = move->rank > 0 ? &move->axis[move->rank - 1] : NULL;
    uint64_t repeats = 1;
    for (unsigned i = 0; i < move->rank; i++)
        repeats *= move->axis[i].in == 0 ? move->axis[i].n : 1;
    gp_move_alignments(move, &problem->in_align, &problem->out_align);
    problem->in_place = move->in_place;
    problem->n = move->count;
    problem->cols = last != NULL ? last->n : 1;
    problem->rows = move->count / problem->cols;
    problem->elem_bytes = move->run;
    problem->bytes_written = move->count * move->run;
    problem->bytes_read = problem->bytes_written / repeats;
}

static bool is_empty(const gp_problem *problem) {
    return problem->move->count == 0 || gp_move_is_nothing(problem->move);
}

static int describe(const gp_problem *problem, char *text, size_t size) {
    const gp_move *move = problem->move;
    char extents[200], strides[200] = "";
    size_t length = 0, more = 0;
    (void)snprintf(extents, sizeof extents, "%d", move->count != 0);
    for (unsigned i = 0; i < move->rank; i++) {
        length += (size_t)snprintf(extents + length, sizeof extents - length, "%s%llu", i > 0 ? " x " : "",
                                   (unsigned long long)move->axis[i].n);
        more += (size_t)snprintf(strides + more, sizeof strides - more, "%s%lld", i > 0 ? ", " : " from strides ",
                                 (long long)move->axis[i].in);
    }
    return snprintf(text, size, "rearrange %s element%s of %zu byte%s%s%s, aligned %u in, %u out", extents,
                    move->count == 1 ? "" : "s", problem->elem_bytes, problem->elem_bytes == 1 ? "" : "s",
                    move->in_place ? " in place" : "", strides, problem->in_align, problem->out_align);
}

static void name_operands(const gp_problem *problem, gp_operand operand[GP_OPERANDS]) {
    operand[0] = (gp_operand){.name = "in", .data = problem->move->in};
    operand[1] = (gp_operand){.name = "out", .data = problem->move->out};
}

static bool same_shape(const gp_problem *of_a, const gp_problem *of_b) {
    const gp_move *a = of_a->move, *b = of_b->move;
    return memcmp(a, b, offsetof(gp_move, axis)) == 0 && memcmp(a->axis, b->axis, a->rank * sizeof *a->axis) == 0;
}

static void show_views(void *whole, gp_view view[GP_OPERANDS]) {
    gp_move *move = whole;
    view[0] = (gp_view){.address = &move->in, .bytes = move->run};
    view[1] = (gp_view){.address = &move->out, .bytes = move->run, .output = true};
    for (unsigned i = 0; i < move->rank; i++) {
        gp_view_add_axis(&view[0], move->axis[i].n, &move->axis[i].in);
        gp_view_add_axis(&view[1], move->axis[i].n, &move->axis[i].out);
    }
}

GP_DECLARE_ROWS(rearrange_array);

const gp_primitive gp_primitive_rearrange_array = {
    GP_PRIMITIVE_ENTRY(rearrange_array, GP_OPERATION_REARRANGE_ARRAY),
    GP_PRIMITIVE_OF_VIEWS(gp_move),
};

/* Before a byte is written; *in_place: both views are the same elements. */
static gp_status check_views(const gp_array *in, const gp_array *out, bool *in_place) {
    gp_footprint of_in = {.name = "in"}, of_out = {.name = "out"};
    GP_TRY(gp_check_not_null("in", in));
    GP_TRY(gp_check_not_null("out", out));
    GP_TRY(gp_footprint_measure(in, true, &of_in));
    GP_TRY(gp_footprint_measure(out, true, &of_out));
    if (of_out.elem_bytes != of_in.elem_bytes)
        return gp_fail(GP_ERR_ARGUMENT, "out: elements of %zu bytes, but in has %zu", of_out.elem_bytes,
                       of_in.elem_bytes);
    GP_TRY(gp_check_same_extents("out", out, in));
    if (of_out.folded && !of_out.empty)
        return gp_fail(GP_ERR_OVERLAP, "out: its strides fold it onto itself");
    *in_place = gp_footprint_is_same(&of_in, in, &of_out, out);
    return *in_place ? GP_OK : gp_footprint_check_apart(&of_in, &of_out);
}

/* In place, what is neither pairs that change places nor matrices of other sides. */
static gp_status check_in_place(const gp_move *move) {
    uint8_t partner[GP_AXES];
    unsigned cols;
    if (!move->in_place || gp_move_is_swap(move, partner) || gp_move_is_rectangle(move, &cols))
        return GP_OK;
    return gp_fail(GP_ERR_UNSUPPORTED, "in and out are the same elements: in place only pairs of axes may change "
                                       "places, axes be reversed, or matrices be transposed");
}

gp_status gp_problem_rearrange(gp_problem *problem, gp_move *move, const gp_array *in, const gp_array *out,
                               bool as_matrix) {
    bool in_place;
    GP_TRY(check_views(in, out, &in_place));
    gp_move_make(move, in, out, in_place);
    GP_TRY(check_in_place(move));
    if (as_matrix && move->count > 0 && gp_move_is_transpose(move)) {
        gp_move_transpose(problem, move, move->in, move->out);
        return GP_OK;
    }
    gp_problem_clear(problem, &gp_primitive_rearrange_array);
    problem->move = move;
    derive(problem);
    return GP_OK;
}
