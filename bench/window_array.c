/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over pictures, as the benches and the command know them. */
#include "core/bench.h"

#include <string.h>

/* What a case asks for, and the type of its results. */
static const struct {
    const char *name;
    gp_reduce_op op[OUTS_MAX];
    unsigned count;
    gp_type to;
} all_wanted[] = {
    [BOX_MOMENTS] = {"mean+variance", {GP_REDUCE_MEAN, GP_REDUCE_VARIANCE}, 2, GP_F32},
    [BOX_SUMS] = {"sum+squares", {GP_REDUCE_SUM, GP_REDUCE_SUM_SQUARES}, 2, GP_F32},
    [BOX_MEAN] = {"mean", {GP_REDUCE_MEAN}, 1, GP_F32},
    [BOX_MEAN_U8] = {"mean to u8", {GP_REDUCE_MEAN}, 1, GP_U8},
    [BOX_MIN] = {"min", {GP_REDUCE_MIN}, 1, GP_U8},
    [BOX_MAX] = {"max", {GP_REDUCE_MAX}, 1, GP_U8},
};

static size_t bytes_of(gp_type type) {
    return type == GP_U8 ? 1 : type == GP_U16 ? 2 : 4;
}

/* A floor moves as many bytes in all, of which it writes as many arrays of the input's length. */
static footprint footprint_of(const line *l) {
    const box_case *c = CASE_OF(box_case, l);
    const size_t n = c->rows * c->cols * c->channels, out = n * bytes_of(all_wanted[c->what].to);
    const unsigned outs = all_wanted[c->what].count;
    const size_t all = n * bytes_of(c->type) + outs * out, moved = all / (outs + 1);
    return (footprint){.in_bytes = moved > n * bytes_of(c->type) ? moved : n * bytes_of(c->type),
                       .out_bytes = out,
                       .outs = outs,
                       .floor_outs = outs,
                       .moved_bytes = moved < out ? moved : out,
                       .bytes = (double)all,
                       .data = c->data,
                       .seed = c->seed};
}

/* "mean+variance u8", "16384 x 16384, 31 x 31". */
static void describe(const line *l, result *r) {
    static char op[64];
    const box_case *c = CASE_OF(box_case, l);
    const char *type = c->type == GP_U8 ? "u8" : c->type == GP_U16 ? "u16" : c->type == GP_S32 ? "s32" : "f32";
    snprintf(op, sizeof op, "%s %s", all_wanted[c->what].name, type);
    r->op = op;
    r->rows = c->rows;
    r->cols = c->cols;
    r->n = c->rows * c->cols * c->channels;
    r->window = c->window;
    r->elem_bytes = bytes_of(c->type);
    r->data = cases_data_name(c->data);
    snprintf(r->shape, sizeof r->shape, "%zu x %zu%s, %zu x %zu", c->rows, c->cols, c->channels > 1 ? " x 3" : "",
             c->window, c->window);
}

static gp_status call(gp_context *context, const line *l, const void *in, void *const out[OUTS_MAX]) {
    const box_case *c = CASE_OF(box_case, l);
    const gp_array from = gp_image(c->type, in, c->rows, c->cols, c->channels, c->cols * c->channels);
    const gp_window_shape window = {
        .struct_size = sizeof window, .extent = {c->window, c->window}, .border = GP_BORDER_REFLECT_101};
    gp_result results[OUTS_MAX];
    for (unsigned i = 0; i < all_wanted[c->what].count; i++)
        results[i] =
            gp_want((uint32_t)all_wanted[c->what].op[i],
                    gp_image(all_wanted[c->what].to, out[i], c->rows, c->cols, c->channels, c->cols * c->channels));
    return gp_window(context, &from, &window, results, all_wanted[c->what].count);
}

static void make(const given *g, line *l) {
    const box_case c = {.rows = g->rows,
                        .cols = g->cols,
                        .channels = 1,
                        .window = g->second,
                        .type = GP_U8,
                        .what = BOX_MOMENTS,
                        .data = DATA_RANDOM};
    memcpy(l->problem, &c, sizeof c);
}

static size_t usual(bool second, bool gpu, bool quick, bool ladder, size_t sizes[4]) {
    const size_t sides[4] = {512, 1024, 2048, 4096}, windows[4] = {3, 31, 101, 301};
    memcpy(sizes, second ? windows : sides, sizeof sides);
    (void)gpu;
    return ladder ? 0 : quick ? 1 : second ? 3 : 4;
}

const primitive primitive_window_array = {
    .name = "boxes",
    .axis = "pixels",
    .operation = GP_OPERATION_WINDOW_ARRAY,
    .case_bytes = sizeof(box_case),
    .reference = {NULL, NULL}, /* the processor's choice, as the plain row takes seconds */
    .last_resort = {{"window_array_cpu", "the reference"}, {"window_any", "the reference"}},
    .groups = {{"boxes", "device", "pictures of 8 to 32 bits, windows of 3 x 3 to 301 x 301"}},
    .words = "ROWSxCOLS WINDOW",
    .second = "window",
    .timed = cases_timed_box,
    .footprint = footprint_of,
    .describe = describe,
    .call = call,
    .make = make,
    .usual = usual,
};
