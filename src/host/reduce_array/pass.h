/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass: one reading of the input of gp_reduce() or gp_reduce_pair(), checked and in canonical form, with the
 * results it serves. A call has one pass or several. Plain C; goes to GPU kernels by value.
 *
 * Canonical: axes of extent 1 are dropped; strides of the input are not negative; kept axes and reduced axes stand
 * apart, each group ordered by falling stride of the input but with strides of 0 first, neighbours fused where input,
 * places and results allow. Reduced axes of no elements become one of extent 0.
 */
#pragma once

#include "gpuprim/gpuprim.h"
#include <stdbool.h>

/* Before functions that the GPU has of the same source; OPEN: a header declares them, and several kernels have them.
 */
#ifdef __CUDACC__
#define GP_BOTH __device__
#define GP_BOTH_OPEN __device__ inline
#else
#define GP_BOTH
#define GP_BOTH_OPEN
#endif

#define GP_PASS_RESULTS 8

typedef enum gp_pass_kind {
    GP_PASS_BITS = 0,        /* and, or, xor */
    GP_PASS_EXTREMES = 1,    /* min, max, their places, max_abs */
    GP_PASS_MOMENTS = 2,     /* count, sum, sum_abs, sum_squares, norm, mean, variance, stddev */
    GP_PASS_PAIR = 3,        /* dot, sum_abs_diff, sum_square_diff, count_diff */
    GP_PASS_PAIR_EXTREME = 4 /* max_abs_diff */
} gp_pass_kind;

/* Which accumulators the results of a pass need. */
enum {
    GP_WANT_AND = 1 << 0,
    GP_WANT_OR = 1 << 1,
    GP_WANT_XOR = 1 << 2,
    GP_WANT_MIN = 1 << 3, /* of an argmin too, which needs no other */
    GP_WANT_MAX = 1 << 4,
    GP_WANT_ARGMIN = 1 << 5,
    GP_WANT_ARGMAX = 1 << 6,
    GP_WANT_PLACES = GP_WANT_ARGMIN | GP_WANT_ARGMAX,
    GP_WANT_MAX_ABS = 1 << 7,
    GP_WANT_COUNT = 1 << 8, /* elements that are not zero, or pairs that differ */
    GP_WANT_SUM = 1 << 9,
    GP_WANT_ABS = 1 << 10,     /* of elements or of differences */
    GP_WANT_SQUARES = 1 << 11, /* of elements or of differences */
    GP_WANT_DOT = 1 << 12
};

/* Strides in bytes. place: what a step along a reduced axis adds to the place of an element, negative where the axis
 * was turned; 0 of kept axes. */
typedef struct gp_pass_axis {
    uint64_t n;
    int64_t in, with, place;
} gp_pass_axis;

/* One pointer to write through, and strides in bytes along the pass's kept axes. */
typedef struct gp_pass_result {
    uint8_t op, type; /* a gp_reduce_op without flags, a gp_type */
    int64_t stride[GP_AXES];
} gp_pass_result;

typedef struct gp_pass {
    /* The shape, up to and without `in`: all that planning may look at, with the first kept + reduced axes and the
       first `results` results. All bytes that are not named are 0. */
    uint8_t type, with_type; /* gp_type of the elements; with_type 0: there is no `with` */
    uint8_t kind;            /* gp_pass_kind */
    bool skip_nan;           /* NaNs do not count; floats only */
    bool where;              /* elements count where `with` is not zero */
    uint8_t kept, reduced;   /* axis[0 .. kept-1] are kept, those up to kept + reduced - 1 reduced; slowest first */
    uint8_t results;
    uint16_t wants;      /* GP_WANT_* */
    uint8_t number, of;  /* this is pass `number` of `of` of the call, from 1 on */
    uint64_t outputs;    /* product of the kept extents */
    uint64_t length;     /* product of the reduced extents: elements to an output */
    int64_t place_first; /* place of the element at `in` */
    gp_pass_axis axis[GP_AXES];
    gp_pass_result result[GP_PASS_RESULTS];

    /* The data. */
    const unsigned char *in, *with; /* with NULL: gp_reduce() */
    void *to[GP_PASS_RESULTS];      /* of each result: its element with index 0 on all kept axes of the pass */
} gp_pass;

/* What kernels distinguish. Contiguous: the stride is the element's size, of `with` too where there is one. */
typedef enum gp_pass_layout {
    GP_LAYOUT_ALL = 0,     /* one output of contiguous elements; or of one element, or none */
    GP_LAYOUT_ROWS = 1,    /* the last reduced axis is contiguous */
    GP_LAYOUT_COLUMNS = 2, /* the last kept axis is contiguous */
    GP_LAYOUT_OTHER = 3
} gp_pass_layout;

GP_BOTH static inline uint32_t gp_type_bytes(unsigned type) {
    static const uint8_t bytes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return bytes[type];
}

GP_BOTH static inline bool gp_type_is_float(unsigned type) {
    return type >= GP_F16;
}

GP_BOTH static inline bool gp_type_is_signed(unsigned type) {
    return type >= GP_F16 || type % 2 == 0;
}

GP_BOTH static inline bool gp_pass_is_contiguous(const gp_pass *pass, const gp_pass_axis *axis) {
    return axis->in == (int64_t)gp_type_bytes(pass->type) &&
           (pass->with_type == 0 || axis->with == (int64_t)gp_type_bytes(pass->with_type));
}

GP_BOTH static inline gp_pass_layout gp_pass_layout_of(const gp_pass *pass) {
    const gp_pass_axis *last_kept = pass->axis + pass->kept - 1, *last_reduced = last_kept + pass->reduced;
    if (pass->kept == 0 && (pass->reduced == 0 || (pass->reduced == 1 && gp_pass_is_contiguous(pass, last_reduced))))
        return GP_LAYOUT_ALL;
    if (pass->reduced > 0 && gp_pass_is_contiguous(pass, last_reduced))
        return GP_LAYOUT_ROWS;
    if (pass->kept > 0 && gp_pass_is_contiguous(pass, last_kept))
        return GP_LAYOUT_COLUMNS;
    return GP_LAYOUT_OTHER;
}

/* Where a result's element of output number `output` is; outputs are counted with the last kept axis fastest. */
GP_BOTH static inline unsigned char *gp_pass_address(const gp_pass *pass, unsigned r, uint64_t output) {
    unsigned char *to = (unsigned char *)pass->to[r];
    for (unsigned axis = pass->kept; axis-- > 1; output /= pass->axis[axis].n)
        to += (int64_t)(output % pass->axis[axis].n) * pass->result[r].stride[axis];
    return pass->kept > 0 ? to + (int64_t)output * pass->result[r].stride[0] : to;
}

/* The bytes from each output's place in a result to the next one's, if these are as many everywhere; else false. */
static inline bool gp_pass_step_of(const gp_pass *pass, unsigned r, int64_t *step) {
    const int64_t *stride = pass->result[r].stride;
    *step = pass->kept > 0 ? stride[pass->kept - 1] : 0;
    for (unsigned axis = pass->kept; axis-- > 1;)
        if (stride[axis - 1] != stride[axis] * (int64_t)pass->axis[axis].n)
            return false;
    return true;
}

/* From the first byte of the elements that a pass reads to the last. */
typedef struct gp_pass_span {
    const unsigned char *begin;
    size_t bytes;
} gp_pass_span;

/* Of `in`, or of `with`. */
gp_pass_span gp_pass_input_span(const gp_pass *pass, bool with);
