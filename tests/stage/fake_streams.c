/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The made-up GPUs' streams and events. A stream is a queue of work; what is done when, within CUDA's rules, is drawn
 * by lot where fake.late asks for it, and otherwise at once. Only the thread that makes a CUDA call does any work, in
 * that call.
 */
#include "fake_streams.h"
#include "../cases.h"
#include "../check.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* called by the linker's --wrap alone */

#define STREAMS 16
#define LEGACY 0 /* the default stream */
#define OTHERS 1 /* all handles that were not made here, as if they were one stream */

typedef struct work {
    struct work *next;
    fake_work *run;  /* NULL: nothing but to wait, or to be waited for */
    size_t awaited;  /* stream */
    uint64_t behind; /* which has to have done this much */
    max_align_t argument[];
} work;

/* Counts go on when a stream's place in the list is used again: an event may outlive its stream. */
static struct {
    cudaStream_t handle;
    bool taken, apart; /* apart: made with cudaStreamNonBlocking */
    uint64_t given, done;
    work *first, **end;
    uint64_t rank; /* the highest goes first */
} streams[STREAMS] = {[LEGACY] = {.taken = true}, [OTHERS] = {.taken = true}};

typedef struct event {
    size_t stream;
    uint64_t mark; /* 0: never recorded, which counts as past */
} event;

static uint64_t luck;     /* state of what is drawn */
static unsigned diligent; /* in 16 calls this many see work done that nobody waits for */

static uint64_t draw(uint64_t below) {
    return cases_random(&luck) % below;
}

static void draw_order(void) {
    static const unsigned moods[] = {0, 0, 1, 4, 12};
    for (size_t s = 0; s < STREAMS; s++)
        streams[s].rank = cases_random(&luck);
    diligent = moods[draw(COUNT(moods))];
}

void fake_streams_be_late(uint64_t seed) {
    luck = seed;
    fake.late = true;
    draw_order();
}

bool fake_streams_are_idle(void) {
    for (size_t s = 0; s < STREAMS; s++)
        if (streams[s].first != NULL)
            return false;
    return true;
}

static void do_first(size_t s) {
    work *w = streams[s].first;
    if (w->run != NULL)
        w->run(w->argument);
    streams[s].first = w->next;
    streams[s].done++;
    free(w);
}

/* What may be done of the stream that goes first. */
static void do_one(void) {
    size_t best = STREAMS;
    if (draw(16) == 0)
        draw_order();
    for (size_t s = 0; s < STREAMS; s++) {
        const work *w = streams[s].first;
        if (w != NULL && streams[w->awaited].done >= w->behind &&
            (best == STREAMS || streams[s].rank > streams[best].rank))
            best = s;
    }
    if (best < STREAMS)
        do_first(best);
}

/* No more than what this needs, or whatever comes first. */
static void do_until(size_t s, uint64_t count) {
    const bool needed_alone = !fake.late || draw(2) == 0;
    while (streams[s].done < count) {
        if (!needed_alone) {
            do_one();
            continue;
        }
        do_until(streams[s].first->awaited, streams[s].first->behind);
        if (streams[s].done < count)
            do_first(s);
    }
}

static size_t stream_of(cudaStream_t handle) {
    for (size_t s = OTHERS + 1; s < STREAMS && handle != NULL; s++)
        if (streams[s].taken && streams[s].handle == handle)
            return s;
    return handle != NULL ? OTHERS : LEGACY;
}

void fake_stream_finish(cudaStream_t handle) {
    const size_t s = stream_of(handle);
    do_until(s, streams[s].given);
}

static void *put(size_t s, fake_work *run, size_t bytes, size_t awaited, uint64_t behind) {
    work *w = malloc(sizeof *w + bytes);
    assert_non_null(w);
    *w = (work){.run = run, .awaited = awaited, .behind = behind};
    if (streams[s].first == NULL)
        streams[s].end = &streams[s].first;
    *streams[s].end = w;
    streams[s].end = &w->next;
    streams[s].given++;
    return w->argument;
}

/* The default stream and those made without cudaStreamNonBlocking wait for each other. */
static size_t take_turn(cudaStream_t handle) {
    const size_t turn = stream_of(handle);
    for (size_t s = 0; s < STREAMS; s++)
        if (s != turn && streams[s].first != NULL && (turn == LEGACY ? !streams[s].apart : s == LEGACY) &&
            !streams[turn].apart)
            (void)put(turn, NULL, 0, s, streams[s].given);
    return turn;
}

static void go_on(size_t s) {
    if (!fake.late)
        do_until(s, streams[s].given);
    else if (draw(16) < diligent)
        for (uint64_t n = 1 + draw(6); n > 0; n--)
            do_one();
}

void fake_stream_give(cudaStream_t handle, fake_work *run, const void *argument, size_t bytes) {
    const size_t s = take_turn(handle);
    memcpy(put(s, run, bytes, s, 0), argument, bytes);
    go_on(s);
}

