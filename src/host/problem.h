/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked: one call's arguments, checked. The only place where sizes that a user gave are multiplied; whatever
 * holds a gp_problem may compute with its sizes in 64 bits without asking again. Pure. */
#pragma once

#include "gpuprim/explain.h"
#include <stdbool.h>
#include <string.h>

#define GP_ALIGN_MAX 128u /* bytes of a memory line: alignment beyond is not told apart */

typedef enum gp_space { GP_SPACE_PROCESSOR = 0, GP_SPACE_GPU = 1 } gp_space;

typedef struct gp_problem {
    /* The shape, up to and without `in`: all that planning may look at. Two equal shapes have equal plans. */
    const struct gp_primitive *primitive;
    gp_space space; /* where it is to be computed; set by run.c */
    gp_reduce_op reduce;
    gp_border border;
    bool want_sum, want_square;
    bool in_place;      /* transpose: in == out */
    unsigned in_align;  /* largest power of two up to GP_ALIGN_MAX that divides address and, with rows > 1, pitch in
                           bytes */
    unsigned out_align; /* of the outputs' addresses and pitches; GP_ALIGN_MAX where there is none */
    size_t n;           /* reduce: elements */
    size_t rows, cols;  /* window, transpose */
    size_t in_pitch;    /* elements; of a single row, for which a user may give any number, its length */
    size_t out_pitch;   /* elements; of a single row its length */
    size_t elem_bytes;  /* of an input element */
    size_t window;
    size_t window_before; /* window / 2: columns of the window left of x */
    size_t col_first;     /* window: columns col_first .. col_end - 1 are computed; all but with GP_BORDER_NONE */
    size_t col_end;
    uint64_t bytes_read; /* each element once */
    uint64_t bytes_written;

    /* The data. */
    const void *in;
    void *out;       /* transpose */
    float *sum;      /* window; may be NULL */
    float *square;   /* window; may be NULL */
    int64_t *result; /* reduce */
    union {          /* of views: the whole of it, whose shape counts too; else NULL */
        const void *whole;
        const struct gp_pass *pass;      /* reduce_array */
        const struct gp_move *move;      /* rearrange_array */
        const struct gp_window_box *box; /* window_array */
    };
} gp_problem;

/* Each checks every argument, fills the problem (space left at the processor), or fails and names the argument. */
gp_status gp_problem_reduce(gp_problem *problem, gp_reduce_op op, const int32_t *in, size_t n, int64_t *out);
gp_status gp_problem_window(gp_problem *problem, const int32_t *image, size_t rows, size_t cols, size_t image_pitch,
                            size_t window, gp_border border, float *sum, float *square, size_t out_pitch);
gp_status gp_problem_transpose(gp_problem *problem, size_t elem_bytes, const void *in, size_t rows, size_t cols,
                               size_t in_pitch, void *out, size_t out_pitch);

/* A transpose whose arguments are known to be good: arrays of different pitches may interleave. */
void gp_problem_make_transpose(gp_problem *problem, size_t elem_bytes, const void *in, size_t rows, size_t cols,
                               size_t in_pitch, void *out, size_t out_pitch, bool in_place);

/* All zeros but for the primitive. In pieces that compilers clear by vector stores: for all at once gcc has a string
 * instruction, 10 ns of a call. */
static inline void gp_problem_clear(gp_problem *problem, const struct gp_primitive *primitive) {
    char *bytes = (char *)problem;
    memset(bytes, 0, 64);
    memset(bytes + 64, 0, 64);
    memset(bytes + 128, 0, sizeof *problem - 128);
    problem->primitive = primitive;
}

/* Largest power of two up to GP_ALIGN_MAX that divides all bits seen. */
static inline unsigned gp_alignment(uintptr_t bits) {
    bits |= GP_ALIGN_MAX;
    return (unsigned)(bits & (~bits + 1));
}

static inline uintptr_t gp_pitch_bits(size_t rows, size_t pitch, size_t elem_bytes) {
    return rows > 1 ? (uintptr_t)(pitch * elem_bytes) : 0;
}
