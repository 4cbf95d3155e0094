/* SPDX-License-Identifier: Apache-2.0 */
/* Problems whose arrays all lie in host memory, pageable or pinned: made, run, checked. For the groups of host data.
 */
#ifndef BENCH_STAGING_H
#define BENCH_STAGING_H

#include "bench.h"

#define STAGING_WINDOW 15

/* One input and two outputs of up to `bytes` each. */
typedef struct host_arrays {
    bool locked; /* pinned; else pageable */
    size_t bytes;
    int32_t *in;
    void *out[2];
} host_arrays;

typedef enum host_job { JOB_REDUCE, JOB_WINDOW, JOB_TRANSPOSE, JOB_TRANSPOSE_ODD, HOST_JOBS } host_job;

/* Filled, and every page of them touched: a first touch costs more than the call that does it. */
void host_arrays_make(host_arrays *a, size_t bytes, bool locked);
void host_arrays_drop(host_arrays *a);

const char *host_job_name(host_job job);

/* Bytes of input; what else moves: as much for a transpose, twice as much for a window. */
double host_job_moved(host_job job, size_t bytes);

/* Does the job on the first `bytes` of input and returns the host time in us. */
double host_job_run(gp_context *context, host_job job, const host_arrays *a, size_t bytes, int64_t *result);

/* Ends the program unless the outputs hold what they must, at places drawn by chance. Clears those places first. */
void host_job_check(gp_context *context, host_job job, const host_arrays *a, size_t bytes);

#endif
