/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that were written by gpuprim-bench --csv, read back. */
#pragma once

#include <stddef.h>

enum { CSV_DEVICE = 128 };

typedef struct csv_wish {
    const char *path;
    size_t count;
    const char *const *columns;                   /* the names of `count` columns */
    void (*take)(void *user, char *const text[]); /* gets those of each record */
    void *user;
} csv_wish;

/* Fails the program if the file cannot be read or lacks a column. device: what it was measured on, if that is told.
 */
void csv_read(const csv_wish *wish, char device[CSV_DEVICE]);
