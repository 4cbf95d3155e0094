/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim window --size: operations over a window of rows and columns. */
#ifndef WINDOW_BOX_H
#define WINDOW_BOX_H

#include "reduction.h"

enum { WINDOW_OUTPUTS = 9 }; /* operations that gp_window() has */

typedef struct box_request {
    gp_backend backend;
    raw_shape raw;
    size_t rows, cols; /* of the window */
    gp_border border;
    reduction what;
    bool verbose;
    const char *in, *const *out; /* a file for each operation */
} box_request;

void window_box(const box_request *r);

#endif
