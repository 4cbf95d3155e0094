/* SPDX-License-Identifier: Apache-2.0 */
/* The planner: a pure function from problem, device and rows to a plan, with a verdict on every row. */
#pragma once

#include "kernel.h"

#define GP_GRID_MAX 0x7fffffffu /* blocks in a one-dimensional grid, compute capability 3.0 on */

typedef enum gp_verdict_code {
    GP_VERDICT_FITS,
    GP_VERDICT_EMPTY, /* there is nothing to compute: no row is asked */
    GP_VERDICT_NOT_PINNED,
    GP_VERDICT_STUDY,          /* chosen only when pinned */
    GP_VERDICT_OTHER_SPACE,    /* runs where this call's data is not */
    GP_VERDICT_SHAPE,          /* fit() has no tiling */
    GP_VERDICT_PINNED_THREADS, /* none with as many threads as are pinned */
    GP_VERDICT_THREADS,        /* even the last tiling has more threads a block than the device allows */
    GP_VERDICT_REGISTERS,      /* or needs more registers */
    GP_VERDICT_SHARED_MEMORY,  /* or more shared memory */
    GP_VERDICT_GRID            /* more blocks than a grid holds */
} gp_verdict_code;

/* The verdict on a row; a plan is that on the row that is chosen. */
struct gp_plan {
    const gp_kernel *row; /* of a plan NULL: none fits */
    gp_verdict_code code;
    gp_tiling tiling; /* that fits, or the last tried */
    uint64_t regs;    /* registers a block needs */
    unsigned blocks_per_sm;
    gp_limit limited_by;
};
typedef gp_plan gp_verdict;

typedef struct gp_pin {
    const gp_kernel *row; /* NULL: free choice */
    unsigned threads;     /* 0: the planner's */
} gp_pin;

/* The first row in order that fits wins. verdicts, if not NULL, has room for all rows and receives one each; else
 * the search stops at the winner. False: none fits, or the problem is empty. What fit() is given is never empty. */
bool gp_plan_make(const gp_problem *problem, const gp_device *device, gp_rows rows, gp_pin pin, gp_plan *plan,
                  gp_verdict *verdicts);

/* One line in words: the row, its verdict, the numbers that decided. As snprintf. */
int gp_verdict_describe(const gp_verdict *verdict, const gp_device *device, bool chosen, char *text, size_t size);
