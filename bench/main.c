/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim-bench: floors, peers and the library's public calls in one process, in turns, on a GPU and the processor.
 */
#include "core/rows.h"
#include "core/verdict.h"
#include "peers.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>

static program p;

/* The options: a flag, a text, or a list of texts with commas between them. */
enum kind { FLAG, TEXT, LIST };
static const struct {
    const char *name, *value, *about;
    enum kind kind;
    void *to;
} settings[] = {
    {"on", "gpu|cpu", "Only there", TEXT, &p.opt.on},
    {"csv", "FILE", "Write the table there too", TEXT, &p.opt.csv},
    {"match", "TEXT", "Only lines whose label contains it", TEXT, &p.opt.match},
    {"quick", NULL, "Every fourth line, 5 rounds, short rows of calls", FLAG, &p.opt.quick},
    {"rounds", "N", "Rounds, up to 101 (9)", TEXT, &p.opt.rounds},
    {"batch", "MS", "Least time of a row of calls (6)", TEXT, &p.opt.batch},
    {"graph", NULL, "On a GPU, time replays of captured calls instead of launches", FLAG, &p.session.opt.graph},
    {"once", NULL, "One checked call of each contender, nothing timed: for profilers", FLAG, &p.session.opt.once},
    {"calls", "N", "Only N unchecked calls of each contender: for tools that count instructions", TEXT, &p.opt.calls},
    {"brief", NULL, "Print verdicts alone", FLAG, &p.opt.brief},
    {"pin", "KERNEL[:THREADS],...", "Further contenders", LIST, &p.session.opt.pins},
    {"rows", NULL, "Every kernel that can is a contender, and has to earn its place", FLAG, &p.session.opt.rows},
    {"without", "KERNEL,...", "As if these kernels were not there", LIST, &p.session.opt.without},
    {"from", "FILE", "Measure nothing: judge the kernels by what --rows --csv wrote", TEXT, &p.opt.from},
    {"threads", "N,...", "Of the processor (1 and as many as cores)", LIST, &p.opt.threads},
    {"rotate", "MIB",
     "Calls run through so much memory before they repeat (4096; the processor: twice its last cache)", TEXT,
     &p.opt.rotate},
    {"python", "COMMAND", "One that has numpy and OpenCV (python3)", TEXT, &p.opt.python},
    {"no-peers", NULL, "Without other libraries", FLAG, &p.opt.no_peers},
    {"first-child", "WAY", NULL, TEXT, &p.opt.first_child},
};
enum { SETTINGS = sizeof settings / sizeof *settings, KEY = 0x200 };

static void add_to(struct argp_state *state, word_list *list, char *text) {
    for (char *rest = text, *word; (word = strsep(&rest, ",")) != NULL; list->word[list->count++] = word)
        if (list->count == WORD_LIST_MAX)
            argp_error(state, "'%s': a list has at most %d entries", word, WORD_LIST_MAX);
}

/* What options say in numbers, and what they leave unsaid. */
static void settle(struct argp_state *state) {
    bench_options *b = &p.session.opt;
    const double batch = p.opt.batch != NULL ? strtod(p.opt.batch, NULL) : p.opt.quick ? 2 : 6;
    const size_t rotated = p.opt.rotate != NULL ? parse_size(state, "--rotate", p.opt.rotate) << 20 : 0;
    b->rounds = p.opt.rounds != NULL ? parse_size(state, "--rounds", p.opt.rounds) : p.opt.quick ? 5 : 9;
    b->calls = p.opt.calls != NULL ? parse_size(state, "--calls", p.opt.calls) : 0;
    b->batch_ms[0] = b->batch_ms[1] = batch;
    b->rotated[0] = rotated;
    b->rotated[1] = rotated > 0 ? rotated : (size_t)4 << 30; /* 70 times an H200's L2 */
    if (b->rounds < 1 || b->rounds > ROUNDS_MAX)
        argp_error(state, "--rounds is 1 to %d", ROUNDS_MAX);
    if (!(batch > 0))
        argp_error(state, "--batch is a number above 0");
    if (p.opt.on != NULL && strcmp(p.opt.on, "gpu") != 0 && strcmp(p.opt.on, "cpu") != 0)
        argp_error(state, "--on is gpu or cpu, not '%s'", p.opt.on);
    for (size_t i = 0; i < p.opt.threads.count; i++)
        if (parse_size(state, "--threads", p.opt.threads.word[i]) < 1)
            argp_error(state, "--threads are 1 or more");
    for (size_t i = 0; i < p.opt.groups.count; i++)
        if (!groups_known(p.opt.groups.word[i]))
            argp_error(state, "there is no group '%s'", p.opt.groups.word[i]);
    if (p.opt.groups.count == 0 && p.opt.from == NULL && p.opt.first_child == NULL)
        argp_error(state, "which groups?");
}

