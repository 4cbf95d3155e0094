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

static void skip_space(reader *r) {
    while (r->at < r->end && isspace((unsigned char)*r->at))
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
        if (!isprint((unsigned char)*at))
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
    if (!take(r, '('))
        malformed(r->path, "shape is no tuple");
    while (!take(r, ')')) {
        size_t value = 0;
        if (r->at == r->end || !isdigit((unsigned char)*r->at) || out->n_dims == ARRAY_DIMS)
            malformed(r->path, "shape is no tuple of at most 8 numbers");
        for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++)
            if (__builtin_mul_overflow(value, 10u, &value) ||
                __builtin_add_overflow(value, (size_t)(*r->at - '0'), &value))
                malformed(r->path, "shape passes 64 bits");
        out->dims[out->n_dims++] = value;
        if (!take(r, ',') && (r->at == r->end || *r->at != ')'))
            malformed(r->path, "shape is no tuple");
    }
}

/* "<i4", "|S10", "<U5" (four bytes a character), "<M8[ns]". */
static size_t size_of_type(const char *path, const char *type) {
    char *end;
    if (strlen(type) < 3 || strchr("<>|=", type[0]) == NULL || strchr("biufcmMSUV", type[1]) == NULL)
        fail("%s: elements of type '%s' are not read", path, type);
    const unsigned long size = strtoul(type + 2, &end, 10);
    if (size == 0 || size > UINT32_MAX / 4 || (*end != '\0' && *end != '['))
        fail("%s: elements of type '%s' are not read", path, type);
    return type[1] == 'U' ? size * 4 : size;
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
        if (strcmp(key, "descr") == 0)
            take_string(r, out->type, sizeof out->type), seen |= 1;
        else if (strcmp(key, "fortran_order") == 0)
            out->fortran = take_bool(r), seen |= 2;
        else if (strcmp(key, "shape") == 0 && !(seen & 4))
            take_shape(r, out), seen |= 4;
        else
            malformed(r->path, "its head holds an unknown key");
        if (!take(r, ',') && (r->at == r->end || *r->at != '}'))
            malformed(r->path, "a comma is missing in its head");
    }
    skip_space(r);
    if (r->at < r->end)
        malformed(r->path, "something stands behind its head's dictionary");
    if (seen != 7)
        malformed(r->path, "its head lacks descr, fortran_order or shape");
    out->elem_bytes = size_of_type(r->path, out->type);
}

void npy_decode(const char *path, unsigned char *bytes, size_t count, array *out) {
    *out = (array){0};
    const size_t prefix = count > MAGIC_BYTES && bytes[MAGIC_BYTES] > 1 ? 12 : 10;
    if (count < prefix || bytes[MAGIC_BYTES] < 1 || bytes[MAGIC_BYTES] > 3)
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
