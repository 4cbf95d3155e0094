/* SPDX-License-Identifier: Apache-2.0 */
/* The limits' loops and their list. Which is fastest depends on size, threads and machine: several compete. */
#include "limits.h"
#include "gpuprim/gpuprim.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PAGE ((size_t)4096)
#define LINE ((size_t)64)
#define MIB ((size_t)1 << 20)

#define TARGET
#define VECTOR vector16
#define NAMED(loop) loop##_plain
typedef uint64_t vector16 __attribute__((vector_size(16)));
#include "limits_read.h"

static uint64_t copy_memcpy(const char *in, char *out, char *out2, size_t bytes) {
    (void)out2;
    memcpy(out, in, bytes);
    return 0;
}

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2")))
#define VECTOR vector32
#define NAMED(loop) loop##_avx2
typedef uint64_t vector32 __attribute__((vector_size(32)));
#include "limits_read.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define VECTOR vector64
#define NAMED(loop) loop##_avx512
typedef uint64_t vector64 __attribute__((vector_size(64)));
#include "limits_read.h"

/* Past the caches a line is written as a whole, whatever the width of the stores that fill it. */
static void stream_line(char *out, const char *in) {
    for (unsigned k = 0; k < 4; k++)
        _mm_stream_si128((__m128i *)(void *)(out + 16 * k),
                         _mm_load_si128((const __m128i *)(const void *)(in + 16 * k)));
}

static uint64_t copy_streamed(const char *in, char *out, char *out2, size_t bytes) {
    (void)out2;
    for (size_t i = 0; i < bytes; i += LINE)
        stream_line(out + i, in + i);
    _mm_sfence();
    return 0;
}

/* Four pages side by side, the same line of the next four fetched meanwhile. */
static uint64_t copy_pages(const char *in, char *out, char *out2, size_t bytes) {
    (void)out2;
    for (size_t block = 0; block < bytes; block += LIMIT_UNIT)
        for (size_t line = block; line < block + PAGE; line += LINE)
            for (size_t i = line; i < block + LIMIT_UNIT; i += PAGE) {
                stream_line(out + i, in + i);
                __builtin_prefetch(in + LIMIT_UNIT + i, 0, 3);
            }
    _mm_sfence();
    return 0;
}

static uint64_t split_streamed(const char *in, char *out, char *out2, size_t bytes) {
    for (size_t i = 0; i < bytes; i += LINE) {
        stream_line(out + i, in + i);
        stream_line(out2 + i, in + i);
    }
    _mm_sfence();
    return 0;
}

/* The input fetched a page ahead. */
static uint64_t split_ahead(const char *in, char *out, char *out2, size_t bytes) {
    for (size_t i = 0; i < bytes; i += LINE) {
        __builtin_prefetch(in + i + PAGE, 0, 3);
        stream_line(out + i, in + i);
        stream_line(out2 + i, in + i);
    }
    _mm_sfence();
    return 0;
}

/* A page to one array, then to the other, the input fetched two pages ahead. */
static uint64_t split_pages(const char *in, char *out, char *out2, size_t bytes) {
    for (size_t page = 0; page < bytes; page += PAGE) {
        for (size_t i = page; i < page + PAGE; i += LINE) {
            __builtin_prefetch(in + i + 2 * PAGE, 0, 3);
            stream_line(out + i, in + i);
        }
        for (size_t i = page; i < page + PAGE; i += LINE)
            stream_line(out2 + i, in + i);
    }
    _mm_sfence();
    return 0;
}

#endif

const limit limits[] = {
    {"read, 1 stream", LIMIT_READ, 0, read_linear_plain},
    {"read, 4 streams", LIMIT_READ, 0, read_quarters_plain},
    {"read, 4 pages", LIMIT_READ, 0, read_pages_plain},
    {"read, page by quarters", LIMIT_READ, 0, read_page_plain},
    {"read, 4 streams, ahead", LIMIT_READ, 0, read_ahead_plain},
    {"read, 2 streams, eights", LIMIT_READ, 0, read_eights_plain},
    {"memcpy", LIMIT_MEMCPY, LIMIT_ANY_ISA, copy_memcpy},
    {"read 1 write 2", LIMIT_SPLIT, 0, split_plain},
#if defined(__x86_64__)
    {"read, 1 stream, AVX2", LIMIT_READ, GP_ISA_AVX2, read_linear_avx2},
    {"read, 4 streams, AVX2", LIMIT_READ, GP_ISA_AVX2, read_quarters_avx2},
    {"read, 4 pages, AVX2", LIMIT_READ, GP_ISA_AVX2, read_pages_avx2},
    {"read, page by quarters, AVX2", LIMIT_READ, GP_ISA_AVX2, read_page_avx2},
    {"read, 4 streams, ahead, AVX2", LIMIT_READ, GP_ISA_AVX2, read_ahead_avx2},
    {"read, 2 streams, eights, AVX2", LIMIT_READ, GP_ISA_AVX2, read_eights_avx2},
    {"read 1 write 2, AVX2", LIMIT_SPLIT, GP_ISA_AVX2, split_avx2},
    {"read, 1 stream, AVX-512", LIMIT_READ, GP_ISA_AVX512, read_linear_avx512},
    {"read, 4 streams, AVX-512", LIMIT_READ, GP_ISA_AVX512, read_quarters_avx512},
    {"read, 4 pages, AVX-512", LIMIT_READ, GP_ISA_AVX512, read_pages_avx512},
    {"read, page by quarters, AVX-512", LIMIT_READ, GP_ISA_AVX512, read_page_avx512},
    {"read, 4 streams, ahead, AVX-512", LIMIT_READ, GP_ISA_AVX512, read_ahead_avx512},
    {"read, 2 streams, eights, AVX-512", LIMIT_READ, GP_ISA_AVX512, read_eights_avx512},
    {"read 1 write 2, AVX-512", LIMIT_SPLIT, GP_ISA_AVX512, split_avx512},
    {"copy, streamed", LIMIT_COPY, LIMIT_ANY_ISA, copy_streamed},
    {"copy, 4 pages, streamed", LIMIT_COPY, LIMIT_ANY_ISA, copy_pages},
    {"read 1 write 2, streamed", LIMIT_SPLIT, LIMIT_ANY_ISA, split_streamed},
    {"read 1 write 2, streamed by pages", LIMIT_SPLIT, LIMIT_ANY_ISA, split_pages},
    {"read 1 write 2, streamed, ahead", LIMIT_SPLIT, LIMIT_ANY_ISA, split_ahead},
#endif
};
const size_t n_limits = sizeof limits / sizeof *limits;
