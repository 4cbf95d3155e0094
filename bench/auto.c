/* SPDX-License-Identifier: Apache-2.0 */
/* Host data with a GPU present: the processor, the staged pipeline and what AUTO makes of them, size by size. */
#include "staging.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEATS_MAX 60
#define REPEATS_FEW 20 /* up to so many calls, one a turn */
#define TURNS 10
/* First calls of a turn up to IN_CACHE, whose first ten may take twice as long; up to LEARNED_BYTES one. */
#define UNSEEN 20
#define AUTO_WORST 1.10 /* of the better one's time: the target */
#define ASKED 31        /* times that questions are put, to time them, */
#define ASKED_FEW 3     /* or so few, of more than IN_CACHE */
#define LEARNED 24      /* calls after which AUTO has made up its mind, */
#define LEARNED_LONG 12 /* or so few, of more than LEARNED_BYTES */
#define LEARNED_BYTES ((size_t)1 << 28)
#define IN_CACHE ((size_t)16 << 20) /* up to this much input it matters who computed on it last */

/*
 * A second context on the processor shows what two that do the same differ by. AUTO twice: as it comes, and promised
 * host data.
 */
enum { ON_PROCESSOR, AGAIN, CHOSEN, PROMISED, STAGED, WAYS };

typedef struct rivalry {
    gp_context *context[WAYS];
    unsigned lines, within, asked; /* all; within AUTO_WORST; others that take asking_us() longer at most */
    unsigned promised;             /* within AUTO_WORST where host data is promised */
    unsigned apart;        /* lines on which the two contexts on the processor differ by more than AUTO_WORST */
    double worst;          /* of neither within nor asked */
    double worst_promised; /* of all */
    double asking;         /* longest asking_us() */
    char where[96], where_promised[96];
} rivalry;

static gp_context *open_way(int way) {
    static const gp_backend backends[WAYS] = {GP_BACKEND_CPU, GP_BACKEND_CPU, GP_BACKEND_AUTO, GP_BACKEND_AUTO,
                                              GP_BACKEND_CUDA};
    const gp_options wish = {.struct_size = sizeof wish,
                             .backend = (int32_t)backends[way],
                             .device = -1,
                             .promises = way == PROMISED ? GP_PROMISE_HOST_DATA : 0};
    gp_context *context = NULL;
    GP(gp_context_create(&context, &wish));
    return context;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *us, unsigned n) {
    qsort(us, n, sizeof *us, ascending);
    return us[n / 2];
}

/*
 * The run time answers what has to be known before the processor may touch such arrays: where each pointer's memory
 * lies and, if it is pinned, whether the stream is done with it, which may not be asked of a stream that is being
 * captured, nor, in the usual mode, while the thread captures another, nor on another device than the stream's.
 */
static void ask(host_job job, const host_arrays *a, const int64_t *result) {
    const void *const pointers[] = {a->in, job == JOB_REDUCE ? (const void *)result : a->out[0], a->out[1]};
    struct cudaPointerAttributes found;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    enum cudaStreamCaptureStatus capture;
    int device;
    for (int i = 0; i < (job == JOB_WINDOW ? 3 : 2); i++)
        CUDA(cudaPointerGetAttributes(&found, pointers[i]));
    if (!a->locked)
        return;
    CUDA(cudaGetDevice(&device));
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    CUDA(cudaStreamIsCapturing(NULL, &capture));
    CUDA(cudaStreamSynchronize(NULL));
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
}

/* What that takes between two calls on the processor, less what the clock takes. */
static double asking_us(gp_context *processor, host_job job, const host_arrays *a, size_t bytes) {
    double us[2][ASKED];
    const unsigned n = bytes <= IN_CACHE ? ASKED : ASKED_FEW;
    int64_t result;
    for (unsigned i = 0; i < 2 * n; i++) {
        (void)host_job_run(processor, job, a, bytes, &result);
        const double begin = host_us();
        if (i % 2 == 0)
            ask(job, a, &result);
        us[i % 2][i / 2] = host_us() - begin;
    }
    return median_of(us[0], n) - median_of(us[1], n);
}

/* Fewer of large sizes: 5 calls of 128 MiB or more, 60 of 8 MiB or less. */
static unsigned repeats(size_t bytes) {
    const size_t most = ((size_t)512 << 20) / bytes;
    return most < 5 ? 5 : most > REPEATS_MAX ? REPEATS_MAX : (unsigned)most;
}

/* Threads stay awake for some 0.1 ms after a call, in the way of another context's. */
static void let_threads_sleep(void) {
    const struct timespec while_they_do = {.tv_nsec = 500000};
    (void)nanosleep(&while_they_do, NULL);
}

/*
 * A way's calls follow each other, as a program's do: who comes after another's threads finds its own asleep and its
 * caches cold. The ways take turns all the same, so that a machine that gets slower does so for all.
 */
