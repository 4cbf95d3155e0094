/* SPDX-License-Identifier: Apache-2.0 */
/* Public structs that start with struct_size: checking what a caller passes, filling what he receives. */
#pragma once

#include "gpuprim/gpuprim.h"

/*
 * `argument` points to a struct whose first member is its struct_size. It must be at least `known`, the size in this
 * release (the first, so the smallest there is), and no more than GP_STRUCT_SIZE_MAX, beyond which it is taken for
 * garbage.
 */
#define GP_STRUCT_SIZE_MAX 65536
gp_status gp_check_struct(const char *name, const void *argument, size_t known);

/* As gp_check_struct, and the tail that this release does not know must be zero. */
gp_status gp_check_input_struct(const char *name, const void *argument, size_t known);

/* Fills a checked struct from `value`, keeping the caller's struct_size; zeroes the unknown tail. */
void gp_copy_out(void *to, const void *value, size_t known);
