/* SPDX-License-Identifier: Apache-2.0 */
/* The planner: a pure function from problem, device and rows to a plan, with a verdict on every row. */
#ifndef GP_PLAN_H
#define GP_PLAN_H

#include "kernel.h"

#define GP_GRID_MAX 0x7fffffffu /* blocks in a one-dimensional grid, compute capability 3.0 on */

typedef enum gp_verdict_code {
    GP_VERDICT_FITS,
    GP_VERDICT_NOT_PINNED,
    GP_VERDICT_STUDY,         /* chosen only when pinned */
    GP_VERDICT_OTHER_SPACE,   /* runs where this call's data is not */
    GP_VERDICT_SHAPE,         /* supports() says no */
    GP_VERDICT_THREADS,       /* a block of threads_min threads is more than the device allows */
    GP_VERDICT_REGISTERS,     /* even with threads_min threads */
    GP_VERDICT_SHARED_MEMORY, /* even with threads_min threads */
    GP_VERDICT_FEW_THREADS,   /* fewer threads than this shape needs, pinned or all that fit */
    GP_VERDICT_OTHER_THREADS, /* a number of threads that is no use for this shape, pinned or even threads_min */
    GP_VERDICT_GRID           /* more blocks than a grid holds */
} gp_verdict_code;

typedef struct gp_verdict {
    const gp_kernel *row;
    gp_verdict_code code;
    unsigned threads; /* that fit, or the last tried */
    size_t smem;      /* dynamic bytes at that many */
    uint64_t regs;    /* registers a block needs at that many */
    uint64_t grid;    /* blocks, if it fits; processor: threads */
    unsigned blocks_per_sm;
    gp_limit limited_by;
} gp_verdict;

struct gp_plan {
    const gp_kernel *row; /* NULL: none fits */
    uint64_t grid;
    unsigned threads;
    size_t smem;
    unsigned blocks_per_sm;
    gp_limit limited_by;
};

typedef struct gp_pin {
    const gp_kernel *row; /* NULL: free choice */
    unsigned threads;     /* 0: the planner's */
} gp_pin;

/*
 * The first row in order that fits wins. verdicts, if not NULL, has room for all rows and receives one each; else
 * the search stops at the winner. False: none fits.
 */
bool gp_plan_make(const gp_problem *problem, const gp_device *device, gp_rows rows, gp_pin pin, gp_plan *plan,
                  gp_verdict *verdicts);

/* One line in words: the row, its verdict, the numbers that decided. As snprintf. */
int gp_verdict_describe(const gp_verdict *verdict, const gp_device *device, bool chosen, char *text, size_t size);

#endif
