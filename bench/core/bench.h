/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmark program and the gpuprim command measure with. A line is one problem at one place; its contenders
 * are a floor, peers and the library's kernels. Each is checked, then they take turns, then they are reported.
 */
#pragma once

#include "../../tests/cases.h"
#include "../../tools/tool.h"
#include "device.h"

enum { CONTENDERS_MAX = 64, ROUNDS_MAX = 101, PLACES_MAX = 9, OUTS_MAX = 2, WORD_LIST_MAX = 32 };

typedef struct word_list {
    const char *word[WORD_LIST_MAX];
    size_t count;
} word_list;

typedef struct session session;
typedef struct contender contender;
typedef struct primitive primitive;
struct gp_problem;

/* Which time of a problem is measured. */
typedef enum measure {
    MEASURE_ROW,    /* of calls in a row: on a GPU between two events, else the host's time */
    MEASURE_COLD,   /* of one call after the caches were filled with something else */
    MEASURE_WORK,   /* of a call after 3 ms of other work */
    MEASURE_SLEEP,  /* of a call after 3 ms of sleep */
    MEASURE_RESULT, /* of the host until the result is in a host variable */
    MEASURE_RETURN, /* of the host until the call returns, its work still under way */
    MEASURE_FIRST   /* of a process's first use */
} measure;

/* Where lines are measured: a GPU, or so many threads of the processor. */
typedef struct place {
    bool gpu;
    unsigned threads;
    gp_context *context;
    gp_device_info device;
    size_t cache_bytes; /* of the last cache before memory */
} place;

typedef struct line {
    const primitive *of; /* NULL: the process's first use */
    const place *at;
    const char *group;
    measure measure;
    memory_kind memory; /* where its arrays are */
    bool kept;          /* calls find their data where the last call left it; else they run through much memory */
    char series[96];    /* of problems that differ in one size; "": none */
    _Alignas(16) unsigned char problem[128]; /* one of the cases of tests/cases.h, the primitive's */
} line;

#define CASE_OF(type, line) ((const type *)(const void *)(line)->problem)

typedef enum role {
    ROLE_FLOOR,     /* what the memory allows */
    ROLE_PEER,      /* what a user would take instead */
    ROLE_SHOWN,     /* to look at, not to be judged by */
    ROLE_REFERENCE, /* another way of ours that a verdict compares with */
    ROLE_ROW,       /* a kernel of ours by name */
    ROLE_OURS       /* the library as it is called */
} role;

/* Somebody's way of doing the session's line. */
struct contender {
    char who[64];
    role role;
    session *session;
    gp_context *context; /* of ours */
    char pin[48];        /* the kernel that is pinned before its calls; "": the planner's choice */
    unsigned pin_threads;
    uint32_t flags;                                     /* of that kernel: GP_KERNEL_* */
    gp_status (*call)(const contender *c, size_t set);  /* does it, or enqueues it, on one set of the arrays */
    double (*time)(const contender *c, unsigned calls); /* us a call, of who keeps time himself; else NULL */
    const void *user;                                   /* of these two */
    const char *(*way_name)(const contender *c);        /* for the kernel's column; NULL: none */
    unsigned ways, way;                                 /* the race tries all of them and keeps the fastest */
    double tolerated;     /* how far off a result may be, as a part of the largest possible */
    bool unchecked;       /* a floor, which has no result */
    bool on_host;         /* takes the host's copy of the input, and the host's time */
    char kernel[80];      /* what was chosen */
    unsigned threads;     /* of a block, or of the processor */
    double us, low, high; /* median and quartiles */
    double step, total;   /* of a ladder: gain over the one before, and over the first; 0: none */
};

/* What the arrays of a line take, what they hold, and what must move. */
typedef struct footprint {
    size_t in_bytes, in_offset; /* of the input, and how far it lies from a 256-byte boundary */
    size_t out_bytes, out_offset;
    unsigned outs, floor_outs; /* arrays written, each of out_bytes; those that a floor must write */
    size_t moved_bytes;        /* of the input, and of each array that a floor writes */
    double bytes;              /* read and written, each element once */
    bool in_place;
    data_kind data;
    uint64_t seed;
    double largest[OUTS_MAX]; /* value that each output may have, where a result may be inexact; 0: it may not */
} footprint;

