/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpuprim explain: what would be chosen for a problem, on this device or another, and the verdict on every kernel.
 * The library's planner is pure, so it is asked directly: nothing is allocated or executed, whatever the size.
 */
#include "explain.h"
#include "../bench/core/bench.h"
#include "../src/host/context.h"
#include "device_facts.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_DEVICE = 'd',
    KEY_DEVICES = 0x200,
    KEY_SMEM,
    KEY_REGS,
    KEY_OP,
    KEY_BORDER,
    KEY_KERNEL,
    KEY_SHAPE,
    KEY_TYPE,
    KEY_AXIS,
    KEY_AXES,
    KEY_WINDOW
};

static const char about[] =
    "Explain what would be chosen for a problem and why, with a verdict on every kernel; or how many blocks an SM "
    "holds.\v"
    "SHAPE by OP:\n"
    "  reduce N                    gpuprim explain reduce 2^24\n"
    "  reduce --shape AxBxC        gpuprim explain reduce --shape 1000x64 --type f32 --axis 1 --op sum,max\n"
    "  window ROWSxCOLS WINDOW     gpuprim explain window 1080x1920 15\n"
    "  window --shape AxBxC        gpuprim explain window --shape 480x640x3 --window 31x31 --type u8 --op mean,var\n"
    "  rearrange --shape AxBxC     gpuprim explain rearrange --shape 64x3x512x512 --axes 0,2,3,1 --type u8\n"
    "  transpose ROWSxCOLS ELEM    gpuprim explain transpose 4096x4096 4\n"
    "  block THREADS [REGS [SMEM]] gpuprim explain block 512 11 --device D\n"
    "REGS are registers a thread, SMEM bytes of shared memory a block, ELEM bytes an element. Numbers may be written "
    "as 2^24, 64K. DEVICE is a name that --devices lists, or a JSON file of fields of gp_device_info, such as "
    "`gpuprim info --format json' prints. Nothing is computed.";

static const struct argp_option explain_options[] = {
    {"device", KEY_DEVICE, "DEVICE", 0, "Plan for this GPU instead of the machine's own", 0},
    {"devices", KEY_DEVICES, NULL, 0, "List the GPUs known by name, with the source of their figures", 0},
    {"smem", KEY_SMEM, "BYTES", 0, "As if a block could have no more shared memory", 1},
    {"regs", KEY_REGS, "N", 0, "As if a block could have no more registers", 1},
    {"kernel", KEY_KERNEL, "NAME[:THREADS]", 0, "As if this kernel were pinned", 1},
    {"op", KEY_OP, "OP", 0,
     "Of reduce: sum, min, max, and, or, xor (sum); with --shape a list of any that `gpuprim "
     "reduce' takes",
     2},
    {"shape", KEY_SHAPE, "AxBxC", 0, "Of reduce, window and rearrange: an array of up to 8 axes", 2},
    {"window", KEY_WINDOW, "AxBxC", 0, "Of window --shape: the window's extents, from the first axis on", 2},
    {"type", KEY_TYPE, "TYPE", 0, "With --shape: the elements' type, u8 to f64 (f32)", 2},
    {"axis", KEY_AXIS, "AXIS[,AXIS...]", 0, "Of reduce --shape: axes to reduce (all)", 2},
    {"axes", KEY_AXES, "AXIS,AXIS...", 0, "Of rearrange: all axes in their new order", 2},
    {"border", KEY_BORDER, "BORDER", 0,
     "Of window: none, zero, replicate, reflect, reflect_101, wrap (none); with --shape also "
     "shrink",
     2},
    {0}};

/* Of those that words can tell; a reduction of an array is asked for as `reduce --shape'. */
static const primitive *primitive_by_name(const char *name) {
    for (size_t i = 0; primitives[i] != NULL; i++)
        if (primitives[i]->problem != NULL && strcmp(primitives[i]->name, name) == 0)
            return primitives[i];
    return NULL;
}