static void time_ways(const rivalry *r, host_job job, const host_arrays *a, size_t bytes, double median[WAYS]) {
    double us[WAYS][REPEATS_MAX];
    const unsigned n = repeats(bytes), row = n > REPEATS_FEW ? n / TURNS : 1,
                   unseen = bytes <= IN_CACHE ? UNSEEN : bytes <= LEARNED_BYTES;
    int64_t result;
    for (int way = 0; way < WAYS; way++)
        host_job_check(r->context[way], job, a, bytes);
    for (int way = CHOSEN; way <= PROMISED; way++)
        for (unsigned i = 0; i < (bytes <= LEARNED_BYTES ? LEARNED : LEARNED_LONG); i++)
            (void)host_job_run(r->context[way], job, a, bytes, &result);
    for (unsigned done = 0; done + row <= n; done += row)
        for (unsigned i = 0; i < WAYS; i++) {
            const unsigned way = (i + done / row) % WAYS;
            let_threads_sleep();
            for (unsigned k = 0; k < unseen; k++)
                (void)host_job_run(r->context[way], job, a, bytes, &result);
            for (unsigned k = 0; k < row; k++)
                us[way][done + k] = host_job_run(r->context[way], job, a, bytes, &result);
        }
    for (int way = 0; way < WAYS; way++)
        median[way] = median_of(us[way], n / row * row);
}

static void label_of(char label[64], host_job job, bool locked, size_t bytes) {
    snprintf(label, 64, "%s, %s, %zu KiB", host_job_name(job), locked ? "pinned" : "pageable", bytes >> 10);
}

static bool wanted(const session *s, host_job job, bool locked, size_t bytes) {
    char label[64];
    label_of(label, job, locked, bytes);
    return !s->opt.match || strstr(label, s->opt.match);
}

static void keep_worst(double ratio, const char *label, double *worst, char where[96]) {
    if (ratio > *worst) {
        *worst = ratio;
        snprintf(where, 96, "%s", label);
    }
}

static void compare(session *s, rivalry *r, host_job job, const host_arrays *a, size_t bytes) {
    double median[WAYS];
    char label[64];
    label_of(label, job, a->locked, bytes);
    time_ways(r, job, a, bytes, median);
    gp_plan_info plan = {.struct_size = sizeof plan};
    GP(gp_context_plan(r->context[CHOSEN], &plan));
    const double asking = asking_us(r->context[AGAIN], job, a, bytes), moved = host_job_moved(job, bytes);
    const double best = median[ON_PROCESSOR] < median[STAGED] ? median[ON_PROCESSOR] : median[STAGED];
    const double ratio = median[CHOSEN] / best, promised = median[PROMISED] / best;
    const double again = median[AGAIN] / median[ON_PROCESSOR];
    const char *where = plan.backend == GP_BACKEND_CPU ? "processor" : "GPU";
    printf("%-40s %11.3f %7.1f %7.2f %11.2f %7.1f %11.3f  %-9s %5.2f %7.2f %11.3f %5.2f\n", label,
           median[ON_PROCESSOR], moved / median[ON_PROCESSOR] / 1e3, again, median[STAGED],
           moved / median[STAGED] / 1e3, median[CHOSEN], where, ratio, asking, median[PROMISED], promised);
    if (s->csv)
        fprintf(s->csv, "%s,%s,%zu,%.3f,%.3f,%.3f,%.3f,%s,%.3f,%.3f,%.3f,%.3f\n", host_job_name(job),
                a->locked ? "pinned" : "pageable", bytes, median[ON_PROCESSOR], again, median[STAGED], median[CHOSEN],
                where, ratio, asking, median[PROMISED], promised);
    fflush(stdout);
    r->lines++;
    r->apart += again > AUTO_WORST || again < 1 / AUTO_WORST;
    r->asking = asking > r->asking ? asking : r->asking;
    r->promised += promised <= AUTO_WORST;
    keep_worst(promised, label, &r->worst_promised, r->where_promised);
    if (ratio <= AUTO_WORST)
        r->within++;
    else if (median[CHOSEN] - best <= asking)
        r->asked++;
    else
        keep_worst(ratio, label, &r->worst, r->where);
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
    size_t largest = 0;
    for (size_t bytes = 1 << 10; bytes <= most; bytes *= 4)
        for (host_job job = 0; job < HOST_JOBS; job++)
            largest = wanted(s, job, locked, bytes) ? bytes : largest;
    if (largest == 0)
        return;
    host_arrays_make(&a, largest, locked);
    for (size_t bytes = 1 << 10; bytes <= largest; bytes *= 4)
        for (host_job job = 0; job < HOST_JOBS; job++)
            if (wanted(s, job, locked, bytes))
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
        "processor;\nAUTO's time in the better one's; us that the run time takes to say where the arrays are and "
        "whether the stream is idle; AUTO that was promised host data\n",
        info.cpu_threads);
    printf("%-40s %11s %7s %7s %11s %7s %11s  %-9s %5s %7s %11s %5s\n", "input", "processor", "GB/s", "again",
           "staged", "GB/s", "AUTO", "where", "ratio", "asking", "promised", "ratio");
    if (s->csv)
        fprintf(s->csv, "job,memory,bytes,processor us,again,staged us,auto us,where,ratio,asking us,promised "
                        "us,promised ratio\n");
    sweep(s, &r, false, most);
    sweep(s, &r, true, most);
    printf("AUTO: %u lines; %u within %.2f of the better one, %u more by no more than the questions take (up to %.1f "
           "us); worst of the others %.2f %s; on %u lines two contexts on the processor differ by more than %.2f\n",
           r.lines, r.within, AUTO_WORST, r.asked, r.asking, r.worst, r.where, r.apart, AUTO_WORST);
    printf("AUTO, promised host data: %u within %.2f; worst %.2f %s\n", r.promised, AUTO_WORST, r.worst_promised,
           r.where_promised);
    for (int way = 0; way < WAYS; way++)
        gp_context_destroy(r.context[way]);
}
