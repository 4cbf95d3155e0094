/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of gpuprim-bench-cpu share: jobs, who competes in them, targets, the session. */
#ifndef BENCH_CPU_H
#define BENCH_CPU_H

#include "gpuprim/gpuprim.h"
#include "limits.h"
#include "machine.h"
#include "memory.h"

#include <stdbool.h>
#include <stdio.h>

#define PINS_MAX 16
#define TEAMS_MAX 8
#define ENTRIES_MAX (24 + 8 * PINS_MAX)
#define TARGETS_MAX 3
#define ROUNDS_MAX 201

/* What is computed. Fields that its operation does not have are 0, so that equal jobs are equal bytes. */
typedef struct job {
    size_t operation; /* a gp_operation */
    size_t op;        /* a gp_reduce_op */
    size_t n;
    size_t rows, cols, elem_bytes, window;
} job;

typedef enum role {
    ROLE_LIMIT, /* what the memory allows; the fastest of them counts */
    ROLE_SHOWN, /* another limit, to look at */
    ROLE_PEER,  /* what a user would take instead */
    ROLE_OURS
} role;

typedef enum against {
    SPEED_OF_LIMIT, /* at least so much of its speed */
    SPEED_OF_PEER,
    TIMES_FASTEST, /* the slowest of several lines takes at most so many times the time of the fastest */
    NANOSECONDS    /* a call takes at most so many */
} against;

typedef struct target {
    const char *what;
    against against;
    double wanted;
} target;

struct session;
struct race;

/* Somebody's way of doing a job. */
typedef struct entry {
    char who[48];
    role role;
    job job;
    bool (*call)(struct race *race, const struct entry *entry, size_t set); /* false: it failed */
    const limit *limit;
    const char *pin;  /* of ours: the kernel, or NULL for a free choice */
    const char *word; /* of a peer in the other process: what it calls this */
    const target *targets[TARGETS_MAX];
    double tolerated; /* of a peer: how far off a result may be, as a part of the largest possible; 0: not at all */
    bool out;         /* of the race: cannot, or does it wrongly */
    char kernel[48];  /* of ours: what was chosen */
    double sample[ROUNDS_MAX];
    double us, low, high; /* median, quartiles */
    double gbps;
} entry;

typedef struct options {
    unsigned rounds;
    bool quick; /* fewer lines */
    const char *csv, *markdown, *python;
    const char *pins[PINS_MAX];
    size_t n_pins;
    unsigned threads[TEAMS_MAX];
    size_t n_threads;
    size_t rotated; /* bytes that calls run through before they repeat */
} options;

/* A context and a set of threads for the limits, all on the same processors. */
typedef struct team {
    unsigned threads;
    gp_context *context;
    crew *crew;
} team;

typedef struct session {
    options opt;
    machine machine;
    memory memory;
    team teams[TEAMS_MAX];
    size_t n_teams;
    gp_context *reference; /* pinned to the rows that every other is proved against */
    FILE *csv, *markdown;
    bool numpy, opencv, openblas;
    size_t wrong; /* results of ours that were not as expected */
} session;

/* Who does jobs in turns. */
typedef struct race {
    session *s;
    const team *team;
    const char *title;
    unsigned serial; /* no two have the same */
    unsigned reps;   /* calls a sample */
    int64_t result;  /* of a reduction */
    entry list[ENTRIES_MAX];
    size_t count;
} race;

/* Prints and ends the program: nothing measured after a failed call would mean anything. */
_Noreturn void die(const char *what, const char *why);
void gp_check(gp_status status, const char *call);
#define GP(call) gp_check((call), #call)

void session_open(session *s, const options *opt);
void session_close(session *s);

const char *reduce_name(size_t op);
gp_operation kernel_operation(const char *kernel); /* of a processor row by its name; ends the program if none */
double job_bytes(const job *j);                    /* that must move, each element of input and output once */
/* As "sum", "w = 31", "4 bytes 4096 x 4096". */
void job_label(const job *j, char *text, size_t size);
/* Does it on one set with this context. */
gp_status job_call(gp_context *context, const job *j, const memory *m, size_t set, int64_t *result);

/* A race: begin, add, run. Only one at a time. */
race *race_begin(session *s, const team *t, const char *title, unsigned reps);
void race_add_limits(race *r, const job *j, limit_kind kind, role as);
/* The free choice, judged, and every pinned kernel of the operation. Targets end at NULL. */
void race_add_ours(race *r, const job *j, const target *const *targets);
entry *race_add(race *r, role as, const char *who, const job *j);
void race_run(race *r);

void report_header(session *s);
void report_race(race *r);
/* The slowest of our free choice's lines against the fastest. */
void report_spread(race *r, const target *t);
void report_targets(session *s);

void bench_reduce(session *s);
void bench_window(session *s);
void bench_transpose(session *s);
void bench_calls(session *s);

/* Does one of the small jobs with a kernel so often. 77: it cannot here. */
int count_calls(const char *name, const char *kernel, unsigned calls);
/* A line each: job, kernel, elements. */
void count_list(void);

#endif
