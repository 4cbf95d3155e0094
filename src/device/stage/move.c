/* SPDX-License-Identifier: Apache-2.0 */
/* Moving boxes: over the bus, and between pageable memory and pinned chunks by as many threads as help. */
#include "../../host/cpu/split.h"
#include "stage.h"

#include <limits.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define LINE ((size_t)64)

/*
 * Chunks up to this fit in the threads' second-level caches, and copy engines are slow with what lies there (one
 * H200, 16 threads with 2 MiB each, 1 MiB of a chunk: 65 us either way, 20 elsewhere): such chunks are filled past
 * the caches and sent down a level once they are emptied. Transposes of 4, 16, 32 MiB 367, 1021, 1238 us before, 219,
 * 603, 1142 so; of 64 MiB, chunks of 8 MiB, 1984 and 2181.
 */
#define SMALL_BYTES ((size_t)4 << 20)
#define DEMOTED_LEAST ((size_t)512 << 10) /* below, sending lines down takes longer than it saves */

/* What a thread copies at a time. */
#define SEGMENT_BYTES ((size_t)128 << 10)
#define SMALL_SEGMENT_BYTES ((size_t)64 << 10)

/*
 * Processors ask for nothing beyond a page by themselves, and rows of a tile end after one or two: what follows is
 * asked for this far ahead, and segments are longer. One H200, 16 threads, 1 GiB, share of the bus with memcpy, 4 KiB
 * ahead, and so with segments of 256 KiB: 16384 x 16384 of 4 bytes 0.884, 0.929, 0.945; 8192 x 16384 of 8 bytes
 * 0.878, 0.941, 0.950. Rows that begin anywhere in a line, 31776 x 31776 of 1 byte, two runs, with memcpy and
 * so: 89.6 and 90.7, 84.9 and 93.7 GB/s.
 */
#define AHEAD ((size_t)4 << 10)
#define ROWS_SEGMENT_BYTES ((size_t)256 << 10)

/*
 * Past the caches: the caller's output is not read before it is written, and does not push the chunks out of the
 * cache, where the copy engines find large ones.
 */
static void stream_bytes(unsigned char *to, const unsigned char *from, size_t bytes) {
#if defined(__x86_64__)
    size_t head = (LINE - (uintptr_t)to % LINE) % LINE;
    head = head < bytes ? head : bytes;
    memcpy(to, from, head);
    to += head, from += head, bytes -= head;
    for (; bytes >= LINE; to += LINE, from += LINE, bytes -= LINE) {
        const __m128i *source = (const __m128i *)(const void *)from;
        __m128i *target = (__m128i *)(void *)to;
        const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
        const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    }
#endif
    memcpy(to, from, bytes);
}

/* Into the caches; what the thread reads next, on to the row at `next`, is asked for some way ahead. */
static void pack_bytes(unsigned char *to, const unsigned char *from, size_t bytes, const unsigned char *next) {
    size_t at = 0;
    for (; at + LINE <= bytes; at += LINE) {
        const size_t ahead = at + AHEAD;
        __builtin_prefetch(ahead < bytes ? from + ahead : next + (ahead - bytes));
        memcpy(to + at, from + at, LINE);
    }
    memcpy(to + at, from + at, bytes - at);
}

/* An instruction of newer processors; others take it for one that does nothing. */
static void demote(const unsigned char *bytes, size_t count) {
#if defined(__x86_64__)
    for (size_t i = 0; i < count; i += LINE)
        __asm__ volatile(".byte 0x0f, 0x1c, 0x00" : : "a"(bytes + i) : "memory"); /* cldemote (%rax) */
#else
    (void)bytes, (void)count;
#endif
}

static void copy_segment(const gp_chunk *chunk, size_t first, size_t end) {
    const gp_box *box = &chunk->box;
    const size_t whole = box->width * box->height;
    size_t row = first / box->width, col = first % box->width;
    for (size_t begin = first; begin < end; row++, col = 0) {
        const size_t bytes = box->width - col < end - begin ? box->width - col : end - begin;
        unsigned char *host = box->host + row * box->host_pitch + col;
        if (chunk->unpack)
            stream_bytes(host, chunk->bytes + begin, bytes);
        else if (whole <= SMALL_BYTES)
            stream_bytes(chunk->bytes + begin, host, bytes);
        else if (box->height > 1)
            pack_bytes(chunk->bytes + begin, host, bytes, begin + bytes < end ? host - col + box->host_pitch : host);
        else
            memcpy(chunk->bytes + begin, host, bytes);
        begin += bytes;
    }
    if (chunk->unpack && whole >= DEMOTED_LEAST && whole <= SMALL_BYTES)
        demote(chunk->bytes + first, end - first);
    gp_streams_done();
}

