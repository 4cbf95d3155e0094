/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim rearrange: crops an array or picture in a file, reverses axes and puts them into another order. */
#include "array.h"
#include "reduction.h"
#include <stdlib.h>
#include <string.h>

enum { KEY_AXES = 0x200, KEY_FLIP, KEY_CROP };

typedef struct request {
    work_request work;
    raw_shape raw;
    axis_list axes, flip;
    const char *crop; /* or NULL */
    const char *in, *out;
} request;

static const char about[] =
    "Put the axes of an array into another order, reverse axes, cut out a part.\v"
    "FILE is a PNG (axes 0 rows, 1 columns and, if there are several, 2 channels), an .npy file of elements of any "
    "size, "
    "or raw elements with --shape and --elem; - is standard input. AXIS counts from 0, or from -1 backwards, as in "
    "NumPy, and means the axes of FILE.\n"
    "\n"
    "--axes names all axes in their new order, as numpy.transpose() takes them: --axes 2,0,1 turns a picture into "
    "planes, --axes 1,2,0 planes into a picture. A RANGE is FIRST:END, of which either may be left out; there is one "
    "an axis, the axes behind the last are kept whole.\n"
    "\n"
    "OUT is written as .png or .npy by its name, else raw; - is standard output. Output files are replaced when all "
    "are whole.";

static const struct argp_option rearrange_options[] = {
    {"axes", KEY_AXES, "AXIS,AXIS...", 0, "The new order of the axes (as they are)", 0},
    {"flip", KEY_FLIP, "AXIS[,AXIS...]|all", 0, "Reverse these axes", 0},
    {"crop", KEY_CROP, "RANGE[,RANGE...]", 0, "Keep these indices of the first axes", 0},
    {"output", 'o', "OUT", 0, "Where to", 0},
    {0}};

static error_t parse(int key, char *word, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &r->raw;
        state->child_inputs[1] = &r->work;
        return 0;
    case KEY_AXES:
        parse_order(state, word, &r->axes);
        return 0;
    case KEY_FLIP:
        parse_axes(state, word, &r->flip);
        return 0;
    case KEY_CROP:
        r->crop = word;
        return 0;
    case 'o':
        r->out = word;
        return 0;
    case ARGP_KEY_ARG:
        if (r->in != NULL)
            argp_error(state, "too many files");
        r->in = word;
        return 0;
    case ARGP_KEY_END:
        if (r->in == NULL)
            argp_error(state, "FILE is missing");
        if (r->out == NULL)
            argp_error(state, "-o OUT is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* One end of a range; what is left out is `otherwise`. */
static size_t range_end(const char *path, const char **at, size_t otherwise, size_t most) {
    char *end;
    const unsigned long long value = strtoull(*at, &end, 10);
    const bool given = end != *at;
    if (**at == '-' || **at == '+' || (given && value > most))
        fail("%s: --crop: %.*s is not within 0 to %zu", path, (int)(end - *at), *at, most);
    *at = end;
    return given ? (size_t)value : otherwise;
}

static void crop(const char *path, const char *ranges, gp_array *a) {
    const char *at = ranges;
    for (unsigned axis = 0; *at != '\0'; axis++) {
        if (axis == a->rank)
            fail("%s: --crop: %s has more ranges than the %u axes", path, ranges, a->rank);
        const size_t first = range_end(path, &at, 0, a->extent[axis]);
        if (*at != ':')
            fail("%s: --crop: '%s' is no FIRST:END", path, ranges);
        at++;
        const size_t end = range_end(path, &at, a->extent[axis], a->extent[axis]);
        if (end < first || (*at != ',' && *at != '\0') || (*at == ',' && at[1] == '\0'))
            fail("%s: --crop: '%s' is no FIRST:END", path, ranges);
        a->data = (unsigned char *)a->data + (ptrdiff_t)first * a->stride[axis] * (ptrdiff_t)a->elem_bytes;
        a->extent[axis] = end - first;
        at += *at == ',';
    }
}

static void reverse(gp_array *a, unsigned axis) {
    if (a->extent[axis] == 0)
        return;
    a->data =
        (unsigned char *)a->data + (ptrdiff_t)(a->extent[axis] - 1) * a->stride[axis] * (ptrdiff_t)a->elem_bytes;
    a->stride[axis] = -a->stride[axis];
}

int rearrange_main(int argc, char **argv) {
    static const struct argp_child children[] = {{&shape_argp, 0, NULL, 0}, {&work_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = rearrange_options, .parser = parse, .args_doc = "FILE", .doc = about, .children = children};
    request r = {0};
    array in;
    read_arguments(&parser, argc, argv, 0, &r);
    array_read(r.in, &r.raw, (reading){.copies = 1}, &in);
    gp_array from = array_bytes(&in);
    if (r.crop != NULL)
        crop(r.in, r.crop, &from);
    const unsigned flipped = r.flip.all || r.flip.count > 0 ? axes_mask(r.in, &r.flip, from.rank) : 0;
    for (unsigned axis = 0; axis < from.rank; axis++)
        if (flipped >> axis & 1)
            reverse(&from, axis);
    if (r.axes.count > 0) {
        unsigned order[GP_AXES];
        axes_order(r.in, &r.axes, from.rank, order);
        from = gp_permuted(from, order);
    }
    array out = in;
    out.fortran = false;
    memcpy(out.dims, from.extent, sizeof out.dims);
    out.data = host_alloc(array_count(&out), out.elem_bytes);
    gp_array to = array_bytes(&out);
    gp_context *context = open_context(r.work.backend);
    must(gp_rearrange(context, &from, &to));
    tell_plan(&r.work, context);
    gp_context_destroy(context);
    free(in.data);
    arrays_write(1, &r.out, &out);
    free(out.data);
    return 0;
}
