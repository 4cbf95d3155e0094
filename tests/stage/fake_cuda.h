/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two made-up GPUs, so that whole lives of a CUDA context run without one. Device memory is host memory, kernels are
 * not run. Streams do their work at once, or as late as they may. Link from the library's objects with --wrap= of
 * every name in fake_cuda.c and fake_streams.c.
 */
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_cuda {
    int devices, driver;    /* what the driver tells */
    int current;            /* the thread's device */
    int live;               /* allocations, streams and events made and not destroyed */
    unsigned launches;      /* kernels */
    unsigned windows;       /* launches of which an access policy says how their memory is used */
    unsigned calls;         /* since fake_cuda_arm() */
    unsigned k;             /* call that fails, from 1; 0: none */
    bool for_good;          /* so do all later calls */
    cudaError_t code;       /* with which it fails */
    const char *failed;     /* name of the first call that failed; NULL: none yet */
    unsigned out_of_bounds; /* copies that left the device memory in which they began */
    unsigned too_early;     /* memory freed, or the workspace taken, while it was in use */
    bool late;              /* see fake_streams_be_late() */
    bool no_pinned;         /* cudaHostAlloc of more than a page fails */
    bool capturing;         /* every stream is being captured */
    bool busy;              /* streams have work left, until one is waited for */
    bool contextless;       /* a thread that has made no CUDA call: pinned memory has no address on the device */
    unsigned waits;         /* for streams */
    enum cudaStreamCaptureMode mode; /* of the thread */
} fake_cuda;

extern fake_cuda fake;

/*
 * From now on streams do their work as late as CUDA allows, and in an order among them that the seed draws: when it
 * is waited for, or a while before. Copies of pageable memory are then done late too, or at once.
 */
void fake_streams_be_late(uint64_t seed);
bool fake_streams_are_idle(void);

void fake_cuda_arm(unsigned k, cudaError_t code, bool for_good);

/* Pinned memory of the program's own, which counts as no call. */
void *fake_cuda_pin(size_t bytes);
void fake_cuda_unpin(void *memory);

/* Sets the thread's capture mode and returns the one before. */
enum cudaStreamCaptureMode fake_cuda_exchange_mode(enum cudaStreamCaptureMode mode);

/* What a call of this name is to return; counted, and failing when its turn is. */
cudaError_t fake_cuda_outcome(const char *name);
#define FAIL_OR(name)                                   \
    do {                                                \
        cudaError_t outcome_ = fake_cuda_outcome(name); \
        if (outcome_ != cudaSuccess)                    \
            return outcome_;                            \
    } while (0)

/* Type and device of the memory that a pointer lies in, no addresses; false: none of these GPUs'. */
bool fake_cuda_memory(const void *pointer, struct cudaPointerAttributes *attributes);

/* Counts a range that leaves the memory in which it begins. */
void fake_cuda_check_bounds(const void *pointer, size_t bytes);

/* fake_driver.c: a function of the driver; false: there is none of that name. */
bool fake_driver_find(const char *name, void **function);

/* All is freed, nothing was done too early or out of bounds, no work is left, the thread's device is the first. */
bool fake_cuda_is_clean(void);

/* Takes back all memory that is left, as a driver does when a process ends. */
void fake_cuda_forget(void);
