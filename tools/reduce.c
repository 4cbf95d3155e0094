/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim reduce: reduces an array or a picture in a file along any of its axes. */
#include "reduce.h"
#include "../src/host/reduce_array/pass.h"
#include "array.h"
#include <stdlib.h>

enum { KEY_OP = 0x200, KEY_AXIS, KEY_TYPE, KEY_SKIP_NAN };

typedef struct request {
    format how;
    work_request work;
    raw_shape raw;
    reduction what;
    bool has_axes;
    const char *path;
} request;

static const char about[] =
    "Reduce an array or a picture along any of its axes, every result exact and rounded once.\v"
    "FILE is a PNG, an .npy file of integers, bools or floats in any byte order, C or Fortran order, or raw integers "
    "with --shape and --elem; - is standard input. AXIS counts from 0, or from -1 backwards, as in NumPy.\n"
    "\n"
    "A picture has axes 0 (rows), 1 (columns) and, if there are several, 2 (channels); unless told otherwise it is "
    "reduced along 0 and 1, to a result a channel. Any other array is reduced along all its axes.\n"
    "\n"
    "OP is one or more of sum, min, max, argmin, argmax, mean, std, var (both over n), std_sample, var_sample (over "
    "n - 1), norm, max_abs, sum_abs, sum_squares, count (of what is not zero), and of integers and, or, xor. argmin "
    "and argmax tell the place among the elements of the reduced axes, the last axis fastest, from 0.\n"
    "\n"
    "Sums of integers are 64-bit integers, extremes have the elements' type, all else is f64. TYPE is u8 to u64, s8 "
    "to "
    "s64, f16, bf16, f32 or f64, for those results that can have it. In JSON what is no number of JSON is a string: "
    "\"nan\", \"inf\", \"-inf\" and integers from 2^63 on.";

static const struct argp_option reduce_options[] = {
    {"op", KEY_OP, "OP[,OP...]", 0, "What to compute (mean,std,min,max; see below)", 0},
    {"axis", KEY_AXIS, "AXIS[,AXIS...]|all", 0, "Axes to reduce (all; of a picture 0,1)", 0},
    {"type", KEY_TYPE, "TYPE", 0, "Type of the results that can have it", 0},
    {"skip-nan", KEY_SKIP_NAN, NULL, 0, "As if NaNs were not there", 0},
    {0}};

static error_t parse(int key, char *word, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &r->raw;
        state->child_inputs[1] = &r->how;
        state->child_inputs[2] = &r->work;
        return 0;
    case KEY_OP:
        parse_ops(state, word, &r->what);
        return 0;
    case KEY_AXIS:
        parse_axes(state, word, &r->what.axes);
        r->has_axes = true;
        return 0;
    case KEY_TYPE:
        r->what.type = parse_type(state, "--type", word);
        return 0;
    case KEY_SKIP_NAN:
        r->what.skip_nan = true;
        return 0;
    case ARGP_KEY_ARG:
        if (r->path != NULL)
            argp_error(state, "too many files");
        r->path = word;
        return 0;
    case ARGP_KEY_END:
        if (r->path == NULL)
            argp_error(state, "FILE is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void compute(gp_context *context, reduced *r, size_t held) {
    size_t bytes = 0;
    for (size_t i = 0; i < r->count; i++)
        bytes += gp_type_bytes((unsigned)r->result[i].to.type);
    memory_check(r->path, held, r->outputs, bytes);
    for (size_t i = 0; i < r->count; i++)
        r->result[i].to.data = host_alloc(r->outputs, gp_type_bytes((unsigned)r->result[i].to.type));
    if (gp_reduce(context, &r->in, r->result, r->count) != GP_OK)
        fail("%s: %s", r->path, gp_last_error());
}

int reduce_main(int argc, char **argv) {
    static const struct argp_child children[] = {
        {&shape_argp, 0, NULL, 0}, {&format_argp, 0, NULL, 0}, {&work_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = reduce_options, .parser = parse, .args_doc = "FILE", .doc = about, .children = children};
    static const gp_reduce_op usual[] = {GP_REDUCE_MEAN, GP_REDUCE_STDDEV, GP_REDUCE_MIN, GP_REDUCE_MAX};
    request asked = {.how = FORMAT_TEXT, .what = {.count = 4}};
    gp_plan_info plan = {.struct_size = sizeof plan};
    array in;
    for (size_t i = 0; i < 4; i++)
        asked.what.op[i] = usual[i];
    read_arguments(&parser, argc, argv, 0, &asked);
    array_read(asked.path, &asked.raw, (reading){0}, &in);
    if (!asked.has_axes)
        asked.what.axes = in.is_picture ? (axis_list){.axis = {0, 1}, .count = 2} : (axis_list){.all = true};
    reduced r = {.path = asked.path, .in = array_view(asked.path, &in), .count = asked.what.count};
    r.axes = axes_mask(asked.path, &asked.what.axes, r.in.rank);
    r.outputs = reduction_results(asked.path, &asked.what, &r.in, r.axes, r.result);
    gp_context *context = open_context(asked.work.backend);
    compute(context, &r, array_count(&in) * in.elem_bytes);
    if (gp_context_plan(context, &plan) == GP_OK)
        r.kernel = plan.kernel;
    tell_plan(&asked.work, context);
    gp_context_destroy(context);
    reduce_print(&r, asked.how);
    for (size_t i = 0; i < r.count; i++)
        free(r.result[i].to.data);
    free(in.data);
    return 0;
}
