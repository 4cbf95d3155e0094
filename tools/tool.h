/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the subcommands of `gpuprim` share. Data goes to standard output; errors, progress and what was done to
 * standard error. Exit status: 0 done, 1 failed, 2 used wrongly.
 */
#pragma once

#include "gpuprim/explain.h"
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* The subcommands; argv[0] is "gpuprim NAME". */
int info_main(int argc, char **argv);
int kernels_main(int argc, char **argv);
int explain_main(int argc, char **argv);
int bench_main(int argc, char **argv);
int sum_main(int argc, char **argv);
int reduce_main(int argc, char **argv);
int window_main(int argc, char **argv);
int transpose_main(int argc, char **argv);
int rearrange_main(int argc, char **argv);

/* ---- failing: one line on standard error, opening with the subcommand; ends the program with EXIT_FAILED */

extern const char *tool_name; /* "gpuprim NAME" */
__attribute__((format(printf, 1, 2))) _Noreturn void fail(const char *words, ...);
__attribute__((format(printf, 1, 2))) void warn(const char *words, ...);
void must(gp_status status);                  /* the library's own words */
void *host_alloc(size_t count, size_t bytes); /* cleared; fails the program */
void close_output(void);                      /* at exit: what was printed may still be refused, by a full disk say */

/* ---- the terminal, which must obey nothing that stands in a file or a path: control characters become '?' */

enum { SHOWN = 8192 }; /* bytes of the longest text, a path and words */
const char *shown(const char *text, char room[SHOWN]);
const char *shown_on_terminal(const char *text, char room[SHOWN]); /* elsewhere standard output gets it as it is */

bool use_colour(void);                                      /* of standard output */
unsigned screen_width(void);                                /* columns; 0: no terminal, lines are not broken */
void print_wrapped(unsigned indent, const char *text);      /* and a line's end; text starts at the cursor */
void progress(const char *what, size_t done, size_t total); /* a bar, if standard error is a terminal */
void progress_clear(void);

/* ---- the command line */

void read_arguments(const struct argp *parser, int argc, char **argv, unsigned flags, void *request);

/* ---- options that subcommands share, as argp children */

typedef enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV } format;
extern const struct argp format_argp; /* input: format * */
extern const struct argp shape_argp;  /* input: raw_shape * */
extern const struct argp work_argp;   /* input: work_request *, of who computes; --memory too */

typedef struct raw_shape {
    size_t rows, cols, elem_bytes; /* 0: not given */
} raw_shape;

typedef struct work_request {
    gp_backend backend;
    bool verbose;
} work_request;

/* Fails the program if what is held for the file, and `count` times `bytes` to come, is more than --memory allows. */
void memory_check(const char *path, size_t held, size_t count, size_t bytes);
size_t memory_grown(const char *path, size_t room); /* the next size of what holds a file of unknown length */

gp_context *open_context(gp_backend backend);
void tell_plan(const work_request *w, const gp_context *context); /* the last call's, on standard error; if verbose */

const char *operation_name(int32_t operation); /* as the primitives are called */

/* The words for a gp_reduce_op and a gp_border, by their values. */
enum { OPS = 6, BORDERS = 7 }; /* the last border is gp_window()'s */
extern const char *const op_words[OPS], *const border_words[BORDERS];

/* Words to values; a wrong one is a usage error that names the word and what would be right. */
size_t parse_size(struct argp_state *state, const char *what, const char *text); /* 4096, 2^12, 4K */
void parse_shape(struct argp_state *state, const char *text, size_t *rows, size_t *cols);
unsigned parse_extents(struct argp_state *state, const char *text, size_t extent[GP_AXES]); /* the rank; 5x3x2 */
gp_border parse_border(struct argp_state *state, const char *text);
gp_reduce_op parse_op(struct argp_state *state, const char *text);
size_t word_index(struct argp_state *state, const char *what, const char *text, size_t count,
                  const char *const words[]);
