/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim bench: its command line, and the run. */
#include "bench.h"
#include <string.h>

enum { KEY_QUICK = 0x200, KEY_ROUNDS, KEY_N, KEY_SHAPE, KEY_ELEM, KEY_THREADS, KEY_PLOT, KEY_FROM };

static const char about[] =
    "Check and time the kernels on this machine's GPU or, without one, its processor. Groups are reduce, window, "
    "transpose, ladder and all (the default).\v"
    "A time is the median over rounds in which all kernels of a line take turns; each runs through so much memory "
    "that no call finds its data in a cache. On a GPU it is taken there, between two events. GB/s are the bytes that "
    "must be read and written, each once, over the time. `of floor' is the time of a kernel that only moves those "
    "bytes, measured in the same run, over the kernel's. * marks the planner's choice; `step x' is the gain over the "
    "line above, `total x' over the ladder's first (for the planner's choice: the first of all). Every result is "
    "checked first: a wrong one is told, not timed, "
    "and "
    "makes the exit status 1.\n"
    "\n"
    "The ladder runs the study kernels from the first idea to the last, one call a round on cold caches, at 2^24 "
    "ints "
    "and 512 threads a block (those in shared memory 128) unless told otherwise; then windows and transposes.";

static const struct argp_option bench_options_list[] = {
    {"quick", KEY_QUICK, NULL, 0, "Fewer and smaller problems, fewer rounds", 0},
    {"rounds", KEY_ROUNDS, "N", 0, "Rounds, up to 101 (15; quick: 5)", 0},
    {"n", KEY_N, "LIST", 0, "Ints to reduce, such as 2^16,2^24", 1},
    {"shape", KEY_SHAPE, "LIST", 0, "Images and matrices, such as 4096x4096,100x2^20", 1},
    {"window", 'w', "LIST", 0, "Widths of windows (3,15,31)", 1},
    {"elem", KEY_ELEM, "LIST", 0, "Bytes of the elements to transpose (4)", 1},
    {"threads", KEY_THREADS, "N", 0, "Threads a block of the ladder's kernels in global memory (512)", 1},
    {"plot", KEY_PLOT, "FILE", 0, "Draw into FILE.svg or FILE.png, by gnuplot", 2},
    {"from", KEY_FROM, "FILE", 0,
     "Measure nothing: draw a run that --format json printed, or the CSV of gpuprim-bench-gpu", 2},
    {0}};

static void add(struct argp_state *state, sizes *list, size_t value) {
    if (value == 0)
        argp_error(state, "sizes are 1 or more");
    if (list->count == LIST_MAX)
        argp_error(state, "a list has at most %d entries", LIST_MAX);
    list->value[list->count++] = value;
}

/* "a,b": each part is handed on as its own word. */
static void parse_list(struct argp_state *state, char *text, int key, bench_options *o) {
    char *rest = NULL;
    size_t rows, cols;
    for (char *part = strtok_r(text, ",", &rest); part != NULL; part = strtok_r(NULL, ",", &rest)) {
        if (key == KEY_N) {
            add(state, &o->n, parse_size(state, "--n", part));
        } else if (key == 'w') {
            add(state, &o->windows, parse_size(state, "--window", part));
        } else if (key == KEY_ELEM) {
            add(state, &o->elems, parse_size(state, "--elem", part));
        } else {
            parse_shape(state, part, &rows, &cols);
            add(state, &o->rows, rows);
            add(state, &o->cols, cols);
        }
    }
}

unsigned bench_group_of(const char *word) {
    static const char *const words[] = {"reduce", "window", "transpose", "ladder"};
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(word, words[i]) == 0)
            return 1u << i;
    return strcmp(word, "all") == 0 ? GROUP_ALL : 0;
}

/* Only a plot can be made of a saved run, and how it was measured is settled. */
static void check_saved(struct argp_state *state, const bench_options *o) {
    if (o->from != NULL && o->plot == NULL)
        argp_error(state, "--from needs --plot");
    if (o->from != NULL && (o->quick || o->rounds > 0 || o->threads > 0 || o->how != FORMAT_TEXT))
        argp_error(state, "--from measures and prints nothing: no --quick, --rounds, --threads, --format");
}

static error_t parse(int key, char *word, struct argp_state *state) {
    bench_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->how;
        return 0;
    case KEY_QUICK:
        o->quick = true;
        return 0;
    case KEY_ROUNDS:
        o->rounds = parse_size(state, "--rounds", word);
        if (o->rounds < 1 || o->rounds > ROUNDS_MAX)
            argp_error(state, "--rounds is 1 to %d", ROUNDS_MAX);
        return 0;
    case KEY_THREADS:
        o->threads = parse_size(state, "--threads", word);
        if (o->threads < 64 || o->threads > 1024 || (o->threads & (o->threads - 1)) != 0)
            argp_error(state, "--threads is 64, 128, 256, 512 or 1024");
        return 0;
    case KEY_N:
    case KEY_SHAPE:
    case KEY_ELEM:
    case 'w':
        parse_list(state, word, key, o);
        return 0;
    case KEY_PLOT:
        o->plot = word;
        return 0;
    case ARGP_KEY_ARG:
        if (bench_group_of(word) == 0)
            argp_error(state, "a group is reduce, window, transpose, ladder or all, not '%s'", word);
        o->groups |= bench_group_of(word);
        return 0;
    case KEY_FROM:
        o->from = word;
        return 0;
    case ARGP_KEY_END:
        check_saved(state, o);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_head(const bench *b) {
    if (b->opt.how != FORMAT_TEXT)
        return;
    if (b->gpu)
        printf("%s, %u SMs", b->device.name, b->device.multiprocessors);
    else
        printf("processor, %u thread%s (no GPU)", b->device.cpu_threads, b->device.cpu_threads == 1 ? "" : "s");
    printf("; medians of %zu rounds\n\n", b->opt.rounds);
    fflush(stdout);
}

int bench_main(int argc, char **argv) {
    static const struct argp_child children[] = {{&format_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = bench_options_list, .parser = parse, .args_doc = "[GROUP...]", .doc = about, .children = children};
    static bench b;
    argp_parse(&parser, argc, argv, 0, NULL, &b.opt);
    if (b.opt.groups == 0)
        b.opt.groups = GROUP_ALL;
    if (b.opt.rounds == 0)
        b.opt.rounds = b.opt.quick ? 5 : 15;
    if (b.opt.plot != NULL)
        plot_check(b.opt.plot);
    if (b.opt.from != NULL) {
        bench_draw_saved(&b.opt);
        return 0;
    }
    bench_open(&b);
    print_head(&b);
    for (unsigned group = 1; group < GROUP_ALL; group *= 2)
        if (b.opt.groups & group)
            bench_group(&b, group);
    bench_finish(&b);
    if (b.opt.plot != NULL)
        plot_write(b.opt.plot, b.rows, b.gpu ? b.device.name : "processor");
    const bool right = b.wrong == 0;
    bench_close(&b);
    return right ? 0 : EXIT_FAILED;
}
