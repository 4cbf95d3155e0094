/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the measuring program share: a line of the table, who competes in it, and the session. */
#ifndef BENCH_H
#define BENCH_H

#include "data.h"
#include "gpuprim/gpuprim.h"
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>

#define PINS_MAX 32
#define LIMITS_MAX 8
#define CONTENDERS_MAX (PINS_MAX + LIMITS_MAX + 8)
#define ROUNDS_MAX 101

/* Which time of a problem is measured. */
typedef enum measure {
    MEASURE_DEVICE, /* device time of a call, from events around many */
    MEASURE_RESULT, /* host time until the result is in a host variable */
    MEASURE_RETURN, /* host time until the call returns, its work still under way */
    MEASURE_FIRST,  /* host time of a process's first use */
    MEASURE_SPREAD  /* fastest against slowest of several lines */
} measure;

/* One problem. Fields that its operation does not have are 0. */
typedef struct line {
    measure measure;
    gp_operation operation;
    gp_reduce_op op;
    size_t n;
    size_t offset; /* of the input from a 256-byte boundary, in bytes */
    size_t rows, cols, in_pitch, out_pitch, elem_bytes;
    bool in_place;
    size_t window;
    gp_border border;
    data_kind data;
    bool no_sum, no_square; /* that output is NULL */
    size_t smem_limit;      /* a block of the device may have no more bytes and registers; 0: as it is */
    unsigned regs_limit;
    const char *series; /* of problems that differ in one thing, of which this is one; NULL: none */
} line;

typedef enum role {
    ROLE_FLOOR,     /* what the memory allows */
    ROLE_PEER,      /* what a user would take instead */
    ROLE_REFERENCE, /* another problem, or another way, that a target compares with */
    ROLE_OURS
} role;

struct session;

/* Somebody's way of doing a problem. */
typedef struct contender {
    char who[64];
    role role;
    line line;
    struct session *session;
    gp_context *context; /* of ours */
    /* Enqueues (or for host times: does) the job once, on one set of the rotated buffers. */
    gp_status (*call)(const struct contender *c, size_t set);
    unsigned variants; /* ways that the race tries first, to keep the fastest; 0: one */
    unsigned variant;
    unsigned long long wrong; /* elements that the check found */
    bool out;                 /* of the race: cannot do the problem, or does it wrongly */
    char kernel[80];          /* ours: what was chosen */
    double us;                /* median */
    double low, high;         /* quartiles */
} contender;

typedef struct pinned {
    char who[64];
    gp_context *context;
    gp_operation operation;
} pinned;

/* The GPU as if it had less, beside the free choice. */
typedef struct limited {
    size_t smem;
    unsigned regs;
    gp_context *context;
} limited;

typedef struct options {
    unsigned rounds;
    double batch_ms; /* least time between two events */
    bool graph;      /* replay captured calls, so that no launch is waited for */
    bool quick;      /* fewer lines */
    bool once;       /* one call of each contender, nothing timed */
    bool brief;      /* only what misses a target is printed */
    const char *match;
    const char *csv;
    const char *pins[PINS_MAX];
    size_t n_pins;
} options;

/* Device memory that calls take turns over, so that no call finds its data in a cache. */
typedef struct buffers {
    char *in, *out;
    size_t in_size, out_size;     /* allocated */
    size_t in_stride, out_stride; /* from set to set */
    size_t n_sets;
    data_kind filled;
    bool fresh; /* holds `filled` as made */
} buffers;

typedef struct session {
    options opt;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    gp_context *free_choice; /* on the GPU */
    gp_context *processor;   /* whose results are expected */
    pinned pins[PINS_MAX];
    size_t n_pins;
    limited limits[LIMITS_MAX];
    size_t n_limits;
    char chosen[48]; /* the free choice's kernel for the last line */
    buffers buffers;
    unsigned long long *n_wrong; /* device counter of check.cu */
    int32_t *mirror;             /* host copy of the first input set */
    size_t mirror_n;
    unsigned multiprocessors;
    size_t next_set;
    FILE *csv;
    size_t wrong; /* results that were not as expected */
} session;

