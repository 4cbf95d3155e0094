/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory allows the processor's threads: loops that move bytes and do nothing else. */
#include "../src/host/cpu/split.h"
#include "../src/host/cpu/threads.h"
#include "bench.h"
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define STREAMS 4u
#define UNIT 64u /* parts begin at multiples of a cache line */

typedef struct work {
    const char *in;
    size_t bytes;
    char *first, *second;
    unsigned streams; /* 1 or STREAMS */
} work;

static uint64_t sink; /* what was read must be used; by several threads at once */

static void part_of(const work *w, unsigned part, unsigned parts, size_t *begin, size_t *end) {
    *begin = gp_part_begin(w->bytes / UNIT, part, parts) * UNIT;
    *end = part + 1 == parts ? w->bytes : gp_part_begin(w->bytes / UNIT, part + 1, parts) * UNIT;
}

/* What every processor of either kind has registers for. */
typedef uint64_t vector __attribute__((vector_size(16), may_alias));
#define VECTORS (UNIT / sizeof(vector))

static inline void read_unit(vector mix[VECTORS], const char *at) {
    const vector *value = (const vector *)(const void *)at;
    for (unsigned i = 0; i < VECTORS; i++)
        mix[i] ^= value[i];
}

/* Of STREAMS pieces of its part side by side a thread has more misses under way than of one. */
static void read_part(void *user, unsigned part, unsigned parts) {
    const work *w = user;
    size_t begin, end;
    vector mix[VECTORS] = {{0}};
    part_of(w, part, parts, &begin, &end);
    const size_t piece = (end - begin) / w->streams / UNIT * UNIT;
    const char *first = w->in + begin;
    if (w->streams == 1)
        for (size_t at = 0; at < piece; at += UNIT)
            read_unit(mix, first + at);
    else
        for (size_t at = 0; at < piece; at += UNIT)
            for (unsigned k = 0; k < STREAMS; k++)
                read_unit(mix, first + k * piece + at);
    for (unsigned i = 1; i < VECTORS; i++)
        mix[0] ^= mix[i];
    __atomic_store_n(&sink, (uint64_t)(mix[0][0] ^ mix[0][1]), __ATOMIC_RELAXED);
}

#if defined(__x86_64__)
/* Past the caches, so that no line is read before it is written. Arrays are 16-byte aligned. */
static void write_part(void *user, unsigned part, unsigned parts) {
    const work *w = user;
    size_t begin, end, at;
    part_of(w, part, parts, &begin, &end);
    for (at = begin; at + 16 <= end; at += 16) {
        const __m128i value = _mm_loadu_si128((const __m128i *)(const void *)(w->in + at));
        _mm_stream_si128((__m128i *)(void *)(w->first + at), value);
        if (w->second != NULL)
            _mm_stream_si128((__m128i *)(void *)(w->second + at), value);
    }
    memcpy(w->first + at, w->in + at, end - at);
    if (w->second != NULL)
        memcpy(w->second + at, w->in + at, end - at);
    gp_streams_done();
}
#else
static void write_part(void *user, unsigned part, unsigned parts) {
    const work *w = user;
    size_t begin, end;
    part_of(w, part, parts, &begin, &end);
    memcpy(w->first + begin, w->in + begin, end - begin);
    if (w->second != NULL)
        memcpy(w->second + begin, w->in + begin, end - begin);
}
#endif

/* As many threads as the library's own kernels take for that many bytes. */
static unsigned parts_for(const gp_context *context, uint64_t bytes) {
    const uint64_t useful = gp_parts_for_bytes(bytes);
    return useful < context->device.cpu_threads ? (unsigned)useful : context->device.cpu_threads;
}

void floor_cpu_read(gp_context *context, unsigned way, const void *in, size_t bytes) {
    work w = {in, bytes, NULL, NULL, way == 0 ? 1 : STREAMS};
    gp_threads_run(context, parts_for(context, bytes), read_part, &w);
}

void floor_cpu_write(gp_context *context, const void *in, size_t bytes, void *first, void *second) {
    work w = {in, bytes, first, second, 1};
    gp_threads_run(context, parts_for(context, (second != NULL ? 3 : 2) * (uint64_t)bytes), write_part, &w);
}
