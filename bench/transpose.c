/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes against the copy of the same bytes and, for 4 and 8 bytes, cuBLAS's geam. */
#include "bench.h"
#include "check.h"
#include "peers.h"

#include <limits.h>

static size_t in_bytes(const line *l) {
    return l->rows * l->in_pitch * l->elem_bytes;
}

static size_t out_bytes(const line *l) {
    return l->cols * l->out_pitch * l->elem_bytes;
}

static void *source(const contender *c, size_t set) {
    return (char *)buffers_in(c->session, set) + c->line.offset;
}

gp_status ours_transpose(const contender *c, size_t set) {
    const line *l = &c->line;
    void *out = l->in_place ? source(c, set) : buffers_out(c->session, set);
    return gp_transpose(c->context, l->elem_bytes, source(c, set), l->rows, l->cols, l->in_pitch, out, l->out_pitch);
}

static gp_status copy(const contender *c, size_t set) {
    const session *s = c->session;
    const size_t bytes = c->line.rows * c->line.cols * c->line.elem_bytes;
    CUDA(cudaMemcpyAsync(buffers_out(s, set), buffers_in(s, set), bytes, cudaMemcpyDeviceToDevice, s->stream));
    return GP_OK;
}

static gp_status geam(const contender *c, size_t set) {
    const line *l = &c->line;
    if (!peer_geam(l->elem_bytes, source(c, set), l->rows, l->cols, l->in_pitch, buffers_out(c->session, set),
                   l->out_pitch))
        die("cuBLAS geam", "refused");
    return GP_OK;
}

/* In place, the matrix as it was is kept in the other buffer. */
static gp_status check(contender *c, bool *right) {
    session *s = c->session;
    const line *l = &c->line;
    const void *in = source(c, 0), *out = buffers_out(s, 0);
    CUDA(cudaMemsetAsync(s->n_wrong, 0, sizeof *s->n_wrong, s->stream));
    if (l->in_place)
        CUDA(cudaMemcpyAsync(buffers_out(s, 0), in, in_bytes(l), cudaMemcpyDeviceToDevice, s->stream));
    else
        CUDA(cudaMemsetAsync(buffers_out(s, 0), CHECK_POISON, out_bytes(l), s->stream));
    const gp_status status = c->call(c, 0);
    if (l->in_place)
        CUDA(check_transpose(l->elem_bytes, out, l->rows, l->cols, l->in_pitch, in, l->out_pitch, s->n_wrong,
                             s->stream));
    else
        CUDA(check_transpose(l->elem_bytes, in, l->rows, l->cols, l->in_pitch, out, l->out_pitch, s->n_wrong,
                             s->stream));
    CUDA(cudaStreamSynchronize(s->stream));
    CUDA(cudaMemcpy(&c->wrong, s->n_wrong, sizeof c->wrong, cudaMemcpyDeviceToHost));
    *right = c->wrong == 0;
    return status;
}

static bool geam_does(const line *l) {
    return (l->elem_bytes == 4 || l->elem_bytes == 8) && !l->in_place && l->rows <= INT_MAX && l->cols <= INT_MAX &&
           l->in_pitch <= INT_MAX && l->out_pitch <= INT_MAX;
}

double transpose_line(session *s, line l, bool with_peer) {
    contender list[CONTENDERS_MAX];
    size_t count = 0;
    if (!line_wanted(s, &l))
        return 0;
    buffers_prepare(s, l.data, in_bytes(&l), out_bytes(&l));
    contender_add(s, list, &count, ROLE_FLOOR, "copy", &l, copy);
    if (with_peer && geam_does(&l) && peer_geam_open(s->stream))
        contender_add(s, list, &count, ROLE_PEER, l.elem_bytes == 4 ? "cublasSgeam" : "cublasDgeam", &l, geam);
    contender_add_ours(s, list, &count, &l, ours_transpose);
    const double us = run_line(s, list, count, check);
    s->buffers.fresh = !l.in_place;
    return us;
}

line transpose_of(size_t elem_bytes, size_t rows, size_t cols) {
    return (line){.operation = GP_OPERATION_TRANSPOSE,
                  .rows = rows,
                  .cols = cols,
                  .in_pitch = cols,
                  .out_pitch = rows,
                  .elem_bytes = elem_bytes,
                  .data = DATA_FINITE};
}

void bench_transpose(session *s) {
    static const size_t sides[] = {1024, 4096, 8192, 16384, 32768}, elems[] = {4, 8, 16, 1, 2};
    for (size_t e = 0; e < sizeof elems / sizeof *elems; e++)
        for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
            if (!s->opt.quick || sides[i] == 4096 || sides[i] == 16384)
                transpose_line(s, transpose_of(elems[e], sides[i], sides[i]), true);
}

void bench_transpose_odd(session *s) {
    static const size_t shapes[][2] = {{4097, 4095}, {10007, 9973}, {1000000, 32}, {32, 1000000}, {100000, 257},
                                       {1000000, 3}, {3, 1000000},  {1000000, 8},  {8, 1000000}};
    static const size_t elems[] = {4, 8, 1, 2, 16};
    for (size_t e = 0; e < sizeof elems / sizeof *elems; e++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            if (!s->opt.quick || elems[e] == 4)
                transpose_line(s, transpose_of(elems[e], shapes[i][0], shapes[i][1]), true);
    for (size_t e = 0; e < sizeof elems / sizeof *elems; e++) {
        line l = transpose_of(elems[e], 16384, 16384);
        l.in_place = true;
        transpose_line(s, l, false);
    }
    for (size_t e = 0; e < 2; e++) {
        line l = transpose_of(elems[e], 8192, 8192);
        l.in_pitch = l.out_pitch = 8193;
        transpose_line(s, l, true);
        l.in_pitch = l.out_pitch = 8192;
        l.offset = elems[e];
        transpose_line(s, l, true);
    }
}
