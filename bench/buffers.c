/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory in many sets, so that a call's data has left the caches when its turn comes again. */
#include "bench.h"

#define ROTATED ((size_t)4 << 30) /* bytes that calls run through before they repeat: 70 times an H200's L2 */
#define UNIT ((size_t)512)
#define SLACK ((size_t)64) /* for offsets, and for floors that round up to 16 bytes */

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

static bool grow(char **memory, size_t *size, size_t needed) {
    if (needed <= *size)
        return false;
    CUDA(cudaFree(*memory));
    *memory = NULL;
    CUDA(cudaMalloc((void **)memory, needed));
    *size = needed;
    return true;
}

void buffers_prepare(session *s, data_kind kind, size_t in_bytes, size_t out_bytes) {
    buffers *b = &s->buffers;
    size_t available = 0, total = 0;
    CUDA(cudaStreamSynchronize(s->stream));
    CUDA(cudaMemGetInfo(&available, &total));
    b->in_stride = round_up(in_bytes + SLACK, UNIT);
    b->out_stride = round_up(out_bytes + SLACK, UNIT);
    const size_t set = b->in_stride + b->out_stride, budget = (available + b->in_size + b->out_size) / 10 * 9;
    if (set > budget)
        die("buffers", "the problem does not fit in device memory");
    b->n_sets = (ROTATED + set - 1) / set;
    if (b->n_sets < 2 && 2 * set <= budget)
        b->n_sets = 2;
    if (s->opt.once)
        b->n_sets = 1;
    const bool grown = grow(&b->in, &b->in_size, b->n_sets * b->in_stride);
    grow(&b->out, &b->out_size, b->n_sets * b->out_stride);
    if (grown || !b->fresh || b->filled != kind) {
        CUDA(data_fill(b->in, b->in_size / sizeof(int32_t), kind, s->stream));
        s->mirror_n = 0;
    }
    b->filled = kind;
    b->fresh = true;
    s->next_set = 0;
}

void *buffers_in(const session *s, size_t set) {
    return s->buffers.in + set * s->buffers.in_stride;
}

void *buffers_out(const session *s, size_t set) {
    return s->buffers.out + set * s->buffers.out_stride;
}
