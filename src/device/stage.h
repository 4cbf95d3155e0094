/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging memory, and moving boxes between host memory and the device through it. Pageable memory is copied by the
 * context's threads to or from rings of pinned chunks, pinned memory is moved by the copy engines where it lies.
 * Input goes on the context's side stream, output on a stream of its own, kernels run on the user's stream; events
 * order them.
 */
#ifndef GP_STAGE_H
#define GP_STAGE_H

#include "gpu.h"
#include "stage_cut.h"

#define GP_CHUNK_BYTES ((size_t)8 << 20)
#define GP_RING_CHUNKS 4

/* Boxes up to this size are left to the driver, which copies them through its own pinned memory. */
#define GP_RING_LEAST ((size_t)64 << 10)

/* Staging memory of more pieces than one is not had beyond this, nor kept when a call has ended. */
#define GP_SLOTS_BYTES_MOST ((size_t)256 << 20)

typedef struct gp_chunk {
    unsigned char *bytes; /* pinned */
    cudaEvent_t moved;    /* its last copy is done */
    gp_box waiting;       /* output: where its bytes belong; height 0: nowhere */
} gp_chunk;

typedef struct gp_ring {
    gp_chunk chunk[GP_RING_CHUNKS];
    unsigned next;
} gp_ring;

/* Staging memory on the device for one piece, and how far the piece has got. */
typedef struct gp_stage_slot {
    unsigned char *bytes;
    cudaEvent_t uploaded, computed, downloaded;
} gp_stage_slot;

struct gp_stage {
    cudaStream_t down;
    gp_ring input, output; /* no chunks until pageable memory is first moved that way */
    gp_stage_slot slot[GP_STAGE_SLOTS];
    size_t slot_bytes; /* of each slot that there is */
};

/* Makes context->gpu->stage if there is none. */
gp_status gp_stage_create(gp_gpu *gpu);

/* Device memory for pieces of slot_bytes; *count: how many at once, at least 1 and at most GP_STAGE_SLOTS. */
gp_status gp_stage_reserve(gp_gpu *gpu, size_t slot_bytes, unsigned *count);

/* Gives back device memory beyond what is worth keeping. */
void gp_stage_trim(gp_gpu *gpu);

/* Enqueues a box on the side stream. Pageable memory has been read when this returns. */
gp_status gp_stage_upload(gp_context *context, const gp_box *box, gp_memory memory);

/* Enqueues a box on the stage's stream. Pageable memory is complete only after gp_stage_drain(). */
gp_status gp_stage_download(gp_context *context, const gp_box *box, gp_memory memory);
gp_status gp_stage_drain(gp_context *context);

/* After a failure: waits for all streams, whatever they say, and forgets what was on its way. */
void gp_stage_quiesce(gp_gpu *gpu);

#endif
