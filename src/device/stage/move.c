/* SPDX-License-Identifier: Apache-2.0 */
/* Moving boxes: over the bus, and between pageable memory and pinned chunks by as many threads as help. */
#include "../../host/cpu/split.h"
#include "stage.h"

#include <limits.h>
#include <string.h>

/*
 * Chunks up to this fit in the threads' second-level caches, and copy engines are slow with what lies there: such
 * chunks are filled past the caches and sent down a level once they are emptied. One H200, a transpose of 16 MiB:
 * 1021 us before, 603 after.
 */
#define SMALL_BYTES ((size_t)4 << 20)
#define DEMOTED_LEAST ((size_t)512 << 10) /* below, sending lines down takes longer than it saves */

/* What a thread copies at a time, of small chunks and of others. */
#define SMALL_SEGMENT_BYTES ((size_t)64 << 10)
#define SEGMENT_BYTES ((size_t)256 << 10)

/*
 * Processors prefetch nothing beyond a page by themselves, and rows of a tile end after one or two: what follows is
 * prefetched this far ahead. One H200, 16 threads, transposes of 1 GiB: 0.88 of the bus before, 0.93 after.
 */
#define AHEAD ((size_t)4 << 10)

/*
 * Past the caches: the caller's output is not read before it is written, and does not push the chunks out of the
 * cache, where the copy engines find large ones.
 */
static void stream_bytes(unsigned char *to, const unsigned char *from, size_t bytes) {
#if defined(__x86_64__)
    const size_t head = gp_least(bytes, -(uintptr_t)to % GP_CACHE_LINE);
    memcpy(to, from, head);
    to += head, from += head, bytes -= head;
    for (; bytes >= GP_CACHE_LINE; to += GP_CACHE_LINE, from += GP_CACHE_LINE, bytes -= GP_CACHE_LINE)
        gp_stream_line(to, from);
#endif
    memcpy(to, from, bytes);
}

/* Into the caches, with prefetches of what the thread reads next, on to the row at `next`. */
static void pack_bytes(unsigned char *to, const unsigned char *from, size_t bytes, const unsigned char *next) {
    size_t at = 0;
    for (; at + GP_CACHE_LINE <= bytes; at += GP_CACHE_LINE) {
        const size_t ahead = at + AHEAD;
        __builtin_prefetch(ahead < bytes ? from + ahead : next + (ahead - bytes));
        memcpy(to + at, from + at, GP_CACHE_LINE);
    }
    memcpy(to + at, from + at, bytes - at);
}

/* An instruction of newer processors; others take it for one that does nothing. */
static void demote(const unsigned char *bytes, size_t count) {
#if defined(__x86_64__)
    for (size_t i = 0; i < count; i += GP_CACHE_LINE)
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
        const size_t bytes = gp_least(box->width - col, end - begin);
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
    const size_t bytes = chunk->box.width * chunk->box.height;
    return gp_least(bytes,
                    gp_part_begin(gp_divide_up(bytes, GP_CACHE_LINE), segment, chunk->segments) * GP_CACHE_LINE);
}

void gp_chunk_offer(gp_chunk *chunk, const gp_box *box, bool unpack) {
    const size_t bytes = box->width * box->height;
    const size_t segment = bytes <= SMALL_BYTES ? SMALL_SEGMENT_BYTES : SEGMENT_BYTES;
    chunk->box = *box;
    chunk->unpack = unpack;
    chunk->segments = (unsigned)gp_divide_up(bytes, segment);
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
        if (help_with(&stage->ring[1][i]) || help_with(&stage->ring[0][i]))
            return true;
    return false;
}

void gp_stage_forget_offers(gp_stage *stage) {
    for (unsigned i = 0; i < 2 * GP_RING_CHUNKS; i++)
        atomic_store(&stage->ring[i % 2][i / 2].left, 0);
}

/* cudaMemcpy2D takes pitches below 2 GiB; rows farther apart are long enough to be copied one by one. */
gp_status gp_stage_copy(const gp_box *box, unsigned char *host, size_t host_pitch, bool outward,
                        cudaStream_t stream) {
    const enum cudaMemcpyKind kind = outward ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    unsigned char *const to = outward ? host : box->device, *const from = outward ? box->device : host;
    const size_t to_pitch = outward ? host_pitch : box->device_pitch;
    const size_t from_pitch = outward ? box->device_pitch : host_pitch;
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
