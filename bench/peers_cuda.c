/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines CUB and the plain window do, and their calls. */
#include "peers_cuda.h"
#include "peers.h"

#include <limits.h>

#define PLAIN_WINDOW_MAX 31 /* beyond, the plain kernel takes many times as long as all others together */

static void cuda_check(cudaError_t error, const char *call) {
    if (error != cudaSuccess)
        fail("%s: %s", call, cudaGetErrorString(error));
}
#define CUDA(call) cuda_check((call), #call)

bool plain_window_does(session *s, const line *l) {
    const window_case *c = CASE_OF(window_case, l);
    (void)s;
    return l->memory == MEMORY_DEVICE && l->measure == MEASURE_ROW && c->border == GP_BORDER_ZERO &&
           c->data == DATA_8_BIT && c->window <= PLAIN_WINDOW_MAX && c->want_sum && c->want_square;
}

gp_status plain_window_call(const contender *c, size_t set) {
    const session *s = c->session;
    const window_case *w = CASE_OF(window_case, &s->line);
    CUDA(plain_window(buffers_in(s, set), w->rows, w->cols, w->cols + w->image_pad, w->window, buffers_out(s, set, 0),
                      buffers_out(s, set, 1), w->cols + w->out_pad, s->gpu->stream));
    return GP_OK;
}

#ifdef BENCH_CUB

static bool reduces(const line *l) {
    const reduce_case *c = CASE_OF(reduce_case, l);
    const bool can =
        l->memory == MEMORY_DEVICE && c->n <= INT_MAX && (c->op == GP_REDUCE_SUM || c->op == GP_REDUCE_MIN);
    if (can)
        CUDA(cub_prepare(c->op, c->n));
    return can;
}

bool cub_does(session *s, const line *l) {
    (void)s;
    return l->measure == MEASURE_ROW && reduces(l);
}

bool cub_result_does(session *s, const line *l) {
    (void)s;
    return l->measure == MEASURE_RESULT && reduces(l);
}

static void reduce(const session *s, size_t set, int64_t *out) {
    const reduce_case *r = CASE_OF(reduce_case, &s->line);
    CUDA(cub_reduce(r->op, buffers_in(s, set), r->n, out, s->gpu->stream));
}

gp_status cub_call(const contender *c, size_t set) {
    reduce(c->session, set, buffers_out(c->session, set, 0));
    return GP_OK;
}

bool cub_floats_does(session *s, const line *l) {
    const array_case *c = CASE_OF(array_case, l);
    const bool can = l->memory == MEMORY_DEVICE && l->measure == MEASURE_ROW && c->axis == ARRAY_ALL &&
                     c->what == ARRAY_SUM && c->type == GP_F32 && c->data != DATA_FINITE &&
                     c->rows * c->cols <= INT_MAX;
    (void)s;
    if (can)
        CUDA(cub_prepare(GP_REDUCE_SUM, c->rows * c->cols));
    return can;
}

gp_status cub_floats_call(const contender *c, size_t set) {
    const session *s = c->session;
    const array_case *a = CASE_OF(array_case, &s->line);
    CUDA(cub_sum_floats(buffers_in(s, set), a->rows * a->cols, buffers_out(s, set, 0), s->gpu->stream));
    return GP_OK;
}

static void reduce_to_host(const contender *c, size_t set, int64_t *to) {
    const session *s = c->session;
    void *out = s->buffers.out + set * s->buffers.out_stride; /* on the device */
    reduce(s, set, out);
    CUDA(cudaMemcpyAsync(to, out, sizeof *to, cudaMemcpyDeviceToHost, s->gpu->stream));
    CUDA(cudaStreamSynchronize(s->gpu->stream));
}

gp_status cub_result_call(const contender *c, size_t set) {
    reduce_to_host(c, set, buffers_out(c->session, set, 0));
    return GP_OK;
}

gp_status cub_pinned_call(const contender *c, size_t set) {
    reduce_to_host(c, set, cub_pinned());
    *(int64_t *)buffers_out(c->session, set, 0) = *cub_pinned();
    return GP_OK;
}

#endif
