/* SPDX-License-Identifier: Apache-2.0 */
/* How work is divided into parts, one a thread. */
#pragma once

#include "../arithmetic.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define GP_PARTS_MAX 1024u /* gp_options.cpu_threads allows no more */

/* Processors this process may really use: affinity mask and control-group quota. At least 1. */
unsigned gp_threads_available(void);

/* Bytes moved that are worth a thread of their own, if it is awake: one core moves them in 3 to 30 us. */
#define GP_BYTES_PER_PART ((uint64_t)256 << 10)

static inline uint64_t gp_parts_for_bytes(uint64_t bytes) {
    return gp_least(gp_at_least_one(bytes / GP_BYTES_PER_PART), GP_PARTS_MAX);
}

/* Where part `part` of n items begins; part + 1 gives its end. No product passes 64 bits, whatever n is. */
static inline size_t gp_part_begin(size_t n, unsigned part, unsigned parts) {
    if (parts == 1)
        return part == 0 ? 0 : n; /* without the divisions: 5 ns each of a call that may take 50 */
    return n / parts * part + n % parts * part / parts;
}

/*
 * Outputs larger than this bypass the caches, where their lines are whole: what does not stay there until it is read
 * need not be fetched before it is written, which is 1.5 times as fast. The second-level cache of a core of the
 * processors with AVX-512 is 1 or 2 MiB.
 */
#define GP_STREAMED_BYTES_MIN ((uint64_t)4 << 20)

#define GP_CACHE_LINE ((size_t)64) /* bytes in a line of the cache */

/* One of them past the caches, to a multiple of its size. */
static inline void gp_stream_line(void *to, const void *from) {
#if defined(__x86_64__)
    for (int i = 0; i < 4; i++)
        _mm_stream_si128((__m128i *)to + i, _mm_loadu_si128((const __m128i *)from + i));
#else
    memcpy(to, from, GP_CACHE_LINE);
#endif
}

/* Stores that went past the caches are seen by other threads before any later store. */
static inline void gp_streams_done(void) {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}
