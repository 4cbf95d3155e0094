/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes of few columns or rows: orders, runs, edges, threads. */
#include "cpu_thin.h"

#if defined(__x86_64__)
#include "../cpu/threads.h"
#include "cpu_lines.h"

#define VECTOR GP_THIN_VECTOR
#define PLANES_MAX GP_THIN_PLANES_MAX
#define LEAST_LINES 4 /* of a plane: the orders take as long as some lines */

typedef struct {
    const char *in;
    char *out;
    size_t elem_bytes, planes, count; /* records */
    size_t record_bytes, record_pitch, plane_pitch;
    bool to_planes, stream;
    gp_thin_split split;
    gp_thin_join join;
    const gp_thin_orders *orders;
} job;

/* Which byte of which vector each byte of a block becomes, in the order of gp_thin_share(). */
static void make_orders(gp_thin_orders *orders, size_t planes, size_t elem_bytes, bool to_planes) {
    size_t plane = 0, in_plane = 0;
    for (size_t to = 0; to < planes; ++to)
        memset(orders->of[to], 0x80, planes * sizeof *orders->of[to]);
    for (size_t vector = 0; vector < planes; ++vector)
        for (size_t at = 0; at < VECTOR; at += elem_bytes) {
            unsigned char *order = to_planes ? orders->of[plane][vector] + in_plane : orders->of[vector][plane] + at;
            for (size_t k = 0; k < elem_bytes; ++k)
                order[k] = (unsigned char)((to_planes ? at : in_plane) + k);
            if (++plane == planes)
                plane = 0, in_plane += elem_bytes;
        }
}

/*
 * What goes past the caches does so in runs of this many lines of each plane, or the records of as many; records this
 * many bytes ahead are asked for. 1000000 x 8 and 4000000 x 8 of 4 bytes, GB/s: 8 lines, nothing asked for 13.7
 * to 21.9 and 13.1; so 24.3 and 18.2; 3072 bytes ahead 23.6, 15.5; 16 lines, 2048 bytes 23.5, 12.8; 64
 * lines 23.9, 15.5; 2 lines 22.1, 18.5. Through the caches 16.6 and less.
 */
#define RUN_LINES 8
#define AHEAD_BYTES 1536
#define RUN_ROOM (GP_LINE + RUN_LINES * GP_LINE) /* of a plane, a line in front of it */

typedef struct {
    _Alignas(GP_LINE) char runs[PLANES_MAX * RUN_ROOM];
    char kept[PLANES_MAX * GP_LINE];
    char records[PLANES_MAX * GP_LINE];
    char lines[PLANES_MAX * GP_LINE];
} buffers;

static void copy_records(const job *j, char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t n) {
    (j->record_bytes > GP_LINE ? gp_copy_rows : gp_transpose_copy_rows)(to, to_pitch, from, from_pitch, n,
                                                                        j->record_bytes);
}

/* n records from r on, one behind the other. */
static const char *packed_records(const job *j, size_t r, size_t n, char *packed) {
    const char *in = j->in + r * j->record_pitch;
    if (j->record_pitch == j->record_bytes && n * j->elem_bytes == GP_LINE)
        return in;
    copy_records(j, packed, j->record_bytes, in, j->record_pitch, n);
    return packed;
}

/* Records r .. r + n - 1 into planes, from `to` on. */
static void split_run(const job *j, size_t r, size_t n, char *to, size_t apart, buffers *b) {
    size_t records = GP_LINE / j->elem_bytes, k = 0;
    for (; k + records <= n; k += records, to += GP_LINE) {
        const char *from = packed_records(j, r + k, records, b->records);
        const char *ahead = j->stream ? j->in + (r + k) * j->record_pitch + AHEAD_BYTES : from;
        j->split(j->orders, from, ahead, to, apart);
    }
    if (k == n)
        return;
    const char *from = packed_records(j, r + k, n - k, b->records);
    j->split(j->orders, from, from, b->lines, GP_LINE);
    gp_copy_rows(to, apart, b->lines, GP_LINE, j->planes, (n - k) * j->elem_bytes);
}