static void refuse_options(const request *r, struct argp_state *state) {
    const bool reduces = r->of != NULL && r->of->takes_op, slides = r->of != NULL && r->of->takes_border;
    if (r->is_move != (r->order.count > 0))
        argp_error(state, "%s", r->is_move ? "rearrange takes --shape and --axes" : "--axes is for rearrange");
    if (r->is_array && slides && r->window_rank == 0)
        argp_error(state, "window takes no --shape without --window");
    if (r->is_array && !reduces && !slides)
        argp_error(state, "%s takes no --shape", r->word[0]);
    if (r->window_rank > 0 && (!r->is_array || !slides))
        argp_error(state, "--window is for window --shape");
    if (r->border == GP_BORDER_SHRINK && !r->is_array)
        argp_error(state, "border shrink is for window --shape");
    if (!r->is_array && !r->is_move && (r->type != (gp_type)0 || r->what.axes.count > 0 || r->what.axes.all))
        argp_error(state, "--type and --axis need --shape");
    if (r->op_text != NULL && !reduces && !(slides && r->is_array))
        argp_error(state, "%s takes no --op", r->word[0]);
    if (r->has_border && !slides)
        argp_error(state, "%s takes no --border", r->word[0]);
    if (r->kernel != NULL && r->of == NULL && !r->is_move)
        argp_error(state, "%s takes no --kernel", r->word[0]);
}

/* A shape's words, by the primitive that stands first, or a block's. */
static void parse_words(request *r, struct argp_state *state) {
    if (r->words == 0)
        argp_error(state, "OP and SHAPE are missing");
    if (r->is_array && r->type == (gp_type)0)
        r->type = GP_F32;
    r->what.axes.all = r->what.axes.all || (r->is_array && r->what.axes.count == 0);
    r->of = primitive_by_name(r->word[0]);
    r->is_move = strcmp(r->word[0], "rearrange") == 0;
    const bool block = r->of == NULL && !r->is_move;
    if (r->is_move && (!r->is_array || r->what.axes.count > 0))
        argp_error(state, "rearrange takes --shape and --axes");
    r->is_array = r->is_array && !r->is_move;
    const int least = r->is_array || r->is_move        ? 0
                      : block || r->of->second == NULL ? 1
                                                       : 2,
              most = block ? 3 : least;
    if (block && strcmp(r->word[0], "block") != 0)
        argp_error(state, "OP is reduce, window, rearrange, transpose or block, not '%s'", r->word[0]);
    refuse_options(r, state);
    if (r->words - 1 < least || r->words - 1 > most)
        argp_error(state, "%s takes %s", r->word[0],
                   block         ? "THREADS [REGS [SMEM]]"
                   : r->is_array ? "N or --shape"
                   : r->is_move  ? "--shape and --axes"
                                 : r->of->words);
    if (r->op_text != NULL && r->is_array)
        parse_ops(state, r->op_text, &r->what);
    else if (r->op_text != NULL)
        r->op = parse_op(state, r->op_text);
    if (least == 1)
        r->n = parse_size(state, r->word[0], r->word[1]);
    else if (least == 2)
        parse_shape(state, r->word[1], &r->rows, &r->cols);
    if (r->words > 2)
        r->second = parse_size(state, r->word[0], r->word[2]);
    if (r->words > 3)
        r->third = parse_size(state, r->word[0], r->word[3]);
    if (block && (r->n > UINT32_MAX || r->second > UINT32_MAX))
        argp_error(state, "block: threads and registers are below 2^32");
}

