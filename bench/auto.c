/* SPDX-License-Identifier: Apache-2.0 */
/* Host data with a GPU present: the processor, the staged pipeline and what AUTO makes of them, size by size. */
#include "staging.h"

#include <stdlib.h>
#include <string.h>

#define REPEATS_MAX 61
#define AUTO_WORST 1.10 /* of the better one's time: the target */
#define ASKING_US 2.0   /* what AUTO may take to find out where the arrays are, and whether the stream is idle */
#define LEARNED 6       /* calls of a class after which AUTO knows the processor's time and the bus */
#define IN_CACHE ((size_t)16 << 20) /* up to this much input it matters who computed on it last */

/* A second context on the processor shows what two that do the same differ by. */
enum { ON_PROCESSOR, AGAIN, CHOSEN, STAGED, WAYS };

typedef struct rivalry {
    gp_context *context[WAYS];
    unsigned lines, within, asked; /* all; within AUTO_WORST; others that take ASKING_US longer at most */
    unsigned apart; /* lines on which the two contexts on the processor differ by more than AUTO_WORST */
    double worst;   /* of neither */
    char where[96];
} rivalry;

static gp_context *open_way(int way) {
    static const gp_backend backends[WAYS] = {GP_BACKEND_CPU, GP_BACKEND_CPU, GP_BACKEND_AUTO, GP_BACKEND_CUDA};
    const gp_options wish = {.struct_size = sizeof wish, .backend = (int32_t)backends[way], .device = -1};
    gp_context *context = NULL;
    GP(gp_context_create(&context, &wish));
    return context;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Fewer of large sizes: 5 calls of 128 MiB or more, 61 of 8 MiB or less. */
static unsigned repeats(size_t bytes) {
    const size_t most = ((size_t)512 << 20) / bytes;
    return most < 5 ? 5 : most > REPEATS_MAX ? REPEATS_MAX : (unsigned)most | 1;
}

/* Of the second of two calls, if the first changes what the second finds in the caches. */
static double warm_us(gp_context *context, host_job job, const host_arrays *a, size_t bytes) {
    int64_t result;
    if (bytes <= IN_CACHE)
        (void)host_job_run(context, job, a, bytes, &result);
    return host_job_run(context, job, a, bytes, &result);
}

/* The staged way is timed apart: it leaves less in the caches for whoever comes next. */
static void time_ways(const rivalry *r, host_job job, const host_arrays *a, size_t bytes, double median[WAYS]) {
    double us[WAYS][REPEATS_MAX];
    const unsigned n = repeats(bytes);
    int64_t result;
    for (int way = 0; way < WAYS; way++)
        host_job_check(r->context[way], job, a, bytes);
    for (unsigned i = 0; i < LEARNED; i++)
        (void)host_job_run(r->context[CHOSEN], job, a, bytes, &result);
    for (unsigned i = 0; i < n; i++)
        us[STAGED][i] = warm_us(r->context[STAGED], job, a, bytes);
    for (unsigned i = 0; i < STAGED * n; i++) {
        const unsigned way = (i % STAGED + i / STAGED) % STAGED; /* each comes first as often */
        us[way][i / STAGED] = warm_us(r->context[way], job, a, bytes);
    }
    for (int way = 0; way < WAYS; way++) {
        qsort(us[way], n, sizeof **us, ascending);
        median[way] = us[way][n / 2];
    }
}

static void compare(session *s, rivalry *r, host_job job, const host_arrays *a, size_t bytes) {
    double median[WAYS];
    time_ways(r, job, a, bytes, median);
    gp_plan_info plan = {.struct_size = sizeof plan};
    GP(gp_context_plan(r->context[CHOSEN], &plan));
    const double best = median[ON_PROCESSOR] < median[STAGED] ? median[ON_PROCESSOR] : median[STAGED];
    const double ratio = median[CHOSEN] / best, again = median[AGAIN] / median[ON_PROCESSOR];
    const double moved = host_job_moved(job, bytes);
    char label[64];
    snprintf(label, sizeof label, "%s, %s, %zu KiB", host_job_name(job), a->locked ? "pinned" : "pageable",
             bytes >> 10);
    const char *where = plan.backend == GP_BACKEND_CPU ? "processor" : "GPU";
    printf("%-40s %11.2f %7.1f %7.2f %11.2f %7.1f %11.2f  %-9s %5.2f\n", label, median[ON_PROCESSOR],
           moved / median[ON_PROCESSOR] / 1e3, again, median[STAGED], moved / median[STAGED] / 1e3, median[CHOSEN],
           where, ratio);
    if (s->csv)
        fprintf(s->csv, "%s,%s,%zu,%.3f,%.3f,%.3f,%.3f,%s,%.3f\n", host_job_name(job),
                a->locked ? "pinned" : "pageable", bytes, median[ON_PROCESSOR], again, median[STAGED], median[CHOSEN],
                where, ratio);
    fflush(stdout);
    const bool within = ratio <= AUTO_WORST, asked = !within && median[CHOSEN] - best <= ASKING_US;
    r->lines++;
    r->within += within;
    r->asked += asked;
    r->apart += again > AUTO_WORST || again < 1 / AUTO_WORST;
    if (!within && !asked && ratio > r->worst) {
        r->worst = ratio;
        memcpy(r->where, label, sizeof label);
    }
}

/* The line of the last plan that tells by what it was decided. */
static void show_reason(gp_context *context) {
    char text[8192];
    (void)gp_context_explain(context, text, sizeof text);
    char *reason = strstr(text, "host data:");
    if (reason != NULL)
        printf("%.*s\n", (int)strcspn(reason, "\n"), reason);
}

static void sweep(session *s, rivalry *r, bool locked, size_t most) {
    host_arrays a;
    host_arrays_make(&a, most, locked);
    for (size_t bytes = 1 << 10; bytes <= most; bytes *= 4)
        for (host_job job = 0; job < HOST_JOBS; job++)
            compare(s, r, job, &a, bytes);
    show_reason(r->context[CHOSEN]);
    host_arrays_drop(&a);
}

void bench_auto(session *s) {
    const size_t most = s->opt.quick ? (size_t)1 << 28 : (size_t)1 << 32;
    rivalry r = {.where = "(none)"};
    for (int way = 0; way < WAYS; way++)
        r.context[way] = open_way(way);
    gp_device_info info = {.struct_size = sizeof info};
    GP(gp_context_device(r.context[ON_PROCESSOR], &info));
    printf(
        "\nhost data, %u processor threads: medians in us and GB/s moved; times the first, a second context on the "
        "processor;\nAUTO's time in the better one's\n",
        info.cpu_threads);
    printf("%-40s %11s %7s %7s %11s %7s %11s  %-9s %5s\n", "input", "processor", "GB/s", "again", "staged", "GB/s",
           "AUTO", "where", "ratio");
    if (s->csv)
        fprintf(s->csv, "job,memory,bytes,processor us,again,staged us,auto us,where,ratio\n");
    sweep(s, &r, false, most);
    sweep(s, &r, true, most);
    printf(
        "AUTO: %u lines; %u within %.2f of the better one, %u more within %.1f us; worst of the others %.2f %s; on "
        "%u lines two contexts on the processor differ by more than %.2f\n",
        r.lines, r.within, AUTO_WORST, r.asked, ASKING_US, r.worst, r.where, r.apart, AUTO_WORST);
    for (int way = 0; way < WAYS; way++)
        gp_context_destroy(r.context[way]);
}
