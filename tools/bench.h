/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim bench: what its files share. A line's contenders are a floor and kernels by name. */
#pragma once

#include "../bench/core/bench.h"
#include "table.h"

enum { LIST_MAX = 16 };

typedef struct sizes {
    size_t count, value[LIST_MAX];
} sizes;

typedef struct bench_request {
    format how;
    unsigned groups; /* a bit for each primitive, in their order, and the one above for the ladder */
    bool quick;
    size_t rounds;
    size_t threads; /* of the ladder's blocks, but for the forms in shared memory; 0: as in the original */
    sizes n, windows, elems, rows, cols; /* empty: the defaults */
    const char *plot;
    const char *from; /* a saved run to draw, instead of measuring */
} bench_request;

typedef struct bench {
    session session;
    bench_request asked;
    char chosen[48]; /* by the planner, for the session's line */
    json_t *rows;
} bench;

/* bench.c */
unsigned bench_group_of(const char *word); /* its bit; all for "all", 0: none */
bool bench_is_ladder(const line *l);

/* bench_lines.c */
void bench_group(bench *b, const primitive *of, bool ladder);

/* bench_report.c */
void bench_report(session *s); /* adds the line's rows; prints them if text is asked for */
void bench_finish(bench *b);   /* prints the whole as JSON or CSV */

/* bench_saved.c */
void bench_draw_saved(const bench_request *o); /* what its groups and sizes ask for */

/* bench_csv.c */
json_t *bench_read_csv(const char *path); /* what gpuprim-bench wrote, in the form of a run of --format json */

/* plot.c */
#define AXIS_WINDOW "width of the window"
void plot_check(const char *path); /* fails the program now if it could not be drawn later */
void plot_write(const char *path, const json_t *rows, const char *device);
