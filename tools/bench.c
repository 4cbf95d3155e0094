/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim bench: its command line, and the run. */
#include "bench.h"
#include <string.h>

enum { KEY_QUICK = 0x200, KEY_ROUNDS, KEY_N, KEY_SHAPE, KEY_ELEM, KEY_THREADS, KEY_PLOT, KEY_FROM };

static const char about[] =
    "Check and time the kernels on this machine's GPU or, without one, its processor. Groups are reduce, "
    "reduce_array, window, transpose, rearrange, ladder and all (the default).\v"
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
     "Measure nothing: draw a run that --format json printed, or the CSV of gpuprim-bench", 2},
    {0}};

static void add(struct argp_state *state, sizes *list, size_t value) {
    if (value == 0)
        argp_error(state, "sizes are 1 or more");
    if (list->count == LIST_MAX)
        argp_error(state, "a list has at most %d entries", LIST_MAX);
    list->value[list->count++] = value;
}

/* "a,b": each part is handed on as its own word, an empty one too, to be refused. */
static void parse_list(struct argp_state *state, char *text, int key, bench_request *o) {
    size_t rows, cols;
    for (char *part; (part = strsep(&text, ",")) != NULL;) {
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

static unsigned ladder_bit(void) {
    unsigned count = 0;
    while (primitives[count] != NULL)
        count++;
    return 1u << count;
}

unsigned bench_group_of(const char *word) {
    for (unsigned i = 0; primitives[i] != NULL; i++)
        if (strcmp(word, primitives[i]->name) == 0)
            return 1u << i;
    return strcmp(word, "ladder") == 0 ? ladder_bit() : strcmp(word, "all") == 0 ? 2 * ladder_bit() - 1 : 0;
}

bool bench_is_ladder(const line *l) {
    return strcmp(l->group, "ladder") == 0;
}

/* Only a plot can be made of a saved run, and how it was measured is settled. */
static void check_saved(struct argp_state *state, const bench_request *o) {
    if (o->from != NULL && o->plot == NULL)
        argp_error(state, "--from needs --plot");
    if (o->from != NULL && (o->quick || o->rounds > 0 || o->threads > 0 || o->how != FORMAT_TEXT))
        argp_error(state, "--from measures and prints nothing: no --quick, --rounds, --threads, --format");
}

static error_t parse(int key, char *word, struct argp_state *state) {
    bench_request *o = state->input;
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
            argp_error(state,
                       "a group is reduce, reduce_array, window, transpose, rearrange, ladder or all, not '%s'",
                       word);
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

/* Past the caches, without taking more memory than that needs. */
static void open_session(bench *b) {
    session *s = &b->session;
    session_open(s);
    const place *at = place_add(s, s->gpu != NULL, 0);
    const size_t least = (size_t)64 << 20, most = (size_t)(at->gpu ? 4096 : 256) << 20;
    const size_t wanted = (at->gpu ? 8 : 4) * at->cache_bytes;
    const double part = b->asked.quick ? 0.25 : 1;
    s->opt =
        (bench_options){.rounds = b->asked.rounds, .batch_ms = {10 * part, 2 * part}, .rotated = {wanted, wanted}};
    s->opt.rotated[at->gpu] = wanted < least ? least : wanted < most ? wanted : most;
    s->report = bench_report;
    b->rows = made(json_array());
}

static void print_head(const bench *b) {
    const gp_device_info *device = &b->session.places[0].device;
    if (b->asked.how != FORMAT_TEXT)
        return;
    if (b->session.gpu != NULL)
        printf("%s, %u SMs", device->name, device->multiprocessors);
    else
        printf("processor, %u thread%s (no GPU)", device->cpu_threads, device->cpu_threads == 1 ? "" : "s");
    printf("; medians of %zu rounds\n\n", b->asked.rounds);
    fflush(stdout);
}

/* It has kernels to climb: study rows, or rows that it names. */
static bool has_ladder(const primitive *of) {
    bool any = of->ladder[0] != NULL;
    for (size_t i = 0; i < gp_kernel_count() && !any; i++) {
        const gp_kernel_info k = kernel_at(i);
        any = k.operation == (int32_t)of->operation && (k.flags & GP_KERNEL_STUDY);
    }
    return any;
}

static void run_groups(bench *b) {
    const unsigned groups = b->asked.groups;
    for (unsigned i = 0; primitives[i] != NULL; i++)
        if (groups & 1u << i)
            bench_group(b, primitives[i], false);
    for (unsigned i = 0; primitives[i] != NULL && (groups & ladder_bit()); i++)
        if (has_ladder(primitives[i]))
            bench_group(b, primitives[i], true);
    bench_finish(b);
}

int bench_main(int argc, char **argv) {
    static const struct argp_child children[] = {{&format_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = bench_options_list, .parser = parse, .args_doc = "[GROUP...]", .doc = about, .children = children};
    static bench b; /* session first: its report() finds the rest */
    bench_request *asked = &b.asked;
    read_arguments(&parser, argc, argv, 0, asked);
    if (asked->groups == 0)
        asked->groups = bench_group_of("all");
    if (asked->rounds == 0)
        asked->rounds = asked->quick ? 5 : 15;
    if (asked->plot != NULL)
        plot_check(asked->plot);
    if (asked->from != NULL) {
        bench_draw_saved(asked);
        return 0;
    }
    open_session(&b);
    print_head(&b);
    run_groups(&b);
    if (asked->plot != NULL)
        plot_write(asked->plot, b.rows, b.session.gpu != NULL ? b.session.places[0].device.name : "processor");
    json_decref(b.rows);
    session_close(&b.session);
    return b.session.wrong == 0 ? 0 : EXIT_FAILED;
}
