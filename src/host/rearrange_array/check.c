/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the arguments of gp_rearrange(), before a byte is written. Pure. */
#include "../footprint.h"
#include "../reduce_array/pass.h"
#include "array.h"

gp_status gp_move_check(const gp_array *in, const gp_array *out, bool *in_place) {
    gp_footprint of_in = {.name = "in"}, of_out = {.name = "out"};
    GP_TRY(gp_check_not_null("in", in));
    GP_TRY(gp_check_not_null("out", out));
    GP_TRY(gp_footprint_measure(in, true, &of_in));
    GP_TRY(gp_footprint_measure(out, true, &of_out));
    if (of_out.elem_bytes != of_in.elem_bytes)
        return gp_fail(GP_ERR_ARGUMENT, "out: elements of %zu bytes, but in has %zu", of_out.elem_bytes,
                       of_in.elem_bytes);
    GP_TRY(gp_check_same_extents("out", out, in));
    if (of_out.folded && !of_out.empty)
        return gp_fail(GP_ERR_OVERLAP, "out: its strides fold it onto itself");
    *in_place = gp_footprint_is_same(&of_in, in, &of_out, out);
    return *in_place ? GP_OK : gp_footprint_check_apart(&of_in, &of_out);
}
