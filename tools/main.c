/* SPDX-License-Identifier: Apache-2.0 */
/* The command `gpuprim`: finds the subcommand and hands over. */
#include "table.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"info", info_main},
    {"kernels", kernels_main},
    {"explain", explain_main},
    {"bench", bench_main},
    {"sum", sum_main},
    {"reduce", reduce_main},
    {"window", window_main},
    {"transpose", transpose_main},
    {"rearrange", rearrange_main},
};

static const char about[] =
    "Reduce arrays, sum in a sliding window, rearrange: at the speed of memory, on a GPU or the processor.\v"
    "Look:\n"
    "  info       the device, what it has, and why no GPU is used\n"
    "  kernels    the catalogue of kernels\n"
    "  explain    what would be chosen for a problem, and why\n"
    "  bench      check and time the kernels on this machine\n"
    "\n"
    "Work on files:\n"
    "  sum        sum, minimum or maximum of a file of ints\n"
    "  reduce     means, sums, extremes of an array or picture along any axes\n"
    "  window     mean and deviation, or sums, in a sliding window\n"
    "  transpose  turn rows into columns\n"
    "  rearrange  crop an array, reverse axes, put them into another order\n"
    "\n"
    "`gpuprim COMMAND --help' tells more. Exit status: 0 done, 1 failed, 2 used wrongly.";

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* What the command line asks for: a command, and where in argv its name stands. */
typedef struct request {
    const struct command *command;
    int at;
} request;

static error_t parse(int key, char *word, struct argp_state *state) {
    request *asked = state->input;
    char room[SHOWN];
    switch (key) {
    case ARGP_KEY_ARG:
        asked->command = find_command(word);
        if (asked->command == NULL)
            argp_error(state, "there is no command '%s'", shown(word, room));
        asked->at = state->next - 1;
        state->next = state->argc; /* the rest is the command's */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which command?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_version(FILE *stream, struct argp_state *state) {
    (void)state;
    const unsigned version = gp_version();
    fprintf(stream, "gpuprim %u.%u.%u\n", version / 10000, version / 100 % 100, version % 100);
}

int main(int argc, char **argv) {
    static char room[1 << 16]; /* a full disk is then told when all is printed */
    static const struct argp parser = {.parser = parse, .args_doc = "COMMAND [ARGUMENT...]", .doc = about};
    request asked = {0};
    char name[32];
    argp_program_version_hook = print_version;
    argp_err_exit_status = EXIT_USAGE;
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, room, _IOFBF, sizeof room);
    atexit(close_output);
    json_begin();
    read_arguments(&parser, argc, argv, ARGP_IN_ORDER, &asked);
    snprintf(name, sizeof name, "gpuprim %s", asked.command->name);
    tool_name = argv[asked.at] = name;
    const int status = asked.command->run(argc - asked.at, argv + asked.at);
    exit(status); /* while the name still stands: handlers use it */
}
