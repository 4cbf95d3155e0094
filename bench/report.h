/* SPDX-License-Identifier: Apache-2.0 */
/* How the lines stand against their targets, over the whole run. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

void report_targets(void);

#endif
