/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the arguments of gp_rearrange(), before a byte is written. Pure. */
#include "../footprint.h"
#include "../reduce_array/pass.h"
#include "array.h"

static gp_status measure_view(const gp_array *a, size_t *bytes, gp_footprint *f) {
    if (a->type < GP_BYTES || a->type > GP_F64)
        return gp_fail(GP_ERR_ARGUMENT, "%s: type %d is no gp_type", f->name, (int)a->type);
    if (a->type == GP_BYTES && a->elem_bytes == 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: elem_bytes is 0, but its type GP_BYTES", f->name);
    if (a->type != GP_BYTES && a->elem_bytes != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: elem_bytes %zu, not 0 (which is for GP_BYTES)", f->name, a->elem_bytes);
    *bytes = a->type == GP_BYTES ? a->elem_bytes : gp_type_bytes((unsigned)a->type);
    return gp_footprint_make(f, a, *bytes);
}

gp_status gp_move_check(const gp_array *in, const gp_array *out, bool *in_place) {
    gp_footprint of_in = {.name = "in"}, of_out = {.name = "out"};
    size_t in_bytes = 0, out_bytes = 0;
    GP_TRY(gp_check_not_null("in", in));
    GP_TRY(gp_check_not_null("out", out));
    GP_TRY(measure_view(in, &in_bytes, &of_in));
    GP_TRY(measure_view(out, &out_bytes, &of_out));
    if (out_bytes != in_bytes)
        return gp_fail(GP_ERR_ARGUMENT, "out: elements of %zu bytes, but in has %zu", out_bytes, in_bytes);
    GP_TRY(gp_check_same_extents("out", out, in));
    if (of_out.folded && !of_out.empty)
        return gp_fail(GP_ERR_OVERLAP, "out: its strides fold it onto itself");
    *in_place = gp_footprint_is_same(&of_in, in, &of_out, out, in_bytes);
    return *in_place ? GP_OK : gp_footprint_check_apart(&of_in, &of_out);
}
