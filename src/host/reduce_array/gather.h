/* SPDX-License-Identifier: Apache-2.0 */
/* Copies elements that are not contiguous to one place, behind each other. Sizes are constants where this is inlined.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Calls f(bytes, ...) with the size of elements as a constant. */
#define GP_WITH_BYTES(f, bytes, ...)    \
    ((bytes) == 1   ? f(1, __VA_ARGS__) \
     : (bytes) == 2 ? f(2, __VA_ARGS__) \
     : (bytes) == 4 ? f(4, __VA_ARGS__) \
                    : f(8, __VA_ARGS__))

/* Runs of so many bytes with gaps between them are prefetched, as they are read in turns: the run eight ahead. */
#define GP_PREFETCHED_RUN 128

/* Up to 2 `half` bytes, and at least `half`, by two copies that may overlap. */
static inline __attribute__((always_inline)) void gp_copy_ends(size_t half, unsigned char *to,
                                                               const unsigned char *from, size_t size) {
    uint64_t first[2], last[2];
    memcpy(first, from, half), memcpy(last, from + size - half, half);
    memcpy(to, first, half), memcpy(to + size - half, last, half);
}

/* 1 to 32 bytes. */
static inline __attribute__((always_inline)) void gp_copy_few(unsigned char *to, const unsigned char *from,
                                                              size_t size) {
    if (size >= 16)
        gp_copy_ends(16, to, from, size);
    else if (size >= 8)
        gp_copy_ends(8, to, from, size);
    else if (size >= 4)
        gp_copy_ends(4, to, from, size);
    else
        size > 1 ? gp_copy_ends(2, to, from, size) : gp_copy_ends(1, to, from, size);
}

/* n elements, these `step` bytes from each other. Four loads stand before four stores: as a plain loop compilers
 * unroll it, or take vectors, as they like. */
static inline __attribute__((always_inline)) void gp_gather_elements(size_t bytes, const unsigned char *in,
                                                                     uint64_t n, int64_t step, unsigned char *to) {
    for (; n >= 4; n -= 4, in += 4 * step, to += 4 * bytes) {
        uint64_t x[4];
        for (size_t k = 0; k < 4; k++)
            memcpy(x + k, in + (int64_t)k * step, bytes);
        for (size_t k = 0; k < 4; k++)
            memcpy(to + k * bytes, x + k, bytes);
    }
    for (; n > 0; n--, in += step, to += bytes)
        memcpy(to, in, bytes);
}

/* Runs of n elements, these `step` bytes from each other, one run behind the other. */
static inline __attribute__((always_inline)) void gp_gather_runs(size_t bytes, const unsigned char *in, uint64_t runs,
                                                                 int64_t apart, uint64_t n, int64_t step,
                                                                 unsigned char *to) {
    for (uint64_t i = 0; i < runs; i++, in += apart, to += n * bytes)
        if (step == (int64_t)bytes && n * bytes > 32) {
            const bool ahead = n * bytes >= GP_PREFETCHED_RUN && apart != (int64_t)(n * bytes);
            for (uint64_t at = 0; at < n * bytes && ahead; at += 64)
                __builtin_prefetch(in + 8 * apart + (int64_t)at);
            memcpy(to, in, n * bytes);
        } else if (step == (int64_t)bytes) {
            gp_copy_few(to, in, n * bytes);
        } else {
            gp_gather_elements(bytes, in, n, step, to);
        }
}
