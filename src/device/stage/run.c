/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of a staged call under way. Four walks over them, each as far as it gets without waiting: fill (input
 * chunks are offered to the threads), send (full chunks go up, a piece that is up is computed), receive (computed
 * pieces go down) and empty (chunks that are down are offered to the threads). The caller's thread goes round them,
 * and copies with the other threads when none gets on.
 */
#include "../../host/cpu/split.h"
#include "../../host/cpu/threads.h"
#include "../../host/wait.h"
#include "stage.h"

/* One way through the boxes of all pieces, input or output. */
typedef struct walk {
    bool outward;
    bool over;     /* past the last piece */
    bool more;     /* `box` is next; else the piece has no more */
    bool ringed;   /* it goes through a chunk, else over the bus from or to where it is */
    size_t number; /* pieces behind */
    gp_piece piece;
    gp_part part[2];
    unsigned parts, next; /* boxes looked at, empty ones too */
    gp_box whole, box;    /* box is the part of whole that ends `at` bytes into it */
    size_t at;
} walk;

typedef struct run {
    gp_stage_job *job;
    gp_gpu *gpu;
    gp_stage *stage;
    walk filling, sending, receiving;
    bool ring[2];                       /* there are chunks: inward, outward */
    size_t filled, sent;                /* chunks of input offered; on their way up */
    size_t received, emptying, emptied; /* chunks of output on their way down; offered; free again */
    size_t taken;                       /* pieces whose partial result is in the total */
    bool progress;
    gp_status status;
    atomic_bool over;
} run;

static gp_status is_past(cudaEvent_t event, bool *past) {
    const cudaError_t error = cudaEventQuery(event);
    *past = error == cudaSuccess;
    return *past || error == cudaErrorNotReady ? GP_OK : gp_cuda_fail(error, "cudaEventQuery");
}

/* A box whose rows follow each other without a gap on both sides becomes one row. */
static void flatten(gp_box *box) {
    if (box->height <= 1 || box->host_pitch != box->width || box->device_pitch != box->width)
        return;
    box->width *= box->height;
    box->height = 1;
}

/* Takes up box number w->next of the piece. */
static void open_box(const run *r, walk *w) {
    const gp_stage_job *job = r->job;
    const unsigned side = w->next % 2;
    const gp_place memory = job->operand[w->outward ? 1 + side : 0].place;
    w->whole = w->outward ? w->part[w->next / 2].out[side] : w->part[w->next].in;
    flatten(&w->whole);
    w->ringed =
        r->ring[w->outward] && memory == GP_PLACE_PAGEABLE && w->whole.width * w->whole.height > GP_RING_LEAST;
    w->at = 0;
    w->next++;
}

static void step(const run *r, walk *w) {
    const unsigned boxes = w->outward ? 2 * w->parts : w->parts;
    while (!(w->more = gp_box_next(&w->whole, w->ringed ? GP_CHUNK_BYTES : SIZE_MAX, &w->at, &w->box)) &&
           w->next < boxes)
        open_box(r, w);
}

static size_t slot_of(const run *r, const walk *w) {
    return w->number % r->job->slots;
}

static void enter(const run *r, walk *w) {
    w->over = !gp_split_next(&r->job->split, &w->piece);
    if (w->over)
        return;
    w->parts = gp_split_parts(&r->job->split, &w->piece, gp_stage_memory(r->job, slot_of(r, w)), w->part);
    w->next = 0;
    w->whole.height = 0;
    step(r, w);
}

static void leave(const run *r, walk *w) {
    w->number++;
    enter(r, w);
}

static gp_status fill(run *r) {
    walk *w = &r->filling;
    while (!w->over) {
        if (!w->more) {
            leave(r, w);
            continue;
        }
        if (w->ringed) {
            gp_chunk *chunk = &r->stage->ring[0][r->filled % GP_RING_CHUNKS];
            bool free = false;
            if (r->filled - r->sent < GP_RING_CHUNKS)
                GP_TRY(is_past(chunk->moved, &free));
            if (!free)
                return GP_OK;
            gp_chunk_offer(chunk, &w->box, false);
            r->filled++;
            r->progress = true;
        }
        step(r, w);
    }
    return GP_OK;
}