/* A problem as the words of a command line give it. */
typedef struct given {
    size_t n, rows, cols, second;
    gp_reduce_op op;
    gp_border border;
} given;

/* A line and a contender's times, as reports need them. */
typedef struct result {
    const char *primitive, *group, *op, *role, *measure, *border, *data;
    char shape[128], label[192];
    size_t n, rows, cols, in_pitch, out_pitch, elem_bytes, offset, window, in_place, threads;
    double bytes, gbps, of_floor, of_peer, of_reference; /* 0: there is none */
} result;

/* One of the library's primitives: all that the benches and the command know of it. One file each. */
struct primitive {
    const char *name;
    gp_operation operation;
    size_t case_bytes;        /* of its struct in tests/cases.h */
    const char *reference[2]; /* rows that all others are proved against, of processor and GPU; NULL: the processor's
                                 choice */
    const char *last_resort[4][2]; /* rows that need not earn their place, and why */
    const char *ladder[4];         /* rows that are no study rows and stand in its ladder */
    const char *ladder_anew;       /* the study row with which a second ladder begins; NULL: none */
    bool ladder_cold;              /* its ladder is of calls on cold caches */
    const char *groups[5][3];      /* its own for a GPU: name, list of cases, what that has */
    const char *words;             /* that give a problem; see make() */
    const char *second;            /* the option for the second of them, after a shape; NULL: one word, a count */
    bool takes_op, takes_border;
    const char *axis;                                                /* of a curve over its usual sizes */
    void (*timed)(const char *list, timed_visit *visit, void *user); /* tests/cases.h */
    footprint (*footprint)(const line *l);
    void (*describe)(const line *l, result *r);
    gp_status (*call)(gp_context *context, const line *l, const void *in, void *const out[OUTS_MAX]);
    gp_status (*problem)(const line *l, const void *in, void *const out[OUTS_MAX], struct gp_problem *problem);
    void (*make)(const given *g, line *l);
    /* What the command measures unless told otherwise: counts or sides of squares, or second numbers, up to 4. */
    size_t (*usual)(bool second, bool gpu, bool quick, bool ladder, size_t sizes[4]);
    unsigned (*ladder_threads)(const char *row, unsigned asked); /* of a study row's blocks; NULL: the planner's */
};

extern const primitive *const primitives[];                 /* ends with NULL */
gp_kernel_info kernel_at(size_t index);                     /* of the catalogue */
bool kernel_find(const char *name, gp_kernel_info *kernel); /* false: there is none */
const primitive *primitive_of(int32_t operation);           /* NULL: of none */

/* Somebody else's way, by the benchmark program. */
typedef struct peer {
    const char *who;
    const primitive *of;
    bool gpu;
    unsigned threads;                        /* it has no more; 0: as many as it is given */
    bool (*does)(session *s, const line *l); /* it is there, and does it */
    gp_status (*call)(const contender *c, size_t set);
    double (*time)(const contender *c, unsigned calls); /* NULL: it is called */
    const char *word;                                   /* of who keeps time himself; NULL: the line's operation */
    double (*tolerated)(const line *l);                 /* NULL: nothing */
} peer;

/* Memory that calls take turns over, so that no call finds its data in a cache. */
typedef struct buffers {
    memory_kind memory;
    char *in, *out, *expected;
    size_t in_size, out_size, expected_size; /* allocated */
    size_t in_stride, out_stride;            /* from set to set, and from output to output */
    size_t n_sets;
    char *mirror; /* the host's copy of one input, which is as the footprint says */
    size_t mirror_bytes, mirror_size;
    data_kind mirror_data;
    uint64_t mirror_seed;
    char *flush; /* the place's memory that empties the caches */
    size_t flush_bytes;
    int64_t result; /* of MEASURE_RESULT */
} buffers;

