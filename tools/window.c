/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim window: operations in a window that slides along each row of a file, or of rows and columns; a file each.
 */
#include "../src/host/reduce_array/pass.h"
#include "array.h"
#include "reduction.h"
#include <stdlib.h>
#include <string.h>

enum { KEY_BORDER = 0x200, KEY_VALUES, KEY_SIZE, KEY_OP, OUTPUTS = 2, WINDOW_OUTPUTS = 9 }; /* as gp_window() has */

typedef struct request {
    work_request work;
    raw_shape raw;
    size_t window;
    gp_border border;
    int values; /* 0: as the output's kind suggests; 's' sums, 'm' mean and deviation */
    const char *in, *out[WINDOW_OUTPUTS];
    size_t outs;
    size_t box[2]; /* rows, columns; 0: along rows only */
    reduction what;
} request;

static const struct argp_option window_options[] = {
    {"window", 'w', "WIDTH", 0, "Width of the window (15)", 0},
    {"size", KEY_SIZE, "ROWSxCOLS", 0, "A window of rows and columns instead, of which OUTs are the --op", 0},
    {"op", KEY_OP, "OP[,OP...]", 0,
     "With --size, an OUT each: sum, sum_squares, mean, var, std, var_sample, std_sample, min, max (mean,std)", 0},
    {"border", KEY_BORDER, "BORDER", 0,
     "What the window sees outside the row: none, zero, replicate, reflect, reflect_101, wrap (reflect_101); with "
     "--size also shrink",
     0},
    {"values", KEY_VALUES, "sum|mean", 0,
     "OUT is the sum and OUT2 the sum of squares, or the mean and the standard deviation (mean if OUT is a picture, "
     "else sum)",
     0},
    {0}};

/* What goes together; operations that have not been given. */
static void check_box(request *r, struct argp_state *state) {
    const bool sums = r->values == 's' || (r->values == 0 && r->box[0] == 0 && !ends_in(r->out[0], ".png"));
    if (r->box[0] == 0 && (r->what.count > 0 || r->border == GP_BORDER_SHRINK))
        argp_error(state, "--op and border shrink need --size");
    if (r->box[0] == 0 && r->outs > OUTPUTS)
        argp_error(state, "too many files");
    if (r->box[0] > 0 && (r->values != 0 || r->window > 0))
        argp_error(state, "--size takes no --window and no --values");
    if (r->what.count == 0)
        r->what = (reduction){
            .op = {sums ? GP_REDUCE_SUM : GP_REDUCE_MEAN, sums ? GP_REDUCE_SUM_SQUARES : GP_REDUCE_STDDEV},
            .count = r->outs < OUTPUTS ? r->outs : OUTPUTS};
    if (r->what.count != r->outs)
        argp_error(state, "%zu operations need as many OUTs, not %zu", r->what.count, r->outs);
    if (r->window == 0)
        r->window = 15;
}

