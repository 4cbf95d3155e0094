/* SPDX-License-Identifier: Apache-2.0 */
/* Other libraries: OpenBLAS in this process, numpy and OpenCV in a Python process that times its own calls. */
#ifndef BENCH_CPU_PEERS_H
#define BENCH_CPU_PEERS_H

#include "bench.h"

/* What is installed goes to s->numpy, opencv, openblas. Before any thread is pinned. */
void peers_open(session *s);
void peers_close(void);

/* The following jobs run on so many processors, with the session's memory as it is now. */
void peers_prepare(const session *s, unsigned threads);
/* Runs on set 0 and leaves the results in the shared memory; the result of a reduction where output 0 would be. */
bool peer_check(const entry *e);
/* Seconds a call. */
double peer_time(const entry *e, unsigned reps);

bool peer_somatcopy(race *r, const entry *e, size_t set);

#endif
