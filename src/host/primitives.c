/* SPDX-License-Identifier: Apache-2.0 */
/* The table of primitives. */
#include "primitive.h"

#define ADDRESS(name) &gp_primitive_##name,
static const gp_primitive *const primitives[] = {GP_PRIMITIVES(ADDRESS)};

#define COUNT (sizeof primitives / sizeof *primitives)

_Static_assert(COUNT <= GP_PRIMITIVES_MAX, "a context has no room for so many pins");

const gp_primitive *gp_primitive_at(size_t index) {
    return index < COUNT ? primitives[index] : NULL;
}
