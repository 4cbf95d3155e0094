/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a session: machine, peers, contexts and their threads, files; and how the program gives up. */
#include "peers.h"

#include <stdlib.h>
#include <string.h>

void die(const char *what, const char *why) {
    fprintf(stderr, "gpuprim-bench-cpu: %s: %s\n", what, why);
    exit(1);
}

void gp_check(gp_status status, const char *call) {
    if (status != GP_OK)
        die(call, gp_last_error());
}

gp_operation kernel_operation(const char *kernel) {
    for (size_t i = 0; i < gp_kernel_count(); i++) {
        gp_kernel_info info = {.struct_size = sizeof info};
        GP(gp_kernel_at(i, &info));
        if (strcmp(info.name, kernel) == 0 && !(info.flags & GP_KERNEL_GPU))
            return (gp_operation)info.operation;
    }
    die(kernel, "no such processor kernel");
}

static gp_context *open_context(unsigned threads) {
    const gp_options wish = {
        .struct_size = sizeof wish, .backend = GP_BACKEND_CPU, .device = -1, .cpu_threads = threads};
    gp_context *context = NULL;
    GP(gp_context_create(&context, &wish));
    return context;
}

/* The context's threads start at the first call that is worth them; they are told by not having been there before. */
static void open_team(session *s, unsigned threads) {
    team *t = &s->teams[s->n_teams++];
    const size_t bytes = (size_t)threads << 22;
    thread_list before;
    int64_t result;
    t->threads = threads;
    t->context = open_context(threads);
    t->crew = crew_start(&s->machine, threads);
    threads_list(&before);
    memory_prepare(&s->memory, DATA_8_BIT, bytes, 0, 0, 0);
    GP(gp_reduce_int(t->context, GP_REDUCE_SUM, memory_in(&s->memory, 0), bytes / sizeof(int32_t), &result));
    const unsigned started = pin_new_threads(&s->machine, &before, threads);
    if (started + 1 != threads)
        die("threads", "the library did not start as many as it was given");
}

static void open_reference(session *s, unsigned threads) {
    static const char *const rows[] = {"reduce_cpu", "window_cpu", "transpose_cpu"};
    s->reference = open_context(threads);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        GP(gp_context_pin_kernel(s->reference, rows[i], 0));
}

static FILE *open_file(const char *name) {
    FILE *file = name ? fopen(name, "w") : NULL;
    if (name && !file)
        die(name, "cannot be written");
    return file;
}

static void close_file(FILE *file, const char *name) {
    if (file && fclose(file) != 0)
        die(name, "could not be written");
}

static void describe(const session *s) {
    const machine *m = &s->machine;
    const unsigned version = gp_version();
    unsigned most = 0;
    for (size_t i = 0; i < s->n_teams; i++)
        most = s->teams[i].threads > most ? s->teams[i].threads : most;
    printf("# %s; pinned to processors", m->model);
    for (unsigned i = 0; i < most; i++)
        printf(" %u", m->cpu[i]);
    printf("; L2 %zu KiB, L3 %zu MiB; calls run through %zu MiB\n", m->l2_bytes >> 10, m->l3_bytes >> 20,
           s->opt.rotated >> 20);
    printf("# libgpuprim %u.%u.%u, medians of %u interleaved rounds, data seed 0x%llx\n", version / 10000,
           version / 100 % 100, version % 100, s->opt.rounds, (unsigned long long)DATA_SEED);
}

void session_open(session *s, const options *opt) {
    const size_t least = (size_t)256 << 20;
    s->opt = *opt;
    machine_read(&s->machine);
    if (s->opt.rotated == SIZE_MAX) {
        s->opt.rotated = 2 * s->machine.l3_bytes > least ? 2 * s->machine.l3_bytes : least;
        if (s->opt.rotated > s->machine.memory_bytes / 8)
            s->opt.rotated = s->machine.memory_bytes / 8;
    }
    memory_open(&s->memory);
    peers_open(s);
    pin_self(s->machine.cpu[0]);
    unsigned most = 1;
    for (size_t i = 0; i < opt->n_threads; i++) {
        if (opt->threads[i] > s->machine.n_cpus) {
            printf("# left out: %u threads, this process may use %u cores\n", opt->threads[i], s->machine.n_cpus);
            continue;
        }
        open_team(s, opt->threads[i]);
        most = opt->threads[i] > most ? opt->threads[i] : most;
    }
    if (s->n_teams == 0)
        die("--threads", "none is possible");
    open_reference(s, most);
    s->csv = open_file(opt->csv);
    s->markdown = open_file(opt->markdown);
    describe(s);
}

void session_close(session *s) {
    peers_close();
    for (size_t i = 0; i < s->n_teams; i++) {
        gp_context_destroy(s->teams[i].context);
        crew_stop(s->teams[i].crew);
    }
    gp_context_destroy(s->reference);
    memory_free(&s->memory);
    close_file(s->csv, s->opt.csv);
    close_file(s->markdown, s->opt.markdown);
}
