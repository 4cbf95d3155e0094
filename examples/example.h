/* SPDX-License-Identifier: Apache-2.0 */
/* What the examples share: errors in one line, a context by name, the time of a call, which kernel ran where. */
#pragma once

/* The includer defines PROGRAM, its name, first. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime, getopt */
#endif
#include <errno.h>
#include <gpuprim/explain.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Noreturn static inline void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs(PROGRAM ": ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

_Noreturn static inline void usage(const char *text) {
    fprintf(stderr, "usage: " PROGRAM " %s\n", text);
    exit(2);
}

static inline void must(gp_status status) {
    if (status != GP_OK)
        fail("%s: %s", gp_status_string(status), gp_last_error());
}

/* Of programs with no other option: what -b says, or NULL. Other words stand in argv from optind on. */
static inline const char *read_backend(int argc, char **argv, const char *how) {
    const char *backend = NULL;
    for (int option; (option = getopt(argc, argv, "b:")) != -1;)
        if (option == 'b')
            backend = optarg;
        else
            usage(how);
    return backend;
}

/* NULL or "auto", "cpu", "cuda". */
static inline gp_context *open_context(const char *backend) {
    gp_options options = {.struct_size = sizeof options, .device = -1};
    if (backend && strcmp(backend, "cpu") == 0)
        options.backend = GP_BACKEND_CPU;
    else if (backend && strcmp(backend, "cuda") == 0)
        options.backend = GP_BACKEND_CUDA;
    else if (backend && strcmp(backend, "auto") != 0)
        fail("-b takes auto, cpu or cuda, not '%s'", backend);
    gp_context *context;
    must(gp_context_create(&context, &options));
    return context;
}

/* Memory where the context computes, so that the same program runs on a GPU and without one. */
static inline void *device_alloc(gp_context *context, size_t bytes) {
    void *memory;
    must(gp_alloc(context, GP_MEMORY_DEVICE, bytes, &memory));
    return memory;
}

static inline void *host_alloc(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        fail("no memory for %zu elements of %zu bytes", count, size);
    return memory;
}

static inline double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Runs the call once to warm up, then for a tenth of a second, and tells which kernel ran where and how fast. */
static inline void time_call(gp_context *context, const char *what, gp_status (*call)(void *), void *job) {
    must(call(job));
    must(gp_context_synchronize(context));
    unsigned calls = 0;
    const double start = seconds_now();
    do
        must(call(job));
    while (++calls < 5 || seconds_now() - start < 0.1);
    must(gp_context_synchronize(context));
    const double seconds = (seconds_now() - start) / calls;

    gp_plan_info plan = {.struct_size = sizeof plan};
    gp_device_info device = {.struct_size = sizeof device};
    must(gp_context_plan(context, &plan));
    must(gp_context_device(context, &device));
    printf("%s: %s on ", what, plan.kernel);
    if (plan.backend == GP_BACKEND_CUDA)
        printf("the GPU %s, %llu x %u threads", device.name, (unsigned long long)plan.grid, (unsigned)plan.block);
    else
        printf("the processor, %llu thread%s", (unsigned long long)plan.grid, plan.grid == 1 ? "" : "s");
    printf(": %.2f us a call, %.2f GB/s (mean of %u)\n", 1e6 * seconds,
           1e-9 * (double)(plan.bytes_read + plan.bytes_written) / seconds, calls);
}

/* What was printed may still be refused, by a full disk say. */
static inline int close_output(void) {
    if (fflush(stdout) != 0 || ferror(stdout))
        fail("standard output: %s", strerror(errno));
    return 0;
}
