/* SPDX-License-Identifier: Apache-2.0 */
/* The first use of a process: context creation and first call, against a bare first CUDA call, each in a new process.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 9
#define CHILD_N 1024

/* Context, memory and result; giving them back does not count. */
static double use_library(void) {
    static int32_t numbers[CHILD_N];
    const gp_options wish = {.struct_size = sizeof wish, .backend = GP_BACKEND_CUDA, .device = -1};
    gp_context *context = NULL;
    void *memory = NULL;
    int64_t sum = -1;
    for (int32_t i = 0; i < CHILD_N; i++)
        numbers[i] = i;
    const double begin = host_us();
    GP(gp_context_create(&context, &wish));
    GP(gp_alloc(context, GP_MEMORY_DEVICE, sizeof numbers, &memory));
    GP(gp_copy(context, memory, numbers, sizeof numbers));
    GP(gp_reduce_int(context, GP_REDUCE_SUM, memory, CHILD_N, &sum));
    const double us = host_us() - begin;
    if (sum != CHILD_N * (CHILD_N - 1) / 2)
        die("first use", "wrong sum");
    GP(gp_free(context, memory));
    gp_context_destroy(context);
    return us;
}

static double use_cuda(void) {
    const double begin = host_us();
    CUDA(cudaFree(NULL));
    return host_us() - begin;
}

/* bare: CUDA alone; library; warm: the library with CUDA already running. */
int first_child(const char *way) {
    if (strcmp(way, "warm") == 0)
        use_cuda();
    printf("%.1f\n", strcmp(way, "bare") == 0 ? use_cuda() : use_library());
    return 0;
}

static double time_child(const char *way) {
    int ends[2], status = 0;
    char text[64] = "";
    if (pipe(ends) != 0)
        die("pipe", "failed");
    const pid_t child = fork();
    if (child < 0)
        die("fork", "failed");
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "gpuprim-bench-gpu", "--first-child", way, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    const ssize_t length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (length <= 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die(way, "the child process failed");
    return strtod(text, NULL);
}

void bench_first(session *s) {
    static const char *const ways[] = {"bare", "library", "warm"};
    static const char *const who[] = {"first CUDA call", "ours", "ours, CUDA running"};
    static const role roles[] = {ROLE_PEER, ROLE_OURS, ROLE_REFERENCE};
    double us[3][PROCESSES];
    contender list[3];
    size_t count = 0;
    const line l = {.measure = MEASURE_FIRST};
    if (!line_wanted(s, &l))
        return;
    for (size_t i = 0; i < 3; i++)
        contender_add(s, list, &count, roles[i], who[i], &l, NULL)->context = i == 1 ? s->free_choice : NULL;
    for (size_t round = 0; round < PROCESSES; round++)
        for (size_t i = 0; i < 3; i++)
            us[i][round] = time_child(ways[i]);
    for (size_t i = 0; i < 3; i++)
        take_median(&list[i], us[i], PROCESSES);
    report(s, list, count);
}
