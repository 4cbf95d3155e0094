/* SPDX-License-Identifier: Apache-2.0 */
/* Options that subcommands share, and words to values. */
#include "tool.h"
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_FORMAT = 0x100, KEY_SHAPE, KEY_ELEM };

const char *const op_words[OPS] = {"sum", "min", "max", "and", "or", "xor"};
const char *const border_words[BORDERS] = {"none", "zero", "replicate", "reflect", "reflect_101", "wrap", "shrink"};

void read_arguments(const struct argp *parser, int argc, char **argv, unsigned flags, void *request) {
    const error_t error = argp_parse(parser, argc, argv, flags, NULL, request);
    if (error != 0)
        fail("%s", strerror(error));
}

size_t word_index(struct argp_state *state, const char *what, const char *text, size_t count,
                  const char *const words[]) {
    char list[256] = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", words[i]);
    }
    argp_error(state, "%s is %s, not '%s'", what, list, text);
    return 0;
}

static error_t parse_format(int key, char *text, struct argp_state *state) {
    static const char *const words[] = {"text", "json", "csv"};
    if (key != KEY_FORMAT)
        return ARGP_ERR_UNKNOWN;
    *(format *)state->input = (format)word_index(state, "--format", text, 3, words);
    return 0;
}

static error_t parse_raw(int key, char *text, struct argp_state *state) {
    raw_shape *shape = state->input;
    if (key == KEY_SHAPE)
        parse_shape(state, text, &shape->rows, &shape->cols);
    else if (key == KEY_ELEM)
        shape->elem_bytes = parse_size(state, "--elem", text);
    else
        return ARGP_ERR_UNKNOWN;
    if (key == KEY_ELEM && shape->elem_bytes == 0)
        argp_error(state, "--elem is 1 or more bytes");
    return 0;
}

static const struct argp_option format_options[] = {
    {"format", KEY_FORMAT, "text|json|csv", 0, "How to print (text)", 10}, {0}};
static const struct argp_option shape_options[] = {
    {"shape", KEY_SHAPE, "ROWSxCOLS", 0, "Shape of a raw input file", 5},
    {"elem", KEY_ELEM, "BYTES", 0, "Bytes of an element of a raw input file (4)", 5},
    {0}};
const struct argp format_argp = {.options = format_options, .parser = parse_format};
const struct argp shape_argp = {.options = shape_options, .parser = parse_raw};

static bool read_number(const char **text, size_t *value) {
    char *end;
    errno = 0;
    const unsigned long long read = strtoull(*text, &end, 10);
    if (!isdigit((unsigned char)**text) || errno != 0)
        return false;
    *text = end;
    *value = read;
    return true;
}

/* Up to where the number ends; false: no number, or past 64 bits. */
static bool read_size(const char **text, size_t *value) {
    size_t power = 0, factor = 1;
    if (!read_number(text, value))
        return false;
    if (**text == '^') {
        const size_t base = *value;
        ++*text;
        if (!read_number(text, &power))
            return false;
        if (base < 2 && power > 1)
            power = 1; /* no further step changes it */
        for (*value = 1; power > 0; power--)
            if (__builtin_mul_overflow(*value, base, value))
                return false;
    }
    static const char suffixes[] = "KMGT";
    const char *suffix = **text != '\0' ? strchr(suffixes, **text) : NULL;
    if (suffix != NULL) {
        factor = (size_t)1 << (10 * (suffix - suffixes + 1));
        ++*text;
    }
    return !__builtin_mul_overflow(*value, factor, value);
}

size_t parse_size(struct argp_state *state, const char *what, const char *text) {
    const char *end = text;
    size_t value = 0;
    if (!read_size(&end, &value) || *end != '\0')
        argp_error(state, "%s: '%s' is no number such as 4096, 2^12 or 4K", what, text);
    return value;
}

void parse_shape(struct argp_state *state, const char *text, size_t *rows, size_t *cols) {
    const char *end = text;
    const bool right = read_size(&end, rows) && *end++ == 'x' && read_size(&end, cols) && *end == '\0';
    if (!right)
        argp_error(state, "'%s' is no shape ROWSxCOLS such as 1080x1920", text);
}

unsigned parse_extents(struct argp_state *state, const char *text, size_t extent[GP_AXES]) {
    const char *end = text;
    unsigned rank = 0;
    while (rank < GP_AXES && read_size(&end, &extent[rank])) {
        rank++;
        if (*end != 'x')
            break;
        end++;
    }
    if (rank == 0 || *end != '\0' || end[-1] == 'x')
        argp_error(state, "'%s' is no shape of up to %d axes such as 1000x64", text, GP_AXES);
    return rank;
}

gp_border parse_border(struct argp_state *state, const char *text) {
    return (gp_border)word_index(state, "--border", text, BORDERS, border_words);
}

gp_reduce_op parse_op(struct argp_state *state, const char *text) {
    return (gp_reduce_op)word_index(state, "--op", text, OPS, op_words);
}
