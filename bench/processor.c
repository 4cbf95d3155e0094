/* SPDX-License-Identifier: Apache-2.0 */
/* The processor's cores: a place for each number of threads. This thread has the first core, the others the rest. */
#include "peers.h"
#include "program.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPUS_MAX = 1024 };

static unsigned cpus[CPUS_MAX]; /* no two on one core */
static unsigned n_cpus;

unsigned processor_cpu(unsigned thread) {
    return cpus[thread];
}

/* The first processor of its core, as the system tells; itself where it does not. */
static unsigned first_of_core(unsigned cpu) {
    char path[96];
    unsigned first = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "r");
    if (file != NULL && fscanf(file, "%u", &first) != 1)
        first = cpu;
    if (file != NULL)
        fclose(file);
    return first;
}

static void choose_cpus(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        fail("sched_getaffinity: refused");
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && n_cpus < CPUS_MAX; cpu++) {
        const unsigned first = CPU_ISSET(cpu, &allowed) ? first_of_core(cpu) : 0;
        if (CPU_ISSET(cpu, &allowed) && (first == cpu || !CPU_ISSET(first, &allowed)))
            cpus[n_cpus++] = cpu;
    }
}

/* The calling thread, and those that it starts, to cpus[first] .. cpus[end - 1]. */
static void pin_self(unsigned first, unsigned end) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (unsigned i = first; i < end; i++)
        CPU_SET(cpus[i], &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fail("sched_setaffinity: refused");
}

/* A context's threads start at the first call that is worth them, and may run where the caller may at that time. */
static void add_team(session *s, unsigned threads) {
    const size_t n = (size_t)threads << 20;
    int32_t *ints = host_alloc(n, sizeof *ints);
    int64_t sum;
    const place *p = place_add(s, false, threads);
    if (threads > 1)
        pin_self(1, threads);
    must(gp_reduce_int(p->context, GP_REDUCE_SUM, ints, n, &sum));
    pin_self(0, 1);
    free(ints);
}

static void read_model(char *model, size_t size) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char text[256];
    while (file != NULL && fgets(text, sizeof text, file))
        if (strncmp(text, "model name", 10) == 0 && strchr(text, ':') != NULL)
            snprintf(model, size, "%.*s", (int)strcspn(strchr(text, ':') + 2, "\n"), strchr(text, ':') + 2);
    if (file != NULL)
        fclose(file);
}

static void add_teams(program *p) {
    const word_list *asked = &p->opt.threads;
    for (size_t i = 0; i < asked->count; i++) {
        const unsigned threads = (unsigned)strtoul(asked->word[i], NULL, 10);
        if (threads <= n_cpus)
            add_team(&p->session, threads);
        else
            printf("# left out: %u threads, this process may use %u cores\n", threads, n_cpus);
    }
    if (asked->count == 0)
        add_team(&p->session, 1);
    if (asked->count == 0 && n_cpus > 1)
        add_team(&p->session, n_cpus);
}

void processor_open(program *p) {
    session *s = &p->session;
    const size_t before = s->n_places, least = (size_t)256 << 20;
    choose_cpus();
    if (!p->opt.no_peers) /* before any thread is pinned, so that theirs may have every core */
        python_open(p->opt.python != NULL ? p->opt.python : "python3");
    pin_self(0, 1);
    add_teams(p);
    if (s->n_places == before)
        fail("--threads: none is possible");
    place *last = &s->places[s->n_places - 1];
    read_model(last->device.name, sizeof last->device.name);
    if (s->opt.rotated[0] == 0)
        s->opt.rotated[0] = 2 * last->cache_bytes > least ? 2 * last->cache_bytes : least;
    printf("# pinned to processors");
    for (unsigned i = 0; i < last->threads; i++)
        printf(" %u", cpus[i]);
    printf("; L2 %ld KiB, L3 %zu MiB; calls run through %zu MiB\n", sysconf(_SC_LEVEL2_CACHE_SIZE) >> 10,
           last->cache_bytes >> 20, s->opt.rotated[0] >> 20);
}