/* Segments begin at whole cache lines of the chunk, so that no line is written by two threads. */
static size_t segment_begin(const gp_chunk *chunk, unsigned segment) {
    const size_t bytes = chunk->box.width * chunk->box.height, lines = (bytes + LINE - 1) / LINE;
    const size_t begin = gp_part_begin(lines, segment, chunk->segments) * LINE;
    return begin < bytes ? begin : bytes;
}

void gp_chunk_offer(gp_chunk *chunk, const gp_box *box, bool unpack) {
    const size_t bytes = box->width * box->height;
    const size_t segment = bytes <= SMALL_BYTES ? SMALL_SEGMENT_BYTES
                           : box->height > 1    ? ROWS_SEGMENT_BYTES
                                                : SEGMENT_BYTES;
    chunk->box = *box;
    chunk->unpack = unpack;
    chunk->segments = (unsigned)((bytes + segment - 1) / segment);
    atomic_store_explicit(&chunk->done, 0, memory_order_relaxed);
    atomic_store_explicit(&chunk->left, chunk->segments, memory_order_release);
}

bool gp_chunk_is_copied(const gp_chunk *chunk) {
    return atomic_load_explicit(&chunk->done, memory_order_acquire) == chunk->segments;
}

/* Whoever takes a segment away from `left` sees all that was stored before `left` was. */
static bool help_with(gp_chunk *chunk) {
    unsigned left = atomic_load_explicit(&chunk->left, memory_order_relaxed);
    while (left > 0)
        if (atomic_compare_exchange_weak_explicit(&chunk->left, &left, left - 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
            const unsigned segment = chunk->segments - left;
            copy_segment(chunk, segment_begin(chunk, segment), segment_begin(chunk, segment + 1));
            atomic_fetch_add_explicit(&chunk->done, 1, memory_order_release);
            return true;
        }
    return false;
}

/* Output first: it is what frees the chunks that the bus waits for at the end. */
bool gp_stage_help(gp_stage *stage) {
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++)
        if (help_with(&stage->output.chunk[i]) || help_with(&stage->input.chunk[i]))
            return true;
    return false;
}

void gp_stage_forget_offers(gp_stage *stage) {
    for (unsigned i = 0; i < GP_RING_CHUNKS; i++) {
        atomic_store(&stage->input.chunk[i].left, 0);
        atomic_store(&stage->output.chunk[i].left, 0);
    }
}

/* cudaMemcpy2D takes pitches below 2 GiB; rows farther apart are long enough to be copied one by one. */
static gp_status copy_rows(unsigned char *to, size_t to_pitch, const unsigned char *from, size_t from_pitch,
                           const gp_box *box, enum cudaMemcpyKind kind, cudaStream_t stream) {
    if (box->height == 1 || (to_pitch == box->width && from_pitch == box->width)) {
        GP_CUDA(cudaMemcpyAsync(to, from, box->width * box->height, kind, stream));
        return GP_OK;
    }
    if (to_pitch <= INT_MAX && from_pitch <= INT_MAX) {
        GP_CUDA(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, box->width, box->height, kind, stream));
        return GP_OK;
    }
    for (size_t row = 0; row < box->height; row++)
        GP_CUDA(cudaMemcpyAsync(to + row * to_pitch, from + row * from_pitch, box->width, kind, stream));
    return GP_OK;
}

gp_status gp_stage_copy_up(const gp_box *box, const unsigned char *host, size_t host_pitch, cudaStream_t stream) {
    return copy_rows(box->device, box->device_pitch, host, host_pitch, box, cudaMemcpyHostToDevice, stream);
}

gp_status gp_stage_copy_down(const gp_box *box, unsigned char *host, size_t host_pitch, cudaStream_t stream) {
    return copy_rows(host, host_pitch, box->device, box->device_pitch, box, cudaMemcpyDeviceToHost, stream);
}
