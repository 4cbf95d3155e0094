/* SPDX-License-Identifier: Apache-2.0 */
/* Results as JSON values, printed as JSON, CSV or an aligned table. */
#pragma once

#include "tool.h"
#include <jansson.h>

typedef struct column {
    const char *key;     /* of a row's object; the heading in CSV */
    const char *heading; /* in text */
    int digits;          /* of a real number, after the point, in text */
    const char *unit;    /* put behind a number in text; NULL: nothing */
} column;

/* From here on a lack of memory inside Jansson fails the program: none of its calls has to be asked for that. */
void json_begin(void);

/* A JSON value that could be had, or the program fails. Takes what json_pack() and its like return. */
json_t *made(json_t *value);

/* {"schema": 1, "command": ..., "version": ...}, to which a command adds its own. */
json_t *document(void);
void print_json(json_t *value);       /* 9 digits of a real number, and a line's end; gives the value up */
void print_json_whole(json_t *value); /* 17 digits, which tell every double */
json_t *read_json(const char *path);  /* a file's; fails the program */

/* Rows are an array of objects; a key that a row lacks is an empty cell. Text is aligned, numbers to the right. */
void print_csv(const json_t *rows, size_t count, const column columns[]);
void print_table(const json_t *rows, size_t count, const column columns[]);
