/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over views: what follows from a box, and the entry in the table of primitives. */
#include "../primitive.h"
#include "array.h"
#include <stdio.h>

static void derive(gp_problem *problem) {
    const gp_window_box *box = problem->box;
    const unsigned bytes = gp_type_bytes(box->type);
    uintptr_t bits = (uintptr_t)box->in;
    problem->bytes_read = bytes;
    for (unsigned axis = 0; axis < box->outer + 2u; axis++) {
        const bool pixels = axis == box->outer + 1u, channels = box->channels > 1 && axis == box->outer - 1u;
        if (!channels && !(pixels && (box->channels > 1 || box->axis[axis].in == (int64_t)bytes)))
            bits |= (uintptr_t)box->axis[axis].in;
        problem->bytes_read *= box->axis[axis].n;
    }
    problem->in_align = gp_alignment(bits);
    problem->out_align = GP_ALIGN_MAX;
    problem->n = box->outputs;
    problem->elem_bytes = bytes;
    problem->border = (gp_border)box->border;
    problem->bytes_written = 0;
    for (unsigned r = 0; r < box->results; r++)
        problem->bytes_written += box->outputs * gp_type_bytes(box->result[r].type);
}

static bool is_empty(const gp_problem *problem) {
    return problem->box->outputs == 0;
}

static int describe(const gp_problem *problem, char *text, size_t size) {
    static const char *const borders[] = {"none", "zero", "replicate", "reflect", "reflect_101", "wrap", "shrink"};
    const gp_window_box *box = problem->box;
    const gp_window_axis *y = gp_window_y(box), *x = gp_window_x(box);
    char ops[GP_OPS_CHARS] = "", boxes[96] = "";
    size_t length = 0;
    for (unsigned r = 0; r < box->results && length < sizeof ops; r++)
        length += (size_t)snprintf(ops + length, sizeof ops - length, "%s%s as %s", r > 0 ? ", " : "",
                                   gp_operation_facts_of(box->result[r].op)->name, gp_type_name(box->result[r].type));
    if (box->of > 1)
        (void)snprintf(boxes, sizeof boxes,
                       "; pass %u of %u: one for each of extremes and moments, up to %u results each", box->number,
                       box->of, GP_PASS_RESULTS);
    uint64_t batch = 1;
    for (unsigned i = 0; i < box->outer; i++)
        batch *= box->axis[i].n;
    return snprintf(text, size,
                    "window %lld x %lld of %llu x %llu %s, %u channel%s, batch of %llu, border %s: %s, %u-byte "
                    "aligned%s",
                    (long long)y->window, (long long)x->window, (unsigned long long)y->n, (unsigned long long)x->n,
                    gp_type_name(box->type), box->channels, box->channels == 1 ? "" : "s",
                    (unsigned long long)(batch / box->channels), borders[box->border], ops, problem->in_align, boxes);
}

static void name_operands(const gp_problem *problem, gp_operand operand[GP_OPERANDS]) {
    const gp_window_box *box = problem->box;
    operand[0] = (gp_operand){.name = "in", .data = box->in};
    for (unsigned r = 0; r < box->results; r++)
        operand[2 + r] = (gp_operand){.name = "results[].to", .data = box->to[r], .scalar = box->outputs == 1};
}

static bool same_shape(const gp_problem *of_a, const gp_problem *of_b) {
    const gp_window_box *a = of_a->box, *b = of_b->box;
    return memcmp(a, b, offsetof(gp_window_box, axis)) == 0 &&
           memcmp(a->axis, b->axis, (a->outer + 2u) * sizeof *a->axis) == 0 &&
           memcmp(a->result, b->result, a->results * sizeof *a->result) == 0;
}

static void show_views(void *whole, gp_view view[GP_OPERANDS]) {
    gp_window_box *box = whole;
    view[0] = (gp_view){.address = &box->in, .bytes = gp_type_bytes(box->type)};
    for (unsigned i = 0; i < box->outer + 2u; i++)
        gp_view_add_axis(&view[0], box->axis[i].n, &box->axis[i].in);
    for (unsigned r = 0; r < box->results; r++) {
        view[2 + r] = (gp_view){.address = &box->to[r], .bytes = gp_type_bytes(box->result[r].type), .output = true};
        for (unsigned i = 0; i < box->outer + 2u; i++)
            gp_view_add_axis(&view[2 + r], box->axis[i].outputs, &box->result[r].stride[i]);
    }
}

GP_DECLARE_ROWS(window_array);

const gp_primitive gp_primitive_window_array = {
    GP_PRIMITIVE_ENTRY(window_array, GP_OPERATION_WINDOW_ARRAY),
    GP_PRIMITIVE_OF_VIEWS(gp_window_box),
};
