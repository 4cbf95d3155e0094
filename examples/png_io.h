/* SPDX-License-Identifier: Apache-2.0 */
/* PNG files to and from plain arrays of bytes, through libpng. */
#pragma once

#include "whole_files.h"

enum { PICTURE_MESSAGE = FILES_MESSAGE }; /* bytes of an error message */

typedef struct picture {
    size_t rows, cols, channels; /* channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA */
    unsigned char *pixel;        /* rows * cols * channels bytes without padding */
} picture;

/*
 * Reads any PNG (16-bit, palette, interlaced, alpha) as 8-bit samples. channels 1 makes it grey, on white where it is
 * transparent; 0 keeps grey or colour, and alpha. False: the message says what is wrong and where.
 * Free out->pixel with free().
 */
bool picture_read(const char *path, size_t channels, picture *out, char message[PICTURE_MESSAGE]);

/* The size alone of what picture_read() would read with channels 0, without memory for a pixel. */
bool picture_head(const char *path, picture *out, char message[PICTURE_MESSAGE]);

/* Writes a PNG to the descriptor, which stays open. False: `why` says what failed. */
bool picture_encode(int file, const picture *p, char why[PICTURE_MESSAGE]);

/* Writes all n pictures or, if one fails, none, as files_write() does. */
bool picture_write(size_t n, const char *const path[], const picture pictures[], char message[PICTURE_MESSAGE]);
