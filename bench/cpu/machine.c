/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the machine from /proc and /sys, and pins threads. */
#include "machine.h"
#include "bench.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A number from /sys, or -1. */
static long read_number(const char *path) {
    FILE *file = fopen(path, "r");
    long value = -1;
    if (file && fscanf(file, "%ld", &value) != 1)
        value = -1;
    if (file)
        fclose(file);
    return value;
}

static long topology(unsigned cpu, const char *what) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, what);
    return read_number(path);
}

static bool same_core(unsigned a, unsigned b) {
    const long core = topology(a, "core_id");
    return core >= 0 && core == topology(b, "core_id") &&
           topology(a, "physical_package_id") == topology(b, "physical_package_id");
}

static void choose_cpus(machine *m) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        die("sched_getaffinity", "refused");
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && m->n_cpus < CPUS_MAX; cpu++) {
        bool apart = CPU_ISSET(cpu, &allowed);
        for (unsigned i = 0; apart && i < m->n_cpus; i++)
            apart = !same_core(cpu, m->cpu[i]);
        if (apart)
            m->cpu[m->n_cpus++] = cpu;
    }
}

static void read_model(char *model, size_t size) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    snprintf(model, size, "unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(model, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

static size_t positive(long value) {
    return value > 0 ? (size_t)value : 0;
}

void machine_read(machine *m) {
    memset(m, 0, sizeof *m);
    read_model(m->model, sizeof m->model);
    choose_cpus(m);
    m->l2_bytes = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
    m->l3_bytes = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
    m->memory_bytes = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
}

static void pin_thread(int id, unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(id, sizeof set, &set) != 0)
        die("sched_setaffinity", "refused");
}

void pin_self(unsigned cpu) {
    pin_thread(0, cpu);
}

void threads_list(thread_list *list) {
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        die("/proc/self/task", "cannot be read");
    list->count = 0;
    for (const struct dirent *item; (item = readdir(folder)) != NULL;)
        if (item->d_name[0] != '.' && list->count < sizeof list->id / sizeof *list->id)
            list->id[list->count++] = (int)strtol(item->d_name, NULL, 10);
    closedir(folder);
}

unsigned pin_new_threads(const machine *m, const thread_list *before, unsigned threads) {
    thread_list now;
    unsigned found = 0;
    threads_list(&now);
    for (size_t i = 0; i < now.count; i++) {
        bool known = false;
        for (size_t k = 0; k < before->count; k++)
            known = known || now.id[i] == before->id[k];
        if (!known) {
            found++;
            if (found < threads)
                pin_thread(now.id[i], m->cpu[found]);
        }
    }
    return found;
}
