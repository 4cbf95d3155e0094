/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: device to device against the read floor and CUB, and to a host variable against CUB and a copy. */
#include "bench.h"
#include "floors.h"
#include "peers.h"

#include <stdlib.h>

static const int32_t *input(const contender *c, size_t set) {
    return (const int32_t *)((const char *)buffers_in(c->session, set) + c->line.offset);
}

gp_status ours_reduce(const contender *c, size_t set) {
    return gp_reduce_int(c->context, c->line.op, input(c, set), c->line.n, buffers_out(c->session, set));
}

static int64_t host_result;  /* an ordinary variable, as a caller has */
static int64_t *host_pinned; /* page-locked, where a copy to it is quickest */

static gp_status ours_to_host(const contender *c, size_t set) {
    return gp_reduce_int(c->context, c->line.op, input(c, set), c->line.n, &host_result);
}

static gp_status read_floor(const contender *c, size_t set) {
    const session *s = c->session;
    CUDA(floor_read(buffers_in(s, set), c->line.n, buffers_out(s, set), c->variant, s->multiprocessors, s->stream));
    return GP_OK;
}

static gp_status cub(const contender *c, size_t set) {
    const session *s = c->session;
    if (c->line.op == GP_REDUCE_SUM)
        CUDA(peer_cub_sum(input(c, set), c->line.n, buffers_out(s, set), s->stream));
    else
        CUDA(peer_cub_min(input(c, set), c->line.n, buffers_out(s, set), s->stream));
    return GP_OK;
}

static void cub_and_copy(const contender *c, size_t set, int64_t *to) {
    const session *s = c->session;
    cub(c, set);
    CUDA(cudaMemcpyAsync(to, buffers_out(s, set), sizeof *to, cudaMemcpyDeviceToHost, s->stream));
    CUDA(cudaStreamSynchronize(s->stream));
}

static gp_status cub_to_host(const contender *c, size_t set) {
    cub_and_copy(c, set, &host_result);
    return GP_OK;
}

static gp_status cub_to_pinned(const contender *c, size_t set) {
    cub_and_copy(c, set, host_pinned);
    host_result = *host_pinned;
    return GP_OK;
}

/* The first set's input, copied to the host as far as it is needed. */
static const int32_t *mirror(session *s, size_t n) {
    if (n > s->mirror_n) {
        free(s->mirror);
        s->mirror = malloc(n * sizeof *s->mirror);
        if (!s->mirror)
            die("mirror", "no host memory");
        CUDA(cudaStreamSynchronize(s->stream));
        CUDA(cudaMemcpy(s->mirror, buffers_in(s, 0), n * sizeof *s->mirror, cudaMemcpyDeviceToHost));
        s->mirror_n = n;
    }
    return s->mirror;
}

/* Contenders of one line share it: the processor needs most of a second for 2^30 elements. */
static int64_t expected(const contender *c) {
    static line known = {.n = SIZE_MAX};
    static int64_t result;
    session *s = c->session;
    const size_t skipped = c->line.offset / sizeof(int32_t);
    if (known.n == c->line.n && known.op == c->line.op && known.offset == c->line.offset)
        return result;
    GP(gp_reduce_int(s->processor, c->line.op, mirror(s, c->line.n + skipped) + skipped, c->line.n, &result));
    known = c->line;
    return result;
}

static gp_status check(contender *c, bool *right) {
    session *s = c->session;
    const int64_t want = expected(c);
    int64_t got = ~want;
    host_result = ~want;
    CUDA(cudaMemsetAsync(buffers_out(s, 0), 0xff, sizeof got, s->stream));
    const gp_status status = c->call(c, 0);
    CUDA(cudaStreamSynchronize(s->stream));
    CUDA(cudaMemcpy(&got, buffers_out(s, 0), sizeof got, cudaMemcpyDeviceToHost));
    if (c->line.measure == MEASURE_RESULT)
        got = host_result;
    else if (c->call == cub && c->line.op != GP_REDUCE_SUM)
        got = (int32_t)got;
    c->wrong = got != want;
    *right = got == want;
    return status;
}

static line reduce_of(gp_reduce_op op, size_t n, size_t offset) {
    return (line){.operation = GP_OPERATION_REDUCE, .op = op, .n = n, .offset = offset, .data = DATA_32_BIT};
}

/* Operations are compared with the sum, offsets with none. */
double reduce_line(session *s, line l, bool with_peer) {
    contender list[CONTENDERS_MAX];
    size_t count = 0;
    if (!line_wanted(s, &l))
        return 0;
    buffers_prepare(s, l.data, l.n * sizeof(int32_t), sizeof(int64_t));
    contender_add(s, list, &count, ROLE_FLOOR, "read", &l, read_floor)->variants = FLOOR_READ_VARIANTS;
    if (with_peer && (l.op == GP_REDUCE_SUM || l.op == GP_REDUCE_MIN)) {
        CUDA(peer_cub_prepare(l.n));
        contender_add(s, list, &count, ROLE_PEER, "CUB", &l, cub);
    }
    if (l.op != GP_REDUCE_SUM || l.offset) {
        const line plain = reduce_of(GP_REDUCE_SUM, l.n, 0);
        contender_add(s, list, &count, ROLE_REFERENCE, "ours, aligned sum", &plain, ours_reduce)->context =
            s->free_choice;
    }
    contender_add_ours(s, list, &count, &l, ours_reduce);
    return run_line(s, list, count, check);
}

void bench_reduce(session *s) {
    static const unsigned for_ops[] = {8, 16, 20, 24, 26, 28}, for_offsets[] = {20, 24, 26, 28};
    for (unsigned log2 = 8; log2 <= 30; log2 += 2)
        reduce_line(s, reduce_of(GP_REDUCE_SUM, (size_t)1 << log2, 0), true);
    for (int op = GP_REDUCE_MIN; op <= GP_REDUCE_XOR; op++)
        for (size_t i = 0; i < sizeof for_ops / sizeof *for_ops; i++)
            reduce_line(s, reduce_of((gp_reduce_op)op, (size_t)1 << for_ops[i], 0), true);
    for (size_t offset = 4; offset <= 12; offset += 4)
        for (size_t i = 0; i < sizeof for_offsets / sizeof *for_offsets; i++)
            reduce_line(s, reduce_of(GP_REDUCE_SUM, (size_t)1 << for_offsets[i], offset), true);
}

static void reduce_to_host(session *s, size_t n) {
    contender list[CONTENDERS_MAX];
    size_t count = 0;
    line l = reduce_of(GP_REDUCE_SUM, n, 0);
    l.measure = MEASURE_RESULT;
    if (!line_wanted(s, &l))
        return;
    buffers_prepare(s, l.data, n * sizeof(int32_t), sizeof(int64_t));
    CUDA(peer_cub_prepare(n));
    contender_add(s, list, &count, ROLE_PEER, "CUB + copy + sync", &l, cub_to_host);
    contender_add(s, list, &count, ROLE_REFERENCE, "CUB + copy to pinned + sync", &l, cub_to_pinned);
    contender_add_ours(s, list, &count, &l, ours_to_host);
    run_line(s, list, count, check);
}

void bench_reduce_host(session *s) {
    CUDA(cudaMallocHost((void **)&host_pinned, sizeof *host_pinned));
    for (unsigned log2 = 8; log2 <= 24; log2 += 2)
        reduce_to_host(s, (size_t)1 << log2);
    CUDA(cudaFreeHost(host_pinned));
    host_pinned = NULL;
}
