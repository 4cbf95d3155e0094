/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that a context owns for its processor rows: started on first need, asleep between calls, joined at destroy.
 * Not OpenMP: libgomp hangs in a child forked after its use. In such a child the threads are started anew. */
#pragma once

#include "../context.h"

/* part 0 .. parts-1 of the work: part 0 runs on the caller's thread; whoever is done takes the next that none has. */
typedef void (*gp_part_function)(void *work, unsigned part, unsigned parts);

/*
 * How many of up to `most` threads, or GP_PARTS_MAX, to use for a call that takes one thread about `ns`: all of them
 * if the call is worth waking threads, or if the call before began so short a while ago that they are still awake;
 * otherwise one.
 */
unsigned gp_threads_worth(gp_context *context, uint64_t most, uint64_t ns);

/* Runs all parts and returns when all are done. Fewer threads than parts, down to the caller alone, if threads cannot
 * be had: the parts are run all the same, so this cannot fail. */
void gp_threads_run(gp_context *context, unsigned parts, gp_part_function function, void *work);

/*
 * Large work is divided further, each part into shares: who is done with its own part's takes what is left of
 * others', so that a processor that is slower, or begins late, does less (window of 3, 4096 x 4096, two threads
 * beside other programs: 9.6 ms so, 13.1 without). Until then a part stays in one stretch of memory: threads that
 * take shares in turns are 3 to 4 % slower alone.
 */
#define GP_SHARE_BYTES_MIN ((uint64_t)256 << 10)

/* A share of the work, by the thread that has this part. */
typedef void (*gp_share_function)(void *work, unsigned part, unsigned share, unsigned shares);

/* bytes: of all shares. */
void gp_threads_share(gp_context *context, unsigned parts, uint64_t bytes, gp_share_function function, void *work);

void gp_threads_destroy(gp_context *context);
