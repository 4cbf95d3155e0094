/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in files: NumPy's .npy, PNG pictures, and raw elements. A file that is read tells by itself which it is. */
#pragma once

#include "tool.h"
#include <stdint.h>

enum { ARRAY_DIMS = 8, ARRAY_TYPE = 32 };

typedef struct array {
    unsigned n_dims;
    size_t dims[ARRAY_DIMS];
    bool fortran;    /* the first axis runs fastest, not the last */
    bool is_picture; /* read from a PNG: rows, columns, channels if there are several */
    size_t elem_bytes;
    char type[ARRAY_TYPE]; /* as NumPy writes it: "<i4", "|u1" */
    unsigned char *data;
} array;

size_t array_count(const array *a); /* elements */

/* These fail the program in one line that names the file and what is wrong. Path "-" is standard input. */
unsigned char *file_read(const char *path, size_t *bytes); /* and a 0 behind them; free() it */
typedef struct reading {
    bool grey;       /* a picture is made so */
    unsigned copies; /* of the array, and bytes an element, that the caller will hold besides, against --memory */
    size_t bytes;
} reading;
void array_read(const char *path, const raw_shape *raw, reading how, array *out);
bool npy_is(const unsigned char *bytes, size_t count);
void npy_decode(const char *path, unsigned char *bytes, size_t count, array *out); /* takes bytes over */

/* Fails the program if the array is in Fortran order and that shows. */
void array_check_order(const char *path, const array *a);

/* The elements as a view, brought into the machine's byte order; bools are bytes. Fails on what is no number. */
gp_array array_view(const char *path, array *a);

/* The elements as they are, as a view of GP_BYTES. */
gp_array array_bytes(const array *a);

/* The elements as int32, each checked to fit; the array is given up. */
int32_t *array_to_ints(const char *path, array *a);

/*
 * Writes all n arrays or none of them, as files_write() does. Ending in .png a picture (of bytes), in .npy NumPy's
 * format, else raw elements; "-" is standard output, raw.
 */
void arrays_write(size_t n, const char *const path[], const array arrays[]);
bool ends_in(const char *path, const char *extension);

/* The head of an .npy file of this array; returns its bytes. */
enum { NPY_HEAD = 512 };
size_t npy_encode_head(const array *a, char head[NPY_HEAD]);
