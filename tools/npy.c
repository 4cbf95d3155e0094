/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's .npy format, versions 1 to 3: a magic string, the length of a Python dictionary in text, the dictionary,
 * the elements. See numpy.lib.format in NumPy's manual.
 */
#include "array.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6u
#define HEAD_UNIT 64u /* the elements start at a multiple of this */

/* Where the dictionary's text is being read. */
typedef struct reader {
    const char *path, *at, *end;
} reader;

bool npy_is(const unsigned char *bytes, size_t count) {
    return count >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

static _Noreturn void malformed(const char *path, const char *what) {
    fail("%s: malformed .npy: %s", path, what);
}

/* Python's white space, which has no vertical tab. */
static void skip_space(reader *r) {
    while (r->at < r->end && isspace((unsigned char)*r->at) && *r->at != '\v')
        r->at++;
}

static bool take(reader *r, char wanted) {
    skip_space(r);
    const bool there = r->at < r->end && *r->at == wanted;
    r->at += there;
    return there;
}

static void take_string(reader *r, char *text, size_t size) {
    skip_space(r);
    const char quote = r->at < r->end ? *r->at : '\0';
    if (quote == '[')
        fail("%s: records of several fields are not read", r->path);
    if (quote != '\'' && quote != '"')
        malformed(r->path, "a string is missing in its head");
    const char *begin = ++r->at;
    while (r->at < r->end && *r->at != quote)
        r->at++;
    if (r->at == r->end || (size_t)(r->at - begin) >= size)
        malformed(r->path, "a string in its head does not end");
    for (const char *at = begin; at < r->at; at++)
        if (!isprint((unsigned char)*at) || *at == '\\')
            malformed(r->path, "a string in its head is no text");
    snprintf(text, size, "%.*s", (int)(r->at - begin), begin);
    r->at++;
}

static bool take_bool(reader *r) {
    skip_space(r);
    const size_t left = (size_t)(r->end - r->at);
    const bool yes = left >= 4 && memcmp(r->at, "True", 4) == 0;
    if (!yes && (left < 5 || memcmp(r->at, "False", 5) != 0))
        malformed(r->path, "fortran_order is neither True nor False");
    r->at += yes ? 4 : 5;
    return yes;
}

static void take_shape(reader *r, array *out) {
    bool comma = true;
    if (!take(r, '('))
        malformed(r->path, "shape is no tuple");
    while (!take(r, ')')) {
        size_t value = 0;
        const bool digit = r->at < r->end && isdigit((unsigned char)*r->at);
        const bool leading_zero = digit && *r->at == '0' && r->at + 1 < r->end && isdigit((unsigned char)r->at[1]);
        if (!digit || leading_zero || !comma || out->n_dims == ARRAY_DIMS)
            malformed(r->path, "shape is no tuple of at most 8 numbers");
        for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++)
            if (__builtin_mul_overflow(value, 10u, &value) ||
                __builtin_add_overflow(value, (size_t)(*r->at - '0'), &value))
                malformed(r->path, "shape passes 64 bits");
        out->dims[out->n_dims++] = value;
        comma = take(r, ',');
    }
    if (out->n_dims == 1 && !comma)
        malformed(r->path, "shape is no tuple, which has a comma");
}