/* Adds the oldest partial result that is not in the total yet. */
static void take_partial(run *r) {
    gp_stage_job *job = r->job;
    const gp_problem *problem = job->split.problem;
    const int64_t partial = r->gpu->slot->partial[r->taken % job->slots];
    job->total = r->taken == 0 ? partial : problem->primitive->combine(problem, job->total, partial);
    r->taken++;
}

/* A slot takes a new piece's output once the old one's is asked for, a new partial result once the old one is taken.
 */
static gp_status may_compute(run *r, bool *may) {
    const size_t number = r->sending.number, slots = r->job->slots;
    *may = number < r->receiving.number + slots;
    if (!*may || r->job->split.problem->primitive->combine == NULL || number < r->taken + slots)
        return GP_OK;
    GP_TRY(is_past(r->stage->slot[r->taken % slots].computed, may));
    if (*may)
        take_partial(r);
    return GP_OK;
}

static gp_status compute(run *r) {
    walk *w = &r->sending;
    gp_stage_job *job = r->job;
    const size_t index = slot_of(r, w);
    gp_stage_slot *slot = &r->stage->slot[index];
    GP_CUDA(cudaEventRecord(r->gpu->hand_over, r->gpu->side));
    GP_CUDA(cudaStreamWaitEvent(r->gpu->stream, r->gpu->hand_over, 0));
    GP_CUDA(cudaStreamWaitEvent(r->gpu->stream, slot->downloaded, 0));
    for (unsigned i = 0; i < w->parts; i++) {
        w->part[i].problem.result = (int64_t *)&r->gpu->slot_device->partial[index];
        GP_TRY(gp_context_replan(job->context, &w->part[i].problem));
        r->gpu->streamed_span = (gp_span){gp_stage_memory(job, index), job->split.slot_bytes};
        const gp_status status = gp_gpu_enqueue(job->context, &job->context->plan, &w->part[i].problem);
        r->gpu->streamed_span = (gp_span){0};
        GP_TRY(status);
    }
    GP_CUDA(cudaEventRecord(slot->computed, r->gpu->stream));
    return GP_OK;
}

/*
 * Puts the next box on the bus, unless it goes through a chunk that the threads are not done with. A slot's input is
 * overwritten, and its output fetched, once its last kernel is done; an event that was never recorded counts as past.
 */
static gp_status move_box(run *r, walk *w, bool *moved) {
    const cudaStream_t stream = w->outward ? r->stage->down : r->gpu->side;
    size_t *count = w->outward ? &r->received : &r->sent;
    gp_chunk *chunk = &r->stage->ring[w->outward][*count % GP_RING_CHUNKS];
    const bool ready =
        w->outward ? r->received - r->emptied < GP_RING_CHUNKS : r->sent < r->filled && gp_chunk_is_copied(chunk);
    *moved = !w->ringed || ready;
    if (!*moved)
        return GP_OK;
    GP_CUDA(cudaStreamWaitEvent(stream, r->stage->slot[slot_of(r, w)].computed, 0));
    if (!w->ringed)
        return gp_stage_copy(&w->box, w->box.host, w->box.host_pitch, w->outward, stream);
    GP_TRY(gp_stage_copy(&w->box, chunk->bytes, w->box.width, w->outward, stream));
    GP_CUDA(cudaEventRecord(chunk->moved, stream));
    chunk->box = w->box;
    ++*count;
    return GP_OK;
}

static gp_status send(run *r) {
    walk *w = &r->sending;
    while (!w->over) {
        bool may = false;
        GP_TRY(w->more ? move_box(r, w, &may) : may_compute(r, &may));
        if (!may)
            return GP_OK;
        if (w->more) {
            step(r, w);
        } else {
            GP_TRY(compute(r));
            leave(r, w);
        }
        r->progress = true;
    }
    return GP_OK;
}

