/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose by way of whole lines, for elements of any size and alignment. */
#ifndef GP_CPU_TRANSPOSE_LINES_H
#define GP_CPU_TRANSPOSE_LINES_H

#include "../context.h"

/* Not in place. False: nothing done, since there is no memory for it or it would not be worth it. */
#if defined(__x86_64__)
bool gp_transpose_by_lines(gp_context *context, const gp_problem *problem, unsigned parts);
#else
static inline bool gp_transpose_by_lines(gp_context *context, const gp_problem *problem, unsigned parts) {
    (void)context, (void)problem, (void)parts;
    return false;
}
#endif

/* Aligned. They stay with the context: new memory would be faulted in at every call. NULL: there is none. */
char *gp_transpose_kept_lines(gp_context *context, size_t lines);

#endif