static void split_part(const job *j, size_t begin, size_t end) {
    buffers b;
    size_t bytes = j->elem_bytes, n = end - begin;
    if (!j->stream) {
        split_run(j, begin, n, j->out + begin * bytes, j->plane_pitch, &b);
        return;
    }
    for (size_t r = begin; r < end; r += n) {
        n = gp_smaller(RUN_LINES * GP_LINE / bytes, end - r);
        split_run(j, r, n, b.runs + GP_LINE, RUN_ROOM, &b);
        for (size_t p = 0; p < j->planes; ++p)
            gp_transpose_put_run(j->out + p * j->plane_pitch + r * bytes, b.runs + p * RUN_ROOM + GP_LINE, n * bytes,
                                 b.kept + p * GP_LINE, r == begin, r + n == end);
    }
}

/* Planes from record r on into records; `to` takes n of them, `pitch` bytes apart. */
static void join_run(const job *j, size_t r, size_t n, char *to, size_t pitch, buffers *b) {
    size_t records = GP_LINE / j->elem_bytes;
    for (size_t k = 0, length; k < n; k += length, to += length * pitch) {
        const char *from = j->in + (r + k) * j->elem_bytes;
        size_t apart = j->plane_pitch;
        length = gp_smaller(records, n - k);
        bool whole = length == records && pitch == j->record_bytes;
        if (length < records) {
            gp_copy_rows(b->lines, GP_LINE, from, apart, j->planes, length * j->elem_bytes);
            from = b->lines, apart = GP_LINE;
        }
        j->join(j->orders, from, apart, whole ? to : b->records);
        if (!whole)
            copy_records(j, to, pitch, b->records, j->record_bytes, length);
    }
}

static void join_part(const job *j, size_t begin, size_t end) {
    buffers b;
    size_t n = end - begin;
    if (!j->stream) {
        join_run(j, begin, n, j->out + begin * j->record_pitch, j->record_pitch, &b);
        return;
    }
    for (size_t r = begin; r < end; r += n) {
        n = gp_smaller(RUN_LINES * GP_LINE / j->elem_bytes, end - r);
        join_run(j, r, n, b.runs + GP_LINE, j->record_bytes, &b);
        gp_transpose_put_run(j->out + r * j->record_bytes, b.runs + GP_LINE, n * j->record_bytes, b.kept, r == begin,
                             r + n == end);
    }
}

/* Parts begin at whole groups. */
static void do_part(void *argument, unsigned part, unsigned parts) {
    const job *j = argument;
    size_t records = GP_LINE / j->elem_bytes, groups = j->count / records;
    size_t begin = gp_part_begin(groups, part, parts) * records;
    size_t end = part + 1 < parts ? gp_part_begin(groups, part + 1, parts) * records : j->count;
    (j->to_planes ? split_part : join_part)(j, begin, end);
    if (j->stream)
        gp_streams_done();
}

bool gp_transpose_thin(gp_context *context, const gp_plan *plan, const gp_problem *problem,
                       const gp_thin_kernels *kernels) {
    const bool to_planes = problem->cols < problem->rows;
    const size_t bytes = problem->elem_bytes, planes = to_planes ? problem->cols : problem->rows;
    const size_t count = to_planes ? problem->rows : problem->cols;
    if (problem->in_place || planes == 0 || planes > PLANES_MAX || count * bytes < LEAST_LINES * GP_LINE)
        return false;
    const size_t in_pitch = problem->in_pitch * bytes, out_pitch = problem->out_pitch * bytes;
    job j = {.in = problem->in,
             .out = problem->out,
             .elem_bytes = bytes,
             .planes = planes,
             .count = count,
             .record_bytes = planes * bytes,
             .record_pitch = to_planes ? in_pitch : out_pitch,
             .plane_pitch = to_planes ? out_pitch : in_pitch,
             .to_planes = to_planes,
             .split = kernels->split[__builtin_ctzll(bytes)][planes - 1],
             .join = kernels->join[__builtin_ctzll(bytes)][planes - 1]};
    const unsigned parts = plan->tiling.blocks > GP_PARTS_MAX ? GP_PARTS_MAX : (unsigned)plan->tiling.blocks;
    j.stream = gp_transpose_past_caches(problem, parts) && (to_planes || j.record_pitch == j.record_bytes);
    gp_thin_orders orders;
    make_orders(&orders, planes, bytes, to_planes);
    j.orders = &orders;
    gp_threads_run(context, parts, do_part, &j);
    return true;
}

#endif