static error_t parse(int key, char *word, struct argp_state *state) {
    request *r = state->input;
    char room[SHOWN];
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &r->raw;
        state->child_inputs[1] = &r->work;
        return 0;
    case 'w':
        r->window = parse_size(state, "--window", word);
        if (r->window == 0)
            argp_error(state, "--window is 1 or more");
        return 0;
    case KEY_BORDER:
        r->border = parse_border(state, word);
        return 0;
    case KEY_SIZE:
        parse_shape(state, word, &r->box[0], &r->box[1]);
        if (r->box[0] == 0 || r->box[1] == 0)
            argp_error(state, "--size is 1x1 or more");
        return 0;
    case KEY_OP:
        parse_ops(state, word, &r->what);
        return 0;
    case KEY_VALUES:
        if (strcmp(word, "sum") != 0 && strcmp(word, "mean") != 0)
            argp_error(state, "--values is sum or mean, not '%s'", word);
        r->values = word[0];
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > WINDOW_OUTPUTS)
            argp_error(state, "too many files");
        if (state->arg_num == 0)
            r->in = word;
        else
            r->out[r->outs++] = word;
        return 0;
    case ARGP_KEY_END:
        if (r->outs == 0)
            argp_error(state, "IN and OUT are needed");
        check_box(r, state);
        if (r->values == 's')
            for (size_t i = 0; i < r->outs; i++)
                if (ends_in(r->out[i], ".png"))
                    argp_error(state, "sums do not fit in a picture: %s", shown(r->out[i], room));
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Extremes as the elements, means of bytes for a picture as bytes, all else as floats. */
static gp_type type_of_result(const request *r, size_t i, gp_type in) {
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

static array output_of(const request *r, size_t i, const array *in, const gp_array *view, const gp_array *values) {
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

/* Of --size: rows and columns are the first two axes of a picture, and the last two of any other array. */
static gp_window_shape shape_of(const request *r, const array *in, unsigned rank) {
    const unsigned cols = in->is_picture ? 1 : rank - 1;
    gp_window_shape shape = {.struct_size = sizeof shape, .border = (int32_t)r->border};
    if (rank == 0 || (rank == 1 && r->box[0] > 1))
        fail("%s: has no rows for a window of %zu x %zu", r->in, r->box[0], r->box[1]);
    shape.extent[cols] = r->box[1];
    if (rank > 1)
        shape.extent[cols - 1] = r->box[0];
    return shape;
}

/* Along rows: ints of 32 bits, of which the last axis is the row. */
static gp_array rows_of(array *in, const char *path) {
    const size_t count = array_count(in), cols = in->n_dims > 0 ? in->dims[in->n_dims - 1] : 1;
    in->data = (unsigned char *)array_to_ints(path, in);
    return gp_matrix(GP_S32, in->data, cols > 0 ? count / cols : 0, cols, cols);
}

static void compute(const request *r) {
    array in, out[WINDOW_OUTPUTS];
    gp_result result[WINDOW_OUTPUTS];
    const bool box = r->box[0] > 0;
    const size_t held = r->what.count * sizeof(float) + (box ? 0 : sizeof(int32_t));
    array_read(r->in, &r->raw, (reading){.grey = !box, .bytes = held}, &in);
    const gp_array view = box ? array_view(r->in, &in) : rows_of(&in, r->in);
    const gp_window_shape along = {
        .struct_size = sizeof along, .extent = {1, r->window}, .border = (int32_t)r->border};
    const gp_window_shape shape = box ? shape_of(r, &in, view.rank) : along;
    const size_t count = array_count(&in);
    for (size_t i = 0; i < r->what.count; i++) {
        const gp_type type = type_of_result(r, i, (gp_type)view.type);
        void *values = host_alloc(count, gp_type_bytes(type));
        result[i] = gp_want((uint32_t)r->what.op[i], gp_dense(type, values, view.rank, view.extent));
    }
    gp_context *context = open_context(r->work.backend);
    if (gp_window(context, &view, &shape, result, r->what.count) != GP_OK)
        fail("%s: %s", r->in, gp_last_error());
    tell_plan(&r->work, context);
    gp_context_destroy(context);
    for (size_t i = 0; i < r->what.count; i++)
        out[i] = output_of(r, i, &in, &view, &result[i].to);
    arrays_write(r->what.count, r->out, out);
    for (size_t i = 0; i < r->what.count; i++)
        free(result[i].to.data);
    free(in.data);
}

int window_main(int argc, char **argv) {
    static const struct argp_child children[] = {{&shape_argp, 0, NULL, 0}, {&work_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = window_options,
        .parser = parse,
        .args_doc = "IN OUT [OUT2...]",
        .doc = "Slide a window along each row of IN and write its sum and its sum of squares, or its mean and its "
               "standard deviation.\v"
               "IN is a PNG (made grey), an .npy file of integers (its last axis is the row), or raw signed "
               "little-endian integers with --shape. OUT and OUT2 are float32 of the same shape: .npy by name, else "
               "raw, - is standard output; or .png, rounded to 0..255. With --border none, elements whose window "
               "leaves the row are 0.\n"
               "With --size IN may be of any type up to 32 bits and f32, f16; a picture keeps its channels. Extremes "
               "have IN's type, all else is float32. Output files are replaced when all are whole.",
        .children = children};
    request r = {.border = GP_BORDER_REFLECT_101};
    read_arguments(&parser, argc, argv, 0, &r);
    compute(&r);
    return 0;
}
