/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim transpose: swaps the first two axes of an array or picture in a file. */
#include "array.h"
#include <stdlib.h>

typedef struct request {
    work_request work;
    raw_shape raw;
    const char *in, *out;
} request;

static error_t parse(int key, char *word, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &r->raw;
        state->child_inputs[1] = &r->work;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "too many files");
        *(state->arg_num == 0 ? &r->in : &r->out) = word;
        return 0;
    case ARGP_KEY_END:
        if (r->out == NULL)
            argp_error(state, "IN and OUT are needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int transpose_main(int argc, char **argv) {
    static const struct argp_child children[] = {{&shape_argp, 0, NULL, 0}, {&work_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .parser = parse,
        .args_doc = "IN OUT",
        .doc = "Swap rows and columns.\v"
               "IN is a PNG, an .npy file of elements of any size (of more than two axes the first two are swapped), "
               "or raw elements with --shape and --elem. OUT is written as .png or .npy by its name, else raw; - is "
               "standard output. Output files are replaced when all are whole.",
        .children = children};
    request r = {0};
    array in;
    read_arguments(&parser, argc, argv, 0, &r);
    array_read(r.in, &r.raw, (reading){.copies = 1}, &in);
    array_check_order(r.in, &in);
    if (in.n_dims < 2)
        fail("%s: has %u axes; a transpose needs two", r.in, in.n_dims);
    array out = in;
    size_t elem_bytes = in.elem_bytes;
    out.dims[0] = in.dims[1];
    out.dims[1] = in.dims[0];
    for (unsigned i = 2; i < in.n_dims; i++)
        elem_bytes *= in.dims[i];
    out.data = host_alloc(array_count(&in), in.elem_bytes);
    if (array_count(&in) > 0) {
        gp_context *context = open_context(r.work.backend);
        must(gp_transpose(context, elem_bytes, in.data, in.dims[0], in.dims[1], in.dims[1], out.data, in.dims[0]));
        tell_plan(&r.work, context);
        gp_context_destroy(context);
    }
    free(in.data);
    arrays_write(1, &r.out, &out);
    free(out.data);
    return 0;
}
