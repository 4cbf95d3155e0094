/* SPDX-License-Identifier: Apache-2.0 */
/* What is wanted of which lines. */
#ifndef BENCH_TARGETS_H
#define BENCH_TARGETS_H

#include "bench.h"

typedef enum against {
    SPEED_OF_FLOOR, /* at least so much of its speed */
    SPEED_OF_PEER,
    SPEED_OF_REFERENCE,
    TIMES_FLOOR, /* at most so many times its time */
    TIMES_PEER,
    MS_OVER_PEER /* at most so much longer */
} against;

typedef struct target {
    const char *what;
    against against;
    double wanted;
    bool (*applies)(const line *l);
} target;

extern const target targets[];
extern const size_t n_targets;

#endif
