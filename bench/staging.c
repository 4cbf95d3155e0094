/* SPDX-License-Identifier: Apache-2.0 */
/* Host data on a CUDA context against what the bus and the host's memory allow, and against the plain way. */
#include "staging.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES ((size_t)1 << 30) /* of input */
#define REPEATS 7
#define THREADS_MAX 256
#define CHECKED 20000 /* places of a result */

typedef struct setting {
    session *session;
    gp_context *context;
    const host_arrays *arrays;
    void *device[3]; /* BYTES each */
    cudaStream_t up, down;
    unsigned threads;
    size_t elem_bytes, rows, cols; /* of a transpose of other elements than 4 bytes */
    int64_t result;
} setting;

typedef void (*way)(setting *w);

static double median_of(way run, setting *w) {
    double us[REPEATS];
    run(w);
    for (int i = 0; i < REPEATS; i++) {
        const double begin = host_us();
        run(w);
        us[i] = host_us() - begin;
        for (int k = i; k > 0 && us[k] < us[k - 1]; k--) {
            const double swapped = us[k];
            us[k] = us[k - 1];
            us[k - 1] = swapped;
        }
    }
    return us[REPEATS / 2];
}

/* Prints a line and returns GB/s; `limit` in GB/s, 0: it is one itself. */
static double show(const setting *w, const char *who, double bytes, double us, double limit) {
    const double rate = bytes / us / 1e3;
    char share[16] = "";
    if (limit > 0)
        snprintf(share, sizeof share, "%.3f", rate / limit);
    printf("%-44s %10.0f us %8.2f GB/s  %s\n", who, us, rate, share);
    if (w->session->csv)
        fprintf(w->session->csv, "%s,%.1f,%.3f,%s\n", who, us, rate, share);
    fflush(stdout);
    return rate;
}

static void up(setting *w, const void *from) {
    CUDA(cudaMemcpyAsync(w->device[0], from, BYTES, cudaMemcpyHostToDevice, w->up));
}

static void down(setting *w, int array) {
    CUDA(cudaMemcpyAsync(w->arrays->out[array], w->device[1 + array], BYTES, cudaMemcpyDeviceToHost, w->down));
}

static void wait(setting *w) {
    CUDA(cudaStreamSynchronize(w->up));
    CUDA(cudaStreamSynchronize(w->down));
}

static void bus_up(setting *w) {
    up(w, w->arrays->in);
    wait(w);
}

static void bus_both(setting *w) {
    up(w, w->arrays->in);
    down(w, 0);
    wait(w);
}

static void bus_one_two(setting *w) {
    up(w, w->arrays->in);
    down(w, 0);
    down(w, 1);
    wait(w);
}

typedef struct share {
    char *to;
    const char *from;
    size_t bytes;
} share;

static void *copy_share(void *argument) {
    const share *s = argument;
    memcpy(s->to, s->from, s->bytes);
    return NULL;
}

/* What the processor's threads copy from host memory to host memory at most. */
static void host_copy(setting *w) {
    pthread_t thread[THREADS_MAX];
    share shares[THREADS_MAX];
    const size_t each = BYTES / w->threads;
    for (unsigned i = 0; i < w->threads; i++) {
        shares[i] = (share){(char *)w->arrays->out[0] + i * each, (const char *)w->arrays->in + i * each, each};
        if (pthread_create(&thread[i], NULL, copy_share, &shares[i]) != 0)
            die("host copy", "no thread");
    }
    for (unsigned i = 0; i < w->threads; i++)
        pthread_join(thread[i], NULL);
}

static void ours_staged(setting *w, host_job job) {
    (void)host_job_run(w->context, job, w->arrays, BYTES, &w->result);
}

static void reduce(setting *w) {
    ours_staged(w, JOB_REDUCE);
}

static void window(setting *w) {
    ours_staged(w, JOB_WINDOW);
}

static void transpose(setting *w) {
    ours_staged(w, JOB_TRANSPOSE);
}

static void transpose_elements(setting *w) {
    GP(gp_transpose(w->context, w->elem_bytes, w->arrays->in, w->rows, w->cols, w->cols, w->arrays->out[0], w->rows));
}

/* Copy up, kernel, copy down, one after the other. */
static void plain(setting *w, host_job job) {
    const host_arrays there = {.in = w->device[0], .out = {w->device[1], w->device[2]}};
    CUDA(cudaMemcpy(w->device[0], w->arrays->in, BYTES, cudaMemcpyHostToDevice));
    (void)host_job_run(w->context, job, &there, BYTES, &w->result);
    GP(gp_context_synchronize(w->context));
    for (int i = 0; i < (job == JOB_REDUCE ? 0 : job == JOB_WINDOW ? 2 : 1); i++)
        CUDA(cudaMemcpy(w->arrays->out[i], w->device[1 + i], BYTES, cudaMemcpyDeviceToHost));
}

