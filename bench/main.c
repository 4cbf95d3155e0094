/* SPDX-License-Identifier: Apache-2.0 */
/* gpuprim-bench-gpu: floors, peers and the library's public calls in one process, in turns. */
#include "bench.h"
#include "report.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

typedef struct group {
    const char *name, *about;
    void (*run)(session *);
    const char *set; /* of several groups that one word selects */
} group;

static const group groups[] = {
    {"reduce", "device to device: sizes, operations, offsets", bench_reduce, "all"},
    {"reduce-host", "result in a host variable", bench_reduce_host, "all"},
    {"transpose", "squares of 1, 2, 4, 8, 16 bytes", bench_transpose, "all"},
    {"transpose-odd", "odd and thin shapes, in place, pitches and offsets", bench_transpose_odd, "all"},
    {"window", "8-bit images, all borders, windows 3 to 1001", bench_window, "all"},
    {"window-data", "16-bit, 24-bit, full int32 images", bench_window_data, "all"},
    {"window-shape", "flat, narrow, odd, pitched images, one output", bench_window_shape, "all"},
    {"host", "host time until a call returns", bench_host, "all"},
    {"first", "first use, in fresh processes", bench_first, "all"},
    {"staging", "what is staged against the bus and the plain way", bench_staging, "host-data"},
    {"limits", "the device as if it had less shared memory and fewer registers", bench_limits, "limits"},
    {"curve-reduce", "over sizes, with peers and floor, to be drawn", bench_curve_reduce, "curve"},
    {"curve-transpose", "likewise, squares of 1 to 16 bytes", bench_curve_transpose, "curve"},
    {"curve-window", "likewise, and over the window's width", bench_curve_window, "curve"},
    {"sweep-reduce", "sizes without gaps, cliffs", bench_sweep_reduce, "sweep"},
    {"sweep-transpose", "sizes and thin shapes, cliffs", bench_sweep_transpose, "sweep"},
    {"sweep-window", "sizes, widths and windows, cliffs", bench_sweep_window, "sweep"},
};
#define N_GROUPS (sizeof groups / sizeof *groups)

static void help(FILE *to) {
    fprintf(to, "Usage: gpuprim-bench-gpu [OPTION]... GROUP...\n"
                "Times floors, peers and libgpuprim on the current GPU, every result checked first.\n\nGroups:\n");
    for (size_t i = 0; i < N_GROUPS; i++)
        fprintf(to, "  %-16s %s\n", groups[i].name, groups[i].about);
    fprintf(to, "  %-16s %s\n  %-16s %s\n  %-16s %s\n  %-16s %s\n", "all",
            "every group but host data, limits, curves and sweeps", "host-data", "staging", "curve", "every curve",
            "sweep", "every sweep");
    fprintf(to, "\nOptions:\n"
                "  --csv FILE              write the table there too\n"
                "  --pin KERNEL[:THREADS]  a further contender; several, or a list with commas\n"
                "  --match TEXT            only lines whose label contains it\n"
                "  --rounds N              interleaved rounds, default 9\n"
                "  --batch MS              least time between two events, default 6\n"
                "  --graph                 time replays of captured calls instead of launches\n"
                "  --once                  one checked call of each contender, nothing timed: for profilers\n"
                "  --quick                 fewer lines, 5 rounds, batches of 2 ms\n"
                "  --brief                 print only our lines that miss a target, and the summary\n"
                "  --help\n");
}

static void usage(const char *what, const char *why) {
    fprintf(stderr, "gpuprim-bench-gpu: %s: %s\n", what, why);
    help(stderr);
    exit(2);
}

static bool selected(const group *g, const char *name) {
    return strcmp(name, g->name) == 0 || strcmp(name, g->set) == 0;
}

static void check_groups(int count, char **names) {
    if (count == 0)
        usage("GROUP", "missing");
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (size_t g = 0; g < N_GROUPS; g++)
            known = known || selected(&groups[g], names[i]);
        if (!known)
            usage(names[i], "no such group");
    }
}

static void add_pins(options *opt, char *list) {
    for (char *rest = list, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (opt->n_pins == PINS_MAX)
            usage("--pin", "too many");
        opt->pins[opt->n_pins++] = name;
    }
}

static void parse(int argc, char **argv, options *opt) {
    static const struct option known[] = {{"csv", required_argument, NULL, 'c'},
                                          {"pin", required_argument, NULL, 'p'},
                                          {"match", required_argument, NULL, 'm'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"batch", required_argument, NULL, 'b'},
                                          {"graph", no_argument, NULL, 'g'},
                                          {"once", no_argument, NULL, 'o'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"brief", no_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"first-child", required_argument, NULL, 'f'},
                                          {0}};
    int letter;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (letter) {
        case 'c':
            opt->csv = optarg;
            break;
        case 'p':
            add_pins(opt, optarg);
            break;
        case 'm':
            opt->match = optarg;
            break;
        case 'r':
            opt->rounds = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'b':
            opt->batch_ms = strtod(optarg, NULL);
            break;
        case 'g':
            opt->graph = true;
            break;
        case 'o':
            opt->once = true;
            break;
        case 'q':
            opt->quick = true;
            opt->rounds = 5;
            opt->batch_ms = 2;
            break;
        case 'f':
            exit(first_child(optarg));
        case 's':
            opt->brief = true;
            break;
        case 'h':
            help(stdout);
            exit(0);
        default:
            help(stderr);
            exit(2);
        }
    }
    if (opt->rounds < 1 || opt->rounds > ROUNDS_MAX || !(opt->batch_ms > 0))
        usage("--rounds, --batch", "out of range");
}

int main(int argc, char **argv) {
    static session s;
    options opt = {.rounds = 9, .batch_ms = 6};
    parse(argc, argv, &opt);
    check_groups(argc - optind, argv + optind);
    if (gp_device_count() == 0)
        die("no GPU", gp_last_error());
    session_open(&s, &opt);
    report_header(&s);
    for (size_t g = 0; g < N_GROUPS; g++)
        for (int i = optind; i < argc; i++)
            if (selected(&groups[g], argv[i])) {
                const double begin = host_us();
                groups[g].run(&s);
                printf("# %s: %.1f s\n", groups[g].name, (host_us() - begin) * 1e-6);
                break;
            }
    report_targets();
    chosen_report();
    printf("\nwrong results: %zu\n", s.wrong);
    const bool wrong = s.wrong > 0;
    session_close(&s);
    return wrong ? 1 : 0;
}
