/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes, as the benches and the command know them. */
#include "../src/host/problem.h"
#include "core/bench.h"

#include <string.h>

static footprint footprint_of(const line *l) {
    const transpose_case *c = CASE_OF(transpose_case, l);
    const size_t moved = c->rows * c->cols * c->elem_bytes;
    return (footprint){.in_bytes = c->rows * (c->cols + c->in_pad) * c->elem_bytes,
                       .in_offset = c->in_offset,
                       .out_bytes = c->cols * (c->rows + c->out_pad) * c->elem_bytes,
                       .out_offset = c->out_offset,
                       .outs = 1,
                       .floor_outs = 1,
                       .moved_bytes = moved,
                       .bytes = 2 * (double)moved,
                       .in_place = c->in_place,
                       .data = DATA_FINITE,
                       .seed = c->seed};
}

/* What is as usual is left out. */
static void describe(const line *l, result *r) {
    const transpose_case *c = CASE_OF(transpose_case, l);
    r->op = "transpose";
    r->rows = c->rows;
    r->cols = c->cols;
    r->elem_bytes = c->elem_bytes;
    r->in_pitch = c->cols + c->in_pad;
    r->out_pitch = c->rows + c->out_pad;
    r->offset = c->in_offset;
    r->in_place = c->in_place;
    r->data = cases_data_name(DATA_FINITE);
    char pitch[64] = "", offset[40] = "";
    if (c->in_pad + c->out_pad > 0)
        snprintf(pitch, sizeof pitch, ", pitch %zu %zu", r->in_pitch, r->out_pitch);
    if (c->in_offset > 0)
        snprintf(offset, sizeof offset, ", offset %zu", c->in_offset);
    snprintf(r->shape, sizeof r->shape, "%zu x %zu of %zu bytes%s%s%s", c->rows, c->cols, c->elem_bytes,
             c->in_place ? ", in place" : "", pitch, offset);
}

static gp_status call(gp_context *context, const line *l, const void *in, void *const out[OUTS_MAX]) {
    const transpose_case *c = CASE_OF(transpose_case, l);
    return gp_transpose(context, c->elem_bytes, in, c->rows, c->cols, c->cols + c->in_pad, out[0],
                        c->rows + c->out_pad);
}

static gp_status problem(const line *l, const void *in, void *const out[OUTS_MAX], gp_problem *to) {
    const transpose_case *c = CASE_OF(transpose_case, l);
    return gp_problem_transpose(to, c->elem_bytes, in, c->rows, c->cols, c->cols, out[0], c->rows);
}

static void make(const given *g, line *l) {
    const transpose_case c = {.elem_bytes = g->second, .rows = g->rows, .cols = g->cols};
    memcpy(l->problem, &c, sizeof c);
}

static size_t usual(bool second, bool gpu, bool quick, bool ladder, size_t sizes[4]) {
    (void)ladder;
    sizes[0] = second ? 4 : 4096;
    sizes[1] = 16384;
    return !second && gpu && !quick ? 2 : 1;
}

const primitive primitive_rearrange = {
    .name = "transpose",
    .axis = "elements",
    .operation = GP_OPERATION_TRANSPOSE,
    .case_bytes = sizeof(transpose_case),
    .reference = {"transpose_cpu", "transpose_naive"},
    .last_resort = {{"transpose_cpu", "the reference"}, {"transpose_naive", "the reference"}},
    .ladder = {"transpose_naive"},
    .groups = {{"transpose", "device", "squares of 1, 2, 4, 8, 16 bytes"},
               {"transpose-odd", "odd", "odd and thin shapes, in place, pitches and offsets"},
               {"transpose-pictures", "pictures", "pixels of 3, 6, 12 bytes"}},
    .words = "ROWSxCOLS ELEM",
    .second = "elem",
    .timed = cases_timed_transpose,
    .footprint = footprint_of,
    .describe = describe,
    .call = call,
    .problem = problem,
    .make = make,
    .usual = usual,
};
