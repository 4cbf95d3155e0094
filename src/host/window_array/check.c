/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the arguments of gp_window(), before a byte is written. Pure. */
#include "../copy_out.h"
#include "../footprint.h"
#include "array.h"

#define BIT(type) (1u << (type))
#define INPUTS \
    (BIT(GP_U8) | BIT(GP_S8) | BIT(GP_U16) | BIT(GP_S16) | BIT(GP_U32) | BIT(GP_S32) | BIT(GP_F16) | BIT(GP_F32))

/* The window's extents and shifts. */
static gp_status check_axes(const gp_array *in, const gp_window_shape *window) {
    unsigned axes = 0;
    int64_t area = 1;
    for (unsigned axis = 0; axis < GP_AXES; axis++) {
        const size_t extent = window->extent[axis];
        const ptrdiff_t shift = window->shift[axis];
        if (axis >= in->rank && (extent > 1 || shift != 0))
            return gp_fail(GP_ERR_ARGUMENT, "window: extent %zu, shift %td on axis %u, but in has rank %u", extent,
                           shift, axis, in->rank);
        axes += extent > 1;
        if (__builtin_mul_overflow(area, extent > 1 ? extent : 1, &area) || area >> 62 != 0)
            return gp_fail(GP_ERR_OVERFLOW, "window: its extents multiply past 2^62 at axis %u", axis);
        const ptrdiff_t half = (ptrdiff_t)(extent / 2), rest = (ptrdiff_t)(extent > 1 ? extent - 1 : 0) - half;
        if (shift > half || shift < -rest)
            return gp_fail(GP_ERR_ARGUMENT, "window: shift %td on axis %u, not %td to %td", shift, axis, -rest, half);
    }
    if (axes > 2)
        return gp_fail(GP_ERR_UNSUPPORTED, "window: it extends along %u axes, but gp_window() takes up to 2", axes);
    return GP_OK;
}

static gp_status check_operation(const gp_reduce_call *call, const gp_result *result, const gp_operation_facts *facts,
                                 const char *name) {
    const uint32_t op = result->op & GP_OPERATION_MASK;
    if (facts->kind >= GP_PASS_PAIR || (result->op & GP_WHERE))
        return gp_fail(GP_ERR_ARGUMENT, "%s.op: %s is for gp_reduce_pair()", name,
                       result->op & GP_WHERE ? "GP_WHERE" : facts->name);
    if (op > GP_REDUCE_MAX && op != GP_REDUCE_SUM_SQUARES && op < GP_REDUCE_MEAN)
        return gp_fail(GP_ERR_UNSUPPORTED, "%s.op: gp_window() has no %s", name, facts->name);
    if (result->op & GP_SKIP_NAN)
        return gp_fail(GP_ERR_UNSUPPORTED, "%s.op: gp_window() has no GP_SKIP_NAN", name);
    if (!(INPUTS >> call->in->type & 1))
        return gp_fail(GP_ERR_UNSUPPORTED, "in: gp_window() does not take %s",
                       gp_type_name((unsigned)call->in->type));
    return GP_OK;
}

static gp_status check_output(const gp_reduce_call *call, const gp_result *result, const gp_operation_facts *facts,
                              const char *name) {
    const unsigned type = (unsigned)call->in->type, to = (unsigned)result->to.type;
    const bool own = result->op == GP_REDUCE_MEAN && !gp_type_is_float(type);
    const unsigned have =
        facts->kind == GP_PASS_EXTREMES ? BIT(type) : BIT(GP_F32) | BIT(GP_F64) | (own ? BIT(type) : 0);
    if (have >> to & 1)
        return gp_check_same_extents(name, &result->to, call->in);
    const bool reduces = gp_result_types(facts, type) >> to & 1;
    return gp_fail(reduces ? GP_ERR_UNSUPPORTED : GP_ERR_ARGUMENT,
                   "%s: type %s cannot be that of %s of %s in gp_window()", name, gp_type_name(to), facts->name,
                   gp_type_name(type));
}

gp_status gp_window_check(const gp_reduce_call *call) {
    GP_TRY(gp_check_not_null("in", call->in));
    GP_TRY(gp_check_not_null("window", call->window));
    GP_TRY(gp_check_not_null("results", call->results));
    GP_TRY(gp_check_struct("window", call->window, sizeof *call->window));
    if ((unsigned)call->window->border > GP_BORDER_SHRINK)
        return gp_fail(GP_ERR_ARGUMENT, "window: border %d is no gp_border", (int)call->window->border);
    if (call->window->reserved != 0)
        return gp_fail(GP_ERR_ARGUMENT, "window: reserved is %u, not 0", call->window->reserved);
    GP_TRY(check_axes(call->in, call->window));
    return gp_results_check(call, check_operation, check_output);
}