static error_t parse(int key, char *word, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &r->how;
        return 0;
    case KEY_DEVICE:
        r->device = word;
        return 0;
    case KEY_DEVICES:
        r->list = true;
        return 0;
    case KEY_SMEM:
        r->smem = parse_size(state, "--smem", word);
        return 0;
    case KEY_REGS:
        r->regs = parse_size(state, "--regs", word);
        if (r->regs > UINT32_MAX)
            argp_error(state, "--regs is below 2^32");
        return 0;
    case KEY_OP:
        r->op_text = word;
        return 0;
    case KEY_BORDER:
        r->border = parse_border(state, word);
        r->has_border = true;
        return 0;
    case KEY_KERNEL:
        r->kernel = word;
        return 0;
    case KEY_SHAPE:
        r->rank = parse_extents(state, word, r->extent);
        r->is_array = true;
        return 0;
    case KEY_WINDOW:
        r->window_rank = parse_extents(state, word, r->window);
        return 0;
    case KEY_TYPE:
        r->type = parse_type(state, "--type", word);
        return 0;
    case KEY_AXES:
        parse_order(state, word, &r->order);
        return 0;
    case KEY_AXIS:
        parse_axes(state, word, &r->what.axes);
        return 0;
    case ARGP_KEY_ARG:
        if (r->words == WORDS_MAX)
            argp_error(state, "too many words");
        r->word[r->words++] = word;
        return 0;
    case ARGP_KEY_END:
        if (!r->list)
            parse_words(r, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A model of the named device, of the machine's GPU, or the processor. */
static gp_context *open_planned(const request *r, const char **source) {
    gp_options options = {.struct_size = sizeof options, .backend = GP_BACKEND_CPU, .device = -1};
    gp_device_info device = {.struct_size = sizeof device};
    gp_context *context = NULL;
    const preset *known = r->device != NULL ? preset_find(r->device) : NULL;
    *source = NULL;
    if (known != NULL) {
        device = known->device;
        *source = known->source;
    } else if (r->device != NULL) {
        device_from_file(r->device, &device);
        *source = r->device;
    } else if (gp_device_count() > 0) {
        gp_context *gpu = open_context(GP_BACKEND_CUDA);
        must(gp_context_device(gpu, &device));
        gp_context_destroy(gpu);
        device.cpu_threads = device.cpu_isa = 0;
    } else if (r->of == NULL && !r->is_move) {
        fail("block: there is no GPU here (%s): name one by --device", gp_last_error());
    } else {
        must(gp_context_create(&context, &options));
        return context;
    }
    options.backend = GP_BACKEND_MODEL;
    options.model = &device;
    must(gp_context_create(&context, &options));
    return context;
}

static void pin(gp_context *context, const request *r) {
    char name[64];
    const char *text = r->kernel;
    const size_t length = strcspn(text, ":");
    unsigned long threads = 0;
    char *end = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), text);
    if (text[length] == ':')
        threads = strtoul(text + length + 1, &end, 10);
    if ((end != NULL && (*end != '\0' || end == text + length + 1)) || threads > 1024)
        fail("--kernel: '%s' is no NAME:THREADS", text);
    must(gp_context_pin_kernel(context, name, (unsigned)threads));
}

/*
 * Arrays that nobody touches, aligned as an allocation is. They share the address space evenly: what would reach into
 * the next array passes the address space with the last one, and is refused for that. A scalar result lies below its
 * array.
 */
static gp_status make_problem(const request *r, gp_problem *problem) {
    line l = {.of = r->of};
    r->of->make(&(given){r->n, r->rows, r->cols, r->second, r->op, r->border}, &l);
    const footprint arrays = r->of->footprint(&l);
    const uintptr_t first = 1 << 20, step = ((UINTPTR_MAX - first) / (arrays.outs + 1) | (first - 1)) + 1;
    const bool scalar = arrays.floor_outs == 0;
    void *out[OUTS_MAX];
    for (unsigned k = 0; k < OUTS_MAX; k++)
        out[k] = (void *)(scalar ? first / 2 : first + (k + 1) * step);
    return r->of->problem(&l, (const void *)first, out, problem);
}

int explain_main(int argc, char **argv) {
    static const struct argp_child children[] = {{&format_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = explain_options, .parser = parse, .args_doc = "OP SHAPE...", .doc = about, .children = children};
    request r = {.how = FORMAT_TEXT, .what = {.op = {GP_REDUCE_SUM}, .count = 1}};
    const char *source;
    gp_problem problem;
    read_arguments(&parser, argc, argv, 0, &r);
    if (r.list) {
        explain_devices(r.how);
        return 0;
    }
    gp_context *context = open_planned(&r, &source);
    if (r.smem > 0 || r.regs > 0)
        must(gp_context_limit(context, r.smem, (unsigned)r.regs));
    if (r.kernel != NULL)
        pin(context, &r);
    if (r.is_move) {
        explain_move(&r, context, source);
    } else if (r.of == NULL) {
        explain_block(&r, context, source);
    } else if (r.is_array) {
        explain_array(&r, context, source);
    } else {
        must(make_problem(&r, &problem));
        explain_problems(&r, context, 1, &problem, source);
    }
    gp_context_destroy(context);
    return 0;
}
