/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the timed lists share. */
#pragma once

#include "cases.h"

#define TIMED_SEED 20260101u
#define TIMED_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TIMED_THIN ((size_t)1 << 24) /* elements of series that differ in one side */

/* log2 of the bytes of an array, 16 KiB to 48 MiB: where a second thread begins to help, and the caches end. */
#define TIMED_THREADS_POINTS 30u
#define TIMED_THREADS_LOG2(i) (14 + 0.4 * (i))

/* Past 64 KiB, to 64 MiB. */
#define TIMED_PEERS_POINTS 21u
#define TIMED_PEERS_LOG2(i) (16.1 + 0.5 * (i))

typedef struct timed {
    timed_visit *visit;
    void *user;
    const char *series;
} timed;

typedef struct timed_list {
    const char *name;
    void (*run)(const timed *t);
} timed_list;

/* Runs the list of this name, if there is one. */
void timed_run(const timed_list *lists, size_t count, const char *name, timed_visit *visit, void *user);

/* Size i of a series of even sizes: 1, 1.5, 2, 3, 4, 6 ... times the first. */
size_t timed_even_point(size_t from, unsigned i);

/* Of a square of so many bytes. */
size_t timed_side(double log2_bytes, size_t elem_bytes);