static error_t parse(int key, char *word, struct argp_state *state) {
    if (key == ARGP_KEY_ARG)
        add_to(state, &p.opt.groups, word);
    else if (key == ARGP_KEY_END)
        settle(state);
    else if (key < KEY || key >= KEY + SETTINGS)
        return ARGP_ERR_UNKNOWN;
    else if (settings[key - KEY].kind == FLAG)
        *(bool *)settings[key - KEY].to = true;
    else if (settings[key - KEY].kind == TEXT)
        *(const char **)settings[key - KEY].to = word;
    else
        add_to(state, settings[key - KEY].to, word);
    return 0;
}

static char *groups_text(int key, const char *text, void *input) {
    char *all = NULL;
    size_t size = 0;
    (void)input;
    FILE *to = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&all, &size) : NULL;
    if (to == NULL)
        return (char *)(uintptr_t)text;
    groups_help(to);
    fclose(to);
    return all;
}

/* First the GPU, then the processor, to whose cores this process is pinned from then on. */
static void run(void) {
    session *s = &p.session;
    const char *on = p.opt.on != NULL ? p.opt.on : "gpu cpu";
    session_open(s);
    s->peers = p.opt.no_peers ? NULL : all_peers;
    s->report = report_line;
    s->is_good = report_is_good;
    if (s->gpu == NULL && strstr(on, "gpu") != NULL)
        printf("# no GPU: %s\n", gp_last_error());
    if (s->gpu != NULL && strstr(on, "gpu") != NULL) {
        place_add(s, true, 0);
        report_open(&p);
        groups_run(&p, true);
    }
    if (strstr(on, "cpu") != NULL) {
        processor_open(&p);
        report_open(&p);
        groups_run(&p, false);
    }
    peers_close();
    report_close(&p);
    session_close(s);
}

int main(int argc, char **argv) {
    static struct argp_option options[SETTINGS + 1];
    const struct argp parser = {.options = options,
                                .parser = parse,
                                .args_doc = "GROUP...",
                                .doc = "Time floors, peers and libgpuprim, every result checked first.\v ",
                                .help_filter = groups_text};
    for (int i = 0; i < SETTINGS; i++)
        options[i] = (struct argp_option){.name = settings[i].name,
                                          .key = KEY + i,
                                          .arg = settings[i].value,
                                          .flags = settings[i].about != NULL ? 0 : OPTION_HIDDEN,
                                          .doc = settings[i].about};
    tool_name = "gpuprim-bench";
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    if (p.opt.first_child != NULL)
        return first_use_child(p.opt.first_child);
    if (p.opt.from != NULL)
        rows_read(p.opt.from);
    else
        run();
    verdicts_print();
    const word_list *without = &p.session.opt.without;
    const bool judged = p.session.opt.rows || p.opt.from != NULL;
    const bool earned = !judged || rows_judge(without->word, without->count);
    if (p.opt.from == NULL)
        printf("\nwrong results: %zu\n", p.session.wrong);
    return p.session.wrong > 0 || !earned ? EXIT_FAILED : 0;
}
