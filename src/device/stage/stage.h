/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging: problems with host memory among their arrays, cut in pieces that are moved in, computed and moved out at
 * once. The caller's thread makes all CUDA calls; the context's threads copy between pageable memory and rings of
 * pinned chunks, in whichever direction there is something to copy. Pinned memory is moved by the copy engines where
 * it lies. Input goes on the context's side stream, output on a stream of its own, kernels run on the user's stream;
 * events order them.
 */
#pragma once

#include "../../host/primitive.h"
#include "../gpu.h"

#include <stdatomic.h>

/* One H200 with 16 threads, transposes of 1 GiB: 0.94 of the bus with 4 chunks of 8 MiB, 0.70 with 8 of 2 MiB. */
#define GP_CHUNK_BYTES ((size_t)8 << 20)
#define GP_RING_CHUNKS 4
#define GP_PIECE_BYTES ((size_t)16 << 20) /* of one array in a piece, at most */

/* Boxes up to this size are left to the driver, which copies them through its own pinned memory. */
#define GP_RING_LEAST ((size_t)64 << 10)

/* Staging memory for more than one piece has at most so many bytes, and no more are kept after a call. */
#define GP_SLOTS_BYTES_MOST ((size_t)256 << 20)

/* Pinned memory, and what the threads have to copy to or from it. */
typedef struct gp_chunk {
    unsigned char *bytes;
    cudaEvent_t moved; /* its last copy over the bus is done */
    gp_box box;        /* what it carries */
    bool unpack;       /* from the chunk to the box's host memory; else the other way */
    unsigned segments; /* that the copying is divided into */
    atomic_uint left;  /* segments that nobody has taken */
    atomic_uint done;  /* segments copied */
} gp_chunk;

/* How far a piece under way has got. */
typedef struct gp_stage_slot {
    cudaEvent_t computed, downloaded;
} gp_stage_slot;

struct gp_stage {
    cudaStream_t down;
    gp_chunk ring[2][GP_RING_CHUNKS]; /* inward, outward: bytes NULL until pageable memory is first moved that way */
    gp_stage_slot slot[GP_STAGE_SLOTS];
    unsigned char *memory; /* on the device, for the pieces under way */
    size_t memory_bytes;
};

/* A staged call. */
typedef struct gp_stage_job {
    gp_context *context;
    gp_split split;
    const gp_operand *operand; /* the caller's arrays */
    unsigned slots;            /* pieces under way at once */
    gp_problem first;          /* piece and its plan; primitive NULL: not planned yet */
    gp_plan plan;
    gp_total total; /* of a reduction's pieces */
} gp_stage_job;

/* Staging memory of a piece under way. */
static inline unsigned char *gp_stage_memory(const gp_stage_job *job, size_t slot) {
    return job->context->gpu->stage->memory + slot * job->split.slot_bytes;
}

/* Makes context->gpu->stage if there is none. */
gp_status gp_stage_create(gp_gpu *gpu);

/* Device memory for pieces of slot_bytes; *count: most at once, of which at least 1 are left. */
gp_status gp_stage_reserve(gp_gpu *gpu, size_t slot_bytes, unsigned *count);

/* Chunks for the ring, if it has none. False: no pinned memory is to be had. */
bool gp_stage_fill_ring(gp_chunk *ring);

/* Gives back device memory beyond what is worth keeping. */
void gp_stage_trim(gp_gpu *gpu);

/* Enqueues the copy of a box over the bus; `host` with its pitch takes the place of the box's host side. */
gp_status gp_stage_copy(const gp_box *box, unsigned char *host, size_t host_pitch, bool outward, cudaStream_t stream);

/* Offers the copying between a chunk and its box's host memory to whoever helps; and asks whether it is finished. */
void gp_chunk_offer(gp_chunk *chunk, const gp_box *box, bool unpack);
bool gp_chunk_is_copied(const gp_chunk *chunk);
void gp_stage_forget_offers(gp_stage *stage);

/* Copies one segment of what is offered. False: nothing is. Any thread. */
bool gp_stage_help(gp_stage *stage);

/* Runs all pieces and waits for the last. */
gp_status gp_stage_run(gp_stage_job *job);

/* A problem of views with host memory among its arrays, which is not cut into pieces. */
gp_status gp_stage_whole(gp_context *context, const gp_problem *problem, const gp_operand operand[GP_OPERANDS]);

/*
 * Enqueues the context's plan for a problem, and waits; `polled`: its results go to the slot, and are announced
 * there. *overflow: an integer result of this call did.
 */
gp_status gp_slot_run(gp_context *context, const gp_problem *problem, bool polled, bool *overflow);
