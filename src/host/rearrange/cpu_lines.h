/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose by way of whole lines, for elements of any size and alignment. */
#ifndef GP_CPU_TRANSPOSE_LINES_H
#define GP_CPU_TRANSPOSE_LINES_H

#include "../context.h"

/* Not in place. False: nothing done, since there is no memory for it or it would not be worth it. */
#if defined(__x86_64__)
bool gp_transpose_by_lines(gp_context *context, const gp_problem *problem, unsigned parts);

/*
 * Writes a run of `bytes` to `at`, which continues the line in `kept` unless it is a part's first. Whole lines go
 * past the caches, what is in front of the first and behind the last does not. A first run is a line at least: lines
 * that begin later have nothing in front of it. There is room for a line in front of each run.
 */
void gp_transpose_put_run(char *at, char *run, size_t bytes, char *kept, bool first, bool last);
#else
static inline bool gp_transpose_by_lines(gp_context *context, const gp_problem *problem, unsigned parts) {
    (void)context, (void)problem, (void)parts;
    return false;
}
#endif

/* Aligned. They stay with the context: new memory would be faulted in at every call. NULL: there is none. */
char *gp_transpose_kept_lines(gp_context *context, size_t lines);

#endif
