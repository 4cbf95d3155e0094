/* SPDX-License-Identifier: Apache-2.0 */
/* What a reduction of an array is asked to be, in words: `gpuprim reduce' and `gpuprim explain reduce'. */
#pragma once

#include "tool.h"

enum { REDUCTION_OPS = 18 };

typedef struct axis_list {
    long axis[GP_AXES]; /* negative: counted from the last axis on */
    unsigned count;
    bool all;
} axis_list;

typedef struct reduction {
    gp_reduce_op op[REDUCTION_OPS];
    size_t count;
    axis_list axes;
    gp_type type; /* of the results that can have it; 0: each its own */
    bool skip_nan;
} reduction;

const char *reduction_op_word(gp_reduce_op op);
const char *type_word(gp_type type);

/* A wrong word is a usage error. */
void parse_ops(struct argp_state *state, const char *text, reduction *r);      /* "mean,std" */
void parse_axes(struct argp_state *state, const char *text, axis_list *axes);  /* "0,-1" or "all" */
void parse_order(struct argp_state *state, const char *text, axis_list *axes); /* "2,0,-2" */
gp_type parse_type(struct argp_state *state, const char *what, const char *text);

/* The axes of an array of this rank, a bit each; fails the program and names the array if one is not there. */
unsigned axes_mask(const char *name, const axis_list *axes, unsigned rank);

/* The axes in an order that names each once; fails the program, and names the array, if it does not. */
void axes_order(const char *name, const axis_list *axes, unsigned rank, unsigned order[GP_AXES]);

/*
 * The results of reducing `in` along these axes, of dense views without data; returns the elements of each. Fails the
 * program if the elements' type has no such operation, none can be of the type asked for, or they are past counting.
 */
size_t reduction_results(const char *name, const reduction *r, const gp_array *in, unsigned axes, gp_result want[]);