typedef struct bench_options {
    size_t rounds;
    double batch_ms[2]; /* least time of a row of calls, on the processor and the GPU */
    size_t rotated[2];  /* bytes that calls run through before they repeat, on the processor and the GPU */
    bool graph;         /* replay captured calls, so that no launch is waited for */
    bool once;          /* one call of each contender, nothing timed */
    bool rows;          /* every row that can is a contender */
    size_t calls;       /* so many unchecked calls of each contender, nothing timed; 0: as usual */
    word_list without;  /* rows that are as if they were not there */
    word_list pins;     /* KERNEL[:THREADS] */
} bench_options;

struct session {
    bench_options opt;
    const gpu_device *gpu; /* what can be asked of it; NULL: none is here */
    place places[PLACES_MAX];
    size_t n_places;
    gp_context *references[2];  /* pinned to the rows that others are proved against, on the processor and the GPU */
    gp_context *host;           /* beside a GPU, for rows of the processor */
    const peer *peers;          /* of the benchmark program, the last without a name; NULL: none */
    void (*report)(session *s); /* what the front end does with a line's times */
    unsigned tries;             /* a line that is not good is timed again, so often at most; 0: once */
    bool (*is_good)(const session *s);
    line line;
    unsigned serial;  /* of the line: no two have the same */
    footprint arrays; /* of the line */
    contender list[CONTENDERS_MAX];
    size_t count;
    buffers buffers;
    size_t next_set;
    size_t wrong; /* results that were not as expected */
};

/* session.c */
void session_open(session *s); /* a GPU if there is one; places are added by the front end */
void session_close(session *s);
place *place_add(session *s, bool gpu, unsigned threads);
gp_context *context_open(const session *s, gp_backend backend, unsigned threads);
/* What is called before and after the kernels of study rows that work on a copy; NULL: nothing. */
void context_bracket(gp_context *context, void (*bracket)(void *user, bool after), void *user);

/* memory.c */
void buffers_prepare(session *s); /* for the session's line */
void *buffers_in(const session *s, size_t set);
void *buffers_out(const session *s, size_t set, unsigned which);
const void *buffers_mirror(session *s);
void buffers_drop(session *s);
void memory_copy(session *s, void *to, const void *from, size_t bytes);
void memory_set(session *s, void *to, int byte, size_t bytes);
void memory_flush(session *s, bool on_host);

/* line.c: a line is begun, gets contenders, is run */
void line_begin(session *s, const line *l);
contender *line_add(session *s, role as, const char *who, gp_status (*call)(const contender *, size_t));
void line_add_floor(session *s);
void line_add_peers(session *s);
contender *line_add_ours(session *s);                                             /* the planner's choice */
contender *line_add_row(session *s, const gp_kernel_info *row, unsigned threads); /* a kernel by name */
void line_add_asked(session *s);   /* what options ask for: pins, all rows */
void line_pin(const contender *c); /* before its calls: the context is told which kernel */
void line_run(session *s);
bool is_masked(const session *s, const char *row);

/* check.c: false: it cannot, or its result is wrong, which is told and counted */
void check_expect(session *s);
bool check_contender(contender *c);

/* race.c */
void race_run(session *s);
void take_median(contender *c, double *us, size_t rounds);
double now_us(void);
bool is_on_host(const contender *c); /* by the host's clock */

/* result.c */
result result_of(const contender *c);
double result_best(const session *s, role as); /* us of the fastest; of floors, peers count too. 0: there is none */

/* floors.c: what the memory allows the processor's threads */
unsigned floor_ways(const session *s, unsigned outs);
const char *floor_name(const contender *c);
gp_status floor_call(const contender *c, size_t set);
void floor_processor(gp_context *context, unsigned outs, unsigned way, const void *in, void *const out[],
                     size_t bytes);
const char *floor_processor_name(gp_context *context, unsigned outs, unsigned way); /* NULL: there is none */
