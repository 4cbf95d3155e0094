/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the benches ask of a GPU, besides the library's public calls. Plain C: CUDA is behind it, in device.c and
 * device.cu. What fails ends the program.
 */
#pragma once

#include "../../tests/cases_data.h"
#include <stdbool.h>

typedef enum memory_kind { MEMORY_HOST, MEMORY_PINNED, MEMORY_DEVICE } memory_kind;

/* Of the thread's current GPU; whatever is enqueued goes to one stream. */
typedef struct gpu_device {
    struct CUstream_st *stream;
    void (*close)(void);
    void *(*alloc)(memory_kind kind, size_t bytes);
    void (*free)(memory_kind kind, void *memory);           /* NULL allowed */
    size_t (*available)(void);                              /* bytes of device memory */
    void (*copy)(void *to, const void *from, size_t bytes); /* in any direction; done when it returns */
    void (*set)(void *to, int byte, size_t bytes);
    void (*fill)(void *to, size_t words, data_kind kind, size_t spike, uint64_t seed); /* as cases_fill() */
    size_t (*differ)(const void *a, const void *b, size_t bytes); /* bytes that are not the same; waits */
    void (*wait)(void);
    void (*begin)(void); /* of a stretch of time on the device */
    void (*end)(void);
    double (*us)(void); /* waits for the end */
    void (*capture)(void);
    void *(*captured)(void); /* what was enqueued since; has run once when it returns */
    void (*replay)(void *captured);
    void (*forget)(void *captured);
    /* The bus alone: one array up, `outs` arrays of the same size down at once. Waits. */
    void (*bus)(void *device_in, const void *host_in, void *const device_out[], void *const host_out[], unsigned outs,
                size_t bytes);
    void (*nothing)(void); /* a kernel that does nothing */

    /* What the memory allows: reading `bytes` and writing as much to each of `outs` (0, 1, 2) arrays, 16-byte aligned
     * and rounded up to 16 bytes, in one of several ways that are all fair. */
    unsigned floor_ways[3];
    void (*floor)(unsigned outs, unsigned way, const void *in, void *const out[], size_t bytes);
    void (*flush)(void *memory, size_t bytes); /* reads it so that it stays in the caches in place of all else */
} gpu_device;

#ifdef GPUPRIM_WITH_CUDA
const gpu_device *device_open(void);
double device_first_call(void); /* us of the first CUDA call of a process */
#else
static inline const gpu_device *device_open(void) {
    return NULL;
}
static inline double device_first_call(void) {
    return 0;
}
#endif
