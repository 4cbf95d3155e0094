/* SPDX-License-Identifier: Apache-2.0 */
/* An array of a file as a view that the library takes. */
#include "array.h"
#include <string.h>

/* 0: not one of the library's types. */
static gp_type type_of(const array *a) {
    static const struct {
        char kind;
        unsigned char bytes, type;
    } known[] = {{'b', 1, GP_U8},  {'u', 1, GP_U8},  {'i', 1, GP_S8},  {'u', 2, GP_U16},
                 {'i', 2, GP_S16}, {'u', 4, GP_U32}, {'i', 4, GP_S32}, {'u', 8, GP_U64},
                 {'i', 8, GP_S64}, {'f', 2, GP_F16}, {'f', 4, GP_F32}, {'f', 8, GP_F64}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (a->type[1] == known[i].kind && a->elem_bytes == known[i].bytes)
            return (gp_type)known[i].type;
    return (gp_type)0;
}

static void swap_bytes(unsigned char *data, size_t count, size_t size) {
    for (size_t i = 0; i < count; i++, data += size)
        for (size_t k = 0; k < size / 2; k++) {
            const unsigned char byte = data[k];
            data[k] = data[size - 1 - k];
            data[size - 1 - k] = byte;
        }
}

/* The elements as they lie there, in either order. */
static gp_array view_of(const array *a, gp_type type) {
    if (!a->fortran)
        return gp_dense(type, a->data, a->n_dims, a->dims);
    size_t turned[ARRAY_DIMS];
    unsigned order[ARRAY_DIMS];
    for (unsigned i = 0; i < a->n_dims; i++) {
        order[i] = a->n_dims - 1 - i;
        turned[i] = a->dims[order[i]];
    }
    return gp_permuted(gp_dense(type, a->data, a->n_dims, turned), order);
}

gp_array array_bytes(const array *a) {
    gp_array view = view_of(a, GP_BYTES);
    view.elem_bytes = a->elem_bytes;
    return view;
}

gp_array array_view(const char *path, array *a) {
    static const unsigned one = 1;
    const char machine = *(const unsigned char *)&one == 1 ? '<' : '>';
    const gp_type type = type_of(a);
    if (type == (gp_type)0)
        fail("%s: elements of type '%s' cannot be reduced; integers, bools and floats of 16 to 64 bits can", path,
             a->type);
    if ((a->type[0] == '<' || a->type[0] == '>') && a->type[0] != machine) {
        swap_bytes(a->data, array_count(a), a->elem_bytes);
        a->type[0] = machine;
    }
    return view_of(a, type);
}
