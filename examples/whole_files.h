/* SPDX-License-Identifier: Apache-2.0 */
/* Files written whole or not at all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FILES_MESSAGE = 512 }; /* bytes of an error message */

/* Writes file `index` to the descriptor. False: `why` says what failed or, left empty, errno does. */
typedef bool (*file_writer)(const void *context, size_t index, int file, char why[FILES_MESSAGE]);

/*
 * Writes all n files or, if one fails, none: under temporary names beside the targets, renamed when all are whole and
 * on the disk. A link stays, what it leads to is replaced; a file that is replaced keeps its permissions. As by cp, a
 * file that must not be written is refused, and a file of several names (hard links), a mount point and a file in a
 * folder that takes no new files are written in place, after all others. What is no regular file (a pipe, a device),
 * standard output (also as "-") and a descriptor under /dev or /proc are written in place too. What is written in
 * place may be left half written by a failure. False: the message names the path as given and says what is wrong.
 */
bool files_write(size_t n, const char *const path[], file_writer writer, const void *context,
                 char message[FILES_MESSAGE]);
