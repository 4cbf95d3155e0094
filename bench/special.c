/* SPDX-License-Identifier: Apache-2.0 */
/* Who competes in the groups that are not like the others. */
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- host: what a launch costs anybody */

static gp_status launch_nothing(const contender *c, size_t set) {
    (void)set;
    c->session->gpu->nothing();
    return GP_OK;
}

void add_bare_launch(session *s) {
    line_add(s, ROLE_FLOOR, "bare launch", launch_nothing);
    line_add_ours(s);
    line_add_asked(s);
}

/* ---- limits: what a device loses that has less */

void add_limits(session *s) {
    static const struct {
        size_t smem;
        unsigned regs;
    } limits[] = {{48 << 10, 0}, {16 << 10, 0}, {0, 16384}, {16 << 10, 16384}, {4 << 10, 8192}};
    static gp_context *limited[sizeof limits / sizeof *limits]; /* until the program ends */
    contender *free_choice = line_add_ours(s);
    free_choice->role = ROLE_REFERENCE;
    snprintf(free_choice->who, sizeof free_choice->who, "no limit");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limited[i] == NULL) {
            limited[i] = context_open(s, GP_BACKEND_CUDA, 0);
            must(gp_context_limit(limited[i], limits[i].smem, limits[i].regs));
        }
        contender *c = line_add_ours(s);
        c->context = limited[i];
        snprintf(c->who, sizeof c->who, "smem %zu regs %u", limits[i].smem, limits[i].regs);
    }
}

/* ---- threads: the first place of the processor has the fewest */

void add_one_thread(session *s) {
    const place *one = s->places;
    while (one->gpu)
        one++;
    contender *c = line_add_ours(s);
    c->role = ROLE_REFERENCE;
    c->context = one->context;
    snprintf(c->who, sizeof c->who, "%u thread%s", one->threads, one->threads == 1 ? "" : "s");
    line_add_ours(s);
}

/* ---- staging: the bus, and copy, kernel, copy */

static struct {
    size_t bytes;
    void *device[1 + OUTS_MAX], *pinned[1 + OUTS_MAX]; /* an input and outputs */
} scratch;

static void scratch_prepare(session *s) {
    const footprint *p = &s->arrays;
    const size_t needed = p->in_bytes > p->out_bytes ? p->in_bytes : p->out_bytes;
    if (needed <= scratch.bytes)
        return;
    for (unsigned k = 0; k < 1 + OUTS_MAX; k++) {
        if (scratch.bytes > 0) {
            s->gpu->free(MEMORY_DEVICE, scratch.device[k]);
            s->gpu->free(MEMORY_PINNED, scratch.pinned[k]);
        }
        scratch.device[k] = s->gpu->alloc(MEMORY_DEVICE, needed);
        scratch.pinned[k] = s->gpu->alloc(MEMORY_PINNED, needed);
    }
    scratch.bytes = needed;
}

static gp_status use_bus(const contender *c, size_t set) {
    const session *s = c->session;
    (void)set;
    s->gpu->bus(scratch.device[0], scratch.pinned[0], &scratch.device[1], &scratch.pinned[1], s->arrays.floor_outs,
                s->arrays.moved_bytes);
    return GP_OK;
}

static gp_status copy_kernel_copy(const contender *c, size_t set) {
    const session *s = c->session;
    const footprint *p = &s->arrays;
    s->gpu->copy(scratch.device[0], buffers_in(s, set), p->in_bytes);
    const gp_status status = s->line.of->call(s->line.at->context, &s->line, scratch.device[0], &scratch.device[1]);
    if (status != GP_OK)
        return status;
    for (unsigned k = 0; k < p->outs; k++)
        s->gpu->copy(buffers_out(s, set, k), scratch.device[1 + k], p->out_bytes);
    return GP_OK;
}

static gp_status copy_on_host(const contender *c, size_t set) {
    const session *s = c->session;
    void *out[OUTS_MAX] = {scratch.pinned[1], NULL};
    floor_processor(s->host, 1, 0, buffers_in(s, set), out, s->arrays.moved_bytes);
    return GP_OK;
}

void add_staging(session *s) {
    scratch_prepare(s);
    line_add(s, ROLE_FLOOR, "the bus", use_bus);
    line_add(s, ROLE_PEER, "copy, kernel, copy", copy_kernel_copy);
    line_add_ours(s);
    if (s->line.memory == MEMORY_HOST)
        line_add(s, ROLE_FLOOR, "memcpy by all threads", copy_on_host)->role = ROLE_SHOWN;
}

/* ---- first: context and first call, in processes of their own */

enum { PROCESSES = 9, CHILD_N = 1024 };

/* Context, memory and result; giving them back does not count. */
static double use_library(void) {
    static int32_t numbers[CHILD_N];
    const gp_options wish = {.struct_size = sizeof wish, .backend = GP_BACKEND_CUDA, .device = -1};
    gp_context *context = NULL;
    void *memory = NULL;
    int64_t sum = -1;
    for (int32_t i = 0; i < CHILD_N; i++)
        numbers[i] = i;
    const double begin = now_us();
    must(gp_context_create(&context, &wish));
    must(gp_alloc(context, GP_MEMORY_DEVICE, sizeof numbers, &memory));
    must(gp_copy(context, memory, numbers, sizeof numbers));
    must(gp_reduce_int(context, GP_REDUCE_SUM, memory, CHILD_N, &sum));
    const double us = now_us() - begin;
    if (sum != CHILD_N * (CHILD_N - 1) / 2)
        fail("first use: wrong sum");
    must(gp_free(context, memory));
    gp_context_destroy(context);
    return us;
}

/* bare: CUDA alone; library; warm: the library with CUDA already running. */
int first_use_child(const char *way) {
    const double bare = strcmp(way, "library") != 0 ? device_first_call() : 0;
    printf("%.1f\n", strcmp(way, "bare") == 0 ? bare : use_library());
    return 0;
}

static double time_child(const char *way) {
    char text[64] = "";
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        fail("no pipe");
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", tool_name, "--first-child", way, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    const ssize_t length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) < 0 || length <= 0 || status != 0)
        fail("first use, %s: the child process failed", way);
    return strtod(text, NULL);
}

void run_first_use(program *p) {
    static const char *const ways[] = {"bare", "library", "warm"};
    static const char *const who[] = {"first CUDA call", "ours", "CUDA running"};
    static const role roles[] = {ROLE_PEER, ROLE_OURS, ROLE_SHOWN};
    session *s = &p->session;
    double us[3][PROCESSES];
    s->line = (line){.at = s->places, .group = "first", .measure = MEASURE_FIRST, .memory = MEMORY_DEVICE};
    s->arrays = (footprint){0};
    s->count = 0;
    for (size_t i = 0; i < 3; i++)
        line_add(s, roles[i], who[i], NULL);
    for (size_t round = 0; round < PROCESSES; round++)
        for (size_t i = 0; i < 3; i++)
            us[i][round] = time_child(ways[i]);
    for (size_t i = 0; i < 3; i++)
        take_median(&s->list[i], us[i], PROCESSES);
    s->report(s);
}
