/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A primitive as data: all that the planner, explain, staging and the catalogue ask of reductions, windows and
 * rearrangements. Each is a folder beside this file, which holds its call, its rows and the kernels of the processor,
 * and one word in GP_PRIMITIVES.
 */
#pragma once

#include "kernel.h"
#include "rearrange_array/move.h"
#include "reduce_array/pass.h"
#include "split.h"
#include "window_array/box.h"

#define GP_PRIMITIVES(ENTRY) \
    ENTRY(reduce) ENTRY(window) ENTRY(rearrange) ENTRY(reduce_array) ENTRY(rearrange_array) ENTRY(window_array)
#define GP_PRIMITIVES_MAX 8

/* Where memory lives, as its pointer tells. */
typedef enum gp_place {
    GP_PLACE_PAGEABLE = 0,
    GP_PLACE_PINNED = 1,
    GP_PLACE_MANAGED = 2,
    GP_PLACE_DEVICE = 3
} gp_place;

/* An array of a call, or its scalar result, which the processor can write when the GPU is done. data NULL: none. */
typedef struct gp_operand {
    const char *name; /* of the public call's parameter */
    const void *data;
    bool scalar;
    gp_place place; /* once it has been looked for */
} gp_operand;

#define GP_OPERANDS (2 + GP_PASS_RESULTS) /* inputs, then outputs */
#define GP_OPERANDS_SPLIT 3               /* at most of those that are cut into pieces: the input, then outputs */

/* An array of a problem of views, by pointers to the problem's own address and strides, so that staging can put
 * others there. */
typedef struct gp_view {
    void *address; /* of a pointer to the element with index 0 on all axes */
    size_t bytes;  /* of an element */
    bool output;
    unsigned rank;
    uint64_t n[GP_AXES];
    int64_t *stride[GP_AXES];
} gp_view;

static inline void gp_view_add_axis(gp_view *view, uint64_t n, int64_t *stride) {
    view->n[view->rank] = n;
    view->stride[view->rank++] = stride;
}

#define GP_OPS_CHARS (GP_PASS_RESULTS * 40) /* of a description: "VARIANCE_SAMPLE as f64, " and its like */

__extension__ typedef __int128 gp_total; /* sums past 2^32 elements */

typedef struct gp_primitive {
    const char *name;
    gp_operation operation; /* its number in the public header */
    const gp_kernel *row;   /* best first, reference row last */
    const size_t *row_count;
    const gp_kernel *study_row; /* or NULL */
    const size_t *study_row_count;
    void (*derive)(gp_problem *problem); /* alignment and bytes from pointers and sizes */
    bool (*is_empty)(const gp_problem *problem);
    int (*describe)(const gp_problem *problem, char *text, size_t size); /* one line in words, as snprintf */
    void (*name_operands)(const gp_problem *problem, gp_operand operand[GP_OPERANDS]);
    size_t whole_bytes; /* of views: of what a problem points to by `whole` */
    bool (*same_shape)(const gp_problem *a, const gp_problem *b); /* of views: what they point to has one plan */
    void (*show_views)(void *whole, gp_view view[GP_OPERANDS]);   /* of views: in the order of the operands */
    bool (*may_overflow)(const gp_problem *problem); /* an integer result may pass 64 bits; NULL: never */
    void (*split)(gp_split *split, size_t target);   /* sizes of pieces: see gp_split_make(); NULL: never cut */
    void (*part)(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part *part);
    gp_total (*combine)(const gp_problem *problem, gp_total a, gp_total b); /* of scalar results of pieces; or NULL */
} gp_primitive;

/* What each entry opens with: its rows are gp_<table>_rows[], and its file has functions of these names. */
#define GP_PRIMITIVE_ENTRY(table, number)                                                                \
    .name = #table, .operation = number, .row = gp_##table##_rows, .row_count = &gp_##table##_row_count, \
    .derive = derive, .is_empty = is_empty, .describe = describe, .name_operands = name_operands

/* What entries of primitives of views have besides. */
#define GP_PRIMITIVE_OF_VIEWS(whole) .whole_bytes = sizeof(whole), .same_shape = same_shape, .show_views = show_views

#define GP_PRIMITIVE_DECLARED(name) extern const gp_primitive gp_primitive_##name;
GP_PRIMITIVES(GP_PRIMITIVE_DECLARED)

static inline gp_rows gp_primitive_rows(const gp_primitive *primitive) {
    return (gp_rows){primitive->row, *primitive->row_count, primitive->study_row,
                     primitive->study_row != NULL ? *primitive->study_row_count : 0};
}

/* What a problem of views points to. */
typedef union gp_whole {
    gp_pass pass;
    gp_move move;
    gp_window_box box;
} gp_whole;

bool gp_problem_same_shape(const gp_problem *a, const gp_problem *b);

const gp_primitive *gp_primitive_at(size_t index); /* NULL: there are no more */
size_t gp_primitive_index(const gp_primitive *primitive);

/* `target`: bytes of one array in a piece; exceeded if one row of an image, or one element, is longer, and by tiles
 * of large pinned matrices of small elements. */
void gp_split_make(gp_split *split, const gp_problem *problem, gp_staged staged, size_t target);

/* The launches of a piece, 1 or 2, with slot_bytes of staging memory at `slot`, 256-byte aligned. */
unsigned gp_split_parts(const gp_split *split, const gp_piece *piece, unsigned char *slot, gp_part part[2]);

/* The catalogue: the rows of all primitives, numbered through. *of: whose row it is; of may be NULL. */
const gp_kernel *gp_catalogue_at(size_t index, const gp_primitive **of);
const gp_kernel *gp_catalogue_find(const char *name, const gp_primitive **of); /* NULL: unknown */
