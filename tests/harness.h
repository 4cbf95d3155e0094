/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the primitives share: the contexts to run on, the rows to pin, and the count of what ran. */
#pragma once

#include "buffers.h"
#include "gpuprim/explain.h"

#define SUBJECTS_MAX 8
#define ROWS_MAX 64

/* A context to test on. */
typedef struct subject {
    gp_context *context;
    bool gpu;
    unsigned cpu_threads;
} subject;

#define BLOCK_SIZES 7 /* that are pinned in turn */

/* One kernel of the catalogue, and what became of its cases. */
typedef struct row {
    gp_kernel_info info;
    unsigned cpu_isa;                                         /* GP_ISA_* bits that the name asks for */
    size_t run;                                               /* compared with the oracle */
    size_t declined;                                          /* GP_ERR_NO_KERNEL: the row does not do this shape */
    size_t skipped;                                           /* this machine has no such device or instruction set */
    size_t block;                                             /* which block size is pinned now, */
    size_t ran_with[BLOCK_SIZES], declined_with[BLOCK_SIZES]; /* and what became of each */
} row;

typedef struct harness {
    subject subjects[SUBJECTS_MAX];
    size_t n_subjects;
    row rows[ROWS_MAX]; /* of one operation; the last, without a name, is the free choice */
    size_t n_rows;
    size_t cases;
    size_t failures;
} harness;

/* Processor contexts of 1, 2, 3, 7 and 64 threads, and a CUDA context if there is a GPU. */
void harness_open(harness *h, gp_operation operation);

/* Fails the test on any failure. Where not all rows have to be in a table of what ran. */
void harness_leave(const harness *h);

/* Says what ran; fails the test on any failure and if a row that this machine can run never ran. */
void harness_close(harness *h);

/*
 * Pins row r on the subject, the threads a block taking turns over what the row allows. False: the row is not for
 * this subject; counted as skipped where no subject of this machine could run it.
 */
bool harness_pin(harness *h, const subject *s, row *r, size_t turn);

/* Counts the status of a pinned call. True: the row ran, compare its result with the oracle. */
bool harness_ran(harness *h, const subject *s, row *r, gp_status status, gp_status want, const char *label);

/* Subject for this turn: every case runs on one thread and on one other number of them, and on the GPU. */
bool harness_takes_turn(const harness *h, size_t subject_index, size_t turn);

/* Counts and says a failure; the first twenty in words. */
void harness_fail(harness *h, const subject *s, const row *r, const char *label, const char *what);

buffer_kind harness_kind(const subject *s, size_t turn);
