/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the primitives, of those that the build names, and what is looked up in it and in the catalogue. */
#include "bench.h"

#include <string.h>

#define ENTRY(name) extern const primitive primitive_##name;
BENCH_PRIMITIVES
#undef ENTRY
#define ENTRY(name) &primitive_##name,
const primitive *const primitives[] = {BENCH_PRIMITIVES NULL};

const primitive *primitive_of(int32_t operation) {
    for (size_t i = 0; primitives[i] != NULL; i++)
        if ((int32_t)primitives[i]->operation == operation)
            return primitives[i];
    return NULL;
}

const char *operation_name(int32_t operation) {
    const primitive *of = primitive_of(operation);
    return of != NULL ? of->name : "?";
}

gp_kernel_info kernel_at(size_t index) {
    gp_kernel_info k = {.struct_size = sizeof k};
    must(gp_kernel_at(index, &k));
    return k;
}

bool kernel_find(const char *name, gp_kernel_info *kernel) {
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        *kernel = kernel_at(i);
        if (strcmp(kernel->name, name) == 0)
            return true;
    }
    return false;
}
