/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim-bench-cpu: memory limits, other libraries and the processor rows, through the public calls, in turns. */
#include "peers.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

typedef struct group {
    const char *name, *about;
    void (*run)(session *);
} group;

static const group groups[] = {
    {"reduce", "sum in cache; sum, min, max, and, or, xor at 64 and 512 MiB", bench_reduce},
    {"window", "sum and square over 4096^2, windows 3 to 1001, 8-bit, 16-bit, full int32 data", bench_window},
    {"transpose", "1 to 16 bytes, with and without a pitch that is a power of two", bench_transpose},
    {"calls", "calls on one element", bench_calls},
};
#define N_GROUPS (sizeof groups / sizeof *groups)

static void help(FILE *to) {
    fprintf(to, "Usage: gpuprim-bench-cpu [OPTION]... GROUP...\n"
                "Times memory limits, numpy, OpenCV, OpenBLAS and libgpuprim on the processor, every result checked "
                "first.\n\nGroups:\n");
    for (size_t i = 0; i < N_GROUPS; i++)
        fprintf(to, "  %-12s %s\n", groups[i].name, groups[i].about);
    fprintf(to,
            "  %-12s every group\n\nOptions:\n"
            "  --threads LIST     default 1,2; no more than there are cores\n"
            "  --pin KERNEL       a further entry; several, or a list with commas\n"
            "  --rounds N         interleaved rounds, default 21\n"
            "  --rotate MIB       calls run through so much memory before they repeat; default 2 x L3, at least 256\n"
            "  --quick            fewer lines, 5 rounds\n"
            "  --csv FILE         write the table there too\n"
            "  --markdown FILE    likewise\n"
            "  --python COMMAND   one that has numpy and OpenCV, default python3\n"
            "  --no-peers\n"
            "  --count CASE:KERNEL:CALLS  only call, for a tool that counts instructions\n"
            "  --count-list       cases, kernels and elements for --count\n"
            "  --help\n",
            "all");
}

static void usage(const char *what, const char *why) {
    fprintf(stderr, "gpuprim-bench-cpu: %s: %s\n", what, why);
    help(stderr);
    exit(2);
}

static void add_pins(options *opt, char *list) {
    for (char *rest = list, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (opt->n_pins == PINS_MAX)
            usage("--pin", "too many");
        kernel_operation(name);
        opt->pins[opt->n_pins++] = name;
    }
}

static void add_threads(options *opt, char *list) {
    opt->n_threads = 0;
    for (char *rest = list, *number; (number = strsep(&rest, ",")) != NULL;) {
        const unsigned long threads = strtoul(number, NULL, 10);
        if (opt->n_threads == TEAMS_MAX || threads < 1 || threads > CPUS_MAX)
            usage("--threads", "out of range");
        opt->threads[opt->n_threads++] = (unsigned)threads;
    }
}

/* CASE:KERNEL:CALLS */
static int count(char *text) {
    const char *name = strsep(&text, ":"), *kernel = strsep(&text, ":");
    if (!text)
        usage("--count", "CASE:KERNEL:CALLS");
    return count_calls(name, kernel, (unsigned)strtoul(text, NULL, 10));
}

static void take(int letter, options *opt) {
    switch (letter) {
    case 't':
        add_threads(opt, optarg);
        break;
    case 'p':
        add_pins(opt, optarg);
        break;
    case 'r':
        opt->rounds = (unsigned)strtoul(optarg, NULL, 10);
        break;
    case 'm':
        opt->rotated = strtoul(optarg, NULL, 10) << 20;
        break;
    case 'q':
        opt->quick = true;
        opt->rounds = 5;
        break;
    case 'c':
        opt->csv = optarg;
        break;
    case 'd':
        opt->markdown = optarg;
        break;
    case 'y':
        opt->python = optarg;
        break;
    case 'n':
        opt->python = NULL;
        break;
    case 'o':
        exit(count(optarg));
    case 'l':
        count_list();
        exit(0);
    case 'h':
        help(stdout);
        exit(0);
    default:
        help(stderr);
        exit(2);
    }
}

static void parse(int argc, char **argv, options *opt) {
    static const struct option known[] = {{"threads", required_argument, NULL, 't'},
                                          {"pin", required_argument, NULL, 'p'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"rotate", required_argument, NULL, 'm'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"csv", required_argument, NULL, 'c'},
                                          {"markdown", required_argument, NULL, 'd'},
                                          {"python", required_argument, NULL, 'y'},
                                          {"no-peers", no_argument, NULL, 'n'},
                                          {"count", required_argument, NULL, 'o'},
                                          {"count-list", no_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    int letter;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1)
        take(letter, opt);
    if (opt->rounds < 1 || opt->rounds > ROUNDS_MAX)
        usage("--rounds", "out of range");
    if (optind == argc)
        usage("GROUP", "missing");
    for (int i = optind; i < argc; i++) {
        bool found = strcmp(argv[i], "all") == 0;
        for (size_t g = 0; g < N_GROUPS; g++)
            found = found || strcmp(argv[i], groups[g].name) == 0;
        if (!found)
            usage(argv[i], "no such group");
    }
}

int main(int argc, char **argv) {
    static session s;
    options opt = {.rounds = 21, .python = "python3", .threads = {1, 2}, .n_threads = 2, .rotated = SIZE_MAX};
    parse(argc, argv, &opt);
    session_open(&s, &opt);
    report_header(&s);
    for (size_t g = 0; g < N_GROUPS; g++)
        for (int i = optind; i < argc; i++)
            if (strcmp(argv[i], "all") == 0 || strcmp(argv[i], groups[g].name) == 0) {
                groups[g].run(&s);
                break;
            }
    report_targets(&s);
    printf("\nwrong results: %zu\n", s.wrong);
    const bool wrong = s.wrong > 0;
    session_close(&s);
    return wrong ? 1 : 0;
}
