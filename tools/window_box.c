/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim window --size: means, deviations, extremes and sums in a box around each pixel, a file for each. */
#include "window_box.h"
#include "../src/host/reduce_array/pass.h"
#include "array.h"
#include <stdlib.h>
#include <string.h>

/* Extremes as the elements, means of bytes for a picture as bytes, all else as floats. */
static gp_type type_of_result(const box_request *r, size_t i, gp_type in) {
    const gp_reduce_op op = r->what.op[i];
    const bool rounded = op == GP_REDUCE_MEAN && in == GP_U8 && ends_in(r->out[i], ".png");
    return op == GP_REDUCE_MIN || op == GP_REDUCE_MAX || rounded ? in : GP_F32;
}

/* Floats to bytes in place: none is ahead of those that are still to be read. */
static void to_bytes(array *a) {
    const size_t count = array_count(a);
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, a->data + i * sizeof value, sizeof value);
        a->data[i] = (unsigned char)(value > 255 ? 255 : value > 0 ? value + 0.5f : 0);
    }
    a->elem_bytes = 1;
    snprintf(a->type, sizeof a->type, "|u1");
}

static array output_of(const box_request *r, size_t i, const array *in, const gp_array *view,
                       const gp_array *values) {
    array out = {.n_dims = in->n_dims, .elem_bytes = in->elem_bytes, .data = values->data};
    memcpy(out.dims, in->dims, sizeof out.dims);
    memcpy(out.type, in->type, sizeof out.type);
    if (values->type == view->type)
        return out;
    out.elem_bytes = sizeof(float);
    snprintf(out.type, sizeof out.type, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<f4" : ">f4");
    if (ends_in(r->out[i], ".png"))
        to_bytes(&out);
    return out;
}

/* Rows and columns are the first two axes of a picture, and the last two of any other array. */
static gp_window_shape shape_of(const box_request *r, const array *in, unsigned rank) {
    const unsigned cols = in->is_picture ? 1 : rank - 1;
    gp_window_shape shape = {.struct_size = sizeof shape, .border = (int32_t)r->border};
    if (rank == 0 || (rank == 1 && r->rows > 1))
        fail("%s: has no rows for a window of %zu x %zu", r->in, r->rows, r->cols);
    shape.extent[cols] = r->cols;
    if (rank > 1)
        shape.extent[cols - 1] = r->rows;
    return shape;
}

void window_box(const box_request *r) {
    array in, out[WINDOW_OUTPUTS];
    gp_result result[WINDOW_OUTPUTS];
    array_read(r->in, &r->raw, (reading){.bytes = r->what.count * sizeof(float)}, &in);
    const gp_array view = array_view(r->in, &in);
    const gp_window_shape shape = shape_of(r, &in, view.rank);
    const size_t count = array_count(&in);
    for (size_t i = 0; i < r->what.count; i++) {
        const gp_type type = type_of_result(r, i, (gp_type)view.type);
        void *values = host_alloc(count, gp_type_bytes(type));
        result[i] = gp_want((uint32_t)r->what.op[i], gp_dense(type, values, view.rank, view.extent));
    }
    gp_context *context = open_context(r->backend);
    if (gp_window(context, &view, &shape, result, r->what.count) != GP_OK)
        fail("%s: %s", r->in, gp_last_error());
    if (r->verbose)
        tell_plan(context);
    gp_context_destroy(context);
    for (size_t i = 0; i < r->what.count; i++)
        out[i] = output_of(r, i, &in, &view, &result[i].to);
    arrays_write(r->what.count, r->out, out);
    for (size_t i = 0; i < r->what.count; i++)
        free(result[i].to.data);
    free(in.data);
}
