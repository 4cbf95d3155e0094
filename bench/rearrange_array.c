/* SPDX-License-Identifier: Apache-2.0 */
/* Rearrangements, as the benches and the command know them. */
#include "core/bench.h"

#include <string.h>

static size_t bytes_of(const move_case *c) {
    size_t bytes = c->elem_bytes;
    for (unsigned i = 0; i < c->rank; i++)
        bytes *= c->extent[i];
    return bytes;
}

static footprint footprint_of(const line *l) {
    const move_case *c = CASE_OF(move_case, l);
    const size_t bytes = bytes_of(c);
    return (footprint){.in_bytes = bytes,
                       .out_bytes = bytes,
                       .outs = 1,
                       .floor_outs = 1,
                       .moved_bytes = bytes,
                       .bytes = 2 * (double)bytes,
                       .in_place = c->in_place,
                       .data = DATA_FINITE,
                       .seed = c->seed};
}

/* "64x3x512x512 0231 of 2 bytes". */
static void describe(const line *l, result *r) {
    const move_case *c = CASE_OF(move_case, l);
    char extents[80] = "", axes[GP_AXES + 1] = "";
    size_t length = 0;
    for (unsigned i = 0; i < c->rank; i++) {
        length +=
            (size_t)snprintf(extents + length, sizeof extents - length, "%s%zu", i > 0 ? "x" : "", c->extent[i]);
        axes[i] = (char)('0' + c->axes[i]);
    }
    r->op = "rearrange";
    r->n = bytes_of(c) / c->elem_bytes;
    r->cols = c->extent[c->rank - 1];
    r->rows = r->n / r->cols;
    r->elem_bytes = c->elem_bytes;
    r->in_place = c->in_place;
    r->data = cases_data_name(DATA_FINITE);
    snprintf(r->shape, sizeof r->shape, "%s %s of %zu byte%s%s", extents, axes, c->elem_bytes,
             c->elem_bytes == 1 ? "" : "s", c->in_place ? ", in place" : "");
}

static gp_status call(gp_context *context, const line *l, const void *in, void *const out[OUTS_MAX]) {
    const move_case *c = CASE_OF(move_case, l);
    gp_array from = gp_dense(GP_BYTES, in, c->rank, c->extent);
    from.elem_bytes = c->elem_bytes;
    from = gp_permuted(from, c->axes);
    gp_array to = gp_dense(GP_BYTES, out[0], c->rank, from.extent);
    to.elem_bytes = c->elem_bytes;
    return gp_rearrange(context, &from, &to);
}

/* Two pictures of three floats a pixel, n or somewhat more together, to planes. */
static void make(const given *g, line *l) {
    const move_case c = {.elem_bytes = 4, .rank = 3, .extent = {2, (g->n + 5) / 6, 3}, .axes = {0, 2, 1}};
    memcpy(l->problem, &c, sizeof c);
}

static size_t usual(bool second, bool gpu, bool quick, bool ladder, size_t sizes[4]) {
    sizes[0] = second || quick ? 1 << 20 : 1 << 16;
    sizes[1] = 1 << 24;
    sizes[2] = 1 << 28;
    return ladder ? 0 : second || quick ? 1 : gpu ? 3 : 2;
}

const primitive primitive_rearrange_array = {
    .name = "rearrange",
    .axis = "elements",
    .operation = GP_OPERATION_REARRANGE_ARRAY,
    .case_bytes = sizeof(move_case),
    .reference = {NULL, "rearrange_any"}, /* on the host its choice, as the plain row takes seconds */
    .last_resort = {{"rearrange_array_cpu", "the reference"}, {"rearrange_any", "the reference"}},
    .groups = {{"rearrange", "device", "permutations of the peers' table, 1 to 8 bytes"},
               {"rearrange-batches", "batches", "batches of small squares, and single ones"},
               {"rearrange-in-place", "in-place", "matrices in place that are not square, 100 MB to 1.2 GB"},
               {"rearrange-draws", "draws", "200 random permutations of 100 MB to 1 GB"}},
    .words = "N",
    .timed = cases_timed_move,
    .footprint = footprint_of,
    .describe = describe,
    .call = call,
    .make = make,
    .usual = usual,
};
