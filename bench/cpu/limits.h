/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory allows: loops that only read, copy, or write twice what they read; and the threads they run on. */
#ifndef BENCH_CPU_LIMITS_H
#define BENCH_CPU_LIMITS_H

#include "machine.h"

#include <stddef.h>
#include <stdint.h>

typedef enum limit_kind {
    LIMIT_READ,
    LIMIT_MEMCPY,
    LIMIT_COPY, /* past the caches */
    LIMIT_SPLIT /* one array read, two written */
} limit_kind;

/* One thread's part. bytes of each array are a multiple of LIMIT_UNIT. The return value depends on what was read. */
typedef uint64_t limit_function(const char *in, char *out, char *out2, size_t bytes);

#define LIMIT_ANY_ISA (~0u)
#define LIMIT_UNIT ((size_t)16384)

typedef struct limit {
    const char *name;
    limit_kind kind;
    unsigned isa; /* best of the processor's for which it is meant: a GP_ISA_* bit, 0, or LIMIT_ANY_ISA */
    limit_function *function;
} limit;

extern const limit limits[];
extern const size_t n_limits;

/* Threads that wait for parts of a limit's work; the caller is one of them. */
typedef struct crew crew;

crew *crew_start(const machine *m, unsigned threads);
void crew_run(crew *c, const limit *l, const char *in, char *out, char *out2, size_t bytes);
void crew_stop(crew *c);

/* Bytes of each array that crew_run() passes over: those that divide evenly. */
size_t crew_bytes(unsigned threads, size_t bytes);

#endif
