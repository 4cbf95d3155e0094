/* SPDX-License-Identifier: Apache-2.0 */
/* Reading tables from NumPy's .npy files. */
#pragma once

#include <gpuprim/gpuprim.h>
#include <stdbool.h>

enum { NPY_MESSAGE = 512 };

/*
 * Reads an array of one or two axes of little-endian ints or floats, in C order. The view's data is to be freed.
 * False: the message names the file and what is wrong, or what of the format this reader leaves out.
 */
bool npy_table_read(const char *path, gp_array *table, char message[NPY_MESSAGE]);
