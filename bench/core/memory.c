/* SPDX-License-Identifier: Apache-2.0 */
/* A line's arrays, in as many sets as calls must run through so that their data has left the caches when they come
   again; and a session's copies of input and results on the host. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLACK ((size_t)64) /* floors round up to 16 bytes */
#define HUGE_PAGE ((size_t)2 << 20)
#define UNIT ((size_t)512) /* of device memory */

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

/* On huge pages, each of them touched: page faults are not what is measured. */
static void *host_pages(size_t bytes) {
    char *base = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        fail("no host memory for %zu bytes", bytes);
    const size_t before = round_up((uintptr_t)base, HUGE_PAGE) - (uintptr_t)base;
    if (before > 0)
        munmap(base, before);
    if (HUGE_PAGE - before > 0)
        munmap(base + before + bytes, HUGE_PAGE - before);
    (void)madvise(base + before, bytes, MADV_HUGEPAGE);
    memset(base + before, 1, bytes);
    return base + before;
}

static void release(session *s, memory_kind kind, void *memory, size_t size) {
    if (memory == NULL)
        return;
    if (kind == MEMORY_HOST)
        munmap(memory, size);
    else
        s->gpu->free(kind, memory);
}

static void grow(session *s, memory_kind kind, char **memory, size_t *size, size_t needed) {
    if (needed <= *size)
        return;
    release(s, kind, *memory, *size);
    *size = kind == MEMORY_HOST ? round_up(needed, HUGE_PAGE) : needed;
    *memory = kind == MEMORY_HOST ? host_pages(*size) : s->gpu->alloc(kind, *size);
}

static void drop_arrays(session *s) {
    buffers *b = &s->buffers;
    release(s, b->memory, b->in, b->in_size);
    release(s, b->memory, b->out, b->out_size);
    release(s, b->memory, b->expected, b->expected_size);
    b->in = b->out = b->expected = NULL;
    b->in_size = b->out_size = b->expected_size = 0;
}

void buffers_drop(session *s) {
    drop_arrays(s);
    release(s, s->n_places > 0 && s->places[0].gpu ? MEMORY_DEVICE : MEMORY_HOST, s->buffers.flush,
            s->buffers.flush_bytes);
    release(s, MEMORY_HOST, s->buffers.mirror, s->buffers.mirror_size);
}

void memory_copy(session *s, void *to, const void *from, size_t bytes) {
    if (s->buffers.memory == MEMORY_DEVICE)
        s->gpu->copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

void memory_set(session *s, void *to, int byte, size_t bytes) {
    if (s->buffers.memory == MEMORY_DEVICE)
        s->gpu->set(to, byte, bytes);
    else
        memset(to, byte, bytes);
}

/* The first set as the case says, the others copied from those before. */
static void fill(session *s) {
    const buffers *b = &s->buffers;
    const size_t words = (s->arrays.in_bytes + 3) / 4, whole = b->n_sets * b->in_stride;
    void *first = buffers_in(s, 0);
    if (b->memory == MEMORY_DEVICE)
        s->gpu->fill(first, words, s->arrays.data, cases_spike(words, s->arrays.seed), s->arrays.seed);
    else
        cases_fill(first, words, s->arrays.data, s->arrays.seed);
    for (size_t done = b->in_stride; done < whole; done *= 2)
        memory_copy(s, b->in + done, b->in, whole - done < done ? whole - done : done);
}

/* As many as are asked for, and as device memory has room for beside what is expected. */
static size_t sets_for(const session *s, size_t set, size_t expected) {
    const buffers *b = &s->buffers;
    const bool gpu = b->memory == MEMORY_DEVICE;
    const size_t wanted = (s->opt.rotated[gpu] + set - 1) / set, least = gpu ? 2 : 1;
    if (s->line.kept || s->opt.once || s->line.measure == MEASURE_COLD || b->memory == MEMORY_PINNED)
        return 1;
    if (!gpu)
        return wanted > least ? wanted : least;
    const size_t room = (s->gpu->available() + b->in_size + b->out_size + b->expected_size) / 10 * 9;
    if (room < set + expected)
        fail("the problem does not fit in device memory");
    const size_t most = (room - expected) / set, sets = wanted > least ? wanted : least;
    return sets < most ? sets : most;
}

/* All are given up before one grows, so that there is room for it. */
void buffers_prepare(session *s) {
    buffers *b = &s->buffers;
    const footprint *p = &s->arrays;
    const size_t unit = s->line.memory == MEMORY_DEVICE ? UNIT : HUGE_PAGE;
    if (b->memory != s->line.memory)
        drop_arrays(s);
    b->memory = s->line.memory;
    b->in_stride = round_up(p->in_bytes + p->in_offset + SLACK, unit);
    b->out_stride = round_up(p->out_bytes + p->out_offset + SLACK, unit);
    const size_t outs = p->outs * b->out_stride;
    b->n_sets = sets_for(s, b->in_stride + outs, outs);
    if (b->n_sets * b->in_stride > b->in_size || b->n_sets * outs > b->out_size || outs > b->expected_size)
        drop_arrays(s);
    grow(s, b->memory, &b->in, &b->in_size, b->n_sets * b->in_stride);
    grow(s, b->memory, &b->out, &b->out_size, b->n_sets * outs);
    grow(s, b->memory, &b->expected, &b->expected_size, outs);
    fill(s);
    s->next_set = 0;
}

void *buffers_in(const session *s, size_t set) {
    return s->buffers.in + set * s->buffers.in_stride + s->arrays.in_offset;
}

void *buffers_out(const session *s, size_t set, unsigned which) {
    if (s->line.measure == MEASURE_RESULT)
        return (void *)&s->buffers.result;
    return s->buffers.out + (set * s->arrays.outs + which) * s->buffers.out_stride + s->arrays.out_offset;
}

/* Made anew only where it holds other data, or too little; a spike lies elsewhere in more of it. */
const void *buffers_mirror(session *s) {
    buffers *b = &s->buffers;
    const footprint *p = &s->arrays;
    const bool same = b->mirror_data == p->data && b->mirror_seed == p->seed && p->data != DATA_SPIKE;
    if (same && b->mirror_bytes >= p->in_bytes)
        return b->mirror;
    grow(s, MEMORY_HOST, &b->mirror, &b->mirror_size, p->in_bytes);
    memory_copy(s, b->mirror, buffers_in(s, 0), p->in_bytes);
    b->mirror_bytes = p->in_bytes;
    b->mirror_data = p->data;
    b->mirror_seed = p->seed;
    return b->mirror;
}

/* Of a contender on the host beside a GPU's nothing is emptied: its data just came there. */
void memory_flush(session *s, bool on_host) {
    buffers *b = &s->buffers;
    const bool gpu = s->line.at->gpu;
    const size_t least = (size_t)64 << 20, most = (size_t)(gpu ? 2048 : 256) << 20,
                 wanted = 4 * s->line.at->cache_bytes;
    size_t size = b->flush_bytes;
    grow(s, gpu ? MEMORY_DEVICE : MEMORY_HOST, &b->flush, &size,
         wanted < least  ? least
         : wanted < most ? wanted
                         : most);
    b->flush_bytes = size;
    if (gpu && !on_host)
        s->gpu->flush(b->flush, b->flush_bytes);
    else if (!gpu)
        floor_processor(s->line.at->context, 0, 0, b->flush, NULL, b->flush_bytes);
}
