/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes with one side shorter than a lane of 16 bytes, such as pixels into planes and back, with the tiles that
 * the including file names before. The short side, `planes` long, makes records. A block is 16 bytes of each plane
 * and as many records, which are as many lanes as there are planes. Each lane of the one side is put together from
 * all of the other's, by a pick each; a vector does as many blocks at once as it has lanes.
 */
#include "cpu_job.h"

#if defined(LANES)

#define PLANES_MAX (LANE - 1)

/* Where the bytes of lane `to` of the one side are in lane `from` of the other; 0x80: not there. */
typedef struct {
    _Alignas(LANE) unsigned char of[PLANES_MAX][PLANES_MAX][LANE];
} orders;

/* Element i of plane p is element i * planes + p of the block's records. */
SIMD static void make_orders(orders *o, size_t planes, size_t bytes, bool to_planes) {
    size_t plane = 0, in_plane = 0;
    for (size_t to = 0; to < planes; ++to)
        memset(o->of[to], 0x80, planes * sizeof o->of[to][0]);
    for (size_t lane = 0; lane < planes; ++lane)
        for (size_t in_lane = 0; in_lane < LANE; in_lane += bytes) {
            unsigned char *to = to_planes ? o->of[plane][lane] + in_plane : o->of[lane][plane] + in_lane;
            for (size_t k = 0; k < bytes; ++k)
                to[k] = (unsigned char)((to_planes ? in_lane : in_plane) + k);
            if (++plane == planes)
                plane = 0, in_plane += bytes;
        }
}

/* Whether lane `lane` of the records has an element of a plane. */
INLINE bool has_element_of(size_t planes, size_t elements, size_t lane, size_t plane) {
    return planes <= elements || (plane + planes - lane * elements % planes) % planes < elements;
}

INLINE vec ordered(size_t planes, size_t elements, const orders *o, bool to_planes, size_t to, const vec *from) {
    vec all_of = pick_bytes(from[0], o->of[to][0]);
#pragma GCC unroll 8
    for (size_t k = 1; k < planes; ++k)
        if (has_element_of(planes, elements, to_planes ? k : to, to_planes ? to : k))
            all_of = all_of | pick_bytes(from[k], o->of[to][k]);
    return all_of;
}

/*
 * Records that follow each other become a line of each plane, `pitch` bytes apart, or the other way round. To planes
 * a lane has `elements` of them, no fewer than planes, and as many lines as planes are prefetched from `ahead` on, in
 * turns with loads.
 */
INLINE void reorder(size_t planes, size_t elements, const orders *o, bool to_planes, const char *from, char *to,
                    size_t pitch, const char *ahead) {
    if (to_planes && planes > elements)
        __builtin_unreachable();
    for (size_t v = 0; v < VECTORS; ++v) {
        vec part[PLANES_MAX];
#pragma GCC unroll 8
        for (size_t k = 0; k < planes; ++k) {
            if (v == 0 && to_planes)
                __builtin_prefetch(ahead + k * GP_CACHE_LINE);
            part[k] = to_planes ? load_lanes(from + k * LANE, planes * LANE) : load(from + k * pitch);
        }
#pragma GCC unroll 8
        for (size_t k = 0; k < planes; ++k)
            if (to_planes)
                store(to + k * pitch, ordered(planes, elements, o, true, k, part));
            else
                store_lanes(to + k * LANE, planes * LANE, ordered(planes, elements, o, false, k, part));
        from += to_planes ? planes * VECTOR : VECTOR;
        to += to_planes ? VECTOR : planes * VECTOR;
    }
}

/* Calls f with constants for up to 8 planes, so that its loops are unrolled; more there are of bytes only. */
#define CASE(f, n, elements, ...)    \
    case (n)*32 + (elements):        \
        f(n, elements, __VA_ARGS__); \
        break;
