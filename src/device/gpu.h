/* SPDX-License-Identifier: Apache-2.0 */
/* What a context owns on its GPU. Included only by the files of this folder, C and CUDA alike. */
#pragma once

#include "cuda_check.h"
#include "driver.h"
#include "launch.h"

#define GP_WORKSPACE_BYTES ((size_t)8 << 20)
#define GP_STAGE_SLOTS 4                    /* pieces of a staged call under way at once */
#define GP_DEPENDENT_LAUNCH_ARCHITECTURE 90 /* first with programmatic dependent launch */
#define GP_RAISED_MAX 384 /* kernels whose shared memory limit was raised: at least all that there are */

/* Host memory that kernels write: a scalar result that the host polls for. */
typedef struct gp_slot {
    volatile int64_t value;
    volatile uint32_t done;     /* the call's sequence number, written after value */
    volatile uint32_t overflow; /* set by an enqueued sum that passed 64 bits, until gp_gpu_synchronize() */
    volatile int64_t partial[GP_STAGE_SLOTS]; /* results of a staged reduction's pieces */
    volatile uint64_t
        reduced[GP_PASS_RESULTS]; /* results of a pass with one output: each its bytes, from the first on */
} gp_slot;

typedef struct gp_stage gp_stage;

/* bytes 0: nothing. */
typedef struct gp_span {
    void *begin;
    size_t bytes;
} gp_span;

struct gp_gpu {
    int ordinal;
    gp_driver driver;
    cudaStream_t stream;   /* the user's; NULL: the legacy default stream */
    cudaStream_t side;     /* ours, non-blocking: clears the workspace, carries staged input */
    cudaEvent_t hand_over; /* orders one stream after another */
    cudaEvent_t settled;   /* recorded last: see gp_gpu_settle() */
    void *workspace;       /* GP_WORKSPACE_BYTES of device memory; its counters are zero when no kernel runs */
    gp_slot *slot;         /* pinned host memory */
    gp_slot *slot_device;  /* its address on the device */
    uint32_t sequence;     /* of the last call that used the slot */
    size_t window_most;    /* bytes that an access policy can be told of at once; 0: none */
    gp_span streamed_span; /* staging memory of the piece that is launched: read and written once */
    bool dependent_launch; /* kernels are compiled for launches that overlap (gp_grid_dependency_wait) */
    unsigned raised_count;
    const void *raised[GP_RAISED_MAX];
    gp_stage *stage; /* NULL until host data is first staged */
};

/* What gp_gpu_enter() found; all zeros before. */
typedef struct gp_found {
    bool entered, rounds;
    uint64_t rounding; /* a gp_rounding: the driver computes, and is to be let do so without signals */
    int ordinal, device;
    enum cudaStreamCaptureMode capture;
} gp_found;

/* Behind the name of a gp_found: gp_gpu_leave() puts back what was there whenever its scope is left. */
#define GP_LEAVES __attribute__((cleanup(gp_gpu_leave)))

/*
 * Every kernel of the library is launched here, with the blocks, threads and shared memory of the plan's tiling, on
 * the context's stream. The device is current already.
 */
GP_C_LINKAGE gp_status gp_gpu_launch(gp_context *context, const gp_plan *plan, const void *function, void **args);

/* One of the library's kernels, for asking what they were compiled for. */
GP_C_LINKAGE const void *gp_sample_kernel(void);

/* Makes the GPU the thread's current device, and puts back what was. Pairs, unless the first failed. */
gp_status gp_device_set(int ordinal, int *found);
void gp_device_restore(int ordinal, int found);

/* As gp_device_set(), and calls such as cudaMalloc become legal for this thread while another captures a stream. */
gp_status gp_gpu_enter(int ordinal, gp_found *found);
void gp_gpu_leave(gp_found *found);

/*
 * To be enqueued behind the kernels of a call that is waited for. After a kernel, asking any stream of the process
 * whether it is idle takes 1.3 us; 0.2 us once the kernel's own stream has recorded an event with its time, and all
 * streams that did something have been waited for (one H200). AUTO asks in every call on pinned memory.
 */
gp_status gp_gpu_settle(const gp_gpu *gpu, cudaStream_t stream);

/* Fails in words if the context's stream is being captured, without spoiling the capture. */
gp_status gp_gpu_refuse_capture(const gp_gpu *gpu, const char *what);

/* Gives back what staging has of the device's, and pinned memory. NULL allowed. */
void gp_stage_close(gp_stage *stage);