/* Prints and ends the program: nothing measured after a failed call would mean anything. */
_Noreturn void die(const char *what, const char *why);
void cuda_check(cudaError_t error, const char *call);
void gp_check(gp_status status, const char *call);
#define CUDA(call) cuda_check((call), #call)
#define GP(call) gp_check((call), #call)

void session_open(session *s, const options *opt);
gp_context *session_context(const session *s, gp_backend backend);
void session_close(session *s);

/* At least `in_bytes` + 64 and `out_bytes` a set, the input filled; sets enough to pass every cache. */
void buffers_prepare(session *s, data_kind kind, size_t in_bytes, size_t out_bytes);
void *buffers_in(const session *s, size_t set);
void *buffers_out(const session *s, size_t set);

/* Adds a contender and returns it, its line set. */
contender *contender_add(session *s, contender *list, size_t *count, role as, const char *who, const line *l,
                         gp_status (*call)(const contender *, size_t));
/* Adds the free choice and every pinned kernel of the line's operation; if there are limits, the choice under each,
   and the free choice as what they are compared with. */
void contender_add_ours(session *s, contender *list, size_t *count, const line *l,
                        gp_status (*call)(const contender *, size_t));

/*
 * Checks every contender but floors, then times those that pass, interleaved, and reports. Returns the free choice's
 * median in us, 0 without one. check returns whether the result is right; the call's status decides before.
 */
double run_line(session *s, contender *list, size_t count, gp_status (*check)(contender *c, bool *right));

bool line_wanted(const session *s, const line *l); /* by --match */
void line_label(const line *l, char *text, size_t size);
double line_bytes(const line *l); /* that must move, each element once */
const char *border_name(gp_border border);
const char *reduce_name(gp_reduce_op op);

void race(session *s, contender *list, size_t count);      /* device times */
void race_host(session *s, contender *list, size_t count); /* host times */
void take_median(contender *c, double *us, size_t rounds);
double host_us(void);

void report(session *s, contender *list, size_t count);
void report_header(session *s);

/* Groups. */
void bench_reduce(session *s);
void bench_reduce_host(session *s);
void bench_transpose(session *s);
void bench_transpose_odd(session *s);
void bench_window(session *s);
void bench_window_data(session *s);
void bench_window_shape(session *s);
void bench_host(session *s);
void bench_staging(session *s);
void bench_first(session *s);
void bench_limits(session *s);
void bench_curve_reduce(session *s);
void bench_curve_transpose(session *s);
void bench_curve_window(session *s);
void bench_sweep_reduce(session *s);
void bench_sweep_transpose(session *s);
void bench_sweep_window(session *s);

/* Point i of a series of sizes: sqrt(2) apart, every other one odd. */
size_t sweep_point(size_t from, unsigned i);

/* Counts a line's kernel, chosen freely or under a limit; then which were and which never were. */
void chosen_note(const char *kernel, bool under_limit);
void chosen_report(void);

int first_child(const char *way); /* what a child process of bench_first() does */

/* One line each, peers asked for or not; the free choice's median in us. */
double reduce_line(session *s, line l, bool with_peer);
double transpose_line(session *s, line l, bool with_peer);
double window_line(session *s, line l, bool with_peer);

/* A plain problem: pitches without padding, no offset, both outputs. */
line transpose_of(size_t elem_bytes, size_t rows, size_t cols);
line window_of(size_t rows, size_t cols, size_t window, gp_border border, data_kind data);

/* The public call of the line on buffer set `set`; for reduce_* the result to device memory or a host variable. */
gp_status ours_reduce(const contender *c, size_t set);
gp_status ours_transpose(const contender *c, size_t set);
gp_status ours_window(const contender *c, size_t set);

#endif
