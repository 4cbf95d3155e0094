/* SPDX-License-Identifier: Apache-2.0 */
/* The bench's contexts and memory: input in many sets, so that a call's data has left the caches when it comes again.
 */
#include "bench.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNIT ((size_t)512)
#define SLACK ((size_t)64) /* floors round up to 16 bytes */
#define MIB ((size_t)1 << 20)
#define SEED 20260101u

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

/* The last cache before memory; where the system does not tell, more than most have. */
static size_t cache_bytes(const bench *b) {
    const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (b->gpu)
        return b->device.l2_bytes;
    return l3 > 0 ? (size_t)l3 : 64 * MIB;
}

static size_t clamp(size_t value, size_t least, size_t most) {
    return value < least ? least : value > most ? most : value;
}

void bench_open(bench *b) {
    b->gpu = gp_device_count() > 0;
    b->host = open_context(GP_BACKEND_CPU);
    b->context = b->gpu ? open_context(GP_BACKEND_CUDA) : b->host;
    b->device.struct_size = sizeof b->device;
    must(gp_context_device(b->context, &b->device));
    if (b->gpu)
        must(gp_timer_create(b->context, &b->timer));
    b->buffers.flush_bytes = clamp(4 * cache_bytes(b), 64 * MIB, b->gpu ? 2048 * MIB : 256 * MIB);
    must(gp_alloc(b->context, GP_MEMORY_DEVICE, b->buffers.flush_bytes, &b->buffers.flush));
    if (!b->gpu)
        memset(b->buffers.flush, 1, b->buffers.flush_bytes); /* pages of its own */
    b->rows = made(json_array());
}

void bench_close(bench *b) {
    must(gp_free(b->context, b->buffers.in));
    must(gp_free(b->context, b->buffers.out));
    must(gp_free(b->context, b->buffers.flush));
    free(b->buffers.mirror);
    for (size_t i = 0; i < KERNELS_MAX; i++)
        gp_context_destroy(b->pinned[i]);
    gp_timer_destroy(b->timer);
    if (b->gpu)
        gp_context_destroy(b->context);
    gp_context_destroy(b->host);
    json_decref(b->rows);
}

static void grow(bench *b, char **memory, size_t *size, size_t needed) {
    void *fresh;
    if (needed <= *size)
        return;
    must(gp_free(b->context, *memory));
    *memory = NULL;
    must(gp_alloc(b->context, GP_MEMORY_DEVICE, needed, &fresh));
    *memory = fresh;
    *size = needed;
}

/* SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators"). */
static uint32_t random_word(uint64_t index) {
    uint64_t z = SEED + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

static void make_mirror(buffers *m, size_t words, bool bytes_only) {
    if (words <= m->mirror_words && m->bytes_only == bytes_only)
        return;
    free(m->mirror);
    m->mirror = host_alloc(words, sizeof *m->mirror);
    for (size_t i = 0; i < words; i++)
        m->mirror[i] = (int32_t)(bytes_only ? random_word(i) & 0xff : random_word(i));
    m->mirror_words = words;
    m->bytes_only = bytes_only;
}

/* The first set from the host, the others from those before. */
static void fill(bench *b, size_t in_bytes) {
    buffers *m = &b->buffers;
    must(gp_copy(b->context, m->in, m->mirror, round_up(in_bytes, sizeof *m->mirror)));
    const size_t whole = m->n_sets * m->in_stride;
    for (size_t done = m->in_stride; done < whole; done *= 2)
        must(gp_copy(b->context, m->in + done, m->in, whole - done < done ? whole - done : done));
}

void bench_prepare(bench *b, size_t in_bytes, size_t out_bytes, bool bytes_only) {
    buffers *m = &b->buffers;
    const size_t rotated = b->gpu ? 2 * m->flush_bytes : m->flush_bytes;
    m->in_stride = round_up(in_bytes + SLACK, UNIT);
    m->out_stride = round_up(out_bytes + SLACK, UNIT);
    const size_t set = m->in_stride + m->out_stride;
    m->n_sets = b->line.cold ? 1 : (rotated + set - 1) / set; /* one set past the caches drives itself out */
    grow(b, &m->in, &m->in_size, m->n_sets * m->in_stride);
    grow(b, &m->out, &m->out_size, m->n_sets * m->out_stride);
    make_mirror(m, (in_bytes + 3) / 4, bytes_only);
    fill(b, in_bytes);
}

void *bench_in(const bench *b, size_t set) {
    return b->buffers.in + set % b->buffers.n_sets * b->buffers.in_stride;
}

void *bench_out(const bench *b, size_t set) {
    return b->buffers.out + set % b->buffers.n_sets * b->buffers.out_stride;
}

/* Aligned as an allocation of its own would be. */
size_t bench_second(const line *l) {
    return round_up(l->rows * l->cols * sizeof(float), UNIT);
}

void bench_flush(bench *b, bool on_host) {
    buffers *m = &b->buffers;
    if (!b->gpu)
        floor_cpu_read(b->host, 0, m->flush, m->flush_bytes);
    else if (!on_host)
        must(gp_flush_caches(b->context, m->flush, m->flush_bytes / 4, m->flush));
}
