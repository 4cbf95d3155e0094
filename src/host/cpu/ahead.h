/* SPDX-License-Identifier: Apache-2.0 */
/* What comes next of a long input, prefetched while this is taken. Behind one of the simd_*.h. */
#pragma once

#define PIECE_BYTES ((size_t)2048)
#define PAGE_BYTES ((size_t)4096)
#define PAGES_BYTES (8 * PAGE_BYTES)

/* Inputs up to this lie in a core's second-level cache, where prefetching is in the way. */
#define IN_CACHE_BYTES ((size_t)2 << 20)

/*
 * For a line of eight pages one of the eight pages after them: a core prefetches by itself only within a page, and in
 * eight pages more than in one. 64 MiB of ints are read at 9 GB/s without this and at 15 with it (one thread, Xeon
 * with AVX-512, model 167). Loops that have other work prefetch line by line, as a core waits with few lines on their
 * way. AMD's cores follow a stream through all pages by themselves, and gain only where rows are read side by side:
 * by the line of two pages on, into the second-level cache alone.
 */
#if defined(__x86_64__)
#define FOLLOWS_STREAMS __builtin_cpu_is("amd")
#else
#define FOLLOWS_STREAMS false
#endif

#define BYTES_AHEAD ((int64_t)(2 * PAGE_BYTES)) /* of cores that follow streams */

INLINE void prefetch_for_line(const void *at) {
    if (FOLLOWS_STREAMS) {
        __builtin_prefetch((const unsigned char *)at + BYTES_AHEAD, 0, 2);
        return;
    }
    const uintptr_t line = (uintptr_t)at / 64;
    const unsigned char *next = (const unsigned char *)at - (uintptr_t)at % PAGES_BYTES + PAGES_BYTES;
    __builtin_prefetch(next + line % 8 * PAGE_BYTES + line / 8 % 64 * 64);
}

/* Whether there are eight pages after those of an address. */
static inline bool has_next(const void *at, const unsigned char *end) {
    return (uintptr_t)at / PAGES_BYTES + 1 < (uintptr_t)end / PAGES_BYTES;
}

/* For bytes within eight pages. */
INLINE void prefetch_lines(const void *at, size_t bytes) {
    for (size_t line = 0; line < bytes; line += 64)
        prefetch_for_line((const unsigned char *)at + line);
}
