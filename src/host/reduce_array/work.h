/* SPDX-License-Identifier: Apache-2.0 */
/* A pass under way on the processor: what its threads share, and one output of it. */
#pragma once

#include "cpu.h"
#include <pthread.h>
#include <stdatomic.h>

typedef struct gp_pass_work {
    const gp_pass *pass;      /* over the elements that loops take */
    const gp_pass *asked;     /* over the caller's elements: the same pass, unless others are made of these */
    const gp_made_pass *made; /* how; NULL: none are */
    gp_pass_loops loops;
    uint64_t unit;        /* outputs that stay in one block: see gp_columns_unit() */
    uint64_t row;         /* how many units stand in a row */
    uint64_t blocks;      /* of columns, in a row */
    atomic_bool overflow; /* an integer result was not held by its type */

    /* Of one output, or block of columns, that all threads share. */
    pthread_mutex_t lock;
    gp_accumulator *whole;
    unsigned ends;      /* 1, or 2: `whole` are bounds */
    atomic_bool failed; /* there are none, or columns leave `alone` open */
    bool alone;
    gp_columns *columns;
    gp_paired pairs;
    uint64_t output;
} gp_pass_work;

/* Adds the caller's elements [begin, end) of an output, in runs along the last reduced axis. */
void gp_take_elements(const gp_pass_work *work, gp_accumulator *a, uint64_t output, uint64_t begin, uint64_t end);

/* Elements [begin, end) along the last reduced axis as made ones, to an accumulator of no elements. False: not here.
 */
bool gp_take_made(const gp_pass_work *work, gp_accumulator *a, uint64_t output, uint64_t begin, uint64_t end);

/* Which pass an accumulator of made elements is written by: extremes are the caller's elements or differences, whose
 * type that pass has; sums are the made pass's. */
const gp_pass *gp_pass_of_results(const gp_pass_work *work);

/* Writes the results of `pass`, whose accumulator it is, for one output. */
void gp_write_as(gp_pass_work *work, const gp_pass *pass, gp_accumulator *a, uint64_t output);

/* One output, by one thread. */
void gp_take_output(gp_pass_work *work, gp_accumulator *a, uint64_t output);

/* All outputs, as columns. */
void gp_take_columns(gp_context *context, gp_pass_work *work, unsigned parts);
