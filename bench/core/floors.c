/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the memory allows the processor's threads: loops that read, copy, or write twice what they read, and do
 * nothing else. Which is fastest depends on size, threads and machine: several compete. Past the caches lines are
 * written whole, so that none is read before.
 */
#include "../../src/host/cpu/split.h"
#include "../../src/host/cpu/threads.h"
#include "bench.h"

#include <string.h>

#define LINE GP_CACHE_LINE
#define PAGE ((size_t)4096)
#define STREAMS_MAX 8

/* One thread's part, of whole lines. What it returns depends on all that was read. */
typedef uint64_t loop(const char *in, char *out, char *out2, size_t bytes);

#define TARGET
#define VECTOR vector16
#define NAMED(loop) loop##_plain
typedef uint64_t vector16 __attribute__((vector_size(16), may_alias));
#include "floors_read.h"

static uint64_t copy_memcpy(const char *in, char *out, char *out2, size_t bytes) {
    memcpy(out, in, bytes);
    if (out2 != NULL)
        memcpy(out2, in, bytes);
    return 0;
}

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2")))
#define VECTOR vector32
#define NAMED(loop) loop##_avx2
typedef uint64_t vector32 __attribute__((vector_size(32), may_alias));
#include "floors_read.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define VECTOR vector64
#define NAMED(loop) loop##_avx512
typedef uint64_t vector64 __attribute__((vector_size(64), may_alias));
#include "floors_read.h"

static uint64_t copy_streamed(const char *in, char *out, char *out2, size_t bytes) {
    for (size_t i = 0; i < bytes; i += LINE) {
        __builtin_prefetch(in + i + PAGE, 0, 3);
        gp_stream_line(out + i, in + i);
        if (out2 != NULL)
            gp_stream_line(out2 + i, in + i);
    }
    return 0;
}

/* A page to one array, then to the other, the input fetched two pages ahead. */
static uint64_t copy_pages(const char *in, char *out, char *out2, size_t bytes) {
    for (size_t page = 0, end; page < bytes; page = end) {
        end = page + PAGE < bytes ? page + PAGE : bytes;
        for (size_t i = page; i < end; i += LINE) {
            __builtin_prefetch(in + i + 2 * PAGE, 0, 3);
            gp_stream_line(out + i, in + i);
        }
        for (size_t i = page; i < end && out2 != NULL; i += LINE)
            gp_stream_line(out2 + i, in + i);
    }
    return 0;
}

#endif

#define READS(isa, name)                                                               \
    {"plain loop" name, read_loop_##isa}, {"4 streams" name, read_quarters_##isa},     \
        {"4 pages" name, read_pages_##isa}, {"8 pages" name, read_more_pages_##isa}, { \
        "4 streams, ahead" name, read_ahead_##isa                                      \
    }

typedef struct way {
    const char *name;
    loop *run;
} way;

static const way copies[] = {
    {"memcpy", copy_memcpy},
#if defined(__x86_64__)
    {"streamed", copy_streamed},
    {"streamed by pages", copy_pages},
#endif
};
static const way reads[] = {READS(plain, "")};
#if defined(__x86_64__)
static const way reads_avx2[] = {READS(avx2, ", AVX2")}, reads_avx512[] = {READS(avx512, ", AVX-512")};
#endif
#define N_READS (sizeof reads / sizeof *reads)
#define N_COPIES (sizeof copies / sizeof *copies)

static const way *way_of(const gp_context *context, unsigned outs, unsigned which) {
    (void)context; /* where there is one instruction set */
    if (outs > 0)
        return which < N_COPIES ? &copies[which] : NULL;
    if (which >= N_READS)
        return NULL;
#if defined(__x86_64__)
    if (context->device.cpu_isa & GP_ISA_AVX512)
        return &reads_avx512[which];
    if (context->device.cpu_isa & GP_ISA_AVX2)
        return &reads_avx2[which];
#endif
    return &reads[which];
}

const char *floor_processor_name(gp_context *context, unsigned outs, unsigned which) {
    const way *w = way_of(context, outs, which);
    return w != NULL ? w->name : NULL;
}

typedef struct work {
    loop *run;
    const char *in;
    char *out, *out2;
    size_t bytes;
} work;

static uint64_t sink; /* what was read must be used; by several threads at once */

static void run_share(void *user, unsigned part, unsigned share, unsigned shares) {
    work *w = user;
    const size_t begin = gp_part_begin(w->bytes / LINE, share, shares) * LINE;
    const size_t end = gp_part_begin(w->bytes / LINE, share + 1, shares) * LINE;
    const uint64_t seen = w->run(w->in + begin, w->out != NULL ? w->out + begin : NULL,
                                 w->out2 != NULL ? w->out2 + begin : NULL, end - begin);
    (void)part;
    __atomic_store_n(&sink, seen, __ATOMIC_RELAXED);
    gp_streams_done();
}

/* As many threads as the library's own rows take, and divided as they divide. A last line in part is a line. */
void floor_processor(gp_context *context, unsigned outs, unsigned which, const void *in, void *const out[],
                     size_t bytes) {
    const uint64_t useful = gp_parts_for_bytes((outs + 1) * (uint64_t)bytes);
    const unsigned most = context->device.cpu_threads, parts = useful < most ? (unsigned)useful : most;
    work w = {.run = way_of(context, outs, which)->run,
              .in = in,
              .out = outs > 0 ? out[0] : NULL,
              .out2 = outs > 1 ? out[1] : NULL,
              .bytes = (bytes + LINE - 1) / LINE * LINE};
    gp_threads_share(context, parts, w.bytes, run_share, &w);
}

unsigned floor_ways(const session *s, unsigned outs) {
    unsigned ways = 0;
    if (s->line.at->gpu)
        return s->gpu->floor_ways[outs];
    while (floor_processor_name(s->line.at->context, outs, ways) != NULL)
        ways++;
    return ways;
}

const char *floor_name(const contender *c) {
    const session *s = c->session;
    return s->line.at->gpu ? "" : floor_processor_name(s->line.at->context, s->arrays.floor_outs, c->way);
}

/* From where the sets begin, whatever the line's offsets are. */
gp_status floor_call(const contender *c, size_t set) {
    session *s = c->session;
    const buffers *b = &s->buffers;
    const char *in = b->in + set * b->in_stride;
    void *out[OUTS_MAX];
    for (unsigned k = 0; k < OUTS_MAX; k++)
        out[k] = b->out + (set * s->arrays.outs + k) * b->out_stride;
    if (s->line.at->gpu)
        s->gpu->floor(s->arrays.floor_outs, c->way, in, out, s->arrays.moved_bytes);
    else
        floor_processor(s->line.at->context, s->arrays.floor_outs, c->way, in, out, s->arrays.moved_bytes);
    return GP_OK;
}
