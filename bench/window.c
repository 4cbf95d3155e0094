/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and sums of squares in a window, as the benches and the command know them. */
#include "../src/host/problem.h"
#include "core/bench.h"

#include <string.h>

/* Without a border the columns whose window leaves the row are not written. */
static size_t computed_cols(const window_case *c) {
    if (c->border != GP_BORDER_NONE)
        return c->cols;
    return c->window <= c->cols ? c->cols - c->window + 1 : 0;
}

/* The largest magnitude of a pixel. */
static double largest_pixel(data_kind data) {
    return data == DATA_8_BIT ? 255 : data == DATA_16_BIT ? 0x1p15 : data == DATA_24_BIT ? 0x1p23 : 0x1p31;
}

static footprint footprint_of(const line *l) {
    const window_case *c = CASE_OF(window_case, l);
    const size_t pixel = sizeof(int32_t);
    const unsigned written = c->want_sum + c->want_square;
    const double pixels = (double)c->rows * (double)c->cols, most = largest_pixel(c->data);
    return (footprint){.in_bytes = c->rows * (c->cols + c->image_pad) * pixel,
                       .in_offset = c->offset * pixel,
                       .out_bytes = c->rows * (c->cols + c->out_pad) * pixel,
                       .outs = 2,
                       .floor_outs = written,
                       .moved_bytes = c->rows * c->cols * pixel,
                       .bytes = 4 * (pixels + written * (double)c->rows * (double)computed_cols(c)),
                       .data = c->data,
                       .seed = c->seed,
                       .largest = {(double)c->window * most, (double)c->window * most * most}};
}

/* What is as usual is left out. */
static void describe(const line *l, result *r) {
    const window_case *c = CASE_OF(window_case, l);
    r->op = "window";
    r->rows = c->rows;
    r->cols = c->cols;
    r->window = c->window;
    r->in_pitch = c->cols + c->image_pad;
    r->out_pitch = c->cols + c->out_pad;
    r->offset = c->offset * sizeof(int32_t);
    r->elem_bytes = sizeof(int32_t);
    r->border = border_words[c->border];
    r->data = cases_data_name(c->data);
    char pitch[64] = "", offset[40] = "";
    if (c->image_pad + c->out_pad > 0)
        snprintf(pitch, sizeof pitch, ", pitch %zu %zu", r->in_pitch, r->out_pitch);
    if (c->offset > 0)
        snprintf(offset, sizeof offset, ", offset %zu", r->offset);
    snprintf(r->shape, sizeof r->shape, "%zu x %zu, window %zu%s%s%s%s%s%s%s", c->rows, c->cols, c->window,
             c->border != GP_BORDER_NONE ? ", " : "", c->border != GP_BORDER_NONE ? r->border : "",
             c->data != DATA_8_BIT ? ", " : "", c->data != DATA_8_BIT ? r->data : "", pitch, offset,
             !c->want_sum      ? ", square alone"
             : !c->want_square ? ", sum alone"
                               : "");
}

static gp_status call(gp_context *context, const line *l, const void *in, void *const out[OUTS_MAX]) {
    const window_case *c = CASE_OF(window_case, l);
    return gp_sum_and_square_window(context, in, c->rows, c->cols, c->cols + c->image_pad, c->window, c->border,
                                    c->want_sum ? out[0] : NULL, c->want_square ? out[1] : NULL,
                                    c->cols + c->out_pad);
}

static gp_status problem(const line *l, const void *in, void *const out[OUTS_MAX], gp_problem *to) {
    const window_case *c = CASE_OF(window_case, l);
    return gp_problem_window(to, in, c->rows, c->cols, c->cols, c->window, c->border, out[0], out[1], c->cols);
}

static void make(const given *g, line *l) {
    const window_case c = {.rows = g->rows,
                           .cols = g->cols,
                           .window = g->second,
                           .border = g->border,
                           .want_sum = true,
                           .want_square = true,
                           .data = DATA_8_BIT};
    memcpy(l->problem, &c, sizeof c);
}

static size_t usual(bool second, bool gpu, bool quick, bool ladder, size_t sizes[4]) {
    const size_t widths[4] = {3, 15, 31};
    (void)gpu, (void)ladder;
    memcpy(sizes, widths, sizeof widths);
    if (!second || quick)
        sizes[0] = second ? 15 : 4096;
    return !second || quick ? 1 : 3;
}

const primitive primitive_window = {
    .name = "window",
    .axis = "width of the window",
    .operation = GP_OPERATION_WINDOW,
    .case_bytes = sizeof(window_case),
    .reference = {"window_cpu", "window_naive"},
    .last_resort = {{"window_cpu", "the reference"}, {"window_naive", "the reference"}},
    .groups = {{"window", "device", "8-bit images, all borders, windows 3 to 1001"},
               {"window-data", "data", "16-bit, 24-bit, full int32 images"},
               {"window-shape", "shape", "flat, narrow, odd, pitched images, one output"},
               {"window-pictures", "pictures", "photographs, and a table of few columns"}},
    .words = "ROWSxCOLS WINDOW",
    .second = "window",
    .takes_border = true,
    .timed = cases_timed_window,
    .footprint = footprint_of,
    .describe = describe,
    .call = call,
    .problem = problem,
    .make = make,
    .usual = usual,
};
