/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes multiplied with overflow caught, and whether two pitched arrays share a byte. */
#include "extent.h"
#include <stdbool.h>

gp_status gp_extent_make(gp_extent *e, const char *name, const void *start, size_t count, size_t row, size_t pitch,
                         size_t elem_bytes) {
    *e = (gp_extent){.name = name, .start = (uintptr_t)start, .count = count};
    if (count == 1)
        pitch = row; /* nothing lies a pitch away */
    size_t last;
    if (__builtin_mul_overflow(row, elem_bytes, &e->row) || __builtin_mul_overflow(pitch, elem_bytes, &e->pitch) ||
        __builtin_mul_overflow(count - 1, e->pitch, &last) || __builtin_add_overflow(last, e->row, &e->span) ||
        e->span > PTRDIFF_MAX || e->start > UINTPTR_MAX - e->span) {
        if (count == 1)
            return gp_fail(GP_ERR_OVERFLOW, "%s: %zu elements of %zu bytes pass the address space", name, row,
                           elem_bytes);
        return gp_fail(GP_ERR_OVERFLOW, "%s: %zu rows of pitch %zu and %zu bytes an element pass the address space",
                       name, count, pitch, elem_bytes);
    }
    return GP_OK;
}

/*
 * Exact for equal pitches, where one array's rows may lie in the other's padding, and for a single row in the padding
 * of an array below it; else the two spans must be apart.
 * With start difference d = later - earlier < span of the earlier: rows are disjoint if d mod pitch leaves room for
 * the earlier's row before it and for the later's row after it.
 */
static bool overlap(const gp_extent *a, const gp_extent *b) {
    const gp_extent *low = a->start <= b->start ? a : b;
    const gp_extent *high = low == a ? b : a;
    size_t distance = high->start - low->start;
    if (distance >= low->span)
        return false;
    if (low->count == 1 || (high->count > 1 && low->pitch != high->pitch))
        return true;
    const size_t offset = distance % low->pitch;
    return offset < low->row || offset + high->row > low->pitch;
}

gp_status gp_check_apart(const gp_extent *a, const gp_extent *b) {
    if (overlap(a, b))
        return gp_fail(GP_ERR_OVERLAP, "%s and %s overlap", a->name, b->name);
    return GP_OK;
}
