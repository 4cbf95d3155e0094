/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of gp_reduce() and gp_reduce_pair(), with what they owe. All memory is the host's. */
#ifndef TESTS_RANDOM_CALL_H
#define TESTS_RANDOM_CALL_H

#include "gpuprim/gpuprim.h"
#include <stdbool.h>

#define RANDOM_RESULTS 6

/* A view somewhere in `bytes` of memory that are all its own. */
typedef struct random_array {
    gp_array view;
    unsigned char *memory;
    size_t bytes;
} random_array;

typedef struct random_call {
    bool pair;
    random_array in, with; /* with: of a pair */
    size_t count;
    gp_result results[RANDOM_RESULTS]; /* whose views are those of `to` */
    random_array to[RANDOM_RESULTS];
    unsigned char *wanted[RANDOM_RESULTS]; /* what each one's memory should hold after the call */
    gp_status status;                      /* GP_OK, GP_ERR_EMPTY: nothing written, GP_ERR_OVERFLOW: all written */
    char label[320];
} random_call;

/* The same for the same seed. elements: of the input, at most about. */
void random_call_make(random_call *call, uint64_t seed, size_t elements);
void random_call_free(random_call *call);

/* Fills the results' memory with what stands there before a call. */
void random_call_reset(random_call *call);

gp_status random_call_run(random_call *call, gp_context *context);

/* The results' memory is as wanted; else says which byte is not. */
bool random_call_check(const random_call *call, char *words, size_t size);

#endif