#define CASES(f, n, ...)        \
    CASE(f, n, 16, __VA_ARGS__) \
    CASE(f, n, 8, __VA_ARGS__)  \
    CASE(f, n, 4, __VA_ARGS__)  \
    CASE(f, n, 2, __VA_ARGS__)  \
    CASE(f, n, 1, __VA_ARGS__)
#define WITH_PLANES(f, planes, bytes, ...)  \
    switch ((planes)*32 + LANE / (bytes)) { \
        CASES(f, 2, __VA_ARGS__)            \
        CASES(f, 3, __VA_ARGS__)            \
        CASES(f, 4, __VA_ARGS__)            \
        CASES(f, 5, __VA_ARGS__)            \
        CASES(f, 6, __VA_ARGS__)            \
        CASES(f, 7, __VA_ARGS__)            \
        CASES(f, 8, __VA_ARGS__)            \
    default:                                \
        f(planes, 16, __VA_ARGS__);         \
    }

/* What goes past the caches does so in runs of this many lines of each plane, or the records of as many. */
#define RUN_LINES ((size_t)8)
#define RUN_ROOM ((1 + RUN_LINES) * GP_CACHE_LINE)
#define RECORDS_AHEAD ((size_t)1536) /* bytes that are prefetched */

typedef struct {
    gp_transpose_job base;
    size_t planes;
    bool to_planes, stream;
    orders orders;
} thin_job;

/* In front of each plane's run, and of the run of records, is room for a line. */
typedef struct {
    _Alignas(GP_CACHE_LINE) char runs[PLANES_MAX * RUN_ROOM + GP_CACHE_LINE];
    char kept[PLANES_MAX][GP_CACHE_LINE], lines[PLANES_MAX][GP_CACHE_LINE], records[PLANES_MAX * GP_CACHE_LINE];
} thin_buffers;

/* n records into planes, or planes into records: some at a time, by way of buffers where they have gaps or are few.
 */
INLINE void put_records(const thin_job *j, bool to_planes, const gp_matrices *m, size_t n, thin_buffers *b) {
    const size_t bytes = j->base.elem_bytes, record = j->planes * bytes, most = GP_CACHE_LINE / bytes;
    for (size_t r = 0, some; r < n; r += some) {
        const gp_matrices at = gp_matrices_at(*m, to_planes ? r : 0, to_planes ? 0 : r, bytes);
        some = gp_least(most, n - r);
        const bool whole = some == most, packed = (to_planes ? at.in_pitch : at.out_pitch) == record && whole;
        if (to_planes && !packed)
            copy_rows(b->records, record, at.in, at.in_pitch, some, record);
        for (size_t k = 0; !to_planes && !whole && k < j->planes; ++k)
            copy_some(b->lines[k], at.in + k * at.in_pitch, some * bytes);
        const char *from = to_planes ? (packed ? at.in : b->records) : whole ? at.in : b->lines[0];
        char *to = !to_planes ? (packed ? at.out : b->records) : whole ? at.out : b->lines[0];
        const size_t pitch = !whole ? GP_CACHE_LINE : to_planes ? at.out_pitch : at.in_pitch;
        WITH_PLANES(reorder, j->planes, bytes, &j->orders, to_planes, from, to, pitch,
                    at.in + (j->stream ? RECORDS_AHEAD : 0));
        for (size_t k = 0; to_planes && !whole && k < j->planes; ++k)
            copy_some(at.out + k * at.out_pitch, b->lines[k], some * bytes);
        if (!to_planes && !packed)
            copy_rows(at.out, at.out_pitch, b->records, record, some, record);
    }
}

SIMD static void split_records(const thin_job *j, const gp_matrices *m, size_t n, thin_buffers *b) {
    put_records(j, true, m, n, b);
}

SIMD static void join_records(const thin_job *j, const gp_matrices *m, size_t n, thin_buffers *b) {
    put_records(j, false, m, n, b);
}

