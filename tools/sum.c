/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim sum: reduces files of ints. */
#include "array.h"
#include "table.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_OP = 0x200, FORM_UNKNOWN = 0, FORM_TEXT = 't', FORM_BINARY = 'b' };

typedef struct request {
    format how;
    work_request work;
    gp_reduce_op op;
    const char *op_name;
    int form;
    char **path;
    int paths;
} request;

static const struct argp_option sum_options[] = {
    {"op", KEY_OP, "OP", 0, "sum, min, max, and, or, xor (sum)", 0},
    {"text", FORM_TEXT, NULL, 0, "Files are text: integers parted by white space", 1},
    {"binary", FORM_BINARY, NULL, 0, "Files are little-endian 32-bit ints", 1},
    {0}};

static error_t parse(int key, char *word, struct argp_state *state) {
    request *r = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &r->how;
        state->child_inputs[1] = &r->work;
        return 0;
    case KEY_OP:
        r->op = parse_op(state, word);
        r->op_name = word;
        return 0;
    case FORM_TEXT:
    case FORM_BINARY:
        r->form = key;
        return 0;
    case ARGP_KEY_ARGS:
        r->path = state->argv + state->next;
        r->paths = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "FILE is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The word up to white space, as it may be shown. */
static void printable(const char *at, const char *end, char shown[24]) {
    size_t i = 0;
    for (; i < 23 && at + i < end && !isspace((unsigned char)at[i]); i++)
        shown[i] = isprint((unsigned char)at[i]) ? at[i] : '?';
    shown[i] = '\0';
}

static int32_t *ints_from_text(const char *path, const char *text, size_t size, size_t *count) {
    memory_check(path, size, size / 2 + 1, sizeof(int32_t)); /* "1 1 1": two bytes an int */
    int32_t *ints = host_alloc(size / 2 + 1, sizeof *ints);
    size_t line = 1;
    for (const char *at = text, *end = text + size; at < end;) {
        if (isspace((unsigned char)*at)) {
            line += *at++ == '\n';
            continue;
        }
        char *stop, shown[24];
        errno = 0;
        const long long value = strtoll(at, &stop, 10);
        printable(at, end, shown);
        if (stop == at || (stop < end && !isspace((unsigned char)*stop)))
            fail("%s: line %zu: '%s' is no integer", path, line, shown);
        if (errno == ERANGE || value < INT32_MIN || value > INT32_MAX)
            fail("%s: line %zu: %s does not fit in 32 bits", path, line, shown);
        ints[(*count)++] = (int32_t)value;
        at = stop;
    }
    return ints;
}

static int form_of(const request *r, const char *path) {
    if (r->form != FORM_UNKNOWN)
        return r->form;
    if (strcmp(path, "-") == 0 || ends_in(path, ".txt"))
        return FORM_TEXT;
    if (!ends_in(path, ".bin") && !ends_in(path, ".raw"))
        fail("%s: neither .npy, .txt, .bin nor .raw; say --text or --binary", path);
    return FORM_BINARY;
}

static int32_t *read_ints(const request *r, const char *path, size_t *count) {
    size_t bytes;
    array a;
    unsigned char *data = file_read(path, &bytes);
    *count = 0;
    if (r->form == FORM_UNKNOWN && npy_is(data, bytes)) {
        npy_decode(path, data, bytes, &a);
    } else if (form_of(r, path) == FORM_TEXT) {
        int32_t *ints = ints_from_text(path, (const char *)data, bytes, count);
        free(data);
        return ints;
    } else if (bytes % 4 != 0) {
        fail("%s: %zu bytes are no whole number of 4-byte ints", path, bytes);
    } else {
        a = (array){.n_dims = 1, .dims = {bytes / 4}, .elem_bytes = 4, .type = "<i4", .data = data};
    }
    *count = array_count(&a);
    return array_to_ints(path, &a);
}

static json_t *reduce_file(const request *r, gp_context *context, const char *path) {
    size_t count;
    int64_t value = 0;
    gp_plan_info plan = {.struct_size = sizeof plan};
    json_t *name = r->how == FORMAT_JSON ? json_string(path) : json_string_nocheck(path);
    int32_t *ints = read_ints(r, path, &count);
    if (gp_reduce_int(context, r->op, ints, count, &value) != GP_OK)
        fail("%s: %s", path, gp_last_error());
    free(ints);
    must(gp_context_plan(context, &plan));
    tell_plan(&r->work, context);
    if (r->how == FORMAT_JSON && !json_is_string(name))
        fail("%s: JSON cannot tell a name that is not UTF-8", path);
    return made(json_pack("{s:o, s:s, s:I, s:I, s:s}", "file", name, "op", r->op_name, "value", (json_int_t)value,
                          "count", (json_int_t)count, "kernel", plan.kernel));
}

int sum_main(int argc, char **argv) {
    static const struct argp_child children[] = {{&format_argp, 0, NULL, 0}, {&work_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = sum_options,
        .parser = parse,
        .args_doc = "FILE...",
        .doc =
            "Print the sum of each file's ints, exact in 64 bits, or their minimum, maximum and so on.\v"
            "A file is .npy of any integers that fit in 32 bits, .txt, or .bin or .raw; other names need --text or "
            "--binary. FILE - is standard input, text unless said otherwise. If one file is wrong nothing is "
            "printed.",
        .children = children};
    static const column columns[] = {
        {.key = "file"}, {.key = "op"}, {.key = "value"}, {.key = "count"}, {.key = "kernel"}};
    request r = {.how = FORMAT_TEXT, .op_name = "sum"};
    char room[SHOWN];
    size_t i;
    json_t *row, *rows = made(json_array());
    read_arguments(&parser, argc, argv, 0, &r);
    gp_context *context = open_context(r.work.backend);
    for (int k = 0; k < r.paths; k++)
        json_array_append_new(rows, reduce_file(&r, context, r.path[k]));
    gp_context_destroy(context);
    if (r.how == FORMAT_JSON) {
        json_t *all = document();
        json_object_set_new(all, "results", rows);
        print_json(all);
        return 0;
    }
    if (r.how == FORMAT_CSV)
        print_csv(rows, sizeof columns / sizeof *columns, columns);
    else
        json_array_foreach(rows, i, row)
            printf("%lld  %s\n", (long long)json_integer_value(json_object_get(row, "value")),
                   shown_on_terminal(json_string_value(json_object_get(row, "file")), room));
    json_decref(rows);
    return 0;
}