static void plain_reduce(setting *w) {
    plain(w, JOB_REDUCE);
}

static void plain_window(setting *w) {
    plain(w, JOB_WINDOW);
}

static void plain_transpose(setting *w) {
    plain(w, JOB_TRANSPOSE);
}

static void compare(setting *w, const char *memory, const double *bus) {
    static const struct {
        host_job job;
        way staged, plain;
    } ways[] = {{JOB_REDUCE, reduce, plain_reduce},
                {JOB_WINDOW, window, plain_window},
                {JOB_TRANSPOSE, transpose, plain_transpose}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const host_job job = ways[i].job;
        char who[80];
        host_job_check(w->context, job, w->arrays, BYTES);
        snprintf(who, sizeof who, "%s, %s: staged", host_job_name(job), memory);
        show(w, who, host_job_moved(job, BYTES), median_of(ways[i].staged, w), bus[job]);
        snprintf(who, sizeof who, "%s, %s: copy, kernel, copy", host_job_name(job), memory);
        show(w, who, host_job_moved(job, BYTES), median_of(ways[i].plain, w), bus[job]);
    }
}

/* As square as powers of two allow; or a little less, so that rows begin anywhere. Places drawn by chance are right.
 */
static void compare_elements(setting *w, const char *memory, size_t elem_bytes, bool odd, double bus) {
    char who[80];
    w->elem_bytes = elem_bytes;
    w->cols = 1;
    while (w->cols * w->cols * elem_bytes < BYTES)
        w->cols *= 2;
    w->rows = BYTES / elem_bytes / w->cols;
    w->rows -= odd ? w->rows / 33 : 0;
    w->cols -= odd ? w->cols / 33 : 0;
    memset(w->arrays->out[0], 0, BYTES);
    const double us = median_of(transpose_elements, w), n = (double)w->rows * (double)w->cols;
    for (size_t i = 0; i < CHECKED; i++) {
        const size_t place = (size_t)(n * fmod((double)i * 0.61803398874989485, 1.0));
        const size_t mirror = place % w->cols * w->rows + place / w->cols;
        if (memcmp((const char *)w->arrays->in + place * elem_bytes,
                   (const char *)w->arrays->out[0] + mirror * elem_bytes, elem_bytes) != 0)
            die("transpose of host memory", "wrong result");
    }
    snprintf(who, sizeof who, "transpose %zu x %zu of %zu B, %s: staged", w->rows, w->cols, elem_bytes, memory);
    show(w, who, 2 * n * (double)elem_bytes, us, bus);
}

static void compare_all(setting *w, const char *memory, const double *bus) {
    compare(w, memory, bus);
    for (size_t elem_bytes = 1; elem_bytes <= 16; elem_bytes *= 2)
        for (int odd = elem_bytes != 4 ? 0 : 1; odd < 2; odd++)
            compare_elements(w, memory, elem_bytes, odd, bus[JOB_TRANSPOSE]);
}

void bench_staging(session *s) {
    setting w = {.session = s, .context = s->free_choice};
    gp_device_info info = {.struct_size = sizeof info};
    GP(gp_context_device(w.context, &info));
    w.threads = info.cpu_threads < THREADS_MAX ? info.cpu_threads : THREADS_MAX;
    for (int i = 0; i < 3; i++)
        CUDA(cudaMalloc(&w.device[i], BYTES));
    CUDA(cudaStreamCreateWithFlags(&w.up, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&w.down, cudaStreamNonBlocking));
    host_arrays locked, pageable;
    host_arrays_make(&locked, BYTES, true);
    host_arrays_make(&pageable, BYTES, false);
    printf("\nhost data, 1 GiB of input, %u processor threads: share of the bus\n", info.cpu_threads);
    if (s->csv)
        fprintf(s->csv, "who,us,GB/s,share\n");
    double bus[HOST_JOBS] = {0};
    w.arrays = &locked;
    bus[JOB_REDUCE] = show(&w, "bus, up", BYTES, median_of(bus_up, &w), 0);
    bus[JOB_TRANSPOSE] = show(&w, "bus, up and down at once", 2.0 * BYTES, median_of(bus_both, &w), 0);
    bus[JOB_WINDOW] = show(&w, "bus, one up and two down", 3.0 * BYTES, median_of(bus_one_two, &w), 0);
    compare_all(&w, "pinned", bus);
    w.arrays = &pageable;
    show(&w, "memcpy by all threads, bytes copied", BYTES, median_of(host_copy, &w), 0);
    compare_all(&w, "pageable", bus);
    host_arrays_drop(&locked);
    host_arrays_drop(&pageable);
    CUDA(cudaStreamDestroy(w.up));
    CUDA(cudaStreamDestroy(w.down));
    for (int i = 0; i < 3; i++)
        CUDA(cudaFree(w.device[i]));
}