/* What NumPy has: of each kind the sizes, all powers of two, added up; 0: any. */
static bool is_size(char kind, unsigned long size) {
    static const struct {
        char kind;
        unsigned char sizes;
    } known[] = {{'b', 1},
                 {'i', 1 + 2 + 4 + 8},
                 {'u', 1 + 2 + 4 + 8},
                 {'f', 2 + 4 + 8 + 16},
                 {'c', 8 + 16 + 32},
                 {'m', 8},
                 {'M', 8},
                 {'S', 0},
                 {'U', 0},
                 {'V', 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == kind)
            return known[i].sizes == 0 ? size <= UINT32_MAX / 4
                                       : (known[i].sizes & size) == size && !(size & (size - 1));
    return false;
}

/* "[ns]", "[25us]": of times alone. */
static bool is_unit(const char *text) {
    static const char *const units[] = {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"};
    const size_t digits = *text == '[' && text[1] != '0' ? strspn(text + 1, "0123456789") : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t length = strlen(units[i]);
        if (*text == '[' && strncmp(text + 1 + digits, units[i], length) == 0 &&
            strcmp(text + 1 + digits + length, "]") == 0)
            return true;
    }
    return false;
}

/* "<i4", "|S10", "<U5" (four bytes a character), "<M8[ns]"; kept in the form in which NumPy writes it. */
static void take_type(reader *r, array *out) {
    static const unsigned one = 1;
    const char machine = *(const unsigned char *)&one == 1 ? '<' : '>';
    char text[ARRAY_TYPE], *end = text;
    take_string(r, text, sizeof text);
    const bool begins = strlen(text) > 2 && strchr("<>|=", text[0]) != NULL && text[2] >= '1' && text[2] <= '9';
    const unsigned long size = begins ? strtoul(text + 2, &end, 10) : 0;
    const bool is_time = begins && (text[1] == 'm' || text[1] == 'M');
    if (!begins || !is_size(text[1], size) || (*end != '\0' && !(is_time && is_unit(end))))
        fail("%s: elements of type '%s' are not read", r->path, text);
    const bool has_order = text[1] == 'U' || (size > 1 && strchr("SV", text[1]) == NULL);
    const char order = !has_order ? '|' : text[0] == '<' || text[0] == '>' ? text[0] : machine;
    out->elem_bytes = text[1] == 'U' ? size * 4 : size;
    snprintf(out->type, sizeof out->type, "%c%.*s", order, (int)sizeof text - 2, text + 1);
}

static void read_head(reader *r, array *out) {
    unsigned seen = 0;
    if (!take(r, '{'))
        malformed(r->path, "its head is no dictionary");
    while (!take(r, '}')) {
        char key[ARRAY_TYPE];
        take_string(r, key, sizeof key);
        if (!take(r, ':'))
            malformed(r->path, "a colon is missing in its head");
        if (strcmp(key, "descr") == 0 && !(seen & 1))
            take_type(r, out), seen |= 1;
        else if (strcmp(key, "fortran_order") == 0 && !(seen & 2))
            out->fortran = take_bool(r), seen |= 2;
        else if (strcmp(key, "shape") == 0 && !(seen & 4))
            take_shape(r, out), seen |= 4;
        else
            malformed(r->path, "its head holds an unknown key, or one twice");
        if (!take(r, ',') && (r->at == r->end || *r->at != '}'))
            malformed(r->path, "a comma is missing in its head");
    }
    skip_space(r);
    if (r->at < r->end)
        malformed(r->path, "something stands behind its head's dictionary");
    if (seen != 7)
        malformed(r->path, "its head lacks descr, fortran_order or shape");
}

void npy_decode(const char *path, unsigned char *bytes, size_t count, array *out) {
    *out = (array){0};
    const size_t prefix = count > MAGIC_BYTES && bytes[MAGIC_BYTES] > 1 ? 12 : 10;
    if (count < prefix || bytes[MAGIC_BYTES] < 1 || bytes[MAGIC_BYTES] > 3 || bytes[MAGIC_BYTES + 1] != 0)
        malformed(path, "it is cut off, or of an unknown version");
    size_t head = bytes[8] | (size_t)bytes[9] << 8;
    if (prefix == 12)
        head |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (head > count - prefix)
        malformed(path, "it is cut off within its head");
    reader r = {path, (const char *)bytes + prefix, (const char *)bytes + prefix + head};
    read_head(&r, out);
    size_t wanted = out->elem_bytes;
    for (unsigned i = 0; i < out->n_dims; i++)
        if (__builtin_mul_overflow(wanted, out->dims[i], &wanted))
            malformed(path, "its shape passes the address space");
    const size_t there = count - prefix - head;
    if (there != wanted)
        fail("%s: its shape needs %zu bytes of elements, it has %zu", path, wanted, there);
    memmove(bytes, bytes + prefix + head, there);
    out->data = bytes;
}

size_t npy_encode_head(const array *a, char head[NPY_HEAD]) {
    char shape[ARRAY_DIMS * 22 + 4] = "";
    size_t used = 0;
    for (unsigned i = 0; i < a->n_dims; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%zu%s", i > 0 ? " " : "", a->dims[i],
                                 i + 1 < a->n_dims || a->n_dims == 1 ? "," : "");
    int length = snprintf(head + 10, NPY_HEAD - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                          a->type, shape);
    size_t total = 10 + (size_t)length;
    while (total % HEAD_UNIT != HEAD_UNIT - 1)
        head[total++] = ' ';
    head[total++] = '\n';
    memcpy(head, MAGIC "\x01", 8); /* version 1.0 */
    head[8] = (char)((total - 10) & 0xff);
    head[9] = (char)((total - 10) >> 8);
    return total;
}
