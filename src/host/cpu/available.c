/* SPDX-License-Identifier: Apache-2.0 */
/* How many processors this process may really use: what nproc says, less what a control group's quota takes away. */
#include "split.h"
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 1024

static unsigned affinity_count(void) {
    for (size_t cpus = 1024; cpus <= (size_t)1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set)
            return 1;
        bool known = sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0;
        int count = known ? CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set) : 0;
        CPU_FREE(set);
        if (known)
            return count > 0 ? (unsigned)count : 1;
    }
    return 1;
}

/* Time granted per period, rounded up to whole processors; 0: no limit. */
static unsigned whole_processors(long long quota, long long period) {
    if (quota <= 0 || period <= 0 || quota / period >= GP_PARTS_MAX)
        return 0;
    return (unsigned)(quota / period + (quota % period != 0));
}

/* The numbers that a file of a group begins with; false if there is no such file, or words in it. */
static bool read_numbers(const char *folder, const char *file, long long number[2]) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *text = fopen(path, "re");
    if (text == NULL)
        return false;
    number[1] = 0;
    const int found = fscanf(text, "%lld %lld", &number[0], &number[1]);
    fclose(text);
    return found > 0;
}

/* Version 2 has one file, "max 100000" or "150000 100000"; version 1 one for each number, quota -1 for no limit. */
static unsigned quota_of(const char *folder) {
    long long quota[2], period[2];
    if (read_numbers(folder, "cpu.max", quota))
        return whole_processors(quota[0], quota[1]);
    if (read_numbers(folder, "cpu.cfs_quota_us", quota) && read_numbers(folder, "cpu.cfs_period_us", period))
        return whole_processors(quota[0], period[0]);
    return 0;
}

/* The smallest limit of the group and of all groups above it. A container often sees its own group as the root of the
 * mounted tree while the path is the host's: groups that are not there are passed over and the root is still read. */
static unsigned smallest_quota(const char *mount, const char *group, unsigned count) {
    char folder[PATH_BYTES - 32];
    int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
    if (length < 0 || (size_t)length >= sizeof folder)
        return count;
    for (;;) {
        unsigned limit = quota_of(folder);
        if (limit > 0 && limit < count)
            count = limit;
        char *slash = strrchr(folder, '/');
        if (!slash || strlen(folder) <= strlen(mount))
            return count;
        *slash = '\0';
    }
}

/* One line "number:controllers:/path" of /proc/self/cgroup; no controllers: version 2. */
static unsigned limit_of_line(char *line, unsigned count) {
    (void)strsep(&line, ":");
    char *controllers = strsep(&line, ":"), *group = line, *name;
    if (!group)
        return count;
    if (controllers[0] == '\0') {
        count = smallest_quota("/sys/fs/cgroup", group, count);
        return smallest_quota("/sys/fs/cgroup/unified", group, count);
    }
    while ((name = strsep(&controllers, ",")) != NULL)
        if (strcmp(name, "cpu") == 0) {
            count = smallest_quota("/sys/fs/cgroup/cpu", group, count);
            return smallest_quota("/sys/fs/cgroup/cpu,cpuacct", group, count);
        }
    return count;
}

unsigned gp_threads_available(void) {
    unsigned count = affinity_count();
    FILE *groups = fopen("/proc/self/cgroup", "re");
    char *line = NULL;
    size_t room = 0;
    while (groups != NULL && getline(&line, &room, groups) > 0) {
        line[strcspn(line, "\n")] = '\0';
        count = limit_of_line(line, count);
    }
    free(line);
    if (groups != NULL)
        fclose(groups);
    return count < GP_PARTS_MAX ? count : GP_PARTS_MAX;
}
