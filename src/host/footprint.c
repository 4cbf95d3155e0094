/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes views cover: see footprint.h. */
#include "footprint.h"
#include "axes.h"

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

/* An array's axes whose strides lead somewhere. */
typedef struct axes_of {
    gp_axis axis[GP_AXES];
    gp_axes sorted;
} axes_of;

/* Start and span by the way. */
static gp_status measure(const gp_array *a, gp_footprint *f, axes_of *axes) {
    const int64_t elem = (int64_t)f->elem_bytes;
    int64_t below = 0, above = elem;
    axes->sorted.count = 0;
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
        gp_axis *new = &axes->axis[axis];
        new->n = a->extent[axis];
        new->alone = false;
        new->stride[0] = stride < 0 ? gp_stride_times(stride, (uint64_t)-1) : stride;
        gp_axes_insert(&axes->sorted, new);
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
    axes_of axes;
    f->elem_bytes = elem_bytes;
    f->folded = false;
    GP_TRY(check_shape(f->name, a, &f->empty));
    if (f->empty)
        return GP_OK;
    if (elem_bytes > PTRDIFF_MAX)
        return gp_fail(GP_ERR_OVERFLOW, "%s: an element of %zu bytes passes the address space", f->name, elem_bytes);
    GP_TRY(measure(a, f, &axes));
    uint64_t reach = f->block = elem_bytes;
    f->step = 0;
    for (unsigned i = axes.sorted.count; i-- > 0;) {
        const uint64_t stride = (uint64_t)axes.sorted.at[i]->stride[0], walk = stride * (axes.sorted.at[i]->n - 1);
        f->folded = f->folded || stride < reach;
        reach += walk;
        if (f->step == 0 && stride <= f->block)
            f->block += walk;
        else
            f->step = common_divisor(stride, f->step);
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

/*
 * Where no elements lie upon each other, each stride passes all that those below it reach. From the first element on,
 * the set of elements then tells the smallest stride, how often it is taken until there is a gap, and in the same way
 * each further one: equal sets have equal fused strides.
 */
bool gp_footprint_is_same(const gp_footprint *f, const gp_array *a, const gp_footprint *g, const gp_array *b) {
    axes_of of_a, of_b;
    gp_footprint ignored = *f;
    if (f->empty || g->empty || f->folded || g->folded || f->start != g->start || f->span != g->span)
        return false;
    (void)measure(a, &ignored, &of_a);
    (void)measure(b, &ignored, &of_b);
    gp_axes_fuse(&of_a.sorted, 1);
    gp_axes_fuse(&of_b.sorted, 1);
    bool same = of_a.sorted.count == of_b.sorted.count;
    for (unsigned i = 0; i < of_a.sorted.count && same; i++)
        same = of_a.sorted.at[i]->n == of_b.sorted.at[i]->n &&
               of_a.sorted.at[i]->stride[0] == of_b.sorted.at[i]->stride[0];
    return same;
}
