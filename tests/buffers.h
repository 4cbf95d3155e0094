/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays under guard. Each keeps a host copy of all that the memory should hold, guard bands and padding included: a
 * test writes what it expects there, and the check compares every byte.
 */
#pragma once

#include "gpuprim/gpuprim.h"
#include <stdbool.h>

typedef enum buffer_kind {
    BUFFER_HOST,       /* plain host memory between guard bands */
    BUFFER_CONTEXT,    /* gp_alloc() memory between guard bands: device memory on a GPU context */
    BUFFER_PAGE_AFTER, /* host memory whose end is followed by a page that may not be touched */
    BUFFER_PAGE_BEFORE /* host memory whose start follows such a page */
} buffer_kind;

typedef struct buffer {
    gp_context *context;
    buffer_kind kind;
    size_t bytes;   /* of the array */
    size_t total;   /* with guard bands */
    void *data;     /* the array, as a call under test gets it */
    void *expected; /* the array as it should be: the host copy's part */
    unsigned char *memory, *copy, *seen;
    size_t mapped; /* page kinds: bytes to unmap */
} buffer;

/* An array of bytes, `offset` bytes past a 256-byte boundary (page kinds: wherever the page puts it). Aborts the test
   if there is no memory. */
void buffer_make(buffer *b, gp_context *context, buffer_kind kind, size_t bytes, size_t offset);
void buffer_free(buffer *b);

/* Memory := expected, so that the next call starts anew. */
void buffer_send(buffer *b);

/* What memory holds now at the array: host memory, good until the next call for this buffer. */
const void *buffer_read(buffer *b);

/* Memory is as expected, byte for byte; else says where and what, after the label. */
bool buffer_check(buffer *b, const char *label);
