/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgpuprim: types of elements, views of arrays, and what can be reduced. Part of gpuprim/gpuprim.h, whose
 * conventions hold here.
 */
#ifndef GPUPRIM_ARRAY_H
#define GPUPRIM_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of elements. Floats are IEEE 754's; GP_BF16 is the upper half of a GP_F32. */
typedef enum gp_type {
    GP_BYTES = 0, /* of any size, gp_array.elem_bytes, and any meaning; gp_rearrange() only */
    GP_U8 = 1,
    GP_S8 = 2,
    GP_U16 = 3,
    GP_S16 = 4,
    GP_U32 = 5,
    GP_S32 = 6,
    GP_U64 = 7,
    GP_S64 = 8,
    GP_F16 = 9,
    GP_BF16 = 10,
    GP_F32 = 11,
    GP_F64 = 12
} gp_type;

/*
 * What is computed of n elements x, or n pairs x, y. gp_reduce_int() takes the first six, gp_reduce() all but the
 * last five, gp_reduce_pair() those five and, with GP_WHERE, the others.
 */
typedef enum gp_reduce_op {
    GP_REDUCE_SUM = 0,
    GP_REDUCE_MIN = 1,
    GP_REDUCE_MAX = 2,
    GP_REDUCE_AND = 3,
    GP_REDUCE_OR = 4,
    GP_REDUCE_XOR = 5,
    GP_REDUCE_ARGMIN = 6,           /* place of the minimum, the first of equals */
    GP_REDUCE_ARGMAX = 7,           /* place of the maximum, the first of equals */
    GP_REDUCE_COUNT = 8,            /* elements that are not zero */
    GP_REDUCE_SUM_ABS = 9,          /* sum of |x|, the L1 norm */
    GP_REDUCE_SUM_SQUARES = 10,     /* sum of x^2 */
    GP_REDUCE_MAX_ABS = 11,         /* maximum of |x|, the maximum norm */
    GP_REDUCE_NORM = 12,            /* square root of the sum of x^2, the L2 norm */
    GP_REDUCE_MEAN = 13,            /* sum / n */
    GP_REDUCE_VARIANCE = 14,        /* sum of (x - mean)^2 / n */
    GP_REDUCE_STDDEV = 15,          /* its square root */
    GP_REDUCE_VARIANCE_SAMPLE = 16, /* sum of (x - mean)^2 / (n - 1) */
    GP_REDUCE_STDDEV_SAMPLE = 17,   /* its square root */
    GP_REDUCE_DOT = 32,             /* sum of x y */
    GP_REDUCE_SUM_ABS_DIFF = 33,    /* sum of |x - y| */
    GP_REDUCE_SUM_SQUARE_DIFF = 34, /* sum of (x - y)^2 */
    GP_REDUCE_MAX_ABS_DIFF = 35,    /* maximum of |x - y| */
    GP_REDUCE_COUNT_DIFF = 36       /* pairs with x != y */
} gp_reduce_op;

/* Or'ed to an operation of gp_reduce() and gp_reduce_pair(). */
#define GP_SKIP_NAN 0x100u /* NaNs do not count, nor pairs with one; n is the number of the others */
#define GP_WHERE 0x200u    /* gp_reduce_pair(): the operation on those x whose y is not zero */

/* A view of elements, in memory of any kind. This struct never grows. See gp_dense() and the functions behind it. */
#define GP_AXES 8
typedef struct gp_array {
    void *data;                /* the element with index 0 on every axis; an input's elements are only read */
    int32_t type;              /* a gp_type */
    uint32_t rank;             /* axes in use, the slowest first; 0: one element */
    size_t elem_bytes;         /* bytes of an element of GP_BYTES; else 0 */
    size_t extent[GP_AXES];    /* elements along each axis */
    ptrdiff_t stride[GP_AXES]; /* elements from one to the next along it; negative: backwards; 0: the same one again,
                                  in inputs only */
} gp_array;

/* What is wanted of a reduction, and where it is written to. This struct never grows. See gp_want(). */
typedef struct gp_result {
    uint32_t op;       /* a gp_reduce_op, and GP_SKIP_NAN, GP_WHERE */
    uint32_t reserved; /* 0 */
    gp_array to;
} gp_result;

/* ---- views ---- */
/* These fill a gp_array or a gp_result and check nothing. Of GP_BYTES, elem_bytes is to be set afterwards. */

/* Elements of all axes one behind the other, the last axis fastest. rank at most GP_AXES. */
static inline gp_array gp_dense(gp_type type, const void *data, uint32_t rank, const size_t *extent) {
    gp_array a;
    ptrdiff_t stride = 1;
    uint32_t axis;
    a.data = (void *)(uintptr_t)data;
    a.type = (int32_t)type;
    a.rank = rank;
    a.elem_bytes = 0;
    for (axis = 0; axis < GP_AXES; axis++) {
        a.extent[axis] = 0;
        a.stride[axis] = 0;
    }
    for (axis = rank; axis-- > 0;) {
        a.extent[axis] = extent[axis];
        a.stride[axis] = stride;
        stride = (ptrdiff_t)((size_t)stride * extent[axis]);
    }
    return a;
}

/* One element. */
static inline gp_array gp_scalar(gp_type type, const void *data) {
    return gp_dense(type, data, 0, NULL);
}

/* n elements, one behind the other. */
static inline gp_array gp_vector(gp_type type, const void *data, size_t n) {
    return gp_dense(type, data, 1, &n);
}

/* rows x cols elements, `pitch` elements from row to row. */
static inline gp_array gp_matrix(gp_type type, const void *data, size_t rows, size_t cols, size_t pitch) {
    gp_array a = gp_vector(type, data, rows);
    a.rank = 2;
    a.extent[1] = cols;
    a.stride[0] = (ptrdiff_t)pitch;
    a.stride[1] = 1;
    return a;
}

/* rows x cols pixels of `channels` elements, `pitch` elements from row to row. */
static inline gp_array gp_image(gp_type type, const void *data, size_t rows, size_t cols, size_t channels,
                                size_t pitch) {
    gp_array a = gp_matrix(type, data, rows, cols, pitch);
    a.rank = 3;
    a.extent[2] = channels;
    a.stride[1] = (ptrdiff_t)channels;
    a.stride[2] = 1;
    return a;
}

/* The same elements with axes in another order: axis i of the view is axis axes[i] of a. Nothing is moved. */
static inline gp_array gp_permuted(gp_array a, const unsigned *axes) {
    gp_array view = a;
    uint32_t i;
    for (i = 0; i < a.rank; i++) {
        view.extent[i] = a.extent[axes[i]];
        view.stride[i] = a.stride[axes[i]];
    }
    return view;
}

/* op: a gp_reduce_op, and GP_SKIP_NAN, GP_WHERE. */
static inline gp_result gp_want(uint32_t op, gp_array to) {
    gp_result result;
    result.op = op;
    result.reserved = 0;
    result.to = to;
    return result;
}

#ifdef __cplusplus
}
#endif

#endif
