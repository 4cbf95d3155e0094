/* SPDX-License-Identifier: Apache-2.0 */
/* One row of the catalogue: a kernel as data. "Can it, and how?" is fit(), "do it" is launch(). */
#pragma once

#include "device.h"
#include "problem.h"
#include <stddef.h>
#include <string.h>

typedef struct gp_plan gp_plan;

#define GP_TILING_NUMBERS 15

/* The first of them: rows and columns of the tile that a block computes. Rows 0: a run of so many elements. */
enum { GP_TILE_ROWS, GP_TILE_COLS };

/* How a problem is cut for one kernel: what the planner decides, the launcher passes on and explain prints. */
typedef struct gp_tiling {
    unsigned threads;              /* a block; 0 on the processor */
    unsigned form;                 /* which of the kernel's compiled forms, as the kernel counts them */
    unsigned regs;                 /* most registers a thread of this form; 0: as the row says */
    size_t smem;                   /* dynamic shared bytes of a block */
    uint64_t blocks;               /* the grid; on the processor, threads worth using */
    uint32_t t[GP_TILING_NUMBERS]; /* the kernel's own numbers, a struct of its folder's tiling.h that opens with a
                                      tile's rows and cols; all 0: a thread computes an element */
} gp_tiling;

/* Puts the kernel's own numbers, a struct, into a tiling. */
#define GP_TILING_PUT(tiling, numbers)                                                                  \
    do {                                                                                                \
        _Static_assert(sizeof(numbers) <= sizeof(tiling)->t, "a tiling has no room for these numbers"); \
        _Static_assert(offsetof(__typeof__(numbers), rows) == GP_TILE_ROWS * sizeof *(tiling)->t &&     \
                           offsetof(__typeof__(numbers), cols) == GP_TILE_COLS * sizeof *(tiling)->t,   \
                       "a tile's rows and cols come first");                                            \
        memcpy((tiling)->t, &(numbers), sizeof(numbers));                                               \
    } while (0)

typedef struct gp_kernel {
    const char *name;  /* kernel, launcher, pinned name, test label and bench line are all this string */
    const char *about; /* one line: what it is for */
    gp_space space;
    unsigned regs_per_thread; /* ceiling that the kernel is compiled with; a GPU test checks measured <= this */
    size_t smem_static;
    unsigned flags;        /* GP_KERNEL_STUDY, _MODULO_32, _FLOAT of the public header */
    bool dependent_launch; /* begins with gp_grid_dependency_wait(), so it may be launched before its turn */
    bool together;         /* its blocks wait for one another: all of a launch run at once, or none */
    /* Can it, and how? False: it cannot, or has no further tiling. Attempt 0 is the best tiling, later ones need
     * fewer threads or less memory, for devices that have not as much. Pure. */
    bool (*fit)(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling);
    gp_status (*launch)(gp_context *context, const gp_plan *plan, const gp_problem *problem);
} gp_kernel;

/* For kernels whose blocks may have `most` threads, or a half, a quarter .. of that down to `least`; 0: no more. */
static inline unsigned gp_threads_of_attempt(unsigned most, unsigned least, unsigned attempt) {
    return attempt < 16 && most >> attempt >= least ? most >> attempt : 0;
}

/* For processor rows: an instruction set (0: any), and most threads worth using. */
static inline bool gp_fit_processor(const gp_device *device, uint32_t isa, uint64_t useful, unsigned attempt,
                                    gp_tiling *tiling) {
    if (attempt > 0 || (device->cpu_isa & isa) != isa)
        return false;
    tiling->blocks = useful < device->cpu_threads ? useful : device->cpu_threads;
    return true;
}

/* Before functions in C that CUDA code calls, and the other way round. */
#ifdef __cplusplus
#define GP_C_LINKAGE extern "C"
#else
#define GP_C_LINKAGE
#endif

/* Declares a launcher, and opens its definition. */
#define GP_DECLARE_LAUNCHER(launcher) \
    GP_C_LINKAGE gp_status launcher(gp_context *context, const gp_plan *plan, const gp_problem *problem)

/* A row of the GPU whose fit() is in another file than the table. */
#define GP_DECLARE_ROW(row)                                                                                     \
    bool gp_fit_##row(const gp_problem *problem, const gp_device *device, unsigned attempt, gp_tiling *tiling); \
    GP_DECLARE_LAUNCHER(gp_launch_##row)

#define GP_TABLE_ROWS_MAX 24                /* rows of a table at most */
#define GP_ROWS_MAX (2 * GP_TABLE_ROWS_MAX) /* of one primitive: chosen freely, and for study */

/* Behind the table gp_<table>_rows: how many it has. */
#define GP_COUNT_ROWS(table)                                                          \
    _Static_assert(sizeof gp_##table##_rows <= GP_TABLE_ROWS_MAX * sizeof(gp_kernel), \
                   "gp_context_explain() has no room for so many rows");              \
    const size_t gp_##table##_row_count = sizeof gp_##table##_rows / sizeof(gp_kernel)

/* A table of rows, in a file of its own: gp_<table>_rows[] and how many. */
#define GP_DECLARE_ROWS(table)                  \
    extern const gp_kernel gp_##table##_rows[]; \
    extern const size_t gp_##table##_row_count

/* The rows of one primitive: those chosen freely, best first, reference row last; then those for study. */
typedef struct gp_rows {
    const gp_kernel *row;
    size_t count;
    const gp_kernel *study;
    size_t study_count;
} gp_rows;

/* Row i of all count + study_count. */
static inline const gp_kernel *gp_rows_at(gp_rows rows, size_t i) {
    return i < rows.count ? &rows.row[i] : &rows.study[i - rows.count];
}
