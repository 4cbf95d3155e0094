/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of gp_reduce(), gp_reduce_pair() and gp_window(), with what they owe. All memory is the host's, unless
 * the call is moved. */
#pragma once

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
    bool is_window; /* gp_window(), with `window` */
    gp_window_shape window;
    random_array in, with; /* with: of a pair */
    size_t count;
    gp_result results[RANDOM_RESULTS]; /* whose views are those of `to` */
    random_array to[RANDOM_RESULTS];
    unsigned char *wanted[RANDOM_RESULTS]; /* what each one's memory should hold after the call */
    gp_status status;                      /* GP_OK, GP_ERR_EMPTY: nothing written, GP_ERR_OVERFLOW: all written */
    char label[320];
} random_call;

/* ---- what calls are made of ---- */

typedef struct random_source {
    uint64_t state;
} random_source;

uint64_t random_draw(random_source *s, uint64_t below);
bool random_chance(random_source *s, unsigned percent);

/* Strides and memory for a view whose type, rank and extents are set; repeated: strides of 0 may be. */
void random_array_place(random_source *s, random_array *a, bool repeated);
void random_array_fill(random_source *s, random_array *a);

/* What stands in results before a call. */
#define RANDOM_FILL 0xa5

/* ---- calls ---- */

/* One of gp_reduce() or gp_reduce_pair(): the same for the same seed. elements: of the input, at most about. */
void random_call_make(random_call *call, uint64_t seed, size_t elements);
void random_call_free(random_call *call);

/* Fills the results' memory with what stands there before a call. */
void random_call_reset(random_call *call);

/* The inputs packed in one memory, the results in another: how much, */
size_t random_call_input_bytes(const random_call *call);
size_t random_call_result_bytes(const random_call *call);
/* the call with its arrays there, */
void random_call_move(const random_call *call, unsigned char *inputs, unsigned char *results, random_call *moved);
/* and their contents from the call's own memory to the host's memory of that kind, those of results also back. */
void random_call_pack(const random_call *call, unsigned char *inputs, unsigned char *results);
void random_call_unpack(random_call *call, const unsigned char *results);

gp_status random_call_run(random_call *call, gp_context *context);

/* The results' memory is as wanted; else says which byte is not. */
bool random_call_check(const random_call *call, char *words, size_t size);
