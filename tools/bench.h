/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpuprim bench: a line is one problem; its contenders are the floor and kernels, each a pinned context. Every
 * kernel's result is checked before its time is taken.
 */
#ifndef TOOL_BENCH_H
#define TOOL_BENCH_H

#include "../src/device/measure.h"
#include "table.h"

enum { CONTENDERS_MAX = 40, ROUNDS_MAX = 101, LIST_MAX = 16, KERNELS_MAX = 96 };

typedef struct sizes {
    size_t count, value[LIST_MAX];
} sizes;

typedef struct bench_options {
    format how;
    unsigned groups; /* GROUP_* */
    bool quick;
    size_t rounds;
    size_t threads; /* of the ladder's blocks, but for the forms in shared memory; 0: as in the original */
    sizes n, windows, elems, rows, cols; /* empty: the defaults */
    const char *plot;
    const char *from; /* a saved run to draw, instead of measuring */
} bench_options;

enum { GROUP_REDUCE = 1, GROUP_WINDOW = 2, GROUP_TRANSPOSE = 4, GROUP_LADDER = 8, GROUP_ALL = 15 };

typedef struct line {
    const char *group; /* "reduce", "ladder", ... */
    gp_operation operation;
    size_t n, rows, cols, window, elem_bytes;
    bool cold; /* times are of one call after the caches were filled with something else; else of a row of calls */
} line;

struct bench;

typedef struct contender {
    char name[64];
    const char *floor; /* what it moves, if it is a floor; else NULL */
    bool brackets;     /* its launcher tells when its kernel begins and ends; see gp_context_bracket() */
    bool on_host;      /* takes the host's copy of the data */
    bool modulo, inexact, chosen;
    unsigned threads;
    gp_context *context; /* NULL: a floor */
    gp_status (*call)(const struct contender *c, size_t set);
    struct bench *bench;
    unsigned ways, way; /* of a floor */
    bool wrong;
    double us, low, high; /* median and quartiles */
    double step, total;   /* gain over the one before and over the first of the ladder; 0: none */
} contender;

typedef struct buffers {
    char *in, *out;
    size_t in_size, out_size, in_stride, out_stride, n_sets;
    int32_t *mirror; /* the host's copy of one input set */
    size_t mirror_words;
    bool bytes_only; /* it holds 0..255 */
    void *flush;     /* of flush_bytes; first 4 bytes are the sink of reading kernels */
    size_t flush_bytes;
} buffers;

typedef struct bench {
    bench_options opt;
    gp_context *context; /* a GPU, or the processor */
    gp_context *host;    /* the processor */
    bool gpu;
    gp_device_info device;
    gp_timer *timer;                 /* of a GPU */
    double clock;                    /* when the processor's began */
    gp_context *pinned[KERNELS_MAX]; /* by index in the catalogue */
    buffers buffers;
    line line;
    contender contenders[CONTENDERS_MAX];
    size_t count;
    json_t *rows;
    size_t wrong;
} bench;

/* bench_data.c */
void bench_open(bench *b);
void bench_close(bench *b);
void bench_prepare(bench *b, size_t in_bytes, size_t out_bytes, bool bytes_only); /* buffers for a line */
void *bench_in(const bench *b, size_t set);
void *bench_out(const bench *b, size_t set);
size_t bench_second(const line *l); /* where in a window's output its second array begins, in bytes */
void bench_flush(bench *b, bool on_host);

/* bench_lines.c: the line and its contenders; then checked, timed and reported */
void bench_group(bench *b, unsigned group);

/* bench_check.c */
bool bench_check(contender *c); /* false: its result is wrong, or it cannot do the line: then context is NULL */

/* bench_race.c */
void bench_race(bench *b);

/* bench_report.c */
void bench_line_name(const line *l, char *text, size_t size);
uint64_t bench_line_bytes(const line *l); /* read and written, each element once */
void bench_report(bench *b);              /* adds the line's rows; prints them if text is asked for */
void bench_finish(bench *b);              /* prints the whole as JSON or CSV */

/* bench.c */
unsigned bench_group_of(const char *word); /* GROUP_*; 0: none */

/* bench_saved.c */
void bench_draw_saved(const bench_options *o); /* what its groups and sizes ask for */

/* bench_csv.c */
json_t *bench_read_csv(const char *path); /* what gpuprim-bench-gpu wrote, in the form of a run of --format json */

/* plot.c */
#define AXIS_WINDOW "width of the window"
void plot_check(const char *path); /* fails the program now if it could not be drawn later */
void plot_write(const char *path, const json_t *rows, const char *device);

/* floor_cpu.c: the floors on the processor's threads */
#define FLOOR_CPU_WAYS 2u                                                             /* of reading */
void floor_cpu_read(gp_context *context, unsigned way, const void *in, size_t bytes); /* from a 64-byte boundary */
void floor_cpu_write(gp_context *context, const void *in, size_t bytes, void *first, void *second);

#endif