/* ---- copies ---- */

typedef struct copy {
    unsigned char *to;
    const unsigned char *from; /* NULL: bytes of `value` */
    size_t to_pitch, from_pitch, width, height;
    int value;
} copy;

static void run_copy(void *argument) {
    const copy *c = argument;
    for (size_t row = 0; row < c->height; row++)
        if (c->from != NULL)
            memcpy(c->to + row * c->to_pitch, c->from + row * c->from_pitch, c->width);
        else
            memset(c->to, c->value, c->width);
}

static bool is_pageable(const void *memory) {
    struct cudaPointerAttributes attributes;
    return memory != NULL && !fake_cuda_memory(memory, &attributes);
}

/* A copy from or to pageable memory may be done when the call returns, which nobody may rely on. */
static cudaError_t give_copy(const copy *c, cudaStream_t stream) {
    fake_cuda_check_bounds(c->to, (c->height - 1) * c->to_pitch + c->width);
    if (c->from != NULL)
        fake_cuda_check_bounds(c->from, (c->height - 1) * c->from_pitch + c->width);
    fake_stream_give(stream, run_copy, c, sizeof *c);
    if (fake.late && (is_pageable(c->to) || is_pageable(c->from)) && draw(4) == 0)
        fake_stream_finish(stream);
    return cudaSuccess;
}

cudaError_t __wrap_cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    FAIL_OR("cudaMemsetAsync");
    return give_copy(&(copy){.to = to, .width = bytes, .height = 1, .value = value}, stream);
}

cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                   cudaStream_t stream) {
    (void)kind;
    FAIL_OR("cudaMemcpyAsync");
    return give_copy(&(copy){.to = to, .from = from, .width = bytes, .height = 1}, stream);
}

cudaError_t __wrap_cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)kind;
    FAIL_OR("cudaMemcpy2DAsync");
    if (width > to_pitch || width > from_pitch)
        return cudaErrorInvalidPitchValue;
    return give_copy(&(copy){to, from, to_pitch, from_pitch, width, height, 0}, stream);
}

/* ---- streams and events ---- */

static void *make_handle(size_t bytes) {
    void *handle = calloc(1, bytes);
    assert_non_null(handle);
    fake.live++;
    return handle;
}

static void destroy_handle(void *handle) {
    assert_non_null(handle);
    free(handle);
    fake.live--;
}

cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    FAIL_OR("cudaStreamCreateWithFlags");
    for (size_t s = OTHERS + 1; s < STREAMS; s++)
        if (!streams[s].taken) {
            *stream = streams[s].handle = make_handle(1);
            streams[s].taken = true;
            streams[s].apart = flags & cudaStreamNonBlocking;
            return cudaSuccess;
        }
    fail_msg("more than %d streams", STREAMS);
    return cudaErrorMemoryAllocation;
}

cudaError_t __wrap_cudaStreamDestroy(cudaStream_t stream) {
    const size_t s = stream_of(stream);
    assert_true(s > OTHERS);
    fake_stream_finish(stream);
    streams[s].taken = false;
    destroy_handle(stream);
    return fake_cuda_outcome("cudaStreamDestroy");
}

cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) {
    fake.waits++;
    fake.busy = false;
    fake_stream_finish(stream);
    return fake_cuda_outcome("cudaStreamSynchronize");
}

cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t *made, unsigned flags) {
    (void)flags;
    FAIL_OR("cudaEventCreateWithFlags");
    *made = make_handle(sizeof(event));
    return cudaSuccess;
}

cudaError_t __wrap_cudaEventDestroy(cudaEvent_t destroyed) {
    destroy_handle(destroyed);
    return fake_cuda_outcome("cudaEventDestroy");
}

cudaError_t __wrap_cudaEventRecord(cudaEvent_t recorded, cudaStream_t stream) {
    FAIL_OR("cudaEventRecord");
    const size_t s = take_turn(stream);
    (void)put(s, NULL, 0, s, 0);
    *(event *)(void *)recorded = (event){s, streams[s].given};
    go_on(s);
    return cudaSuccess;
}

/* For the record that there is at this call, whatever is recorded later. */
cudaError_t __wrap_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t awaited, unsigned flags) {
    (void)flags;
    FAIL_OR("cudaStreamWaitEvent");
    const event *e = (const event *)(const void *)awaited;
    const size_t s = take_turn(stream);
    (void)put(s, NULL, 0, e->stream, e->mark);
    go_on(s);
    return cudaSuccess;
}

/* Whoever asks over and over is told yes in the end. */
cudaError_t __wrap_cudaEventQuery(cudaEvent_t asked) {
    FAIL_OR("cudaEventQuery");
    const event *e = (const event *)(const void *)asked;
    if (streams[e->stream].done < e->mark)
        for (uint64_t n = draw(4); n > 0; n--)
            do_one();
    return streams[e->stream].done < e->mark ? cudaErrorNotReady : cudaSuccess;
}
