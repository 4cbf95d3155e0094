/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim explain: what was asked, and the printing of the answer. */
#pragma once

#include "../src/host/context.h"
#include "reduction.h"
#include "table.h"

struct primitive;

enum { WORDS_MAX = 4 };

typedef struct request {
    format how;
    const char *device, *kernel;
    const char *op_text; /* NULL: the default */
    bool has_border;     /* given, not the default */
    bool list;
    size_t smem, regs;          /* limits; 0: none */
    bool is_array;              /* a reduction of an array of any shape: gp_reduce(), not gp_reduce_int() */
    unsigned rank, window_rank; /* 0: no --window */
    size_t extent[GP_AXES], window[GP_AXES];
    gp_type type;
    reduction what;
    bool is_move; /* a rearrangement of an array of that shape, with its axes in this order */
    axis_list order;
    gp_reduce_op op;
    gp_border border;
    const char *word[WORDS_MAX];
    int words;
    const struct primitive *of; /* NULL: a block's occupancy */
    size_t n, rows, cols;       /* n: elements, or threads of the block */
    size_t second, third;       /* window, element bytes, registers; shared memory */
} request;

void explain_devices(format how);
void explain_block(const request *r, const gp_context *context, const char *source);
void explain_move(const request *r, const gp_context *context, const char *source);
void explain_array(const request *r, const gp_context *context, const char *source);

/* One problem, or the passes of a reduction of an array. */
void explain_problems(const request *r, const gp_context *context, size_t count, gp_problem problems[],
                      const char *source);