static gp_status receive(run *r) {
    walk *w = &r->receiving;
    while (!w->over && w->number < r->sending.number) {
        if (w->more) {
            bool moved = false;
            GP_TRY(move_box(r, w, &moved));
            if (!moved)
                return GP_OK;
            step(r, w);
        } else {
            GP_CUDA(cudaEventRecord(r->stage->slot[slot_of(r, w)].downloaded, r->stage->down));
            leave(r, w);
            if (w->over) /* all kernels are enqueued */
                GP_TRY(gp_gpu_settle(r->gpu, r->gpu->stream));
        }
        r->progress = true;
    }
    return GP_OK;
}

static gp_status empty(run *r) {
    gp_chunk *ring = r->stage->ring[1];
    while (r->emptying < r->received) {
        gp_chunk *chunk = &ring[r->emptying % GP_RING_CHUNKS];
        bool down;
        GP_TRY(is_past(chunk->moved, &down));
        if (!down)
            break;
        gp_chunk_offer(chunk, &chunk->box, true);
        r->emptying++;
        r->progress = true;
    }
    while (r->emptied < r->emptying && gp_chunk_is_copied(&ring[r->emptied % GP_RING_CHUNKS])) {
        r->emptied++;
        r->progress = true;
    }
    return GP_OK;
}

/* Pinned input may be the work of what is on the stream already. */
static gp_status lead(run *r) {
    GP_CUDA(cudaEventRecord(r->gpu->hand_over, r->gpu->stream));
    GP_CUDA(cudaStreamWaitEvent(r->gpu->side, r->gpu->hand_over, 0));
    for (gp_wait vain = {0}; !r->sending.over || !r->receiving.over || r->emptied < r->received;) {
        r->progress = false;
        GP_TRY(empty(r));
        GP_TRY(receive(r));
        GP_TRY(send(r));
        GP_TRY(fill(r));
        if (r->progress || gp_stage_help(r->stage))
            vain = (gp_wait){0};
        else
            gp_wait_long(&vain);
    }
    GP_CUDA(cudaStreamSynchronize(r->stage->down));
    GP_CUDA(cudaStreamSynchronize(r->gpu->stream));
    GP_CUDA(cudaStreamSynchronize(r->gpu->side)); /* done long since, but what was not waited for is not settled */
    while (r->job->split.problem->primitive->combine != NULL && r->taken < r->sending.number)
        take_partial(r);
    return GP_OK;
}

static void follow(run *r) {
    for (gp_wait vain = {0}; !atomic_load_explicit(&r->over, memory_order_acquire);)
        if (gp_stage_help(r->stage))
            vain = (gp_wait){0};
        else
            gp_wait_long(&vain);
}

/* Part 0 runs on the caller's thread, which alone makes CUDA calls; the others have nothing to do once it is done. */
static void take_part(void *work, unsigned part, unsigned parts) {
    run *r = work;
    (void)parts;
    if (part > 0) {
        follow(r);
        return;
    }
    r->status = lead(r);
    atomic_store_explicit(&r->over, true, memory_order_release);
}

gp_status gp_stage_run(gp_stage_job *job) {
    gp_context *context = job->context;
    gp_stage *stage = context->gpu->stage;
    const gp_problem *problem = job->split.problem;
    run r = {.job = job, .gpu = context->gpu, .stage = stage, .receiving.outward = true};
    const gp_staged *staged = &job->split.staged;
    const bool moved[GP_OPERANDS_SPLIT] = {staged->in, staged->out[0], staged->out[1]};
    for (unsigned i = 0; i < GP_OPERANDS_SPLIT; i++)
        if (moved[i] && job->operand[i].place == GP_PLACE_PAGEABLE)
            r.ring[i > 0] = gp_stage_fill_ring(stage->ring[i > 0]);
    const uint64_t bytes = r.ring[0] || r.ring[1] ? problem->bytes_read + problem->bytes_written : 0;
    const uint64_t parts = gp_least(gp_parts_for_bytes(bytes), gp_at_least_one(context->device.cpu_threads));
    enter(&r, &r.filling);
    enter(&r, &r.sending);
    enter(&r, &r.receiving);
    gp_threads_run(context, (unsigned)parts, take_part, &r);
    gp_stage_forget_offers(stage);
    return r.status;
}
