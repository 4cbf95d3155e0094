/* SPDX-License-Identifier: Apache-2.0 */
/* How work is divided into parts, one a thread. */
#ifndef GP_CPU_SPLIT_H
#define GP_CPU_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#define GP_PARTS_MAX 1024u /* gp_options.cpu_threads allows no more */

/*
 * Bytes moved that are worth a thread of their own. A sleeping one begins 3 to 11 us after it is called (2 cores of a
 * virtual Intel Xeon with AVX-512), in which one core moves 60 to 220 KiB at the 20 GB/s of memory.
 */
#define GP_BYTES_PER_PART ((uint64_t)256 << 10)

static inline uint64_t gp_parts_for_bytes(uint64_t bytes) {
    uint64_t parts = bytes / GP_BYTES_PER_PART;
    return parts < 1 ? 1 : parts > GP_PARTS_MAX ? GP_PARTS_MAX : parts;
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

/* Stores that went past the caches are seen by other threads before any later store. */
static inline void gp_streams_done(void) {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

#endif
