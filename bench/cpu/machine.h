/* SPDX-License-Identifier: Apache-2.0 */
/* The processors that the measurement runs on, one a core, and who is pinned to them. */
#ifndef BENCH_CPU_MACHINE_H
#define BENCH_CPU_MACHINE_H

#include <stddef.h>

#define CPUS_MAX 64

typedef struct machine {
    char model[96];
    unsigned cpu[CPUS_MAX]; /* no two on one core */
    unsigned n_cpus;
    size_t l2_bytes, l3_bytes; /* 0: not known */
    size_t memory_bytes;
} machine;

void machine_read(machine *m);

/* The calling thread. */
void pin_self(unsigned cpu);

/* Threads of this process, to be told from those that start later. */
typedef struct thread_list {
    int id[512];
    size_t count;
} thread_list;

void threads_list(thread_list *list);
/* Every thread that is not in `before` to m->cpu[1], m->cpu[2], ...; returns how many. */
unsigned pin_new_threads(const machine *m, const thread_list *before, unsigned threads);

#endif
