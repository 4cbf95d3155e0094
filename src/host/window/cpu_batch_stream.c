/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of short rows whose results go past the caches, in whole lines: a batch is computed into a buffer, and
 * written while the next one is computed. Computing and writing in turns took the time of both: 64 columns, window of
 * 15, 8 bits 15.5 GB/s, so 20.7 (Xeon, model 167).
 */
#include "cpu_batch.h"
#include <string.h>

#define LINE GP_BATCH_LINE

/* An output. Without gaps between rows it is one stretch, and what is left of a batch's last line waits. */
typedef struct {
    float *out;     /* the problem's; NULL: not asked for */
    float *to;      /* stretch: where buffer[turn][begin] goes */
    size_t begin;   /* what is before in its line is not ours */
    size_t waiting; /* end of what is left of the batch before; the next one goes behind */
    _Alignas(64) float buffer[2][LINE + GP_BATCH_STREAMED_MAX + LINE];
} output;

typedef struct {
    const gp_batch_work *work;
    bool stretch;  /* rows without gaps */
    unsigned turn; /* which buffer is computed into */
    gp_batch_queue queues[2];
    output sum, square;
} stream;

static void begin(const stream *s, output *o, size_t y) {
    o->to = s->stretch ? gp_batch_output(s->work->problem, o->out, y) : NULL;
    o->begin = o->waiting = (uintptr_t)o->to / sizeof *o->to % LINE;
}

static void append(gp_batch_queue *q, const float *from, float *to, size_t lines) {
    if (lines == 0)
        return;
    q->pieces[q->n].from = from;
    q->pieces[q->n].to = to;
    q->pieces[q->n++].lines = lines;
}

/* The batch as part of the stretch: whole lines, the first one from `begin` on; the rest goes with the next batch. */
static void queue_stretch(stream *s, output *o, gp_batch_queue *q) {
    float *from = o->buffer[s->turn];
    const size_t end = o->waiting + s->work->kernels->lanes * s->work->map->n, whole = end - end % LINE;
    if (whole > 0) {
        const size_t head = o->begin > 0 ? LINE - o->begin : 0, first = head > 0 ? LINE : 0;
        s->work->kernels->stream_part(from + o->begin, o->to, head);
        append(q, from + first, o->to + head, (whole - first) / LINE);
        o->to += whole - o->begin;
        o->begin = 0;
    }
    memcpy(o->buffer[!s->turn], from + whole, LINE * sizeof *from);
    o->waiting = end % LINE;
}

/* Each row for itself: its whole lines, and at once what it has of others. */
static void queue_rows(stream *s, output *o, size_t y, gp_batch_queue *q) {
    const size_t n = s->work->map->n, lanes = s->work->kernels->lanes;
    for (size_t k = 0; k < lanes; ++k) {
        const float *from = o->buffer[s->turn] + k * n;
        float *to = gp_batch_output(s->work->problem, o->out, y + k);
        const size_t head = (0 - (uintptr_t)to / sizeof *to) % LINE, whole = (n - head) / LINE * LINE;
        s->work->kernels->stream_part(from, to, head);
        append(q, from + head, to + head, whole / LINE);
        s->work->kernels->stream_part(from + head + whole, to + head + whole, n - head - whole);
    }
}

static void queue_output(stream *s, output *o, size_t y, gp_batch_queue *q) {
    if (o->out && s->stretch)
        queue_stretch(s, o, q);
    else if (o->out)
        queue_rows(s, o, y, q);
}

static void finish_output(const stream *s, const output *o) {
    if (o->waiting > o->begin)
        s->work->kernels->stream_part(o->buffer[s->turn] + o->begin, o->to, o->waiting - o->begin);
}

/* Writes all that was computed, and begins again at row y. */
static void restart(stream *s, size_t y) {
    s->work->kernels->drain(&s->queues[!s->turn]);
    finish_output(s, &s->sum);
    finish_output(s, &s->square);
    begin(s, &s->sum, y);
    begin(s, &s->square, y);
}

static float *target(stream *s, output *o) {
    return o->out ? o->buffer[s->turn] + o->waiting : NULL;
}

/* Returns how many rows are done. */
static size_t batch_at(stream *s, size_t y, size_t end, int32_t *columns) {
    const gp_batch_work *work = s->work;
    gp_batch_queue *before = &s->queues[!s->turn], *now = &s->queues[s->turn];
    if (!gp_batch_compute(work, y, columns, target(s, &s->sum), target(s, &s->square), work->map->n, before)) {
        const size_t n = gp_batch_lines(work, y, end);
        restart(s, y + n);
        return n;
    }
    work->kernels->drain(before);
    now->at = now->n = 0;
    queue_output(s, &s->sum, y, now);
    queue_output(s, &s->square, y, now);
    s->turn = !s->turn;
    return work->kernels->lanes;
}

void gp_batch_stream(const gp_batch_work *work, size_t first, size_t end, int32_t *columns) {
    const size_t lanes = work->kernels->lanes;
    stream s;
    s.work = work;
    s.stretch = work->problem->out_pitch == work->map->n;
    s.turn = 0;
    s.queues[0].at = s.queues[0].n = s.queues[1].at = s.queues[1].n = 0;
    s.sum.out = work->problem->sum;
    s.square.out = work->problem->square;
    begin(&s, &s.sum, first);
    begin(&s, &s.square, first);
    size_t y = first;
    while (end - y >= lanes)
        y += batch_at(&s, y, end, columns);
    restart(&s, end - lanes);
    if (y < end) { /* with rows of the batch before, again */
        batch_at(&s, end - lanes, end, columns);
        restart(&s, end);
    }
}
