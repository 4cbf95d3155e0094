/* SPDX-License-Identifier: Apache-2.0 */
/* Whether results are right. */
#ifndef BENCH_CPU_CHECK_H
#define BENCH_CPU_CHECK_H

#include "bench.h"

/* Elements of the entry's result on set 0 that differ from the reference row's; SIZE_MAX: the call failed. */
size_t check_entry(race *r, const entry *e);

#endif
