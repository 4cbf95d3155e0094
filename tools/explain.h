/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim explain: what was asked, and the printing of the answer. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "../src/host/context.h"
#include "table.h"

struct primitive;

enum { WORDS_MAX = 4 };

typedef struct request {
    format how;
    const char *device, *kernel;
    bool has_op, has_border; /* given, not the default */
    bool list;
    size_t smem, regs; /* limits; 0: none */
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
void explain_problem(const request *r, const gp_context *context, gp_problem *problem, const char *source);

#endif
