/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes views cover: see footprint.h. */
#include "footprint.h"
#include "reduce_array/pass.h"

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Rank, extents that multiply past what can be counted, NULL. */
static gp_status check_shape(const char *name, const gp_array *a, bool *empty) {
    if (a->rank > GP_AXES)
        return gp_fail(GP_ERR_ARGUMENT, "%s: rank %u, at most %d", name, a->rank, GP_AXES);
    *empty = false;
    for (unsigned axis = 0; axis < a->rank; axis++)
        *empty = *empty || a->extent[axis] == 0;
    uint64_t count = 1;
    for (unsigned axis = 0; axis < a->rank && !*empty; axis++)
        if (__builtin_mul_overflow(count, a->extent[axis], &count) || count > INT64_MAX)
            return gp_fail(GP_ERR_OVERFLOW, "%s: its extents multiply past 2^63 at axis %u", name, axis);
    return *empty ? GP_OK : gp_check_not_null(name, a->data);
}

typedef struct axis_bytes {
    uint64_t stride, steps;
} axis_bytes;

/* The strides that lead somewhere, in bytes, the smallest first; start and span by the way. */
static gp_status measure(const gp_array *a, int64_t elem, gp_footprint *f, axis_bytes sorted[GP_AXES],
                         unsigned *axes) {
    int64_t below = 0, above = elem;
    *axes = 0;
    for (unsigned axis = 0; axis < a->rank; axis++) {
        int64_t stride, reach;
        if (a->extent[axis] == 1 || a->stride[axis] == 0) {
            f->folded = f->folded || a->extent[axis] != 1;
            continue;
        }
        bool passes = __builtin_mul_overflow(a->stride[axis], elem, &stride);
        passes = passes || __builtin_mul_overflow(stride, (int64_t)a->extent[axis] - 1, &reach);
        int64_t *side = passes || reach > 0 ? &above : &below;
        if (passes || __builtin_add_overflow(*side, reach, side))
            return gp_fail(GP_ERR_OVERFLOW, "%s: stride %td of axis %u, %zu elements, passes the address space",
                           f->name, a->stride[axis], axis, a->extent[axis]);
        const axis_bytes new = {stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride, a->extent[axis] - 1};
        unsigned at = (*axes)++;
        for (; at > 0 && sorted[at - 1].stride > new.stride; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = new;
    }
    const uintptr_t data = (uintptr_t)a->data;
    f->span = (uint64_t)above - (uint64_t)below;
    f->start = data + (uintptr_t)below;
    if (f->start > data || f->span > PTRDIFF_MAX || f->start > UINTPTR_MAX - f->span)
        return gp_fail(GP_ERR_OVERFLOW, "%s: its strides pass the address space", f->name);
    return GP_OK;
}

/* Axes whose steps are not longer than the block so far, the smallest strides first, make one longer block of it.
 * What is left moves blocks by multiples of the common divisor of the other strides. */
static gp_status make(gp_footprint *f, const gp_array *a, size_t elem_bytes) {
    axis_bytes sorted[GP_AXES];
    unsigned axes;
    f->elem_bytes = elem_bytes;
    f->folded = false;
    GP_TRY(check_shape(f->name, a, &f->empty));
    if (f->empty)
        return GP_OK;
    if (elem_bytes > PTRDIFF_MAX)
        return gp_fail(GP_ERR_OVERFLOW, "%s: an element of %zu bytes passes the address space", f->name, elem_bytes);
    GP_TRY(measure(a, (int64_t)elem_bytes, f, sorted, &axes));
    uint64_t reach = f->block = elem_bytes;
    f->step = 0;
    for (unsigned i = 0; i < axes; i++) {
        f->folded = f->folded || sorted[i].stride < reach;
        reach += sorted[i].stride * sorted[i].steps;
        if (f->step == 0 && sorted[i].stride <= f->block)
            f->block += sorted[i].stride * sorted[i].steps;
        else
            f->step = common_divisor(sorted[i].stride, f->step);
    }
    return GP_OK;
}

gp_status gp_footprint_measure(const gp_array *a, bool moved, gp_footprint *f) {
    if (a->type == GP_BYTES && !moved)
        return gp_fail(GP_ERR_ARGUMENT, "%s: type GP_BYTES (0) is for gp_rearrange()", f->name);
    if (a->type < GP_BYTES || a->type > GP_F64)
        return gp_fail(GP_ERR_ARGUMENT, "%s: type %d is no gp_type", f->name, (int)a->type);
    if (a->type == GP_BYTES && a->elem_bytes == 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: elem_bytes is 0, but its type GP_BYTES", f->name);
    if (a->type != GP_BYTES && a->elem_bytes != 0)
        return gp_fail(GP_ERR_ARGUMENT, "%s: elem_bytes %zu, not 0%s", f->name, a->elem_bytes,
                       moved ? " (which is for GP_BYTES)" : "");
    GP_TRY(make(f, a, gp_type_bytes((unsigned)a->type) + a->elem_bytes)); /* one of them is 0 */
    return f->empty || moved ? GP_OK : gp_check_aligned(f->name, a->data, f->elem_bytes);
}

gp_status gp_footprint_of_rows(gp_footprint *f, const void *start, size_t count, size_t row, size_t pitch,
                               size_t elem_bytes) {
    size_t last, row_bytes, pitch_bytes;
    if (count == 1)
        pitch = row; /* nothing lies a pitch away */
    f->empty = f->folded = false;
    f->start = (uintptr_t)start;
    if (__builtin_mul_overflow(row, elem_bytes, &row_bytes) ||
        __builtin_mul_overflow(pitch, elem_bytes, &pitch_bytes) ||
        __builtin_mul_overflow(count - 1, pitch_bytes, &last) || __builtin_add_overflow(last, row_bytes, &f->span) ||
        f->span > PTRDIFF_MAX || f->start > UINTPTR_MAX - f->span) {
        if (count == 1)
            return gp_fail(GP_ERR_OVERFLOW, "%s: %zu elements of %zu bytes pass the address space", f->name, row,
                           elem_bytes);
        return gp_fail(GP_ERR_OVERFLOW, "%s: %zu rows of pitch %zu and %zu bytes an element pass the address space",
                       f->name, count, pitch, elem_bytes);
    }
    f->block = row_bytes;
    f->step = count == 1 ? 0 : pitch_bytes;
    return GP_OK;
}

gp_status gp_check_same_extents(const char *name, const gp_array *a, const gp_array *in) {
    if (a->rank != in->rank)
        return gp_fail(GP_ERR_ARGUMENT, "%s: rank %u, but in has %u", name, a->rank, in->rank);
    for (unsigned axis = 0; axis < in->rank; axis++)
        if (a->extent[axis] != in->extent[axis])
            return gp_fail(GP_ERR_ARGUMENT, "%s: extent %zu on axis %u, but in has %zu", name, a->extent[axis], axis,
                           in->extent[axis]);
    return GP_OK;
}

gp_status gp_footprint_check_apart(const gp_footprint *a, const gp_footprint *b) {
    if (a->empty || b->empty ||
        (a->start < b->start ? b->start - a->start >= a->span : a->start - b->start >= b->span))
        return GP_OK;
    const uint64_t step = common_divisor(a->step, b->step);
    if (step > 0) {
        const uint64_t apart =
            a->start < b->start ? (b->start - a->start) % step : (step - (a->start - b->start) % step) % step;
        if (apart >= a->block && step - apart >= b->block)
            return GP_OK;
    }
    return gp_fail(GP_ERR_OVERLAP, "%s and %s overlap", a->name, b->name);
}

gp_status gp_footprint_check_rows_apart(const gp_footprint *a, const gp_footprint *b) {
    if (a->step == b->step || a->step == 0 || b->step == 0)
        return gp_footprint_check_apart(a, b);
    gp_footprint of_a = *a, of_b = *b;
    of_a.step = of_b.step = 0;
    return gp_footprint_check_apart(&of_a, &of_b);
}

/* Axes of which a step of one is a whole walk along the one before become one. */
static unsigned fuse(axis_bytes axis[GP_AXES], unsigned axes) {
    unsigned last = 0;
    for (unsigned i = 1; i < axes; i++)
        if (axis[i].stride == axis[last].stride * (axis[last].steps + 1))
            axis[last].steps = (axis[last].steps + 1) * (axis[i].steps + 1) - 1;
        else
            axis[++last] = axis[i];
    return axes > 0 ? last + 1 : 0;
}

/*
 * Where no elements lie upon each other, each stride passes all that those below it reach. From the first element on,
 * the set of elements then tells the smallest stride, how often it is taken until there is a gap, and in the same way
 * each further one: equal sets have equal fused strides.
 */
bool gp_footprint_is_same(const gp_footprint *f, const gp_array *a, const gp_footprint *g, const gp_array *b) {
    axis_bytes of_a[GP_AXES], of_b[GP_AXES];
    gp_footprint ignored = *f;
    unsigned axes, others;
    if (f->empty || g->empty || f->folded || g->folded || f->start != g->start || f->span != g->span)
        return false;
    (void)measure(a, (int64_t)f->elem_bytes, &ignored, of_a, &axes);
    (void)measure(b, (int64_t)f->elem_bytes, &ignored, of_b, &others);
    axes = fuse(of_a, axes);
    bool same = axes == fuse(of_b, others);
    for (unsigned i = 0; i < axes && same; i++)
        same = of_a[i].stride == of_b[i].stride && of_a[i].steps == of_b[i].steps;
    return same;
}
