/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An .npy file: "\x93NUMPY", two bytes of version, the length of a head in 2 bytes or, from version 2 on, 4, the
 * head, the elements. The head is a Python dictionary in text, such as {'descr': '<f4', 'fortran_order': False,
 * 'shape': (9, 3), }, here looked through for what a table needs.
 */
#include "npy_in.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 4096 };

static const struct {
    char descr[4];
    unsigned char type, bytes;
} types[] = {{"|u1", GP_U8, 1},  {"|i1", GP_S8, 1},  {"<u2", GP_U16, 2}, {"<i2", GP_S16, 2},
             {"<u4", GP_U32, 4}, {"<i4", GP_S32, 4}, {"<u8", GP_U64, 8}, {"<i8", GP_S64, 8},
             {"<f2", GP_F16, 2}, {"<f4", GP_F32, 4}, {"<f8", GP_F64, 8}};

static bool refuse(char *message, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, NPY_MESSAGE, format, arguments);
    va_end(arguments);
    return false;
}

static bool read_head(FILE *file, char head[HEAD_MAX]) {
    unsigned char prefix[12] = {0};
    if (fread(prefix, 1, 10, file) != 10 || memcmp(prefix, "\x93NUMPY", 6) != 0)
        return false;
    if (prefix[6] > 1 && fread(prefix + 10, 1, 2, file) != 2)
        return false;
    const size_t length = prefix[8] | (size_t)prefix[9] << 8 | (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    if (length >= HEAD_MAX || fread(head, 1, length, file) != length)
        return false;
    head[length] = '\0';
    return true;
}

/* What stands behind 'key': in the head; NULL: no such key. */
static const char *value_of(const char *head, const char *key) {
    const char *at = strstr(head, key);
    return at != NULL ? at + strlen(key) + strspn(at + strlen(key), " ") : NULL;
}

/* False: not one or two axes. */
static bool parse_shape(const char *at, unsigned *rank, size_t extent[2]) {
    for (*rank = 0; *at != ')'; at += strspn(at, ", ")) {
        char *end;
        errno = 0;
        const unsigned long long value = *rank < 2 ? strtoull(at, &end, 10) : 0;
        if (*rank == 2 || *at < '0' || *at > '9' || errno != 0)
            return false;
        extent[(*rank)++] = (size_t)value;
        at = end;
    }
    return *rank > 0;
}

static bool read_table(FILE *file, const char *path, gp_array *table, char *message) {
    char head[HEAD_MAX];
    size_t extent[2] = {0, 0}, bytes = 0, kind = 0;
    unsigned rank;
    if (!read_head(file, head))
        return refuse(message, "%s: not an .npy file, or cut off", path);
    const char *descr = value_of(head, "'descr':"), *fortran = value_of(head, "'fortran_order':"),
               *shape = value_of(head, "'shape':");
    while (kind < sizeof types / sizeof *types &&
           (descr == NULL || *descr == '\0' || strncmp(descr + 1, types[kind].descr, 3) != 0 || descr[4] != *descr))
        kind++;
    if (kind == sizeof types / sizeof *types)
        return refuse(message, "%s: its elements are no little-endian ints or floats", path);
    if (fortran == NULL || strncmp(fortran, "False", 5) != 0)
        return refuse(message, "%s: is not in C order", path);
    if (shape == NULL || *shape != '(' || !parse_shape(shape + 1, &rank, extent))
        return refuse(message, "%s: is no array of one or two axes", path);
    if (__builtin_mul_overflow(extent[0], rank == 2 ? extent[1] : 1, &bytes) ||
        __builtin_mul_overflow(bytes, types[kind].bytes, &bytes) || bytes > PTRDIFF_MAX)
        return refuse(message, "%s: its shape passes the address space", path);
    void *data = malloc(bytes > 0 ? bytes : 1);
    if (data == NULL)
        return refuse(message, "%s: no memory for %zu bytes", path, bytes);
    if (fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        free(data);
        return refuse(message, "%s: does not have the %zu bytes of elements that its shape needs", path, bytes);
    }
    *table = gp_dense((gp_type)types[kind].type, data, rank, extent);
    return true;
}

bool npy_table_read(const char *path, gp_array *table, char message[NPY_MESSAGE]) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return refuse(message, "%s: %s", path, strerror(errno));
    const bool good = read_table(file, path, table, message);
    fclose(file);
    return good;
}