/* n records, in runs past the caches. */
SIMD static void stream_records(const thin_job *j, const gp_matrices *m, size_t n, thin_buffers *b) {
    const size_t bytes = j->base.elem_bytes;
    for (size_t r = 0, some; r < n; r += some) {
        some = gp_least(RUN_LINES * GP_CACHE_LINE / bytes, n - r);
        const bool first = r == 0, last = r + some == n;
        const gp_matrices at = gp_matrices_at(*m, j->to_planes ? r : 0, j->to_planes ? 0 : r, bytes);
        gp_matrices to_run = {at.in, at.in_pitch, b->runs + GP_CACHE_LINE, at.out_pitch};
        if (!j->to_planes) {
            join_records(j, &to_run, some, b);
            gp_transpose_put_run(at.out, to_run.out, some * at.out_pitch, b->kept[0], first, last);
            continue;
        }
        to_run.out_pitch = RUN_ROOM;
        split_records(j, &to_run, some, b);
        for (size_t k = 0; k < j->planes; ++k)
            gp_transpose_put_run(at.out + k * at.out_pitch, to_run.out + k * RUN_ROOM, some * bytes, b->kept[k],
                                 first, last);
    }
}

SIMD static void share_in_records(const gp_transpose_job *base, unsigned part, const gp_matrices *m, size_t rows,
                                  size_t cols) {
    const thin_job *j = (const thin_job *)base;
    const size_t bytes = base->elem_bytes;
    thin_buffers buffers;
    (void)part;
    if (j->planes == 1 && (j->to_planes ? m->in_pitch : m->out_pitch) == bytes)
        memcpy(m->out, m->in, rows * cols * bytes);
    else if (j->stream)
        stream_records(j, m, rows + cols - j->planes, &buffers);
    else if (j->to_planes)
        split_records(j, m, rows, &buffers);
    else
        join_records(j, m, cols, &buffers);
    if (j->stream)
        gp_streams_done();
}

gp_status NAMED(gp_launch_transpose_thin)(gp_context *context, const gp_plan *plan, const gp_problem *problem) {
    const size_t bytes = problem->elem_bytes;
    thin_job job;
    job.base = gp_transpose_job_of(problem);
    job.to_planes = problem->cols < problem->rows;
    job.planes = job.to_planes ? problem->cols : problem->rows;
    job.stream = gp_transpose_past_caches(problem) && (job.to_planes || problem->out_pitch == job.planes);
    make_orders(&job.orders, job.planes, bytes, job.to_planes);
    gp_transpose_run(context, gp_transpose_parts(context, plan, problem), &job.base, share_in_records);
    return GP_OK;
}

/* ---- small matrices, which other primitives turn ---- */

SIMD static void turn_thin(const gp_matrices *at, size_t rows, size_t cols, size_t bytes) {
    thin_job job;
    thin_buffers buffers;
    job.base.elem_bytes = bytes;
    job.to_planes = cols < rows;
    job.planes = job.to_planes ? cols : rows;
    job.stream = false;
    make_orders(&job.orders, job.planes, bytes, job.to_planes);
    if (job.to_planes)
        split_records(&job, at, rows, &buffers);
    else
        join_records(&job, at, cols, &buffers);
}

SIMD static void turn(const gp_matrices *at, size_t rows, size_t cols, size_t bytes) {
    any_tiles(&kinds[__builtin_ctzll(bytes)], at, rows, cols);
}

/* Orders of picks are worth making where the long side has a line for each plane: 300 x 7 bytes gain, 300 x 12 lose.
 */
void NAMED(gp_transpose_turn)(const gp_matrices *at, size_t rows, size_t cols, size_t bytes) {
    const size_t least = gp_least(rows, cols), most = gp_greatest(rows, cols);
    if (least > 1 && least * bytes < LANE && most * bytes >= least * GP_CACHE_LINE)
        turn_thin(at, rows, cols, bytes);
    else if (least * bytes < LANE || rows * cols * bytes <= 512)
        gp_transpose_turn_cpu(at, rows, cols, bytes);
    else
        turn(at, rows, cols, bytes);
}

#endif
