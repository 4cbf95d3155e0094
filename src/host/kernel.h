/* SPDX-License-Identifier: Apache-2.0 */
/* One row of the catalogue: a kernel as data. "Can it?" is supports(), "how?" are numbers, "do it" is launch(). */
#ifndef GP_KERNEL_H
#define GP_KERNEL_H

#include "device.h"
#include "problem.h"

typedef struct gp_plan gp_plan;

#define GP_SMEM_FEW_THREADS SIZE_MAX
#define GP_SMEM_OTHER_THREADS (SIZE_MAX - 1)

typedef struct gp_kernel {
    const char *name; /* kernel, launcher, pinned name, test label and bench line are all this string */
    gp_operation operation;
    gp_space space;
    unsigned threads_min, threads_max; /* the planner halves from max to min until it fits; 0 on the processor */
    unsigned regs_per_thread; /* ceiling that the kernel is compiled with; a GPU test checks measured <= this */
    size_t smem_static;
    /* Dynamic shared bytes of a block; NULL: none; GP_SMEM_FEW_THREADS: so few threads cannot do it with any;
     * GP_SMEM_OTHER_THREADS: not so many, though fewer may. */
    size_t (*smem)(const gp_problem *problem, const gp_device *device, unsigned threads);
    /* Blocks the work divides into; on the processor (threads 0), most threads worth using. */
    uint64_t (*blocks)(const gp_problem *problem, unsigned threads);
    /* The same where it depends on the device; then blocks is NULL. */
    uint64_t (*blocks_on)(const gp_problem *problem, const gp_device *device, unsigned threads);
    bool (*supports)(const gp_problem *problem, const gp_device *device); /* NULL: everything of its operation */
    gp_status (*launch)(gp_context *context, const gp_plan *plan, const gp_problem *problem);
    const char *about; /* one line: what it is for, and why not the next row */
    unsigned flags;    /* GP_KERNEL_STUDY, _MODULO_32, _FLOAT of the public header */
    bool overlaps;     /* begins with gp_await_earlier_kernels(): may be launched while the kernel before it ends */
    unsigned waves; /* a kernel that strides: grid is at most waves * resident blocks; 0: a block a piece of work */
} gp_kernel;

#define GP_ROWS_MAX 48 /* rows of one operation at most */

/* The rows of one operation: those chosen freely, best first, reference row last; then those for study. */
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

gp_rows gp_catalogue_rows(gp_operation operation);
size_t gp_catalogue_count(void);
const gp_kernel *gp_catalogue_at(size_t index);
const gp_kernel *gp_catalogue_find(const char *name); /* NULL: unknown */

/* The tables, one file each. */
extern const gp_kernel gp_reduce_rows[], gp_window_rows[], gp_transpose_rows[];
extern const size_t gp_reduce_row_count, gp_window_row_count, gp_transpose_row_count;
extern const gp_kernel gp_reduce_study_rows[], gp_window_study_rows[];
extern const size_t gp_reduce_study_row_count, gp_window_study_row_count;

#endif
