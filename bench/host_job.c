/* SPDX-License-Identifier: Apache-2.0 */
/* Problems on host memory: see staging.h. */
#include "staging.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 20000 /* looked at in a check */
#define FILLERS 16u  /* threads that fill arrays, whose bytes are a multiple of 64 times as much */

typedef struct shape {
    size_t rows, cols;
} shape;

/* As square as powers of two allow; odd: a little less each way, rows that start at any multiple of 4 bytes. */
static shape shape_of(host_job job, size_t bytes) {
    const size_t n = bytes / sizeof(int32_t);
    size_t cols = 1;
    while (cols * cols < n)
        cols *= 2;
    const shape even = {n / cols, cols};
    return job == JOB_TRANSPOSE_ODD ? (shape){even.rows - even.rows / 33, even.cols - even.cols / 33} : even;
}

static size_t count_of(host_job job, size_t bytes) {
    const shape s = shape_of(job, bytes);
    return job == JOB_REDUCE ? bytes / sizeof(int32_t) : s.rows * s.cols;
}

static void *host_memory(size_t bytes, bool locked) {
    void *memory = NULL;
    if (locked)
        CUDA(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
    else
        memory = aligned_alloc(4096, bytes);
    if (memory == NULL)
        die("host memory", "not enough");
    return memory;
}

typedef struct share {
    const host_arrays *arrays;
    size_t begin, end; /* bytes */
} share;

static void *fill_share(void *argument) {
    const share *s = argument;
    for (size_t i = s->begin / sizeof(int32_t); i < s->end / sizeof(int32_t); i++)
        s->arrays->in[i] = (int32_t)((uint32_t)i * 2654435761u >> 16);
    for (int i = 0; i < 2; i++)
        memset((char *)s->arrays->out[i] + s->begin, 0x55, s->end - s->begin);
    return NULL;
}

void host_arrays_make(host_arrays *a, size_t bytes, bool locked) {
    *a = (host_arrays){.locked = locked, .bytes = bytes, .in = host_memory(bytes, locked)};
    a->out[0] = host_memory(bytes, locked);
    a->out[1] = host_memory(bytes, locked);
    pthread_t thread[FILLERS];
    share shares[FILLERS];
    for (size_t i = 0; i < FILLERS; i++) {
        shares[i] = (share){a, bytes / FILLERS * i, bytes / FILLERS * (i + 1)};
        if (pthread_create(&thread[i], NULL, fill_share, &shares[i]) != 0)
            die("host memory", "no thread to fill it");
    }
    for (size_t i = 0; i < FILLERS; i++)
        pthread_join(thread[i], NULL);
}

static void drop(void *memory, bool locked) {
    if (locked)
        CUDA(cudaFreeHost(memory));
    else
        free(memory);
}

void host_arrays_drop(host_arrays *a) {
    drop(a->in, a->locked);
    drop(a->out[0], a->locked);
    drop(a->out[1], a->locked);
}

const char *host_job_name(host_job job) {
    static const char *const names[HOST_JOBS] = {"reduce", "window 15", "transpose", "transpose odd"};
    return names[job];
}

double host_job_moved(host_job job, size_t bytes) {
    static const int arrays[HOST_JOBS] = {1, 3, 2, 2};
    return (double)count_of(job, bytes) * sizeof(int32_t) * arrays[job];
}

double host_job_run(gp_context *context, host_job job, const host_arrays *a, size_t bytes, int64_t *result) {
    const shape s = shape_of(job, bytes);
    const double begin = host_us();
    if (job == JOB_REDUCE)
        GP(gp_reduce_int(context, GP_REDUCE_SUM, a->in, count_of(job, bytes), result));
    else if (job == JOB_WINDOW)
        GP(gp_sum_and_square_window(context, a->in, s.rows, s.cols, s.cols, STAGING_WINDOW, GP_BORDER_REFLECT,
                                    a->out[0], a->out[1], s.cols));
    else
        GP(gp_transpose(context, sizeof(int32_t), a->in, s.rows, s.cols, s.cols, a->out[0], s.rows));
    return host_us() - begin;
}

/* Element i of a row as the border shows it, i in -cols .. 2 * cols - 1. */
static int64_t reflected(const int32_t *row, long i, long cols) {
    return row[i < 0 ? -1 - i : i >= cols ? 2 * cols - 1 - i : i];
}

static bool window_right(const host_arrays *a, shape s, size_t at) {
    const int32_t *row = a->in + at / s.cols * s.cols;
    int64_t sum = 0, square = 0;
    for (long k = 0; k < STAGING_WINDOW; k++) {
        const int64_t v = reflected(row, (long)(at % s.cols) - STAGING_WINDOW / 2 + k, (long)s.cols);
        sum += v;
        square += v * v;
    }
    const float found[2] = {((float *)a->out[0])[at], ((float *)a->out[1])[at]};
    return memcmp(&found[0], &(float){(float)sum}, 4) == 0 && memcmp(&found[1], &(float){(float)square}, 4) == 0;
}

static bool transpose_right(const host_arrays *a, shape s, size_t at) {
    return ((int32_t *)a->out[0])[at % s.cols * s.rows + at / s.cols] == a->in[at];
}

/* The first and the last element are among the places. Windows wider than the row are not checked. */
static size_t place(size_t i, size_t n) {
    return i == 0 ? 0 : i == 1 ? n - 1 : (size_t)((double)n * fmod((double)i * 0.61803398874989485, 1.0));
}

void host_job_check(gp_context *context, host_job job, const host_arrays *a, size_t bytes) {
    const shape s = shape_of(job, bytes);
    const size_t n = count_of(job, bytes);
    int64_t result = 0, sum = 0;
    for (size_t i = 0; i < PLACES; i++)
        ((int32_t *)a->out[0])[place(i, n)] = ((int32_t *)a->out[1])[place(i, n)] = -1;
    (void)host_job_run(context, job, a, bytes, &result);
    bool right = true;
    for (size_t i = 0; job == JOB_REDUCE && i < n; i++)
        sum += a->in[i];
    for (size_t i = 0; job != JOB_REDUCE && i < PLACES; i++)
        right = right && (job == JOB_WINDOW ? window_right(a, s, place(i, n)) : transpose_right(a, s, place(i, n)));
    if (right && result == sum)
        return;
    gp_plan_info plan = {.struct_size = sizeof plan};
    char what[80];
    GP(gp_context_plan(context, &plan));
    snprintf(what, sizeof what, "%s of %zu bytes by %s", host_job_name(job), bytes, plan.kernel);
    die(what, "wrong result on host memory");
}
