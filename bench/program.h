/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of gpuprim-bench share beyond the core. */
#pragma once

#include "core/bench.h"

typedef struct program_options {
    const char *on, *csv, *match, *rounds, *batch, *calls, *from, *rotate, *python,
        *first_child; /* NULL: not given */
    word_list threads, groups;
    bool quick, brief, no_peers;
} program_options;

typedef struct program {
    session session;
    program_options opt;
    FILE *csv;
} program;

/* groups.c */
void groups_help(FILE *to);
bool groups_known(const char *word);
void groups_run(program *p, bool gpu); /* those that are asked for */

/* report.c */
void report_open(program *p);
void report_close(program *p);
void report_line(session *s);          /* the session's report() */
bool report_is_good(const session *s); /* the session's is_good() */

/* processor.c: its cores, a place for each number of threads */
void processor_open(program *p);
unsigned processor_cpu(unsigned thread);

/* special.c: who competes in the groups that are not like the others; and first use */
void add_bare_launch(session *s);
void add_limits(session *s);
void add_one_thread(session *s);
void add_staging(session *s);
void run_first_use(program *p);
int first_use_child(const char *way);
